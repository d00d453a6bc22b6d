// What a page does more where scripts run: `/` goes to the first field of a filter, a point says at once what its title says after a while, and
// the menu's More closes by itself, and a menu of one line shows the page that is open.
document.addEventListener("keydown", event => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input, textarea, select")) return;
  const fields = [...document.querySelectorAll("form input:not([type=hidden]), form textarea")];
  const field = fields.find(each => each.checkVisibility());
  if (field) { event.preventDefault(); field.focus(); }
});
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
tip.setAttribute("aria-hidden", "true"); // the point has the same words as its label
document.body.append(tip);
function say(event) {
  const mark = event.target instanceof Element && event.target.closest(".chart :is(a, g[aria-label])");
  tip.hidden = !mark;
  if (!mark) return;
  mark.querySelector("title")?.remove(); // or the browser would say it too
  const at = mark.getBoundingClientRect();
  tip.replaceChildren(...mark.getAttribute("aria-label").split("; ").map(words => Object.assign(document.createElement("span"), {textContent: words})));
  tip.style.top = `${scrollY + at.bottom + 8}px`;
  tip.style.left = `${Math.max(8, Math.min(scrollX + at.left, scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8))}px`;
}
document.addEventListener("pointerover", say);
document.addEventListener("focusin", say);
document.addEventListener("keydown", event => { if (event.key === "Escape") tip.hidden = true; });
const more = document.querySelector(".more");
document.addEventListener("click", event => { if (!more.contains(event.target)) more.open = false; });
document.addEventListener("keydown", event => { if (event.key === "Escape") more.open = false; });
const here = document.querySelector(".bar > nav .here");
if (here) here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.offsetLeft - 48;
