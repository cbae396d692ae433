// The page: what is shown, and what keys and clicks do. Every change makes the whole state of
// an item anew; the last state of an item counts.

const hintLetters = "asdfghjklwerio";
const exerciseTarget = 0.85;

let setup; // who annotates, and the list of items
let last = new Map(); // the last state of each item
let lines = new Map(); // how many states of each item are kept, or wait for it
let undos = []; // of each change: the state before
let redos = [];
let at = 0; // place in the list
let item; // what is shown of it
let state; // what the person says of it
let doc = 0; // the document that is open
let active = -1; // the mark that keys move
let question = 0;
let snap = true;
let typed = ""; // the first letter of a hint
let finds = { list: [], at: -1 };
let exercise; // its items, states and scores while it is being done
let spans = []; // elements of the runs of the document

const deciding = () => setup.mode === "decide" && !exercise;
const queue = () => (exercise ? exercise.queue : setup.places);
const part = () => queue()[at].part;
const runs = () => (item.documents[doc].runs ||= runsOf(item.documents[doc].text));
const stateOf = (name) => (exercise ? exercise.states : last).get(name) || { id: name, truth: null, labels: [] };
const marks = () => state.truth || [];
const nothing = () => state.truth !== null && !state.truth.length;

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

// change makes a new state of the item that is shown, keeps it and shows what follows.
async function change(make) {
  const before = stateOf(item.id);
  const now = structuredClone(before);
  make(now);
  if (!exercise) {
    undos.push(before);
    redos = [];
  }
  await keep(now);
}

async function keep(now) {
  warn("");
  now.at = new Date().toISOString();
  if (exercise) exercise.states.set(now.id, now);
  else {
    outbox.push({ state: now, after: lines.get(now.id) || 0 });
    last.set(now.id, now);
    lines.set(now.id, (lines.get(now.id) || 0) + 1);
    await send();
  }
  if (item) refresh();
}

// What is not on disk yet, in its order.
let outbox = [];
let waiting = false; // for the program, to try again

async function send() {
  if (waiting) return away();
  say("saving", "warn");
  while (outbox.length) {
    const { state: sent, after } = outbox[0];
    try {
      await store.keep(sent, after);
      outbox.shift();
    } catch (e) {
      if (!e.refused) {
        waiting = true;
        setTimeout(again, 1000);
        return away(e);
      }
      outbox = outbox.filter((x) => x.state.id !== sent.id);
      if (e.changed) {
        lines.set(sent.id, e.changed.length);
        last.set(sent.id, e.changed.at(-1));
        refresh();
      }
      say("not saved", "bad");
      throw new Error(e.changed ? "This item was changed in another window; this is what it has become." : e.message);
    }
  }
  say("saved", "good");
}

async function again() {
  waiting = false;
  await send().catch((e) => warn(e.message));
  if (!waiting && !outbox.length) warn("");
}

// away says that changes wait in this tab.
function away(e) {
  say("not saved", "bad");
  const kept = `${outbox.length} ${outbox.length === 1 ? "change is" : "changes are"} kept in this tab.`;
  if (setup.command) warn(`The program is not running. ${kept} Start \`${setup.command}\` again.`);
  else warn(`${kept} ${e ? e.message : ""}`);
}

// Showing

const isDone = (place) => Boolean(stateOf(place.item).done);

function refresh() {
  state = stateOf(item.id);
  if (active < 0 || active >= marks().length) active = marks().length - 1;
  showProgress();
  showMarks();
  showOpinions();
  showProposals();
  showQuestions();
  showCommands();
  $("note-line").hidden = !state.note && document.activeElement !== $("note");
  if (document.activeElement !== $("note")) $("note").value = state.note || "";
  paint();
}

function showProgress() {
  const done = queue().filter(isDone).length;
  $("progress").textContent = `${done} of ${queue().length} done`;
  const marked = (p) => {
    const s = stateOf(p.item);
    return [s.done && "done", s.skip && "skipped", s.flag && "⚑ flagged"].filter(Boolean).join(", ") || "open";
  };
  $("place").textContent = `${exercise ? "Exercise, item" : "Item"} ${at + 1} of ${queue().length} · ${marked(queue()[at])}`;
  $("instruction").textContent = deciding() ? "Two people differ. Take one, or mark anew." : part() === "truth" ? "Mark the shortest text that answers the question. If nothing does, press n." : "Does the cited text support each claim?";
  if (!$("list").open) return;
  $("items").replaceChildren(
    ...queue().map((p, i) => {
      const b = button(`${(p.query || p.item).slice(0, 60)} · ${marked(p)}`, "", () => show(i));
      b.dataset.item = p.item;
      if (i === at) b.setAttribute("aria-current", "true");
      return element("li", {}, b);
    }),
  );
}

async function show(i) {
  at = i;
  item = exercise ? exercise.items[i] : await store.item(queue()[i]);
  active = -1;
  typed = "";
  state = stateOf(item.id);
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
    const m = marks()[0] || (item.others || []).flatMap((o) => o.marks || [])[0] || item.proposals?.[0];
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
    if (part() === "truth") marks().forEach((m, k) => add(k === active ? "active" : "mark", m));
    if (exercise && state.done) item.guide.forEach((m) => add("guide", m));
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

// exactText is what stands at a mark, up to some length.
function exactText(d, m, most) {
  const all = (d.runs ||= runsOf(d.text));
  const from = placeOf(all, m.start);
  const to = placeOf(all, m.end, true);
  let out = "";
  for (let i = from.run; i <= to.run && out.length < most; i++) {
    out += all[i].text.slice(i === from.run ? from.unit : 0, i === to.run ? to.unit : undefined);
  }
  return out;
}

function textOf(m) {
  const d = item.documents.find((x) => x.doc === m.doc);
  if (!d) return "";
  const out = exactText(d, m, 400);
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
  $("none").hidden = !nothing();
  $("marks").replaceChildren(
    ...marks().map((m, k) => {
      const li = element("li", { className: k === active ? "active" : "" });
      const text = element("button", { type: "button", className: "quote", dir: "auto", textContent: textOf(m), onclick: () => ((active = k), goTo(m), refresh()) });
      const turn = (label, name, end, forward) =>
        button(label, "", () => ((active = k), moveEdge("word", end, forward)), { ariaLabel: `${name} of the mark a word ${forward ? "on" : "back"}` });
      li.append(
        text,
        element("span", { className: "dim small", textContent: m.doc }),
        element("span", { className: "turns" }, turn("⇤", "start", false, false), turn("⇥", "start", false, true), turn("←", "end", true, false), turn("→", "end", true, true), button("remove", "", () => ((active = k), commands.x.run()))),
      );
      return li;
    }),
  );
  if (exercise && state.done) $("marks").append(element("li", { className: "guide-says" }, exerciseScore()));
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
        button(o.annotator, String(k + 1), () => take("take", [o])),
        element("ul", {}, ...(o.marks || []).map((m) => element("li", {}, element("button", { type: "button", className: "quote", dir: "auto", textContent: textOf(m), onclick: () => goTo(m) })))),
        o.marks?.length ? "" : element("p", { className: "dim", textContent: "nothing to mark" }),
      ),
    ),
    element("p", {}, button("union", "+", () => take("union", others)), " ", button("what all marked", "-", () => take("intersection", others))),
    element("p", { className: "dim small", textContent: state.truth ? `Decided: ${state.how || "new"}` : "Take one over, or mark anew." }),
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

function take(how, others) {
  const taken = how === "take" ? others[0].marks : item[how];
  return change((s) => Object.assign(s, { truth: structuredClone(taken || []), how, from: others.map((o) => o.annotator) }));
}

// own says that marks are made anew, not taken.
function own(s) {
  delete s.how;
  delete s.from;
}

const sameQuestion = (a, b) => (a.claim_id || "") === (b.claim_id || "") && (a.citation_id || "") === (b.citation_id || "") && a.kind === b.kind;
const answerOf = (q) => (state.labels || []).find((l) => sameQuestion(l, q));

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
  const { claim_id, citation_id, kind } = item.questions[question];
  const given = { claim_id, citation_id, kind, value };
  await change((s) => (s.labels = [...(s.labels || []).filter((l) => !sameQuestion(l, given)), given]));
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
  const m = marks()[active];
  if (extend && m?.doc === item.documents[doc].doc) {
    const start = placeOf(runs(), m.start);
    const end = placeOf(runs(), m.end, true);
    return place(before(from, start) ? from : start, before(end, to) ? to : end, active);
  }
  return mark(from, to);
}

// place puts a mark between two places, in place of another one if that is named.
async function place(from, to, instead = marks().length) {
  const d = item.documents[doc];
  const m = { doc: d.doc, ...spanOf(runs(), from, to) };
  m.cited_text = exactText(d, m, Infinity);
  await change((s) => {
    s.truth = [...(s.truth || [])];
    s.truth[instead] = m;
    own(s);
  });
  active = instead;
  refresh();
}

const mark = (from, to) => place(from, to);

async function moveEdge(by, end, forward) {
  const m = marks()[active];
  if (!m) return;
  if (item.documents[doc].doc !== m.doc) goTo(m);
  const from = placeOf(runs(), m.start);
  const to = placeOf(runs(), m.end, true);
  const next = step(runs(), end ? to : from, by, end, forward);
  if (!next || (end ? !before(from, next) : !before(next, to))) return;
  await place(end ? from : next, end ? next : to, active);
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

const complete = () => (part() === "truth" ? state.truth !== null : openQuestion() < 0);

async function finish() {
  if (part() === "truth" && !complete()) {
    return warn("Mark a place, or press n if nothing in these documents answers this.");
  }
  if (!complete()) {
    question = openQuestion();
    refresh();
    return warn("A question is open. Press 0 if you cannot say.");
  }
  if (!state.done) {
    await change((s) => Object.assign(s, { done: true, skip: false }));
    if (exercise) return undefined; // the guide's marks are shown first
  }
  return forward();
}

// forward shows the next place that is not done: first those not skipped.
async function forward() {
  const from = at;
  const open = (skipped) => {
    for (let k = 1; k <= queue().length; k++) {
      const i = (from + k) % queue().length;
      const s = stateOf(queue()[i].item);
      if (!s.done && Boolean(s.skip) === skipped) return i;
    }
    return -1;
  };
  let next = open(false);
  if (next < 0) next = open(true);
  if (next >= 0) return show(next);
  warn(exercise ? exerciseResult() : "All items are done. Thank you.");
}

// backTo goes from one state of an item to another one, which it shows.
async function backTo(from, to, none) {
  const then = from.pop();
  if (!then) return warn(none);
  const i = queue().findIndex((p) => p.item === then.id);
  to.push(stateOf(then.id));
  if (i >= 0 && i !== at) await show(i);
  return keep(structuredClone(then));
}

const undo = () => !exercise && backTo(undos, redos, "There is nothing to undo.");
const redo = () => !exercise && backTo(redos, undos, "There is nothing to do again.");

// Commands by their keys. Keys that are letters are none of the hints' letters.
const commands = {
  Enter: { name: "Save and next", main: true, run: finish },
  n: { name: "Nothing answers it", part: "truth", main: true, run: () => change((s) => ((s.truth = []), own(s))) },
  u: { name: "Undo", main: true, run: undo },
  m: { name: "Skip", main: true, run: () => change((s) => Object.assign(s, { skip: true, done: false })).then(forward) },
  x: { name: "remove the mark", part: "truth", run: () => marks()[active] && change(remove) },
  v: {
    name: "next mark",
    part: "truth",
    run() {
      if (!marks().length) return;
      active = (active + 1) % marks().length;
      refresh();
      goTo(marks()[active]);
    },
  },
  z: { name: () => `edges snap to words: ${snap ? "on" : "off"}`, part: "truth", run: () => ((snap = !snap), refresh()) },
  p: { name: "question before", part: "labels", run: () => moveQuestion(-1) },
  q: { name: "next question", part: "labels", run: () => moveQuestion(1) },
  y: { name: "do again", run: redo },
  t: { name: "flag", run: () => change((s) => (s.flag = !s.flag)) },
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

// remove takes the active mark away. Who took the last one has not said that there is nothing.
function remove(s) {
  s.truth.splice(active, 1);
  if (!s.truth.length) Object.assign(s, { truth: null, done: false });
  own(s);
}

function moveQuestion(by) {
  question = Math.min(item.questions.length - 1, Math.max(0, question + by));
  refresh();
  goToCited();
}

function showCommands() {
  const buttons = (main) =>
    Object.entries(commands)
      .filter(([, c]) => (!c.part || c.part === part()) && Boolean(c.main) === main)
      .map(([key, c]) => {
        const b = button(typeof c.name === "function" ? c.name() : c.name, key, c.run);
        if (key === "Enter") {
          b.dataset.primary = "";
          b.disabled = !complete();
        }
        return b;
      });
  $("commands").replaceChildren(...buttons(true));
  $("more").replaceChildren(...buttons(false));
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
    ["Alt_←", "the same by characters"],
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
  if (deciding() && part() === "truth") rows.unshift(["1 2", "take what one marked"], ["+", "take what anybody marked"], ["-", "take what all marked"]);
  document.querySelector(".keys").replaceChildren(
    ...rows.map(([key, text]) => element("div", {}, element("dt", {}, ...key.split(" ").map((k) => element("kbd", { textContent: k.replaceAll("_", " ") }))), element("dd", { textContent: text }))),
  );
}

const edges = {
  ArrowRight: ["word", true],
  ArrowLeft: ["word", false],
  ArrowDown: ["sentence", true],
  ArrowUp: ["sentence", false],
};

// press does what a key does; false if it is not ours.
function press(key, shift, alt) {
  if (part() === "truth" && edges[key] && marks().length) {
    const [by, forwards] = edges[key];
    then(() => moveEdge(alt ? "character" : by, !shift, forwards));
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
    "+": () => deciding() && part() === "truth" && take("union", item.others),
    "-": () => deciding() && part() === "truth" && take("intersection", item.others),
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
  const o = deciding() && item.others?.[n - 1];
  return o && take("take", [o]);
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
    exercise = { items, queue: items.map((x) => ({ item: x.id, part: "truth", query: x.query })), states: new Map() };
  }
  $("exercise").textContent = exercise ? "end the exercise" : "exercise";
  at = 0;
  say(exercise ? "exercise: nothing is kept" : "saved", exercise ? "note" : "good");
  if (isDone(queue()[0])) await forward();
  else await show(0);
}

function exerciseScore() {
  const j = overlap(marks(), item.guide);
  const guide = item.guide.map((m) => `“${textOf(m)}”`).join(" and ") || "nothing";
  return `The guide marks ${guide}. Overlap ${(j ?? 1).toFixed(2)}. Enter goes on.`;
}

// exerciseResult is the mean overlap of the items in which somebody marked something.
function exerciseResult() {
  const all = exercise.items.map((x) => overlap(stateOf(x.id).truth || [], x.guide)).filter((j) => j !== undefined);
  const mean = all.reduce((a, b) => a + b, 0) / all.length;
  return `Your overlap with the guide is ${mean.toFixed(3)}. ${mean >= exerciseTarget ? "You are ready." : `Read the rules again where you differ; ${exerciseTarget} is enough.`}`;
}

// Starting

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

document.addEventListener("keydown", (e) => {
  if (!item || e.ctrlKey || e.metaKey || e.isComposing || (e.altKey && !edges[e.key])) return;
  const field = e.target.closest("input, textarea, select");
  if (field) {
    if (e.key === "Escape") field.blur();
    if (e.key === "Enter" && field.id === "find") nextFound(e.shiftKey ? -1 : 1);
    return;
  }
  // A focused button is pressed by Enter and Space.
  if (["Enter", " "].includes(e.key) && e.target.closest("button, summary, a")) return;
  if (press(e.key, e.shiftKey, e.altKey)) e.preventDefault();
});
document.addEventListener("mouseup", () => item && then(markSelection));
$("text").addEventListener("scroll", hintsSoon);
new ResizeObserver(hintsSoon).observe($("text"));
$("find").addEventListener("input", () => item && find($("find").value));
$("note").addEventListener("blur", () => {
  const text = $("note").value; // what is being kept may show the old one again
  if (item) then(() => text !== (state.note || "") && change((s) => (s.note = text)));
});
$("exercise").onclick = () => then(toggleExercise);
$("theme").onclick = () => setTheme({ light: "dark", dark: "" }[document.documentElement.dataset.theme ?? ""] ?? (document.documentElement.dataset.theme === undefined ? "light" : ""));

async function start() {
  setup = await store.open();
  for (const s of setup.states) {
    undos.push(stateOf(s.id));
    last.set(s.id, s);
    lines.set(s.id, (lines.get(s.id) || 0) + 1);
  }
  $("who").textContent = `${setup.mode} · ${setup.annotator}`;
  $("exercise").hidden = setup.mode === "decide";
  $("list").ontoggle = () => item && showProgress();
  if (!queue().length) {
    $("query").textContent = setup.mode === "decide" ? "Nothing is left to decide." : "There is nothing to annotate.";
    say("nothing to do");
    document.documentElement.dataset.ready = "1";
    return;
  }
  at = queue().length - 1;
  say("saved", "good");
  await forward();
  if (!item) await show(0);
  document.documentElement.dataset.ready = "1";
}
then(start);
