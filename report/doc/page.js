"use strict";
// The state of a page is its address: #row=KEY opens an answer, #q=WORDS&f=FACET chooses among
// them, t=THEME may follow. What is opened was made when the page was made, and is adopted as
// it is: a parsed document runs nothing, and the policy of the page lets nothing run.
const $ = (id) => document.getElementById(id);
const form = $("find"), table = document.querySelector("table.answers"), body = table?.tBodies[0];
const step = 200; // lines that are shown at once
let cells = []; // answers in the order of the list: {tr, link, place, facets, key}
let names = []; // of facets, by number
let order = []; // answers that fit
let chosen, limit = step, theme = "", scrolled = 0, timer = 0, loaded;

const packs = new Map();
function unpack(id) {
  if (!packs.has(id)) packs.set(id, inflate($(id).textContent));
  return packs.get(id);
}
async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
const parse = async (id) => new DOMParser().parseFromString(await unpack(id), "text/html").body;

function el(tag, text, attributes) {
  const e = document.createElement(tag);
  e.append(text);
  for (const [name, value] of Object.entries(attributes || {})) e.setAttribute(name, value);
  return e;
}

// ---- the list

function add(tr) {
  for (const cell of tr.querySelectorAll("[data-f]")) {
    const [place, ...facets] = cell.dataset.f.split(" "), link = cell.querySelector("a");
    cells.push({ tr, cell, link, place: Number(place), facets, key: link?.getAttribute("href").slice(5) });
  }
}
async function load() {
  for (const tr of body.rows) add(tr);
  names = JSON.parse(await unpack("facets"));
  for (let k = 0; $("lines-" + k); k++) for (const tr of [...(await parse("lines-" + k)).querySelectorAll("tr")]) add(tr);
}
const said = (c) => c.said ??= (c.tr.cells[0].textContent + " " + c.facets.map((f) => names[f]).join(" ")).toLowerCase();
function list() {
  const words = chosen.q.toLowerCase().split(/\s+/).filter(Boolean), facets = chosen.f.map((f) => String(names.indexOf(f)));
  order = cells.filter((c) => facets.every((f) => c.facets.includes(f)) && words.every((w) => said(c).includes(w)));
  const fits = new Set(order), lines = [...new Set(order.map((c) => c.tr))];
  for (const c of cells) c.cell.classList.toggle("off", !fits.has(c));
  body.replaceChildren(...lines.slice(0, limit));
  if (!timer) form.elements.q.value = chosen.q; // nobody is typing
  form.elements.f.value = chosen.f.length === 1 ? chosen.f[0] : "";
  const status = $("status");
  status.replaceChildren(`${order.length.toLocaleString("en")} of ${cells.length.toLocaleString("en")} answers `);
  if (chosen.q || chosen.f.length) status.append(...chosen.f.map((f) => el("b", f.replace(/^[^:]*:/, "").replaceAll("_", " ") + " ")), el("a", "show all", { href: "#f=" }));
  if (lines.length > limit) {
    const more = el("button", "more", { type: "button" });
    more.addEventListener("click", () => { limit += step; list(); });
    status.append(" ", more);
  }
}
const address = () => "#" + [...chosen.f.map((f) => "f=" + encodeURIComponent(f)), ...(chosen.q || !chosen.f.length ? ["q=" + encodeURIComponent(chosen.q)] : [])].join("&");

// ---- one answer

async function open(key) {
  const c = cells.find((c) => c.key === key);
  if (!c) {
    $("status")?.replaceChildren("This page does not hold the answer " + key + ": ibid show opens every one.");
    return close();
  }
  const row = (await parse("rows-" + Math.floor(c.place / 100))).children[c.place % 100].cloneNode(true);
  const at = order.indexOf(c), nav = el("p", el("a", "← all answers", { href: address() }), { class: "small" });
  for (const [name, to] of [["previous", order[at - 1]], ["next", order[at + 1]]]) if (to?.key) nav.append(" · ", el("a", name, { href: "#row=" + to.key, rel: name === "next" ? "next" : "prev" }));
  row.prepend(nav);
  if (!$("row")) scrolled = scrollY;
  $("row")?.remove();
  document.body.dataset.row = key;
  $("main").append(row);
  scrollTo(0, 0);
  row.querySelector("h1").focus({ preventScroll: true });
}
function close() {
  const was = document.body.dataset.row;
  if (was === undefined) return;
  delete document.body.dataset.row;
  $("row")?.remove();
  scrollTo(0, scrolled);
  cells.find((c) => c.key === was)?.link?.focus({ preventScroll: true });
}

// ---- the address

async function apply() {
  const hash = location.hash.slice(1), state = { q: "", f: [] };
  if (hash && !hash.includes("=")) {
    close();
    const part = $(hash);
    for (let d = part?.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
    part?.scrollIntoView();
    part?.querySelector("h1, h2")?.focus({ preventScroll: true });
    return;
  }
  for (const part of hash.split("&")) {
    const [, name, raw] = part.match(/^([^=]*)=?(.*)$/);
    if (name === "row") { state.row = raw; continue; }
    let value;
    try { value = decodeURIComponent(raw); } catch { continue; }
    if (name === "f" && value) state.f.push(value);
    else if (name === "q") state.q = value;
    else if (name === "t") theme = ["light", "dark"].includes(value) ? value : "";
  }
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  if (!table) return;
  await loaded;
  if (state.row !== undefined) {
    if (!chosen) { chosen = { q: "", f: [] }; list(); }
    return open(state.row);
  }
  const changed = JSON.stringify(state) !== JSON.stringify(chosen), back = document.body.dataset.row !== undefined;
  chosen = state;
  if (changed) { limit = step; list(); }
  close();
  if (hash && !back && !form.contains(document.activeElement)) $("answers").scrollIntoView();
}
function go(hash) {
  history.replaceState(null, "", hash);
  apply();
}

addEventListener("hashchange", apply);
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = e.target.closest("input, select, textarea"), links = () => [...body.querySelectorAll("a")];
  if (e.key === "Escape" && typing) typing.blur();
  else if (e.key === "Escape" && $("row")) location.hash = address();
  else if (typing || !table) return;
  else if (e.key === "/") {
    close();
    form.elements.q.focus();
  } else if (e.key === "j" || e.key === "k") {
    const down = e.key === "j";
    if ($("row")) $("row").querySelector(down ? "a[rel=next]" : "a[rel=prev]")?.click();
    else links().at(Math.max(0, links().indexOf(document.activeElement) + (down ? 1 : -1)))?.focus();
  } else return;
  e.preventDefault();
});
async function start() {
  document.querySelector(".tools").hidden = false;
  $("theme").addEventListener("click", () => {
    const next = { "": "light", light: "dark", dark: "" }[theme], rest = location.hash.slice(1).split("&").filter((p) => p.includes("=") && !p.startsWith("t="));
    go("#" + [...rest, "t=" + next].join("&"));
  });
  if (table) {
    form.hidden = false;
    const ask = () => {
      timer = 0;
      go("#" + ["q=" + encodeURIComponent(form.elements.q.value.trim()), ...(form.elements.f.value ? ["f=" + encodeURIComponent(form.elements.f.value)] : [])].join("&"));
    };
    form.elements.q.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 120); });
    form.elements.f.addEventListener("change", ask);
    form.addEventListener("submit", (e) => e.preventDefault());
    loaded = load();
    try { await loaded; } catch (e) {
      form.before(el("p", "Answers cannot be opened by this browser (" + e.message + ").", { class: "notice" }));
      return;
    }
  }
  await apply();
  performance.mark("ready");
  document.documentElement.dataset.ready = "1";
}
start();
