// What a page does more where scripts run: `/` goes to the first field of a filter, and a click in a text of commands selects its line.
document.addEventListener("keydown", event => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input, textarea, select")) return;
  const field = document.querySelector("form input:not([type=hidden]), form textarea");
  if (field) { event.preventDefault(); field.focus(); }
});
