// Search, a graph's zoom, and links that open what is folded. Everything else works without this file. It asks nothing of any host.
"use strict";

const SHOWN_RESULTS = 30;
const root = document.body.dataset.root;

// --- search ---------------------------------------------------------------------------------------------------

function entries() {
  const tables = SEARCH_INDEX.tables.map(([name, kind, page, description]) => (
    { name, what: kind, address: page, description, isTable: true }
  ));
  const columns = SEARCH_INDEX.columns.map(([table, name, type, unit, description]) => ({
    name, description, isTable: false,
    what: `${tables[table].name} · ${type}${unit ? ` · ${unit}` : ""}`,
    address: `${tables[table].address}#column-${encodeURIComponent(name)}`,
  }));
  const folded = SEARCH_INDEX.folded.map(([name, kind, page, description]) => (
    { name, what: `${kind}, not used here`, address: page, description, isTable: false }
  ));
  return [...tables, ...columns, ...folded].map((entry) => ({
    ...entry,
    lowerName: entry.name.toLowerCase(),
    lowerText: `${entry.name} ${entry.description}`.toLowerCase(),
    lowerWhat: entry.what.toLowerCase(),
  }));
}

// Lower is better; null: not every word is there.
function rank(entry, words) {
  if (!words.every((word) => entry.lowerText.includes(word) || entry.lowerWhat.includes(word))) return null;
  const bare = entry.lowerName.slice(entry.lowerName.lastIndexOf(".") + 1);
  const whole = words.join(" ");
  const place = bare === whole || entry.lowerName === whole ? 0
    : bare.startsWith(whole) ? 1
    : words.every((word) => entry.lowerName.includes(word)) ? 2
    : words.every((word) => entry.lowerText.includes(word)) ? 3
    : 4;
  return place * 2 + (entry.isTable ? 0 : 1);
}

// The published numbers are a script of their own, which is run when somebody asks for one.
let numbers = null;
function loadNumbers(then) {
  if (numbers) return;
  numbers = [];
  const script = document.createElement("script");
  script.src = `${root}assets/number-index.js`;
  script.onload = () => {
    numbers = NUMBER_INDEX.flatMap(([query, folder, rows]) => rows.flatMap(([row, ...cells]) => {
      const found = [];
      for (let at = 0; at < cells.length; at += 4) {
        const [id, column, value, unit] = cells.slice(at, at + 4);
        found.push({ name: id, what: `${query}.${column}`, description: `${value} ${unit}`, address: `${folder}/${row}.html#${id}`, isTable: false });
      }
      return found;
    }));
    then();
  };
  document.head.appendChild(script);
}

function find(all, query) {
  const asked = query.trim().toLowerCase();
  if (/^n-[a-z2-7]*$/.test(asked)) return (numbers || []).filter((number) => number.name.startsWith(asked));
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  return all
    .map((entry) => [rank(entry, words), entry])
    .filter(([place]) => place !== null)
    .sort(([one, a], [other, b]) => one - other || a.name.length - b.name.length)  // else in the index's own order
    .map(([, entry]) => entry);
}

function line(entry, index) {
  const item = document.createElement("li");
  item.id = `result-${index}`;
  item.setAttribute("role", "option");
  const link = item.appendChild(document.createElement("a"));
  link.href = root + entry.address;
  link.tabIndex = -1;
  link.appendChild(document.createElement("code")).textContent = entry.name;
  const what = link.appendChild(document.createElement("span"));
  what.className = "what";
  what.textContent = entry.what;
  const brief = link.appendChild(document.createElement("div"));
  brief.className = "brief";
  brief.textContent = entry.description;
  return item;
}

function startSearch() {
  const input = document.getElementById("search");
  const results = document.getElementById("results");
  const all = entries();
  let chosen = -1;
  input.closest(".search").hidden = false;

  function choose(index) {
    const lines = [...results.querySelectorAll("[role=option]")];
    if (!lines.length) return;
    chosen = (index + lines.length) % lines.length;
    lines.forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
    lines[chosen].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", lines[chosen].id);
  }

  function show() {
    if (/^\s*n-/i.test(input.value)) loadNumbers(show);
    const found = find(all, input.value);
    results.replaceChildren(...found.slice(0, SHOWN_RESULTS).map(line));
    if (found.length !== results.children.length || !found.length) {
      const rest = results.appendChild(document.createElement("li"));
      rest.className = "none";
      rest.textContent = found.length ? `and ${found.length - SHOWN_RESULTS} more` : "Nothing has that name or description.";
    }
    results.hidden = !input.value.trim();
    input.setAttribute("aria-expanded", String(!results.hidden));
    chosen = -1;
    choose(0);
  }

  function close() {
    results.hidden = true;
    input.setAttribute("aria-expanded", "false");
  }

  input.addEventListener("input", show);
  input.addEventListener("focus", () => { if (input.value.trim()) show(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Enter") results.querySelector("[aria-selected=true] a")?.click();
    else if (event.key === "Escape") { input.value = ""; close(); input.blur(); return; }
    else return;
    event.preventDefault();
  });
  results.addEventListener("click", close);
  document.addEventListener("click", (event) => { if (!event.target.closest(".search")) close(); });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
}

// --- the graph ------------------------------------------------------------------------------------------------

function startGraph(graph) {
  const frame = graph.querySelector(".graph-window");
  const drawing = frame.querySelector("svg");
  const width = () => drawing.viewBox.baseVal.width;
  let scale = 1;

  // Keeps the middle of what is seen in the middle.
  function zoom(to) {
    const before = scale;
    scale = Math.min(3, Math.max(0.1, to));
    const x = (frame.scrollLeft + frame.clientWidth / 2) / before;
    const y = (frame.scrollTop + frame.clientHeight / 2) / before;
    drawing.setAttribute("width", width() * scale);
    drawing.setAttribute("height", drawing.viewBox.baseVal.height * scale);
    frame.scrollLeft = x * scale - frame.clientWidth / 2;
    frame.scrollTop = y * scale - frame.clientHeight / 2;
  }

  const fitting = () => Math.min(1, (frame.clientWidth - 2) / width());
  const steps = { in: () => scale * 1.25, out: () => scale / 1.25, fit: fitting };
  graph.querySelector(".graph-tools").hidden = false;
  graph.querySelectorAll("[data-zoom]").forEach((button) => {
    button.addEventListener("click", () => zoom(steps[button.dataset.zoom]()));
  });
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(scale * Math.exp(-event.deltaY / 300));
  }, { passive: false });

  let grip = null;
  frame.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button === 0 && !event.target.closest("a")) {
      grip = { x: event.clientX + frame.scrollLeft, y: event.clientY + frame.scrollTop };
      frame.classList.add("dragging");
    }
  });
  window.addEventListener("pointermove", (event) => {
    if (grip) frame.scrollTo(grip.x - event.clientX, grip.y - event.clientY);
  });
  window.addEventListener("pointerup", () => { grip = null; frame.classList.remove("dragging"); });

  // The table under the pointer, all it rests on and all that rests on it.
  function along(arrows, start, from, to) {
    const found = new Set([start]);
    for (const name of found) {
      for (const arrow of arrows) {
        if (arrow.dataset[from] === name) { found.add(arrow.dataset[to]); }
      }
    }
    return found;
  }
  function pick(name) {
    const arrows = [...drawing.querySelectorAll(".arrow")];
    const above = along(arrows, name, "to", "from");
    const below = along(arrows, name, "from", "to");
    for (const arrow of arrows) {
      const { from, to } = arrow.dataset;
      arrow.classList.toggle("near", (above.has(from) && above.has(to)) || (below.has(from) && below.has(to)));
    }
    for (const box of drawing.querySelectorAll(".box")) {
      box.classList.toggle("near", above.has(box.dataset.table) || below.has(box.dataset.table));
    }
    drawing.classList.add("picking");
  }
  for (const kind of ["pointerover", "focusin"]) {
    drawing.addEventListener(kind, (event) => {
      const box = event.target.closest(".box");
      if (box) pick(box.dataset.table); else drawing.classList.remove("picking");
    });
  }
  for (const kind of ["pointerleave", "focusout"]) drawing.addEventListener(kind, () => drawing.classList.remove("picking"));

  // Small drawings fit; a large one stays legible, with its own table in the middle.
  function show() {
    zoom(Math.max(fitting(), 0.7));
    const here = drawing.querySelector(".box.here rect");
    if (here) {
      const box = here.getBBox();
      frame.scrollLeft = (box.x + box.width / 2) * scale - frame.clientWidth / 2;
      frame.scrollTop = (box.y + box.height / 2) * scale - frame.clientHeight / 2;
    }
  }
  drawing.addEventListener("redrawn", show);
  show();
}

// A link to something folded opens it.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let each = target; each; each = each.parentElement) if (each.matches("details")) each.open = true;
  target.scrollIntoView();
}

startSearch();
document.querySelectorAll(".graph").forEach(startGraph);
document.querySelectorAll("nav li a").forEach((link) => { link.title = link.textContent; });  // a long name is cut
document.querySelector("nav .here")?.scrollIntoView({ block: "nearest" });
window.addEventListener("hashchange", openTarget);
openTarget();
