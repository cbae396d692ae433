package harness

import (
	"ibid"
	"ibid/metrics/token"
)

// sentenceEdges widens cited spans to the borders of sentences. Being a few code points
// off does not make a place wrong: a judge should not see a statement that lacks its
// first word. Pointing to one character, or to another sentence, stays wrong. Nothing is
// cut off: a span that takes in the end of the sentence before is judged with it.
type sentenceEdges struct {
	tolerance int64 // how far an end may move; 0 moves none
	excerpt   func(doc string, page int32, start, end int64) (string, bool)
	splitter  token.Splitter
	bounds    []token.Bounds
}

// edgeContext is how many code points on either side of an end are split into sentences.
// A sentence border hangs on what stands near it.
const edgeContext = 400

// widen returns the span [start, end) of a text of the given length, with its start at
// the nearest start of a sentence at or before it and its end at the nearest end of one
// at or behind it, where these are within reach.
func (e *sentenceEdges) widen(at *ibid.Place, start, end, length, reach int64) (int64, int64) {
	if reach == 0 {
		return start, end
	}
	first, last := start-reach-1, end+reach+1
	e.near(at, start, length, reach, func(from, _ int64) {
		if from <= start {
			first = max(first, from)
		}
	})
	e.near(at, end, length, reach, func(_, to int64) {
		if to >= end {
			last = min(last, to)
		}
	})
	if first < start-reach {
		first = start
	}
	if last > end+reach {
		last = end
	}
	return first, last
}

// around returns how far whole sentences reach before and behind the span [start, end)
// of a text of the given length, within most code points on either side.
func (e *sentenceEdges) around(at *ibid.Place, start, end, length, most int64) (from, to int64) {
	from, to = start, end
	e.near(at, start, length, most, func(first, _ int64) {
		if start-most <= first && first < from {
			from = first
		}
	})
	e.near(at, end, length, most, func(_, last int64) {
		if to < last && last <= end+most {
			to = last
		}
	})
	return from, to
}

// near gives the sentences that may begin or end within reach of an edge, in code points
// of the text. Borders that the piece which is split cuts are beyond it.
func (e *sentenceEdges) near(at *ibid.Place, edge, length, reach int64, sentence func(from, to int64)) {
	from := max(edge-edgeContext-reach, 0)
	text, ok := e.excerpt(at.Doc, at.Page, from, min(edge+edgeContext+reach, length))
	if !ok {
		return
	}
	e.bounds = e.splitter.Append(e.bounds[:0], text, nil)
	for _, b := range e.bounds {
		sentence(from+int64(b.Start), from+int64(b.End))
	}
}
