package harness

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid/annotations"
	"ibid/dataset"
	"ibid/metrics/stats"
)

// A laid is the texts that the annotators of a row marked, laid one after the
// other in the order of their names, so that marks in several texts are marks in
// one.
type laid struct {
	keys    []TextKey
	starts  []int64         // of each key
	length  int64           // of all
	known   bool            // every text is at hand; else starts leave room for the marks
	unclear map[string]bool // annotators some mark of whom is in no text
}

func layTexts(r *dataset.Resolver, row *dataset.Row, places *dataset.Resolved) *laid {
	l := &laid{known: true, unclear: make(map[string]bool)}
	for i := range row.Truth {
		at := &places.Truth[i]
		switch key := (TextKey{at.Doc, at.Page}); {
		case row.Truth[i].DocNull:
		case !at.InSets():
			l.unclear[row.Truth[i].Annotator] = true
		case !slices.Contains(l.keys, key):
			l.keys = append(l.keys, key)
		}
	}
	slices.SortFunc(l.keys, func(a, b TextKey) int {
		return cmp.Or(strings.Compare(a.Doc, b.Doc), cmp.Compare(a.Page, b.Page))
	})
	for _, key := range l.keys {
		l.starts = append(l.starts, l.length)
		text, ok := r.Text(key.Doc, key.Page)
		if ok {
			l.length += int64(utf8.RuneCountInString(text))
			continue
		}
		l.known = false
		l.length += furthest(places, key) + 1 // marks in two texts must not touch
	}
	return l
}

// furthest is the end of the last mark in a text.
func furthest(places *dataset.Resolved, key TextKey) (end int64) {
	for i := range places.Truth {
		if p := &places.Truth[i]; p.Doc == key.Doc && p.Page == key.Page && p.InSets() {
			end = max(end, p.End)
		}
	}
	return end
}

// marks are those of each annotator, without the unclear ones.
func (l *laid) marks(row *dataset.Row, places *dataset.Resolved) []annotations.Mark {
	var out []annotations.Mark
	at := make(map[string]int)
	for i := range row.Truth {
		t, place := &row.Truth[i], &places.Truth[i]
		if l.unclear[t.Annotator] {
			continue
		}
		k, ok := at[t.Annotator]
		if !ok {
			k = len(out)
			at[t.Annotator] = k
			out = append(out, annotations.Mark{Annotator: strings.Clone(t.Annotator)})
		}
		if !t.DocNull {
			start := l.starts[slices.Index(l.keys, TextKey{place.Doc, place.Page})]
			out[k].Units = append(out[k].Units, stats.Unit{Start: start + place.Start, End: start + place.End, Category: 1})
		}
	}
	return out
}

// A laidPlace is a stretch of one text.
type laidPlace struct {
	doc        string
	start, end int64
}

// places are the stretches of texts that a unit covers.
func (l *laid) places(u stats.Unit) []laidPlace {
	var out []laidPlace
	for i, key := range l.keys {
		from, to := l.starts[i], l.length
		if i+1 < len(l.starts) {
			to = l.starts[i+1]
		}
		if start, end := max(u.Start, from), min(u.End, to); start < end {
			out = append(out, laidPlace{key.Doc, start - from, end - from})
		}
	}
	return out
}
