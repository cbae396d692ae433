"use strict";
// All text from data is put in by textContent. Texts were split into marked
// stretches when the page was made, in the units that slice() counts.
const $ = (id) => document.getElementById(id);
function el(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) {
    if (v === undefined || v === null || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "class") e.className = v;
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false && c !== ""));
  return e;
}
const sr = (text) => el("span", { class: "sr" }, text);
const plural = (n, one, many) => n.toLocaleString("en") + " " + (n === 1 ? one : many);

// ---- packs

const packs = new Map();
function unpack(id) {
  if (!packs.has(id)) packs.set(id, inflate(id));
  return packs.get(id);
}
async function inflate(id) {
  const text = $(id).textContent;
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
async function textOf(number) {
  let pack = index.texts.length - 1;
  while (pack > 0 && index.texts[pack] > number) pack--;
  return (await unpack("texts-" + pack))[number - index.texts[pack]];
}

// ---- state: all of it stands in the address, so that Back and links work

let index = null;
let state = { sort: "", filters: [], page: 1, query: "", row: "" };
let order = [];
let at = -1; // the row that the keys are on, in order

const served = "served" in document.documentElement.dataset; // the rows are those that the query asks for
function readState() {
  const s = { sort: "", filters: [], page: 1, query: "", row: "", theme: "" };
  for (const part of [...(served ? location.search.slice(1).split("&").filter((part) => !part.startsWith("row=")) : []), ...location.hash.slice(1).split("&")]) {
    const cut = part.indexOf("=");
    if (cut < 0) continue;
    const name = part.slice(0, cut), raw = part.slice(cut + 1);
    if (name === "row") { s.row = raw; continue; }
    let value;
    try { value = decodeURIComponent(raw); } catch { continue; }
    if (name === "s") s.sort = value;
    else if (name === "f") s.filters.push(value);
    else if (name === "p") s.page = Math.max(1, parseInt(value, 10) || 1);
    else if (name === "q") s.query = value;
    else if (name === "t" && (value === "light" || value === "dark")) s.theme = value;
  }
  return s;
}
function stateText(s) {
  const asked = servedText(s), own = [s.row && "row=" + s.row, s.theme && "t=" + s.theme].filter(Boolean).join("&");
  return served ? (asked ? "?" + asked : location.pathname) + (own ? "#" + own : "") : "#" + [s.row && "row=" + s.row, asked, s.theme && "t=" + s.theme].filter(Boolean).join("&");
}
// servedText is what of the state chooses rows.
function servedText(s) {
  const parts = [];
  if (s.sort) parts.push("s=" + encodeURIComponent(s.sort));
  for (const f of s.filters) parts.push("f=" + encodeURIComponent(f));
  if (s.query) parts.push("q=" + encodeURIComponent(s.query));
  if (s.page > 1) parts.push("p=" + s.page);
  return parts.join("&");
}
// go changes the state; each change is a step for Back unless replace is set.
function go(change, replace) {
  const next = stateText({ ...state, ...change });
  if (served && servedText({ ...state, ...change }) !== servedText(state)) {
    location[replace ? "replace" : "assign"](next);
    return;
  }
  if (!served && (next === location.hash || (next === "#" && !location.hash))) return;
  history[replace ? "replaceState" : "pushState"](null, "", next);
  apply();
}
const isState = () => !location.hash || location.hash.includes("=");

// apply shows the state of the address. jump says that somebody asked to see it.
async function apply(jump) {
  const before = state;
  state = readState();
  setTheme(state.theme);
  if (!index) return;
  const rows = stateText({ ...state, theme: "" });
  if (rows !== drawn) show(rows);
  if (state.row && (jump || state.row !== before.row || !table.querySelector("td.detail"))) await reveal(state.row);
  else if (jump && location.hash) $("rows").scrollIntoView();
}
let drawn = null; // the state that the table shows
function show(rows) {
  drawn = rows;
  select();
  draw();
  syncControls();
}
// adjust changes the state without a step for Back.
function adjust(change) {
  history.replaceState(null, "", stateText({ ...state, ...change }));
  state = readState();
  show(stateText({ ...state, theme: "" }));
}

// ---- filter and sort

function matches(i, f) {
  const cut = f.indexOf(":");
  const facet = f.slice(0, cut), value = f.slice(cut + 1);
  const bit = (words, bits) => { const k = words.findIndex((w) => w.code === value); return k >= 0 && (bits >>> k & 1) === 1; };
  switch (facet) {
    case "system": return index.systems[index.system[i]] === value;
    case "status": return bit(index.statuses, index.status[i]);
    case "outcome": return bit(index.outcomes, index.outcome[i]);
    case "problem": return index.problems[index.problem[i]].code === value;
    case "tag": return index.tags[i].some((t) => index.tagNames[t] === value);
    case "type": return index.type[i].some((t) => index.types[t] === value);
    case "since": return index.sinceNames[index.since[i]] === value;
    case "provider": return index.providers[index.provider[i]] === value;
    case "model": return index.models[index.model[i]] === value;
    case "annotator": return index.annotators[index.annotator[i]] === value;
    case "doc": return index.docs[i].some((d) => index.docNames[d] === value);
    case "is": return value === "failing" ? index.failing[i] === 1 : value === "error" && index.problems[index.problem[i]].code === "error";
  }
  const m = index.metrics.find((m) => m.name === facet);
  if (!m) return true;
  const code = m.code[i];
  if (value === "undefined") return code < 0;
  if (code < 0) return false;
  const [lo, hi] = value.split("..").map((x) => x === "" ? NaN : Number(x));
  const v = m.values[code];
  if (lo > v) return false;
  return !(hi < v) && !(v === hi && m.max !== hi);
}
function found(i, words) {
  return words.every((w) => haystack(i).includes(w));
}
const haystacks = [];
function haystack(i) {
  return haystacks[i] ??= [index.ids[i], index.systems[index.system[i]], index.questions[i], ...index.docs[i].map((d) => index.docNames[d])].join("\n").toLowerCase();
}
function select() {
  if (served) { order = index.worst; return; }
  const words = state.query.toLowerCase().split(/\s+/).filter(Boolean);
  order = index.worst.filter((i) => state.filters.every((f) => matches(i, f)) && found(i, words));
  const down = state.sort.startsWith("-"), key = state.sort.replace(/^-/, "");
  const value = sortKey(key);
  if (value) {
    order.sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === null || y === null) return (x === null) - (y === null); // undefined comes last either way
      const c = x < y ? -1 : x > y ? 1 : 0;
      return (down ? -c : c) || a - b;
    });
  }
}
function sortKey(key) {
  switch (key) {
    case "id": return (i) => index.ids[i];
    case "system": return (i) => index.systems[index.system[i]];
    case "question": return (i) => index.questions[i];
    case "problem": return (i) => -index.problem[i];
    case "cited": return (i) => parseInt(index.cited[i], 10) || 0;
    case "row": return (i) => i;
  }
  const m = index.metrics.find((m) => m.name === key);
  return m && ((i) => m.code[i] < 0 ? null : m.code[i]);
}

// ---- the table

const perPage = innerWidth > 760 ? 100 : 25; // fewer where rows are cards, one below the other
const table = $("table");
const pages = () => served ? index.asked.pages : Math.max(1, Math.ceil(order.length / perPage));

function badge(word) {
  return el("span", { class: "badge " + word.tone, title: word.long }, el("span", { class: "sign", "aria-hidden": "true" }, index.signs[word.tone]), " " + word.short);
}
function draw() {
  const page = Math.min(state.page, pages());
  const shown = served ? order : order.slice((page - 1) * perPage, page * perPage);
  const body = el("tbody", { role: "rowgroup" });
  for (const i of shown) body.append(rowOf(i));
  if (!shown.length && (served || index.keys.length)) body.append(nothingFound());
  table.tBodies[0].replaceWith(body);
  at = -1;
  for (const th of table.tHead.rows[0].cells) {
    const key = th.dataset.sort, mine = state.sort.replace(/^-/, "") === key;
    if (mine) th.setAttribute("aria-sort", state.sort.startsWith("-") ? "descending" : "ascending");
    else th.removeAttribute("aria-sort");
    const button = th.querySelector("button");
    if (button) button.lastChild.textContent = mine ? (state.sort.startsWith("-") ? " ↓" : " ↑") : "";
  }
  const status = $("status");
  status.replaceChildren(`${(served ? index.asked.found : order.length).toLocaleString("en")} of ${plural(served ? index.asked.total : index.keys.length, "row", "rows")} · page ${page} of ${pages()}`, chips());
  const turn = (to, text, off) => el("button", { type: "button", disabled: off, onclick: () => { go({ page: to, row: "" }); $("rows").scrollIntoView(); } }, text);
  $("pager").replaceChildren(turn(page - 1, "‹ previous", page <= 1), `page ${page} of ${pages()}`, turn(page + 1, "next ›", page >= pages()));
  $("pager").hidden = pages() < 2;
}
// nothingFound stands where rows would be: what was asked for, and how to ask for less.
function nothingFound() {
  const asked = state.filters.map(filterName);
  if (state.query) asked.unshift("“" + state.query + (served ? "” in id, question, answer, system or document" : "” in id, question, system or document"));
  return el("tr", { role: "row", class: "nothing" }, el("td", { role: "cell", colspan: String(table.tHead.rows[0].cells.length) },
    el("p", null, "No row has all of this: ", asked.map((text, k) => [k ? "; " : "", el("b", null, text)]), "."),
    el("button", { type: "button", onclick: () => go({ filters: [], query: "", page: 1, row: "" }) }, "show all rows")));
}
function chips() {
  if (!state.filters.length && !state.query) return "";
  const drop = (text, change) => el("button", { type: "button", "aria-label": "remove filter " + text, onclick: () => go({ ...change, page: 1, row: "" }) }, text, " ✕");
  const list = state.filters.map((f) => drop(filterName(f), { filters: state.filters.filter((g) => g !== f) }));
  if (state.query) list.push(drop("“" + state.query + "”", { query: "" }));
  return el("span", { class: "chips" }, list);
}
function filterName(f) {
  const cut = f.indexOf(":"), facet = f.slice(0, cut), value = f.slice(cut + 1);
  const words = { status: index.statuses, outcome: index.outcomes, problem: index.problems }[facet];
  if (facet === "since") return SINCE[value] || value;
  const word = words && words.find((w) => w.code === value);
  if (word) return facet + ": " + word.short;
  const m = index.metrics.find((m) => m.name === facet);
  const names = { doc: "document", type: "source type", is: "" };
  return (m ? m.label : names[facet] ?? facet) + (facet === "is" ? "" : ": ") + value.replace("..", " to ");
}
function rowOf(i) {
  const open = index.keys[i] === state.row;
  const cells = [
    el("td", { class: "state", role: "cell" }, badge(index.problems[index.problem[i]])),
    el("th", { scope: "row", class: "id", role: "rowheader" }, el("button", { type: "button", "aria-expanded": String(open), onclick: (e) => { e.stopPropagation(); toggle(i); } }, el("bdi", null, index.ids[i]))),
  ];
  if (index.systems.length > 1) cells.push(el("td", { class: "sys", role: "cell" }, el("bdi", null, index.systems[index.system[i]])));
  cells.push(el("td", { class: "q", dir: "auto", role: "cell" }, el("span", null, index.questions[i])));
  for (const m of index.metrics.slice(0, index.columns)) {
    cells.push(el("td", { class: "num metric", "data-label": m.label, role: "cell" }, m.code[i] < 0 ? el("span", { class: "dim", title: "undefined" }, "–") : m.text[m.code[i]]));
  }
  cells.push(el("td", { class: "num cited", role: "cell" }, index.cited[i]));
  const tr = el("tr", { class: "row" + (open ? " open" : ""), role: "row", onclick: () => { if (!String(getSelection())) toggle(i); } }, cells);
  tr.dataset.row = i;
  return tr;
}
function toggle(i) {
  const key = index.keys[i];
  go({ row: state.row === key ? "" : key });
}
const rowElement = (i) => table.querySelector(`tr.row[data-row="${i}"]`);

// reveal opens the row of a link, turning to its page or lifting filters that
// hide it.
async function reveal(key) {
  const i = index.keys.indexOf(key);
  if (i < 0) {
    if (served && !new URLSearchParams(location.search).has("row")) { location.replace("?row=" + encodeURIComponent(key) + "#row=" + key); return; }
    $("status").append(el("span", { class: "badge warn" }, " ! this page does not hold the row " + key));
    return;
  }
  if (!order.includes(i)) adjust({ filters: [], query: "" });
  const page = served ? state.page : Math.floor(order.indexOf(i) / perPage) + 1;
  if (page !== Math.min(state.page, pages())) adjust({ page });
  table.querySelector("tr.opened")?.remove();
  const tr = rowElement(i);
  moveTo(tr, false);
  const cell = el("td", { class: "detail", colspan: String(table.tHead.rows[0].cells.length), role: "cell" }, el("div", null, "opening …"));
  tr.after(el("tr", { class: "opened", role: "row" }, cell));
  tr.scrollIntoView({ block: "start" });
  try {
    const detail = await heldOf(i);
    if (!detail) {
      cell.replaceChildren(el("div", null, el("p", { class: "notice" }, "There is no room for the texts of this row on this page. To open it: ", el("code", null, "ibid show RUN '" + index.ids[i] + "'"))));
      return;
    }
    const texts = await Promise.all(detail.view.sources.map((s) => textOf(s.text)));
    const pair = pairOf(i), other = pair && await heldOf(pair.find((k) => k !== i));
    if (state.row === key) cell.replaceChildren(detailOf(i, detail, texts, pair && sideBySide(pair, pair.map((k) => k === i ? detail : other))));
  } catch (e) {
    cell.firstChild.textContent = "This row cannot be opened: " + e.message;
  }
  scrollBy(0, tr.getBoundingClientRect().top - document.querySelector(".top").offsetHeight - 4);
}

// ---- one row

const PREDICTED = 1, TRUE = 2, SUPPORT = 4, ELSEWHERE = 8, FOLDED = 16, TOLERANCE = 32;
const heldOf = async (i) => (await unpack("rows-" + Math.floor(i / index.perPack)))[i % index.perPack];
function detailOf(i, d, texts, beside) {
  const { record, view } = d;
  const box = el("div", { class: "row-detail" });
  const passages = passagesOf(view, texts);
  const copy = el("button", { type: "button", onclick: () => copyLink(copy) }, "copy link");
  const tags = Object.entries(record.tags || {}).map(([k, v]) => el("span", { class: "badge neutral" }, k + "=" + v));
  box.append(el("div", { class: "bar-top" }, badge(index.problems[view.problem]), el("span", { class: "small" }, index.problems[view.problem].long), tags, copy,
    el("button", { type: "button", onclick: () => go({ row: "" }) }, "close")));
  if (record.error) box.append(el("p", { class: "notice" }, "Not scored: " + record.error));
  for (const n of view.notices || []) box.append(el("p", { class: "notice" }, n));
  if (record.query) box.append(el("p", { class: "question text", dir: "auto" }, record.query));
  if (beside) box.append(beside);
  const left = el("div"), right = el("div");
  if (record.answer || (view.claims || []).length) left.append(el("h3", null, "Answer"), answerOf(box, record, view, passages));
  left.append(el("h3", null, "Citations"), citationsOf(box, view, passages));
  if (view.matrix) left.append(el("h3", null, "Claims by sources"), el("p", { class: "small dim" }, "How far each cited source supports each claim; empty: nobody was asked."), matrixOf(view.matrix));
  right.append(el("h3", null, "Sources"), sourcesOf(box, view, texts));
  box.append(el("div", { class: "cols" }, left, right));
  box.append(othersOf(i));
  if (view.calls) box.append(callsOf(view));
  box.append(el("details", null, el("summary", null, "metrics of this row"), metricsOf(record)),
    el("details", null, el("summary", null, "row as JSON, scores to six digits"), el("pre", { tabindex: "0" }, JSON.stringify(plainRecord(record), null, 2))));
  return box;
}
function plainRecord(record) {
  const metrics = {};
  record.metrics.forEach((v, k) => { if (v !== null) metrics[index.metricNames[k]] = v; });
  return { schema: "ibid.row/v1", ...record, metrics, undefined: Object.fromEntries(index.undefined[record.undefined].map((u) => [u.reason, u.metrics])) };
}
async function copyLink(button) {
  try { await navigator.clipboard.writeText(location.href); button.textContent = "copied"; }
  catch { prompt("Copy this link", location.href); }
}
function citeButton(box, view, k) {
  const c = view.citations[k];
  if (!c) return "";
  const tone = index.problems[c.problem].tone;
  return el("button", { type: "button", class: "cite " + tone, title: index.problems[c.problem].short, "aria-label": `citation ${k + 1}: ${index.problems[c.problem].short}`, onclick: () => light(box, k) }, String(k + 1));
}
function light(box, k) {
  for (const e of box.querySelectorAll(".lit")) e.classList.remove("lit");
  box.querySelector(`.cites > li[hidden][data-citation="${k}"]`) && box.querySelector(".more-cites")?.click();
  const card = box.querySelector(`.cites > li[data-citation="${k}"]`), mark = box.querySelector(`.source [data-cite="${k}"]`);
  if (card) { card.classList.add("lit"); card.scrollIntoView({ block: "nearest" }); }
  if (mark) { mark.scrollIntoView({ block: "nearest" }); mark.focus({ preventScroll: true }); }
}
const DEGREES = ["unsure", "none", "partial", "mostly", "full", "contradicts", "undecided"];
const verdictText = (c) => c === -1 ? "" : c === -2 ? "no verdict" : c < 10 ? DEGREES[c] : ((c - 10) / 1000).toFixed(3);
function matrixOf([cited, ...claims]) {
  const head = ["claim", ...cited.map((k) => `[${k + 1}]`), "together", "elsewhere"];
  return el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Claims by sources" }, el("table", null,
    el("thead", null, el("tr", null, head.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", null, claims.map(([claim, ...cells]) => el("tr", null, el("th", { scope: "row" }, String(claim + 1)), cells.map((c) => el("td", null, verdictText(c))))))));
}
function answerOf(box, record, view, passages) {
  const markers = new Map();
  for (const [run, cite] of view.markers || []) markers.set(run, [...(markers.get(run) || []), cite]);
  const runs = [];
  for (let r = 0; r * 3 < view.answer.length; r++) {
    runs.push({ text: record.answer.slice(view.answer[3 * r], view.answer[3 * r + 1]), claim: view.answer[3 * r + 2], cites: markers.get(r) || [] });
  }
  const pieces = (list) => list.flatMap((r) => [el("span", null, r.text), ...r.cites.map((k) => citeButton(box, view, k))]);
  const linked = new Set((view.claims || []).flatMap((c) => c.citations || []));
  const rest = (view.loose || []).filter((k) => !linked.has(k));
  const loose = rest.length ? el("p", { class: "small" }, "cited for the answer as a whole: ", rest.map((k) => citeButton(box, view, k))) : "";
  if (!(view.claims || []).length) return el("div", { class: "answer", tabindex: "0", role: "group", "aria-label": "Answer" }, el("div", { class: "text", dir: "auto" }, pieces(runs)), loose);
  const list = el("ol", { class: "claims" });
  const seen = new Set();
  for (let a = 0; a < runs.length;) {
    let b = a;
    while (b < runs.length && runs[b].claim === runs[a].claim) b++;
    const part = runs.slice(a, b), claim = runs[a].claim;
    if (claim >= 0) { seen.add(claim); list.append(claimOf(box, view, claim, pieces(part), part.flatMap((r) => r.cites), passages)); }
    else if (part.some((r) => r.text.trim() || r.cites.length)) list.append(el("li", { class: "plain" }, el("span", { class: "text", dir: "auto" }, pieces(part))));
    a = b;
  }
  view.claims.forEach((c, k) => { if (!seen.has(k)) list.append(claimOf(box, view, k, [c.text || "(a claim with no place in the answer)"], [], passages)); });
  return el("div", null, list, loose);
}
function claimOf(box, view, k, text, named, passages) {
  const c = view.claims[k], word = index.outcomes[c.outcome];
  const more = index.markers ? (c.citations || []).filter((n) => !named.includes(n)) : [];
  return el("li", { class: word ? word.tone : "neutral", "data-claim": k }, word ? [badge(word), " "] : "", el("span", { class: "text", dir: "auto" }, text), more.length ? [" ", more.map((n) => citeButton(box, view, n))] : "",
    (c.notes || []).map((n) => el("p", { class: "small dim" }, n)),
    c.missed && !(c.citations || []).length ? el("div", { class: "compare" }, passage("want", "should have been cited", passages.get(ELSEWHERE + ":" + k), "")) : "");
}
function citationsOf(box, view, passages) {
  if (!view.citations.length) return el("p", null, "This answer cites nothing.");
  const typeOf = (c) => c.origin?.type || "";
  const order = view.citations.map((_, k) => k);
  const grouped = index.grouped && view.citations.some(typeOf);
  if (grouped) {
    const types = [...new Set(view.citations.map(typeOf))];
    order.sort((a, b) => types.indexOf(typeOf(view.citations[a])) - types.indexOf(typeOf(view.citations[b])) || a - b);
  }
  const list = el("ol", { class: "cites" });
  let hidden = 0;
  order.forEach((k, n) => {
    const type = typeOf(view.citations[k]);
    if (grouped && (n === 0 || typeOf(view.citations[order[n - 1]]) !== type)) {
      const count = view.citations.filter((c) => typeOf(c) === type).length;
      list.append(el("li", { class: "group", hidden: n >= index.maxCited }, type ? type.replaceAll("_", " ") : "no source type", el("span", { class: "dim" }, ` (${count})`)));
    }
    const card = citationOf(box, view, k, passages);
    if (n >= index.maxCited) { card.hidden = true; hidden++; }
    list.append(card);
  });
  if (!hidden) return list;
  const more = el("button", { type: "button", class: "more-cites", onclick: () => { for (const e of list.querySelectorAll("[hidden]")) e.hidden = false; more.remove(); } },
    `show ${plural(hidden, "more citation", "more citations")}`);
  return el("div", null, list, more);
}
function citationOf(box, view, k, passages) {
  const c = view.citations[k], o = c.origin;
  const status = index.statuses[c.status] || { tone: "neutral", short: "unknown", long: "" };
  return el("li", { "data-citation": k }, citeButton(box, view, k), " ", badge(status), " ",
    c.more ? badge(index.problems[c.problem]) : "",
    c.support ? [" ", badge({ tone: c.tone || "neutral", short: c.support, long: index.judge })] : "",
    el("p", { class: "place" }, o?.name ? [el("b", null, o.url ? el("a", { href: o.url, rel: "noopener noreferrer" }, el("bdi", null, o.name)) : el("bdi", null, o.name)), o.details ? el("span", { class: "dim" }, " (" + o.details.join(", ") + ")") : "", el("br")] : "", el("bdi", null, c.place),
      o?.relevance || o?.tokens ? el("span", { class: "dim" }, " · " + [o.relevance, o.tokens].filter(Boolean).join(" · ")) : ""),
    compareOf(view, c, k, status, passages),
    c.why.map((w) => el("p", { class: "small" }, w)),
    c.quote ? el("blockquote", { dir: "auto", tabindex: "0", role: "group", "aria-label": "quoted text" }, c.quote) : "");
}
// compareOf sets what is cited beside what should have been.
function compareOf(view, c, k, status, passages) {
  const want = c.instead && passages.get(c.instead.join(":"));
  if (!want) return "";
  return el("div", { class: "compare" }, passage("got", "cited", passages.get(PREDICTED + ":" + k), status.code === "ok" ? "no text at this place" : status.short), passage("want", "should have been cited", want, "", c.whose));
}
function passage(kind, caption, p, none, whose) {
  if (!p && !none) return "";
  return el("figure", { class: "passage " + kind }, el("figcaption", null, caption, p ? el("span", { class: "dim" }, " · ", el("bdi", null, p.name), whose ? " · " + whose : "") : ""),
    p ? el("blockquote", { dir: "auto" }, shorten(p.text)) : el("p", { class: "dim" }, none));
}
const shorten = (text) => text.length > 480 ? text.slice(0, 340).trimEnd() + " … " + text.slice(-110).trimStart() : text;
// passagesOf finds the text of every mark: by its kind and number.
function passagesOf(view, texts) {
  const all = new Map();
  view.sources.forEach((s, n) => {
    for (const p of s.pieces) {
      for (let m = 0; m < (p.marks || []).length; m += 4) {
        const [kind, of, first, last] = p.marks.slice(m, m + 4), key = kind + ":" + of;
        if (!all.has(key) && last >= first) all.set(key, { name: s.name, text: texts[n].pieces[p.piece].slice(p.runs[3 * first], p.runs[3 * last + 1]) });
      }
    }
  });
  return all;
}
// pairOf is the row of the run before and that of the run after, in this order; null if the
// row is compared with none.
function pairOf(i) {
  if (index.partner[i] >= 0) return [index.partner[i], i];
  const after = index.partner.indexOf(i);
  return after < 0 ? null : [i, after];
}
// sideBySide sets the two answers of a pair beside each other and marks what differs: words
// of the answers, and citations that only one of them has.
function sideBySide(pair, details) {
  const names = pair.map((k) => index.systems[index.system[k]]);
  if (!details[0] || !details[1]) return el("p", { class: "notice" }, "There is no room on this page for the answer to compare with.");
  const answers = details.map((d) => d.record.answer || "");
  const runs = wordDiff(...answers.map(wordsOf));
  // A place that is cited twice is two citations: the second one has the number 2.
  const cites = details.map((d) => d.view.citations.map((c, n, all) => c.place + "\n" + all.slice(0, n + 1).filter((x) => x.place === c.place).length));
  const side = (k) => {
    const only = k ? "ins" : "del", d = details[k];
    const list = d.view.citations.map((c, n) => {
      const place = el("bdi", null, c.place);
      return el("li", null, cites[1 - k].includes(cites[k][n]) ? place : el(only, null, place), " ", badge(index.problems[c.problem]));
    });
    return el("figure", { class: "side" },
      el("figcaption", null, pair[k] === index.keys.indexOf(state.row) ? el("b", null, names[k]) : el("a", { href: "#row=" + index.keys[pair[k]] }, names[k]), " ", badge(index.problems[d.view.problem])),
      el("div", { class: "text", dir: "auto" }, answers[k] ? runs.map(([both, ...own]) => both ? own[k] : own[k] ? el(only, null, own[k]) : "") : el("span", { class: "dim" }, "no answer")),
      list.length ? el("ol", null, list) : el("p", { class: "dim" }, "cites nothing"));
  };
  const numbers = index.metrics.slice(0, index.columns).map((m) => [m.label, ...pair.map((k) => m.code[k] < 0 ? "–" : m.text[m.code[k]])]);
  const same = answers[0] === answers[1] && String(cites[0]) === String(cites[1]);
  return el("section", { class: "beside", "aria-label": "Both answers side by side" }, el("h3", null, "Both answers"),
    el("p", { class: "small" }, same ? "Answer and citations are the same." : ["What only the earlier one has is ", el("del", null, "struck out"), ", what only the later one has ", el("ins", null, "underlined"), "."]),
    el("div", { class: "sides" }, side(0), side(1)),
    numbers.length ? el("table", { class: "numbers" }, el("caption", { class: "sr" }, "Numbers of both answers"), el("thead", null, el("tr", null, el("th", { scope: "col" }, "metric"), names.map((n) => el("th", { scope: "col", class: "num" }, n)))),
      el("tbody", null, numbers.map(([label, ...cells]) => el("tr", null, el("th", { scope: "row" }, label), cells.map((c, k) => el("td", { class: "num" }, k && c !== cells[0] ? el("b", null, c) : c)))))) : "");
}
// wordsOf cuts a text into words and what stands between them.
function wordsOf(text) {
  if (!Intl.Segmenter) return text.match(/\s+|[^\s]+/g) || [];
  return Array.from(new Intl.Segmenter(undefined, { granularity: "word" }).segment(text), (s) => s.segment);
}
// wordDiff compares two lists of words: [true, text, text] for what both have, [false, a, b]
// for what stands in its place in each. What is too much to compare is one difference.
function wordDiff(a, b) {
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail), out = [];
  const add = (both, p, q) => {
    const last = out.at(-1);
    if (last && last[0] === both) { last[1] += p; last[2] += q; } else if (p || q) out.push([both, p, q]);
  };
  add(true, a.slice(0, head).join(""), b.slice(0, head).join(""));
  if (x.length * y.length > 4e6) add(false, x.join(""), y.join(""));
  else {
    const wide = y.length + 1, common = new Uint16Array((x.length + 1) * wide); // of what follows
    for (let i = x.length - 1; i >= 0; i--) for (let j = y.length - 1; j >= 0; j--) common[i * wide + j] = x[i] === y[j] ? common[(i + 1) * wide + j + 1] + 1 : Math.max(common[(i + 1) * wide + j], common[i * wide + j + 1]);
    for (let i = 0, j = 0; i < x.length || j < y.length;) {
      if (i < x.length && j < y.length && x[i] === y[j]) { add(true, x[i++], y[j++]); }
      else if (j >= y.length || i < x.length && common[(i + 1) * wide + j] >= common[i * wide + j + 1]) add(false, x[i++], "");
      else add(false, "", y[j++]);
    }
  }
  const rest = a.slice(a.length - tail).join("");
  add(true, rest, rest);
  return out;
}
// othersOf links the other answers to the same question, by the first metric.
function othersOf(i) {
  const id = index.keys[i].split("/")[0], m = index.metrics[0];
  const others = index.keys.flatMap((k, j) => j !== i && k.startsWith(id + "/") ? [j] : []).slice(0, 20);
  if (!others.length) return "";
  return el("p", { class: "small" }, "Other answers to this question: ", others.map((j, n) => [n ? " · " : "", el("a", { href: "#row=" + index.keys[j] }, index.systems[index.system[j]]),
    m ? ` ${m.code[j] < 0 ? "–" : m.text[m.code[j]]}` : "", " ", badge(index.problems[index.problem[j]])]));
}
function callsOf(view) {
  return el("p", { class: "small dim" }, "Asked: ", view.calls.map((c, k) => [k ? "; " : "", c.model ? c.model + " (" + c.facts + ")" : c.facts]), ".");
}

function sourcesOf(box, view, texts) {
  const out = el("div");
  const all = view.sources.flatMap((s) => s.pieces.flatMap((p) => p.runs.filter((_, i) => i % 3 === 2)));
  const judged = all.some((x) => x & SUPPORT), missed = all.some((x) => x & ELSEWHERE);
  out.append(el("p", { class: "legend" }, el("mark", { class: "p" }, "cited"), el("mark", { class: "t" }, "marked as true"), el("mark", { class: "p t" }, "both"),
    judged ? el("mark", { class: "s" }, (index.judge === "Judge" ? "the judge's" : index.judge.toLowerCase()) + " evidence") : "", missed ? el("mark", { class: "e" }, "evidence not cited") : "",
    all.some((x) => x & TOLERANCE) ? el("mark", { class: "o" }, "tolerance") : ""));
  if (!view.sources.length) out.append(el("p", null, "There is no text to show: nothing is cited or marked, or the documents are not at hand."));
  view.sources.forEach((s, n) => {
    const card = el("div", { class: "source" }, el("h4", null, el("bdi", null, s.name)));
    for (const p of s.pieces) card.append(el("div", { class: "small dim" }, p.head), pieceOf(view, p, texts[n].pieces[p.piece], s.name));
    out.append(card);
  });
  for (const t of view.truth || []) out.append(el("p", { class: "small dim" }, t));
  return out;
}
function pieceOf(view, p, text, name) {
  const notes = new Map((p.notes || []).map((n) => [n.run, n]));
  const out = el("div", { class: "text", dir: "auto", tabindex: "0", role: "group", "aria-label": "text of " + name });
  if (p.before) out.append(el("span", { class: "left-out" }, "… "));
  for (let r = 0; r * 3 < p.runs.length; r++) {
    const part = text.slice(p.runs[3 * r], p.runs[3 * r + 1]), flags = p.runs[3 * r + 2], note = notes.get(r) || {};
    if (flags === FOLDED) {
      const fold = el("button", { type: "button", class: "fold", onclick: () => fold.replaceWith(el("span", null, part)) }, `show ${plural(part.length, "character", "characters")}`);
      out.append(fold);
      continue;
    }
    if (flags === 0) { out.append(el("span", null, part)); continue; }
    const kinds = (flags & PREDICTED ? "p " : "") + (flags & TRUE ? "t " : "") + (flags & SUPPORT ? "s " : "") + (flags & ELSEWHERE ? "e " : "") + (flags === TOLERANCE ? "o" : "");
    for (const k of note.cites || []) {
      const tone = view.citations[k] ? index.problems[view.citations[k].problem].tone : "";
      out.append(el("span", { class: "cite " + tone, "aria-hidden": "true" }, String(k + 1)));
    }
    const mark = el("mark", { class: kinds.trim() }, note.open ? sr("(" + note.open + ") ") : "", part, note.close ? sr(" (" + note.close + ")") : "");
    if ((note.cites || []).length) { mark.dataset.cite = note.cites[0]; mark.tabIndex = -1; }
    out.append(mark);
  }
  if (p.after) out.append(el("span", { class: "left-out" }, " …"));
  return out;
}
// number prints a value as the rest of the page does.
function number(v) {
  const a = Math.abs(v);
  if (a < 1e15 && (a >= 1000 || Number.isInteger(v) && a > 1)) return v.toFixed(0);
  if (a < 0.0005) return "0.000";
  return a <= 1 ? v.toFixed(3) : String(Number(v.toPrecision(4)));
}
const HIDDEN = "hallucination_score"; // 1 less the rate, which is shown
function metricsOf(record) {
  const reasons = index.undefined[record.undefined];
  return el("div", null, el("dl", { class: "pairs" }, record.metrics.map((v, k) => v === null || index.metricNames[k] === HIDDEN ? "" : el("div", null, el("dt", null, el("a", { href: "#m-" + index.metricNames[k] }, index.metricNames[k])), el("dd", null, number(v))))),
    reasons.length ? [el("p", { class: "small dim" }, "Undefined, by reason:"), el("ul", { class: "small dim" }, reasons.map((u) => el("li", null, u.reason + ": " + u.metrics.filter((m) => m !== HIDDEN).join(", "))))] : "");
}

// ---- controls

const controls = {};
function choice(name, text, options) {
  const s = el("select", { onchange: () => setFacet(name, s.value) }, el("option", { value: "" }, "any"), options.map(([v, t]) => el("option", { value: v }, t)));
  controls[name] = s;
  return el("label", null, text, s);
}
function setFacet(facet, value) {
  const rest = state.filters.filter((f) => !f.startsWith(facet + ":"));
  go({ filters: value ? [...rest, facet + ":" + value] : rest, page: 1, row: "" });
}
const SINCE = { new: "new failures", fixed: "fixed", still: "still failing" };
function present(words, bits, counts) {
  return words.flatMap((w, k) => { const n = counts ? counts[k] : bits.reduce((n, b) => n + (b >>> k & 1), 0); return n ? [[w.code, `${w.short} (${n})`]] : []; });
}
function buildControls() {
  const box = $("controls");
  let timer = 0;
  const search = el("input", { type: "search", [served ? "onchange" : "oninput"]: () => { clearTimeout(timer); timer = setTimeout(() => go({ query: search.value.trim(), page: 1, row: "" }, true), 150); } });
  controls.query = search;
  const problems = index.problems.flatMap((w, k) => { const n = served ? index.asked.problem[k] : index.problem.filter((p) => p === k).length; return n ? [[w.code, `${w.short} (${n})`]] : []; }).reverse();
  const sorts = [["", "worst first"], ["row", "order of the input"], ["id", "id"], ...index.metrics.flatMap((m) => [[m.name, m.label + " ↑"], ["-" + m.name, m.label + " ↓"]])];
  const sort = el("select", { onchange: () => go({ sort: sort.value, page: 1, row: "" }) }, sorts.map(([v, t]) => el("option", { value: v }, t)));
  controls.sort = sort;
  const more = innerWidth > 760 ? box : el("div"); // folded where there is little room
  box.append(el("label", null, "search", search));
  more.append(choice("problem", "worst problem", problems));
  if ((index.asked?.outcome || index.outcome).some(Boolean)) more.append(choice("outcome", "some claim is", present(index.outcomes, index.outcome, index.asked?.outcome)));
  more.append(choice("status", "some citation is", present(index.statuses, index.status, index.asked?.status)));
  if (index.systems.length > 1) more.append(choice("system", "system", index.systems.map((s) => [s, s])));
  if (index.providers.length > 1) more.append(choice("provider", "provider", index.providers.toSorted().map((p) => [p, p])));
  if (index.models.length > 1) more.append(choice("model", "model", index.models.toSorted().map((m) => [m, m])));
  if (index.types.length) more.append(choice("type", "cites a", index.types.toSorted().map((t) => [t, t.replaceAll("_", " ")])));
  if (index.annotators.length > 1) more.append(choice("annotator", "scored against", index.annotators.toSorted().map((a) => [a, a])));
  if (index.tagNames.length) more.append(choice("tag", "tag", index.tagNames.slice(0, 500).toSorted().map((t) => [t, t])));
  more.append(choice("is", "only", [["failing", "failing rows"], ["error", "error rows"]]));
  if (index.since.some(Boolean)) more.append(choice("since", "since the run before", index.sinceNames.flatMap((code, k) => code ? [[code, `${SINCE[code]} (${index.since.filter((s) => s === k).length})`]] : [])));
  if (index.metrics.length) more.append(rangeControl());
  more.append(el("label", null, "sort", sort));
  if (more !== box) box.append(el("details", null, el("summary", null, "filters and order"), more));
  box.hidden = false;
}
function rangeControl() {
  const metric = el("select", { "aria-label": "metric" }, index.metrics.map((m) => el("option", { value: m.name }, m.label)));
  const lo = el("input", { type: "number", step: "any", "aria-label": "at least", placeholder: "from" }), hi = el("input", { type: "number", step: "any", "aria-label": "below", placeholder: "to" });
  const set = () => setFacet(metric.value, lo.value === "" && hi.value === "" ? "" : lo.value + ".." + hi.value);
  lo.addEventListener("change", set); hi.addEventListener("change", set);
  controls.range = { metric, lo, hi };
  return el("div", { class: "range-control", role: "group", "aria-label": "metric range" }, el("span", { class: "small dim" }, "metric between"), el("div", null, metric, " ", lo, " ", hi));
}
function syncControls() {
  for (const [name, c] of Object.entries(controls)) {
    if (name === "query") { if (c.value.trim() !== state.query) c.value = state.query; }
    else if (name === "sort") c.value = state.sort;
    else if (name === "range") {
      const f = state.filters.find((f) => index.metrics.some((m) => f.startsWith(m.name + ":")) && f.includes(".."));
      if (f) { c.metric.value = f.slice(0, f.indexOf(":")); [c.lo.value, c.hi.value] = f.slice(f.indexOf(":") + 1).split(".."); }
      else { c.lo.value = c.hi.value = ""; }
    } else {
      const f = state.filters.find((f) => f.startsWith(name + ":"));
      c.value = f ? f.slice(name.length + 1) : "";
    }
  }
}

// ---- keys, theme, sections

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  $("theme-name").textContent = theme || "system";
}
function toSection(section) {
  const h = section.querySelector("h1, h2");
  section.scrollIntoView();
  h.focus({ preventScroll: true });
}
// toPart goes to an element of the page, unfolding what it lies in.
function toPart(id) {
  const target = $(id);
  if (!target) return;
  for (let d = target.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
  if (target.matches("section")) toSection(target);
  else target.scrollIntoView();
}
function moveTo(tr, scroll) {
  for (const r of table.querySelectorAll("tr.at")) r.classList.remove("at");
  if (!tr) return;
  tr.classList.add("at");
  at = [...table.querySelectorAll("tr.row")].indexOf(tr);
  if (scroll) {
    tr.querySelector(".id button").focus({ preventScroll: true });
    tr.scrollIntoView({ block: "nearest" });
  }
}
let loading = true, early = null; // early: what was typed after / while the page was loading
function toSearch() {
  $("rows").scrollIntoView();
  controls.query?.focus({ preventScroll: true });
}
function onKey(e) {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = e.target.closest("input, select, textarea, [contenteditable]");
  if (e.key === "Escape") {
    if ($("help").open) return;
    if (typing) typing.blur();
    else if (state.row) go({ row: "" });
    return;
  }
  if (typing || $("help").open) return;
  if (loading && (early !== null || e.key === "/")) { // the search is not there yet: what is typed waits for it
    if (early === null) early = "";
    else if (e.key === "Backspace") early = early.slice(0, -1);
    else if (e.key.length === 1) early += e.key;
    e.preventDefault();
    return;
  }
  const rows = [...table.querySelectorAll("tr.row")];
  switch (e.key) {
    case "j": moveTo(rows[Math.min(at + 1, rows.length - 1)], true); break;
    case "k": moveTo(rows[Math.max(at - 1, 0)], true); break;
    case "Enter": if (at >= 0 && !e.target.closest("a, button, summary")) toggle(Number(rows[at].dataset.row)); return;
    case "/": toSearch(); break;
    case "[": if (state.page > 1) go({ page: state.page - 1, row: "" }); break;
    case "]": if (state.page < pages()) go({ page: state.page + 1, row: "" }); break;
    case "?": $("help").showModal(); break;
    default: {
      const section = /^[1-9]$/.test(e.key) && document.querySelectorAll("main > section")[Number(e.key) - 1];
      if (!section) return;
      toSection(section);
    }
  }
  e.preventDefault();
}

function wire() {
  document.querySelector(".tools").hidden = false;
  $("theme").addEventListener("click", () => go({ theme: { "": "light", light: "dark", dark: "" }[state.theme || ""] }, true));
  $("print").addEventListener("click", () => print());
  $("keys").addEventListener("click", () => $("help").showModal());
  $("help-close").addEventListener("click", () => $("help").close());
  document.addEventListener("keydown", onKey);
  addEventListener("popstate", () => { if (isState()) apply(); });
  // Links to parts of the page scroll; only links with a state change the address.
  document.addEventListener("click", (e) => {
    const a = e.target.closest("a[href^='#'], a");
    const href = a && (a.getAttribute("href") || "");
    if (!href || !href.startsWith("#")) return;
    e.preventDefault();
    if (href.includes("=")) {
      const theme = state.theme ? "&t=" + state.theme : "";
      if (location.hash !== href + theme) history.pushState(null, "", href + theme);
      apply(true);
      return;
    }
    toPart(href.slice(1));
  });
}
async function start() {
  wire();
  state.theme = readState().theme;
  setTheme(state.theme);
  try { index = await unpack("index"); }
  catch (e) { loading = false; $("status").textContent = "The rows cannot be opened by this browser (" + e.message + "); the worst ones are listed below."; return; }
  table.setAttribute("role", "table");
  for (const th of table.tHead.rows[0].cells) {
    const text = th.textContent;
    if (served && th.dataset.sort === "question") continue; // questions are not among the results, which rows are sorted by
    th.replaceChildren(el("button", { type: "button", onclick: () => {
      const key = th.dataset.sort, now = state.sort;
      go({ sort: now === key ? "-" + key : now === "-" + key ? "" : key, page: 1, row: "" });
    } }, text, el("span", { "aria-hidden": "true" })));
  }
  buildControls();
  await apply(location.hash.includes("="));
  loading = false;
  if (!isState()) toPart(location.hash.slice(1)); // the rows have moved what follows them
  if (early !== null) {
    toSearch();
    controls.query.value = early;
    controls.query.dispatchEvent(new Event("input"));
    early = null;
  }
  performance.mark("ready");
  document.documentElement.dataset.ready = "1";
}
start();
