// The graph of all tables: which of them are shown is in the address, and every change of it draws them anew. Without this file the page
// shows the tables for people.
"use strict";

const LARGEST = 250;
const MOST_LANES = 300;
const [CHARACTER, BOX, BETWEEN_BOXES, BETWEEN_LANES, BETWEEN_LAYERS, MARGIN, SWEEPS] = [7, 26, 12, 8, 56, 12, 8];
const TABLES = SEARCH_INDEX.tables.map(([name, kind, page, description, schema, reads], place) => (
  { name, page, description, schema, reads, place, readBy: [], label: schema === "feed" ? name : name.slice(name.lastIndexOf(".") + 1) }
));
for (const table of TABLES) for (const parent of table.reads) TABLES[parent].readBy.push(table.place);

// --- which tables are shown --------------------------------------------------------------------------------------

const filters = document.getElementById("graph-filters");
const checks = [...filters.querySelectorAll("[name=schema]")];
const usual = checks.filter((check) => check.defaultChecked).map((check) => check.value);

function stated() {
  const said = new URLSearchParams(location.hash.slice(1));
  const list = (key) => (said.get(key) || "").split(",").filter(Boolean);
  return { find: said.get("find") || "", schemas: new Set(said.has("schemas") ? list("schemas") : usual), open: new Set(list("open")) };
}

function address({ find, schemas, open }) {
  const said = new URLSearchParams();
  if (find) said.set("find", find);
  if (String([...schemas].sort()) !== String([...usual].sort())) said.set("schemas", [...schemas].join(","));
  if (open.size) said.set("open", [...open].join(","));
  return `#${said.toString().replaceAll("%2C", ",")}`;
}

function reached(starts, edges) {
  const found = new Set(starts);
  for (const place of found) for (const next of TABLES[place][edges]) found.add(next);
  return found;
}

// Tables of the schemas; with a text those that have it in their name, and of the schemas only what rests on these or they on it;
// and all neighbours of an opened table.
function chosen({ find, schemas, open }) {
  const word = find.trim().toLowerCase();
  const found = new Set();
  const matching = TABLES.filter((table) => table.name.toLowerCase().includes(word)).map((table) => table.place);
  const related = word ? new Set([...reached(matching, "reads"), ...reached(matching, "readBy")]) : null;
  for (const table of TABLES) {
    if (schemas.has(table.schema) && (!related || related.has(table.place))) found.add(table.place);
  }
  if (word) matching.forEach((place) => found.add(place));
  for (const table of TABLES) {
    if (open.has(table.name)) [table.place, ...table.reads, ...table.readBy].forEach((place) => found.add(place));
  }
  return [...found].slice(0, LARGEST).sort((a, b) => a - b);
}

// What each shown table reads among them, directly or through tables that are not shown.
function contracted(shown) {
  const isShown = new Set(shown);
  return new Map(shown.map((place) => {
    const seen = new Set(TABLES[place].reads);
    for (const parent of seen) if (!isShown.has(parent)) TABLES[parent].reads.forEach((above) => seen.add(above));
    return [place, [...seen].filter((parent) => isShown.has(parent))];
  }));
}

// --- where they stand: as in graph_drawing.py, layers by longest paths and places by the neighbours' mean -----------

const mean = (values, otherwise) => (values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : otherwise);

function layersOf(reads) {
  const layer = new Map();
  const depth = (place) => {
    if (!layer.has(place)) layer.set(place, Math.max(-1, ...reads.get(place).map(depth)) + 1);
    return layer.get(place);
  };
  const order = [...reads.keys()].sort((a, b) => depth(a) - depth(b));
  const firstReader = new Map();
  for (const place of order.reverse()) {
    layer.set(place, (firstReader.get(place) ?? layer.get(place) + 1) - 1);
    for (const parent of reads.get(place)) firstReader.set(parent, Math.min(firstReader.get(parent) ?? Infinity, layer.get(place)));
  }
  return layer;
}

// A node is a table's box, or a lane: the place of a long arrow in a layer that it crosses.
function placed(reads, widthOf) {
  const layer = layersOf(reads);
  const rows = Array.from({ length: Math.max(0, ...layer.values()) + 1 }, () => []);
  const add = (node) => { rows[node.layer].push(node); return node; };
  const boxes = new Map([...reads.keys()].map((place) => [place, add({ place, layer: layer.get(place), left: [], right: [], height: BOX })]));
  const crossed = ([parent, place]) => layer.get(place) - layer.get(parent) - 1;
  const pairs = [...reads].flatMap(([place, parents]) => parents.map((parent) => [parent, place])).sort((a, b) => crossed(a) - crossed(b));
  let room = MOST_LANES;  // beyond them the longest arrows run straight
  const arrows = pairs.map((pair) => {
    const chain = [boxes.get(pair[0])];
    room -= crossed(pair);
    for (let at = layer.get(pair[0]) + 1; room >= 0 && at < layer.get(pair[1]); at += 1) chain.push(add({ layer: at, left: [], right: [], height: 0 }));
    chain.push(boxes.get(pair[1]));
    chain.slice(1).forEach((node, index) => { node.left.push(chain[index]); chain[index].right.push(node); });
    return chain;
  });
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const row of sweep % 2 ? [...rows].reverse() : rows) {
      row.forEach((node, index) => {
        const near = node[sweep % 2 ? "right" : "left"].map((other) => other.index);
        node.wanted = node.left.length + node.right.length ? mean(near, node.index ?? index) : rows.length * LARGEST;  // alone: last
      });
      row.sort((a, b) => a.wanted - b.wanted);
      row.forEach((node, index) => { node.index = index; });
    }
  }
  for (const row of rows) {
    let edge = 0;
    for (const node of row) {
      node.offset = node.y = edge + node.height / 2;
      edge += node.height + (node.height ? BETWEEN_BOXES : BETWEEN_LANES);
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const row of sweep % 2 ? [...rows].reverse() : rows) {
      const wanted = [];
      for (const [index, node] of row.entries()) {
        const near = [...node.left, ...node.right].map((other) => other.y);
        wanted.push(mean(near, index ? wanted[index - 1] - row[index - 1].offset + node.offset : node.offset));
      }
      spread(row, wanted);
    }
  }
  const top = Math.min(0, ...rows.flat().map((node) => node.y - node.height / 2));
  let x = MARGIN;
  for (const row of rows) {
    const width = Math.max(0, ...row.filter((node) => node.height).map((node) => widthOf(node.place)));
    for (const node of row) Object.assign(node, { x, y: node.y - top + MARGIN, width: node.height ? widthOf(node.place) : width });
    x += width + BETWEEN_LAYERS;
  }
  const bottom = Math.max(0, ...rows.flat().map((node) => node.y + node.height / 2));
  return { boxes, arrows, width: x - BETWEEN_LAYERS + MARGIN, height: bottom + MARGIN };
}

// The heights nearest to those wanted that keep the order and the distances of a row: pools of neighbours that share a shift.
function spread(row, wanted) {
  const pools = [];
  row.forEach((node, index) => {
    let [shift, count] = [wanted[index] - node.offset, 1];
    while (pools.length && pools.at(-1)[0] > shift) {
      const [before, members] = pools.pop();
      [shift, count] = [(before * members + shift * count) / (members + count), members + count];
    }
    pools.push([shift, count]);
  });
  const shifts = pools.flatMap(([shift, count]) => Array(count).fill(shift));
  row.forEach((node, index) => { node.y = node.offset + shifts[index]; });
}

function curve(chain) {
  let [x, y] = [chain[0].x + chain[0].width, chain[0].y];
  let path = `M${x.toFixed()} ${y.toFixed()}`;
  for (const node of chain.slice(1)) {
    const bend = (node.x - x) / 2;
    path += `C${(x + bend).toFixed()} ${y.toFixed()} ${(node.x - bend).toFixed()} ${node.y.toFixed()} ${node.x.toFixed()} ${node.y.toFixed()}`;
    if (!node.height) path += `H${(node.x + node.width).toFixed()}`;
    [x, y] = [node.x + node.width, node.y];
  }
  return path;
}

// --- drawing -----------------------------------------------------------------------------------------------------

const drawing = document.querySelector(".graph svg");

function element(name, attributes, ...children) {
  const made = document.createElementNS(drawing.namespaceURI, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A box leads to its table's page. At its right end is how many of its neighbours are not shown; that shows them, or hides them again.
function box(node, hidden, state) {
  const table = TABLES[node.place];
  const isOpen = state.open.has(table.name);
  const [x, y] = [node.x, node.y - BOX / 2];
  const isMatch = state.find && table.name.toLowerCase().includes(state.find.trim().toLowerCase());
  const link = element("a", { href: table.page, class: `box schema-${table.schema}${isMatch ? " match" : ""}`, "data-table": table.name },
    element("title", {}, table.name + (table.description ? `: ${table.description}` : "")),
    element("rect", { x, y, width: node.width, height: BOX, rx: 6 }),
    element("text", { x: x + 10, y: y + 17 }, table.label));
  if (!hidden && !isOpen) return [link];
  const open = new Set(state.open);
  if (!open.delete(table.name)) open.add(table.name);
  const words = isOpen ? "hide its neighbours again" : `show ${hidden} more that it reads or that read it`;
  const text = isOpen ? "−" : `+${hidden}`;
  return [link, element("a", { href: address({ ...state, open }), class: "more", "aria-label": `${table.name}: ${words}` },
    element("title", {}, words), element("rect", { x: x + node.width - badge(hidden, isOpen), y: y + 4, width: badge(hidden, isOpen) - 4, height: BOX - 8, rx: 4 }),
    element("text", { x: x + node.width - 4 - (badge(hidden, isOpen) - 4) / 2, y: y + 17, "text-anchor": "middle" }, text))];
}

const badge = (hidden, isOpen) => (isOpen ? 22 : hidden ? 14 + CHARACTER * `+${hidden}`.length : 0);

function draw() {
  const state = stated();
  filters.elements.find.value = state.find;
  checks.forEach((check) => { check.checked = state.schemas.has(check.value); });
  const shown = chosen(state);
  const isShown = new Set(shown);
  const hidden = (place) => [...TABLES[place].reads, ...TABLES[place].readBy].filter((other) => !isShown.has(other)).length;
  const { boxes, arrows, width, height } = placed(contracted(shown), (place) => (
    TABLES[place].label.length * CHARACTER + 20 + badge(hidden(place), state.open.has(TABLES[place].name))
  ));
  drawing.setAttribute("viewBox", `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`);
  drawing.setAttribute("aria-label", `${shown.length} tables`);
  drawing.replaceChildren(drawing.querySelector("defs"),
    ...arrows.map((chain) => {
      const [from, to] = [TABLES[chain[0].place], TABLES[chain.at(-1).place]];
      const isDirect = to.reads.includes(from.place);
      return element("path", { class: isDirect ? "arrow" : "arrow through", "data-from": from.name, "data-to": to.name, d: curve(chain), "marker-end": "url(#head)" });
    }),
    ...[...boxes.values()].flatMap((node) => box(node, hidden(node.place), state)));
  document.querySelector(".legend").replaceChildren();
  document.getElementById("graph-says").textContent = shown.length
    ? `What reads what, from left to right: ${shown.length} of ${TABLES.length} tables`
      + `${shown.length === LARGEST ? " (as many as are drawn)" : ""}. A dashed arrow passes tables that are not shown; +n on a box shows its neighbours.`
    : "No table has this in its name.";
  drawing.dispatchEvent(new Event("redrawn"));
}

filters.hidden = false;
filters.addEventListener("submit", (event) => event.preventDefault());
filters.addEventListener("input", (event) => {
  const state = { ...stated(), find: filters.elements.find.value, schemas: new Set(checks.filter((check) => check.checked).map((check) => check.value)) };
  if (event.target.name === "find") { history.replaceState(null, "", address(state)); draw(); } else location.hash = address(state);
});
filters.addEventListener("reset", (event) => { event.preventDefault(); location.hash = "#"; });
window.addEventListener("hashchange", draw);
draw();
