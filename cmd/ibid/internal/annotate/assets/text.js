"use strict";

const $ = (id) => document.getElementById(id);

// A Run is a stretch of a document of at most one sentence. The runs of a document make up
// its whole text. Words are the lengths, in UTF-16 code units, of what is between words and of
// words, by turns. Joins are the places between the code points of one grapheme: no mark
// begins or ends there.
const segmenter = (granularity) => new Intl.Segmenter("en", { granularity });
const sentences = segmenter("sentence");
const graphemes = segmenter("grapheme");
const wordsOf = segmenter("word");
const longestRun = 800;

class Run {
  constructor(start, text) {
    this.start = start; // code points before it
    this.text = text;
  }

  get words() {
    if (!this.lengths) {
      this.lengths = [];
      let last = 0;
      for (const { segment, index, isWordLike } of wordsOf.segment(this.text)) {
        if (!isWordLike) continue;
        this.lengths.push(index - last, segment.length);
        last = index + segment.length;
      }
    }
    return this.lengths;
  }

  get joins() {
    if (!this.inside) {
      this.inside = [];
      for (const { segment, index } of graphemes.segment(this.text)) {
        let at = index;
        for (const c of segment) {
          if (at > index) this.inside.push(at);
          at += c.length;
        }
      }
    }
    return this.inside;
  }
}

function runsOf(text) {
  const runs = [];
  let start = 0;
  const add = (part) => {
    runs.push(new Run(start, part));
    start += [...part].length;
  };
  for (const { segment } of sentences.segment(text)) {
    let rest = segment;
    while (rest.length > longestRun) {
      const space = rest.lastIndexOf(" ", longestRun - 1) + 1;
      let cut = space > longestRun / 2 ? space : longestRun;
      cut = graphemes.segment(rest).containing(cut).index || cut;
      add(rest.slice(0, cut));
      rest = rest.slice(cut);
    }
    if (rest) add(rest);
  }
  return runs;
}

// Places: runs of text and UTF-16 code units in them, or code points of the document.

// pointsIn is how many code points of a text are before a place, undefined between the
// halves of a surrogate pair or beyond the end.
function pointsIn(text, unit) {
  let units = 0;
  let points = 0;
  for (const c of text) {
    if (units >= unit) break;
    units += c.length;
    points++;
  }
  return units === unit ? points : undefined;
}

// runAt is the run in which a code point is; its end belongs to it if it is the last.
function runAt(runs, point) {
  let lo = 0;
  for (let hi = runs.length; hi - lo > 1; ) {
    const mid = (lo + hi) >> 1;
    if (runs[mid].start <= point) lo = mid;
    else hi = mid;
  }
  return lo;
}

// placeOf is the place of a code point. The end of an interval is a place in the run that
// ends there.
function placeOf(runs, point, end) {
  const i = runAt(runs, end ? point - 1 : point);
  let unit = 0;
  let left = point - runs[i].start;
  for (const c of runs[i].text) {
    if (left-- <= 0) break;
    unit += c.length;
  }
  return { run: i, unit };
}

// spanOf is the interval of code points between two places, widened to whole graphemes;
// what the program does with them. It throws where there is none.
function spanOf(runs, from, to) {
  const point = (p) => {
    const n = runs[p.run] && pointsIn(runs[p.run].text, p.unit);
    if (n === undefined) throw new Error("a place that the text does not have");
    return runs[p.run].start + n;
  };
  if (point(from) >= point(to)) throw new Error("a mark without text");
  from = { ...from };
  to = { ...to };
  // A place between two code points of a grapheme moves by whole code points.
  const joined = (p) => (runs[p.run].joins || []).includes(p.unit);
  const whole = (p) => pointsIn(runs[p.run].text, p.unit) !== undefined;
  while (joined(from) || !whole(from)) from.unit--;
  while (joined(to) || !whole(to)) to.unit++;
  return { start: point(from), end: point(to) };
}

// edgesOf are the places in a run at which a mark can begin, or end, when it is moved by
// characters, words or sentences.
function edgesOf(run, by, end) {
  const out = [];
  if (by === "word") {
    let at = 0;
    run.words.forEach((n, k) => {
      at += n;
      if ((k % 2 === 1) === end) out.push(at);
    });
    if (!end && run.words.length % 2) out.pop();
  } else if (by === "sentence") {
    if (run.text.trim()) out.push(end ? run.text.trimEnd().length : run.text.length - run.text.trimStart().length);
  } else {
    let at = 0;
    const joins = new Set(run.joins);
    for (const c of run.text) {
      if (!end && !joins.has(at)) out.push(at);
      at += c.length;
      if (end && !joins.has(at)) out.push(at);
    }
  }
  return out;
}

function before(a, b) {
  return a.run < b.run || (a.run === b.run && a.unit < b.unit);
}

// step is the next edge after a place, or the last one before it; undefined at the end.
function step(runs, from, by, end, forward) {
  for (let i = from.run; i >= 0 && i < runs.length; i += forward ? 1 : -1) {
    const edges = edgesOf(runs[i], by, end).filter((unit) => (forward ? before(from, { run: i, unit }) : before({ run: i, unit }, from)));
    if (edges.length) return { run: i, unit: edges.at(forward ? 0 : -1) };
  }
  return undefined;
}

// snapped is an interval with its edges moved out to words and white space at its ends
// left out; undefined if nothing is left.
function snapped(runs, from, to) {
  const inText = (p) => runs[p.run].text;
  from = { ...from };
  to = { ...to };
  while (before(from, to) && (from.unit >= inText(from).length || !inText(from)[from.unit].trim())) {
    if (from.unit >= inText(from).length) {
      if (from.run + 1 >= runs.length) return undefined;
      from = { run: from.run + 1, unit: 0 };
    } else from.unit++;
  }
  while (before(from, to) && (to.unit === 0 || !inText(to)[to.unit - 1].trim())) {
    if (to.unit === 0) to = { run: to.run - 1, unit: inText({ run: to.run - 1 }).length };
    else to.unit--;
  }
  if (!before(from, to)) return undefined;
  const around = (p) => {
    let at = 0;
    const { words } = runs[p.run];
    for (let k = 0; k + 1 < words.length; k += 2) {
      const start = at + words[k];
      at = start + words[k + 1];
      if (start < p.unit && p.unit < at) return [start, at];
    }
    return [p.unit, p.unit];
  };
  from.unit = around(from)[0];
  to.unit = around(to)[1];
  return { from, to };
}

// overlap is the Jaccard index of two sets of intervals, by characters; undefined if both
// are empty.
function overlap(a, b) {
  const covered = (marks) => {
    const at = new Set();
    for (const m of marks) for (let i = m.start; i < m.end; i++) at.add(`${m.doc}\n${i}`);
    return at;
  };
  const x = covered(a);
  const y = covered(b);
  const all = new Set([...x, ...y]).size;
  return all ? [...x].filter((k) => y.has(k)).length / all : undefined;
}
