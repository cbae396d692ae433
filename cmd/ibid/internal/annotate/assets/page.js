// The page: what is shown, and what keys and clicks do. Every change is an act; what is
// shown follows from the acts that are kept.

const hintLetters = "asdfghjklwerio";
const exerciseTarget = 0.85;

let setup; // who annotates, and the queue
let acts = []; // all that are kept
let byItem = new Map();
let at = 0; // place in the queue
let item; // what is shown of it
let state; // what its acts come to
let doc = 0; // the document that is open
let active = ""; // id of the mark that keys move
let question = 0;
let snap = true;
let typed = ""; // the first letter of a hint
let finds = { list: [], at: -1 };
let exercise; // its items, acts and scores while it is being done
let spans = []; // elements of the runs of the document

const adjudicating = () => setup.mode === "adjudicate" && !exercise;
const queue = () => (exercise ? exercise.queue : setup.queue);
const actsOf = (name) => (exercise ? exercise.acts.get(name) : byItem.get(name)) || [];
const part = () => queue()[at].part;
const runs = () => item.documents[doc].runs;

function element(name, props = {}, ...children) {
  const e = Object.assign(document.createElement(name), props);
  e.append(...children);
  return e;
}

function say(text, tone = "neutral") {
  $("saved").textContent = text;
  $("saved").className = `badge ${tone}`;
}

function warn(text) {
  $("message").textContent = text;
  $("message").hidden = !text;
}

// What is typed while something is being kept happens after it, in its order.
let later = Promise.resolve();
function then(f) {
  later = later.then(f).catch((e) => warn(e.message));
}

function addAct(a) {
  acts.push(a);
  if (!byItem.has(a.item)) byItem.set(a.item, []);
  byItem.get(a.item).push(a);
}

// keep keeps an act of the item that is shown, and shows what follows. It tries again
// until it is kept, with the same id.
async function keep(op, more = {}) {
  const act = { id: crypto.randomUUID(), item: item.id, op, part: part(), ...more };
  warn("");
  if (exercise) return keepExercise(act);
  say("saving", "warn");
  for (;;) {
    try {
      const kept = await store.keep(act, item);
      addAct(kept);
      break;
    } catch (e) {
      if (e.refused) {
        say("not saved", "bad");
        throw e;
      }
      say("not saved", "bad");
      warn(`Not saved: ${e.message}. Trying again.`);
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
  warn("");
  say("saved", "good");
  refresh();
  return act;
}

// Nothing of the exercise is kept.
function keepExercise(act) {
  if (act.from) Object.assign((act.args ||= {}), spanOf(item.documents.find((d) => d.doc === act.args.doc).runs, act.from, act.to));
  const all = exercise.acts.get(item.id) || [];
  exercise.acts.set(item.id, [...all, act]);
  refresh();
  return act;
}

// Showing

function isDone(place) {
  return fold(actsOf(place.item)).done[place.part];
}

function refresh() {
  state = fold(actsOf(item.id));
  if (!state.marks.some((m) => m.id === active)) active = state.marks.at(-1)?.id || "";
  showProgress();
  showMarks();
  showOpinions();
  showProposals();
  showQuestions();
  showCommands();
  $("note-line").hidden = !state.note && document.activeElement !== $("note");
  if (document.activeElement !== $("note")) $("note").value = state.note;
  paint();
}

// Items an hour: pauses of more than ten minutes are no work.
function speed() {
  let n = 0;
  let time = 0;
  const times = acts.filter((a) => a.op === "done").map((a) => Date.parse(a.at));
  for (let i = 1; i < times.length; i++) {
    const took = times[i] - times[i - 1];
    if (took > 0 && took < 600_000) {
      n++;
      time += took;
    }
  }
  return n > 2 ? Math.round((n * 3_600_000) / time) : 0;
}

function showProgress() {
  const folded = new Map();
  const of = (p) => folded.get(p.item) || folded.set(p.item, fold(actsOf(p.item))).get(p.item);
  const done = queue().filter((p) => of(p).done[p.part]).length;
  const skipped = queue().filter((p) => of(p).skip[p.part]).length;
  let text = `${done} of ${queue().length} done`;
  if (skipped) text += `, ${skipped} skipped`;
  if (speed() && !exercise) text += `, ${speed()} an hour`;
  $("progress").textContent = text;
  const p = queue()[at];
  let place = `${exercise ? "Exercise, item" : "Item"} ${at + 1} of ${queue().length}`;
  if (state.done[p.part]) place += " · done";
  if (state.skip[p.part]) place += " · skipped";
  if (state.flag) place += " · ⚑ flagged";
  $("place").textContent = place;
}

async function show(i) {
  at = i;
  item = exercise ? exercise.items[i] : await store.item(queue()[i]);
  active = "";
  typed = "";
  state = fold(actsOf(item.id));
  question = Math.max(0, openQuestion());
  $("query").textContent = item.query || item.id;
  $("answer").hidden = !item.answer;
  $("answer").replaceChildren(element("h2", { textContent: "Answer" }), element("p", { className: "shown", dir: "auto", textContent: item.answer || "" }));
  $("marking").hidden = part() !== "truth";
  $("questions").hidden = part() !== "labels";
  showKeys();
  showDocuments();
  openDocument(item.documents.length ? 0 : -1);
  refresh();
  if (part() === "labels") goToCited();
  else {
    const m = state.marks[0] || (item.others || []).flatMap((o) => o.marks || [])[0] || item.proposals?.[0];
    if (m) goTo(m);
  }
  scrollTo(0, 0);
}

function showDocuments() {
  $("documents").replaceChildren(
    ...item.documents.map((d, i) =>
      element("button", { type: "button", textContent: d.doc, title: d.doc, onclick: () => then(() => (openDocument(i), paint())) }),
    ),
  );
  $("reading").hidden = !item.documents.length;
}

// openDocument shows a document: a span for each run, in blocks that the browser leaves
// out while they are out of sight.
function openDocument(i) {
  doc = i;
  spans = [];
  finds = { list: [], at: -1 };
  $("find").value = "";
  $("found").textContent = "";
  if (i < 0) return;
  [...$("documents").children].forEach((b, k) => b.setAttribute("aria-pressed", k === i));
  const blocks = document.createDocumentFragment();
  let block;
  let long = 0;
  runs().forEach((run, k) => {
    if (!block) {
      block = element("div", { className: "block", dir: "auto" });
      blocks.append(block);
      long = 0;
    }
    const span = element("span", { className: "r" }, document.createTextNode(run.text));
    span.dataset.i = k;
    spans.push(span);
    block.append(span);
    long += run.text.length;
    if ((long > 1500 && run.text.endsWith("\n")) || long > 20_000) block = undefined;
  });
  $("text").replaceChildren(blocks);
  $("text").scrollTop = 0;
  hintsSoon();
}

// paint colours intervals of the open document; the text itself stays as it is.
function paint() {
  const layers = { mark: [], active: [], cited: [], other0: [], other1: [], other2: [], other3: [], proposal: [], guide: [] };
  const name = item.documents[doc]?.doc;
  const add = (layer, m) => m.doc === name && m.start < m.end && layers[layer].push(rangeOf(m.start, m.end));
  if (name !== undefined) {
    (item.others || []).forEach((o, k) => (o.marks || []).forEach((m) => add(`other${Math.min(k, 3)}`, m)));
    (item.proposals || []).forEach((p) => add("proposal", p));
    if (part() === "truth") for (const m of state.marks) add(m.id === active ? "active" : "mark", m);
    if (exercise && state.done.truth) item.guide.forEach((m) => add("guide", m));
    for (const c of item.questions?.[question]?.cited || []) if (c.start !== undefined) add("cited", c);
  }
  for (const [layer, ranges] of Object.entries(layers)) setHighlight(layer, ranges);
  setHighlight("found", finds.list.filter((_, k) => k !== finds.at).map((f) => f.range()));
  setHighlight("here", finds.list[finds.at] ? [finds.list[finds.at].range()] : []);
}

const layerOrder = ["cited", "other0", "other1", "other2", "other3", "proposal", "mark", "active", "guide", "found", "here"];

function setHighlight(name, ranges) {
  if (!window.CSS?.highlights) return undefined; // marks are listed beside the text as well
  if (!ranges.length) return CSS.highlights.delete(name);
  const highlight = new Highlight(...ranges);
  highlight.priority = layerOrder.indexOf(name); // who decides sees the own mark above those of others
  return CSS.highlights.set(name, highlight);
}

function rangeOf(start, end) {
  const r = new Range();
  const from = placeOf(runs(), start);
  const to = placeOf(runs(), end, true);
  r.setStart(spans[from.run].firstChild, from.unit);
  r.setEnd(spans[to.run].firstChild, to.unit);
  return r;
}

function textOf(m) {
  const d = item.documents.find((x) => x.doc === m.doc);
  if (!d) return "";
  const from = placeOf(d.runs, m.start);
  const to = placeOf(d.runs, m.end, true);
  let out = "";
  for (let i = from.run; i <= to.run && out.length < 400; i++) {
    out += d.runs[i].text.slice(i === from.run ? from.unit : 0, i === to.run ? to.unit : undefined);
  }
  return out.length > 300 ? `${out.slice(0, 300)} …` : out;
}

function goTo(m) {
  const i = item.documents.findIndex((d) => d.doc === m.doc);
  if (i < 0) return;
  if (i !== doc) openDocument(i);
  paint();
  if (m.start === undefined) return;
  const run = placeOf(runs(), m.start).run;
  spans[run].scrollIntoView({ block: "center" });
  hintsSoon();
}

function goToCited() {
  const cited = item.questions?.[question]?.cited?.[0];
  if (cited) goTo(cited);
}

function button(text, key, action, more = {}) {
  const b = element("button", { type: "button", onclick: () => then(action), ...more }, text);
  if (key) b.append(" ", element("kbd", { textContent: key }));
  return b;
}

function showMarks() {
  if (part() !== "truth") return;
  $("none").hidden = !state.none;
  $("marks").replaceChildren(
    ...state.marks.map((m) => {
      const li = element("li", { className: m.id === active ? "active" : "" });
      const text = element("button", { type: "button", className: "quote", dir: "auto", textContent: textOf(m), onclick: () => ((active = m.id), goTo(m), refresh()) });
      const turn = (label, name, end, forward) =>
        button(label, "", () => ((active = m.id), moveEdge("word", end, forward)), { ariaLabel: `${name} of the mark a word ${forward ? "on" : "back"}` });
      li.append(
        text,
        element("span", { className: "dim small", textContent: m.doc }),
        element("span", { className: "turns" }, turn("⇤", "start", false, false), turn("⇥", "start", false, true), turn("←", "end", true, false), turn("→", "end", true, true), button("remove", "", () => ((active = m.id), commands.x.run()))),
      );
      return li;
    }),
  );
  if (exercise && state.done.truth) $("marks").append(element("li", { className: "guide-says" }, exerciseScore()));
}

function showOpinions() {
  const others = item.others || [];
  $("opinions").hidden = !others.length || part() !== "truth";
  if ($("opinions").hidden) return;
  $("opinions").replaceChildren(
    element("h2", { textContent: "What they marked" }),
    ...others.map((o, k) =>
      element(
        "div",
        { className: `opinion o${Math.min(k, 3)}` },
        button(o.annotator, String(k + 1), () => take("take", [o.annotator])),
        element("ul", {}, ...(o.marks || []).map((m) => element("li", {}, element("button", { type: "button", className: "quote", dir: "auto", textContent: textOf(m), onclick: () => goTo(m) })))),
        o.marks?.length ? "" : element("p", { className: "dim", textContent: "nothing to mark" }),
      ),
    ),
    element("p", {}, button("union", "+", () => take("union", others.map((o) => o.annotator))), " ", button("what all marked", "-", () => take("intersection", others.map((o) => o.annotator)))),
    element("p", { className: "dim small", textContent: state.done.truth || state.marks.length || state.none ? `Decided: ${state.how || "new"}` : "Take one over, or mark anew." }),
  );
}

// showProposals lists what a judge found. It is nobody's opinion: a person takes it,
// changes it or leaves it.
function showProposals() {
  const found = item.proposals || [];
  $("proposals").hidden = !found.length || part() !== "truth";
  $("proposals").replaceChildren(
    element("h2", { textContent: "A judge proposes" }),
    ...found.map((p, k) =>
      element("div", { className: "opinion dashed" }, button("take", k < 9 ? String(k + 1) : "", () => takeProposal(p)), element("button", { type: "button", className: "quote", dir: "auto", textContent: textOf(p), onclick: () => goTo(p) })),
    ),
  );
}

async function takeProposal(p) {
  const i = item.documents.findIndex((d) => d.doc === p.doc);
  if (i < 0) return;
  if (i !== doc) openDocument(i);
  await mark(placeOf(runs(), p.start), placeOf(runs(), p.end, true));
}

function take(how, from) {
  return keep("take", { args: { how, from } });
}

const answerOf = (q) => state.labels.find((l) => sameQuestion(l, q));

function openQuestion() {
  return (item.questions || []).findIndex((q) => !answerOf(q) && !q.settled);
}

function showQuestions() {
  if (part() !== "labels") return;
  $("questions").replaceChildren(
    ...(item.questions || []).map((q, k) => {
      const given = answerOf(q);
      const said = (q.said || []).map((s) => `${s.annotator}: ${s.value}`).join(", ");
      const choices = q.choices.map((c, n) =>
        button(c.text, String(n + 1), () => ((question = k), label(c.value)), { ariaPressed: given?.value === c.value }),
      );
      choices.push(button("cannot say", "0", () => ((question = k), label(null)), { ariaPressed: given !== undefined && given.value === null }));
      const card = element("div", { className: k === question ? "ask current" : "ask" });
      card.onclick = () => k !== question && ((question = k), refresh(), goToCited());
      card.append(
        element("p", { className: "dim small", textContent: q.ask || q.kind }),
        q.claim ? element("p", { className: "claim", dir: "auto", textContent: q.claim }) : "",
        ...(q.cited || []).map((c) => element("p", { className: "small" }, button(c.doc, "", () => ((question = k), refresh(), goTo(c))), " ", element("q", { dir: "auto", textContent: (c.start !== undefined && textOf(c)) || c.cited_text || "" }))),
        element("p", { className: "choices" }, ...choices),
        said ? element("p", { className: "dim small", textContent: said + (q.settled ? " · all said the same" : "") }) : "",
      );
      return card;
    }),
  );
}

async function label(value) {
  const q = item.questions[question];
  const args = { kind: q.kind };
  if (q.claim_id) args.claim_id = q.claim_id;
  if (q.citation_id) args.citation_id = q.citation_id;
  if (value !== null) args.value = value;
  await keep("label", { args });
  const next = openQuestion();
  if (next >= 0) {
    question = next;
    refresh();
    goToCited();
  }
}

// Hints: two letters at each sentence in sight.

let hints = new Map();

function showHints() {
  for (const span of hints.values()) delete span.dataset.hint;
  hints = new Map();
  if (part() !== "truth" || innerWidth < 760) return;
  const box = $("text").getBoundingClientRect();
  const top = Math.max(0, box.top);
  const bottom = Math.min(innerHeight, box.bottom);
  for (const block of $("text").children) {
    const b = block.getBoundingClientRect();
    if (b.bottom < top) continue;
    if (b.top > bottom) break;
    for (const span of block.children) {
      const r = span.getClientRects()[0];
      if (!r || r.bottom < top + 4) continue;
      if (r.top > bottom - 4) break;
      if (runs()[span.dataset.i].words.length < 2) continue;
      const n = hints.size;
      if (n >= hintLetters.length ** 2) return;
      const hint = hintLetters[n % hintLetters.length] + hintLetters[Math.floor(n / hintLetters.length)];
      hints.set(hint, span);
      span.dataset.hint = hint;
    }
  }
  showTyped();
}

function showTyped() {
  for (const [hint, span] of hints) span.classList.toggle("typed", typed !== "" && hint.startsWith(typed));
}

let hintsDue = false;
function hintsSoon() {
  if (hintsDue || !item) return;
  hintsDue = true;
  requestAnimationFrame(() => {
    hintsDue = false;
    showHints();
  });
}

// Marking

async function markSentence(run, extend) {
  const from = { run, unit: edgesOf(runs()[run], "sentence", false)[0] };
  const to = { run, unit: edgesOf(runs()[run], "sentence", true)[0] };
  const m = state.marks.find((x) => x.id === active && x.doc === item.documents[doc].doc);
  if (extend && m) {
    const start = placeOf(runs(), m.start);
    const end = placeOf(runs(), m.end, true);
    return keep("move", { of: m.id, args: { doc: m.doc }, from: before(from, start) ? from : start, to: before(end, to) ? to : end });
  }
  return mark(from, to);
}

async function mark(from, to) {
  const act = await keep("mark", { args: { doc: item.documents[doc].doc }, from, to });
  active = act.id;
  refresh();
}

async function moveEdge(by, end, forward) {
  const m = state.marks.find((x) => x.id === active);
  if (!m) return;
  if (item.documents[doc].doc !== m.doc) goTo(m);
  const from = placeOf(runs(), m.start);
  const to = placeOf(runs(), m.end, true);
  const next = step(runs(), end ? to : from, by, end, forward);
  if (!next || (end ? !before(from, next) : !before(next, to))) return;
  await keep("move", { of: m.id, args: { doc: m.doc }, from: end ? from : next, to: end ? next : to });
}

// placeAt is a place of a selection; between elements, the first run behind it.
function placeAt(node, offset) {
  const span = node.nodeType === Node.TEXT_NODE && node.parentElement.closest("#text .r");
  if (span) return { run: Number(span.dataset.i), unit: offset };
  const border = new Range();
  border.setStart(node, offset);
  let lo = 0;
  for (let hi = spans.length; lo < hi; ) {
    const mid = (lo + hi) >> 1;
    if (border.comparePoint(spans[mid].firstChild, 0) >= 0) hi = mid;
    else lo = mid + 1;
  }
  if (lo < spans.length) return { run: lo, unit: 0 };
  return { run: spans.length - 1, unit: runs().at(-1).text.length };
}

async function markSelection() {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed || part() !== "truth") return;
  const r = selection.getRangeAt(0);
  if (!$("text").contains(r.startContainer) && !r.intersectsNode($("text"))) return;
  let edges = { from: placeAt(r.startContainer, r.startOffset), to: placeAt(r.endContainer, r.endOffset) };
  selection.removeAllRanges();
  if (snap) edges = snapped(runs(), edges.from, edges.to);
  if (edges && before(edges.from, edges.to)) await mark(edges.from, edges.to);
}

// Going on

async function finish() {
  if (part() === "truth" && !state.marks.length && !state.none) {
    return warn("Mark a place, or press n if nothing in these documents answers this.");
  }
  if (part() === "labels" && openQuestion() >= 0) {
    question = openQuestion();
    refresh();
    return warn("A question is open. Press 0 if you cannot say.");
  }
  if (!state.done[part()]) {
    await keep("done", { args: { part: part() } });
    if (exercise) return undefined; // the guide's marks are shown first
    showAgreement().catch((e) => warn(e.message)); // it takes its time, and nobody waits
  }
  return forward();
}

// showAgreement asks how far this annotator agrees with the others. There is an answer
// once all have finished what everybody gets.
async function showAgreement() {
  if (exercise || adjudicating() || !store.agreement || !queue().every((p) => !p.shared || isDone(p))) return;
  const found = await store.agreement();
  $("agreement").hidden = !found.statistics.length;
  const number = (x) => (x === null ? "undefined" : x.toFixed(3));
  const line = (s) => `${s.name} ${number(s.estimate)}${s.low === null ? "" : ` [${number(s.low)}, ${number(s.high)}]`} on ${s.items} items`;
  $("agreement").textContent = [`Agreement with ${(found.with || []).join(" and ")}:`, ...found.statistics.map(line)].join("\n");
}

// forward shows the next place that is not done: first those not skipped.
async function forward() {
  const from = at;
  const open = (skipped) => {
    for (let k = 1; k <= queue().length; k++) {
      const i = (from + k) % queue().length;
      const s = fold(actsOf(queue()[i].item));
      if (!s.done[queue()[i].part] && Boolean(s.skip[queue()[i].part]) === skipped) return i;
    }
    return -1;
  };
  let next = open(false);
  if (next < 0) next = open(true);
  if (next >= 0) return show(next);
  warn(exercise ? exerciseResult() : "All items are done. Thank you.");
}

// backTo shows the item and part that an act belongs to.
async function backTo(act) {
  const parts = { done: act.args?.part, skip: act.args?.part, label: "labels", mark: "truth", move: "truth", remove: "truth", none: "truth", take: "truth" };
  const i = queue().findIndex((p) => p.item === act.item && p.part === (parts[act.op] || p.part));
  if (i >= 0 && i !== at) await show(i);
}

async function undo() {
  const all = exercise ? actsOf(item.id) : acts;
  const undone = undoneBy(all);
  const last = all.findLast((a) => a.op !== "undo" && !undone.has(a.id));
  if (!last) return warn("There is nothing to undo.");
  await backTo(last);
  return keep("undo", { of: last.id });
}

// redo undoes the last undo, unless something else was done since.
async function redo() {
  const all = exercise ? actsOf(item.id) : acts;
  const undone = undoneBy(all);
  const byId = new Map(all.map((a) => [a.id, a]));
  const i = all.findLastIndex((a) => a.op === "undo" && byId.get(a.of).op !== "undo" && !undone.has(a.id));
  if (i < 0 || all.slice(i).some((a) => a.op !== "undo")) return warn("There is nothing to do again.");
  await backTo(byId.get(all[i].of));
  return keep("undo", { of: all[i].id });
}

// Commands by their keys. Keys that are letters are none of the hints' letters.
const commands = {
  Enter: { name: "done, next", run: finish },
  n: { name: "nothing answers this", part: "truth", run: () => keep("none") },
  x: { name: "remove the mark", part: "truth", run: () => active && keep("remove", { of: active }) },
  v: {
    name: "next mark",
    part: "truth",
    run() {
      const i = state.marks.findIndex((m) => m.id === active);
      const m = state.marks[(i + 1) % state.marks.length];
      if (m) active = m.id;
      refresh();
      if (m) goTo(m);
    },
  },
  z: { name: () => `edges snap to words: ${snap ? "on" : "off"}`, part: "truth", run: () => ((snap = !snap), refresh()) },
  p: { name: "question before", part: "labels", run: () => moveQuestion(-1) },
  q: { name: "next question", part: "labels", run: () => moveQuestion(1) },
  u: { name: "undo", run: undo },
  y: { name: "do again", run: redo },
  m: { name: "skip", run: () => keep("skip", { args: { part: part() } }).then(forward) },
  t: { name: "flag", run: () => keep("flag", { args: { on: !state.flag } }) },
  c: {
    name: "note",
    atOnce: true, // what is typed next belongs to the note
    run() {
      $("note-line").hidden = false;
      $("note").focus();
    },
  },
  b: { name: "item before", run: () => at > 0 && show(at - 1) },
};

function moveQuestion(by) {
  question = Math.min(item.questions.length - 1, Math.max(0, question + by));
  refresh();
  goToCited();
}

function showCommands() {
  $("commands").replaceChildren(
    ...Object.entries(commands)
      .filter(([, c]) => !c.part || c.part === part())
      .map(([key, c]) => button(typeof c.name === "function" ? c.name() : c.name, key, c.run)),
  );
  // Fingers select without a mouse; pressing the button must not end the selection.
  if (part() === "truth" && matchMedia("(pointer: coarse)").matches) {
    $("commands").prepend(button("mark what is selected", "", markSelection, { onpointerdown: (e) => e.preventDefault() }));
  }
}

const otherKeys = {
  truth: [
    ["two_letters", "mark the sentence that shows them; Shift with the second: extend the mark to it"],
    ["← →", "end of the mark: a word back, on; with Shift the start"],
    ["↑ ↓", "the same by sentences"],
    [", .", "the same by characters"],
  ],
  labels: [["1 2 3 4", "answer the question"], ["0", "leave it open: it cannot be said"]],
  both: [
    ["[ ]", "document before, next"],
    ["/", "find in the document; Enter next, Esc leaves"],
    ["Space", "read on; with Shift back"],
    ["?", "guide"],
  ],
};

function showKeys() {
  const rows = [...otherKeys[part()], ...otherKeys.both];
  if (adjudicating() && part() === "truth") rows.unshift(["1 2", "take what one marked"], ["+", "take what anybody marked"], ["-", "take what all marked"]);
  document.querySelector(".keys").replaceChildren(
    ...rows.map(([key, text]) => element("div", {}, element("dt", {}, ...key.split(" ").map((k) => element("kbd", { textContent: k.replaceAll("_", " ") }))), element("dd", { textContent: text }))),
  );
}

const edges = {
  ArrowRight: ["word", true],
  ArrowLeft: ["word", false],
  ArrowDown: ["sentence", true],
  ArrowUp: ["sentence", false],
  ".": ["character", true],
  ",": ["character", false],
  ">": ["character", true],
  "<": ["character", false],
};

// press does what a key does; false if it is not ours.
function press(key, shift) {
  if (part() === "truth" && edges[key] && active) {
    const [by, forwards] = edges[key];
    then(() => moveEdge(by, !shift, forwards));
    return true;
  }
  if (/^[0-9]$/.test(key)) {
    then(() => digit(Number(key)));
    return true;
  }
  const letter = key.toLowerCase();
  if (part() === "truth" && hintLetters.includes(letter) && key.length === 1) {
    then(() => hint(letter, shift));
    return true;
  }
  const command = commands[key.length === 1 ? letter : key];
  if (command?.atOnce) {
    command.run();
    return true;
  }
  if (command && (!command.part || command.part === part())) {
    then(() => {
      if (command.part && command.part !== part()) return undefined;
      return command.run();
    });
    return true;
  }
  if (key === "/") {
    $("find").focus();
    return true;
  }
  const more = {
    "[": () => moveDocument(-1),
    "]": () => moveDocument(1),
    "?": () => ($("guide").open = !$("guide").open),
    "+": () => adjudicating() && part() === "truth" && take("union", item.others.map((o) => o.annotator)),
    "-": () => adjudicating() && part() === "truth" && take("intersection", item.others.map((o) => o.annotator)),
    " ": () => $("text").scrollBy(0, ($("text").clientHeight - 60) * (shift ? -1 : 1)),
    Escape: () => ((typed = ""), showTyped(), warn("")),
  }[key];
  if (more) then(more);
  return Boolean(more);
}

function hint(letter, shift) {
  if (part() !== "truth") return undefined;
  if (!typed) {
    typed = letter;
    showTyped();
    return undefined;
  }
  const span = hints.get(typed + letter);
  typed = "";
  showTyped();
  return span && markSentence(Number(span.dataset.i), shift);
}

function digit(n) {
  if (part() === "labels") {
    const q = item.questions[question];
    if (n === 0) return label(null);
    return q.choices[n - 1] && label(q.choices[n - 1].value);
  }
  const p = item.proposals?.[n - 1];
  if (p) return takeProposal(p);
  const o = adjudicating() && item.others?.[n - 1];
  return o && take("take", [o.annotator]);
}

function moveDocument(by) {
  const i = doc + by;
  if (i < 0 || i >= item.documents.length) return;
  openDocument(i);
  paint();
}

// Finding

function find(text) {
  finds = { list: [], at: -1 };
  if (text.trim()) {
    const whole = runs().map((r) => r.text).join("");
    const starts = [];
    let sum = 0;
    for (const r of runs()) {
      starts.push(sum);
      sum += r.text.length;
    }
    const place = (unit, end) => {
      let i = starts.findLastIndex((s) => (end ? s < unit : s <= unit));
      i = Math.max(i, 0);
      return [spans[i].firstChild, unit - starts[i]];
    };
    const pattern = new RegExp(text.trim().replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&").replace(/\s+/g, "\\s+"), "gi");
    for (const m of whole.matchAll(pattern)) {
      if (finds.list.length === 1000) break;
      finds.list.push({
        range() {
          const r = new Range();
          r.setStart(...place(m.index));
          r.setEnd(...place(m.index + m[0].length, true));
          return r;
        },
      });
    }
  }
  nextFound(1);
}

function nextFound(by) {
  const n = finds.list.length;
  if (n) {
    finds.at = (finds.at + by + n) % n;
    finds.list[finds.at].range().startContainer.parentElement.scrollIntoView({ block: "center" });
  }
  $("found").textContent = $("find").value.trim() ? (n ? `${finds.at + 1} of ${n}` : "not found") : "";
  paint();
}

// The exercise scores itself.

async function toggleExercise() {
  warn("");
  if (exercise) {
    exercise = undefined;
    if (!queue().length) return location.reload();
  } else {
    const items = await store.exercise();
    exercise = { items, queue: items.map((x) => ({ item: x.id, part: "truth" })), acts: new Map() };
  }
  $("exercise").textContent = exercise ? "end the exercise" : "exercise";
  at = 0;
  say(exercise ? "exercise: nothing is kept" : "saved", exercise ? "note" : "good");
  if (isDone(queue()[0])) await forward();
  else await show(0);
}

function exerciseScore() {
  const j = overlap(state.marks, item.guide);
  const guide = item.guide.map((m) => `“${textOf(m)}”`).join(" and ") || "nothing";
  return `The guide marks ${guide}. Overlap ${(j ?? 1).toFixed(2)}. Enter goes on.`;
}

// exerciseResult is the mean overlap of the items in which somebody marked something.
function exerciseResult() {
  const all = exercise.items.map((x) => overlap(fold(actsOf(x.id)).marks, x.guide)).filter((j) => j !== undefined);
  const mean = all.reduce((a, b) => a + b, 0) / all.length;
  return `Your overlap with the guide is ${mean.toFixed(3)}. ${mean >= exerciseTarget ? "You are ready." : `Read the rules again where you differ; ${exerciseTarget} is enough.`}`;
}

// Starting

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

document.addEventListener("keydown", (e) => {
  if (!item || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
  const field = e.target.closest("input, textarea, select");
  if (field) {
    if (e.key === "Escape") field.blur();
    if (e.key === "Enter" && field.id === "find") nextFound(e.shiftKey ? -1 : 1);
    return;
  }
  // A focused button is pressed by Enter and Space.
  if (["Enter", " "].includes(e.key) && e.target.closest("button, summary, a")) return;
  if (press(e.key, e.shiftKey)) e.preventDefault();
});
document.addEventListener("mouseup", () => item && then(markSelection));
$("text").addEventListener("scroll", hintsSoon);
new ResizeObserver(hintsSoon).observe($("text"));
$("find").addEventListener("input", () => item && find($("find").value));
$("note").addEventListener("blur", () => {
  const text = $("note").value; // what is being kept may show the old one again
  if (item) then(() => text !== state.note && keep("note", { args: { text } }));
});
$("exercise").onclick = () => then(toggleExercise);
$("theme").onclick = () => setTheme({ light: "dark", dark: "" }[document.documentElement.dataset.theme ?? ""] ?? (document.documentElement.dataset.theme === undefined ? "light" : ""));

async function start() {
  setup = await store.open();
  for (const a of setup.acts) addAct(a);
  $("who").textContent = `${setup.mode === "adjudicate" ? "adjudicate" : "annotate"} · ${setup.annotator}`;
  $("exercise").hidden = !setup.exercise;
  if (!queue().length) {
    $("query").textContent = setup.mode === "adjudicate" ? "Nothing is left to decide." : "There is nothing to annotate.";
    say("nothing to do");
    document.documentElement.dataset.ready = "1";
    return;
  }
  at = queue().length - 1;
  state = fold(actsOf(queue()[at].item));
  say("saved", "good");
  await forward();
  if (!item) await show(0);
  showAgreement().catch((e) => warn(e.message));
  document.documentElement.dataset.ready = "1";
}
then(start);
