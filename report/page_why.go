package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibid/report/doc"
)

// whySection counts what is known of answers, claims and citations, and where they go wrong.
func whySection(data *pageData) *doc.Section {
	failing := Plural(data.failed(), "failing row", "failing rows")
	out := filled(countTable(data, "What fails most, of "+failing, "problem", failingWords(data), data.states))
	fold := func(table doc.Table) {
		out = append(out, folded(table.Caption, filled(table))...)
	}
	leftOut := slices.ContainsFunc(data.results, func(r *results) bool { return r.run.Parts.NoHallucinations })
	if data.judged() && !leftOut {
		fold(countTable(data, "What became of "+Plural(data.outcomes.sum(), "claim", "claims"), "outcome", outcomeWords, data.outcomes))
	}
	fold(countTable(data, "What is known of "+Plural(data.statuses.sum(), "cited place", "cited places"), "status", statusWords, data.statuses))
	fold(kindTable(data))
	fold(lowTable(data))
	return &doc.Section{ID: "why", Title: "Why", Blocks: out}
}

// failingWords are the problems of answers that fail, the most frequent first, then the gravest.
func failingWords(data *pageData) []word {
	words := slices.DeleteFunc(answerStates(), func(w word) bool { return w.Tone != doc.Warn && w.Tone != doc.Bad })
	slices.SortStableFunc(words, func(x, y word) int {
		return cmp.Compare(data.states.sum(y.Code), data.states.sum(x.Code))
	})
	return words
}

// countTable counts the states that occur, in the order of words, of all rows and by system.
// Counts link to the rows of their state.
func countTable(data *pageData, caption, facet string, words []word, all counts) doc.Table {
	t := doc.Table{Caption: caption, Class: "counted"}
	for _, w := range words {
		n, filter := all.sum(w.Code), facet+":"+w.Code
		if n == 0 {
			continue
		}
		t.Row()
		t.Add(doc.Column{Name: "state"}, doc.Cell{Text: doc.Text{w.span(rowsLink(filter))}})
		t.Add(doc.Column{Name: "count", Number: true}, doc.C(Thousands(n)))
		t.Add(doc.Column{Name: "share", Number: true}, doc.C(percent(n, all.sum())))
		for k, s := range data.systems {
			cell := doc.C("0")
			if c := all[w.Code][k]; c > 0 {
				cell = doc.Cell{Text: doc.Text{{Text: fmt.Sprintf("%s (%s)", Thousands(c), percent(c, all.of(k))), Link: rowsLink(filter, "system:"+clip(s, 80))}}}
			}
			if len(data.systems) > 1 {
				t.Add(doc.Column{Name: clip(s, 40), Number: true, Keep: 1}, cell)
			}
		}
		t.Add(doc.Column{Name: "meaning", Keep: 3}, doc.C(w.Long))
	}
	return t
}

// A kindCount counts the citations of one kind of source.
type kindCount struct {
	cited, valid, supported, wrong int64

	scored, counted int64 // of which the provider tells relevance, and tokens
	relevance       float64
	tokens          int64
	oldest          time.Time
}

// tell adds what the provider tells of a citation, the column source_ref, and returns its
// relevance; nil if it does not say.
func (k *kindCount) tell(source string) *float64 {
	var ref struct {
		Relevance     *float64 `json:"relevance"`
		Tokens        *int64   `json:"token_contribution"`
		LastIndexedAt string   `json:"last_indexed_at"`
	}
	_ = json.Unmarshal([]byte(source), &ref) // a member of another type is not told
	if ref.Relevance != nil {
		k.relevance, k.scored = k.relevance+*ref.Relevance, k.scored+1
	}
	if ref.Tokens != nil {
		k.tokens, k.counted = k.tokens+*ref.Tokens, k.counted+1
	}
	if at, err := time.Parse(time.RFC3339, ref.LastIndexedAt); err == nil && (k.oldest.IsZero() || at.Before(k.oldest)) {
		k.oldest = at
	}
	return ref.Relevance
}

// A lowSource is a citation of low relevance, as its provider says.
type lowSource struct {
	run       int
	row       int64
	id, doc   string
	relevance float64
}

const (
	lowRelevance = 0.5 // below it a citation is listed
	lowSources   = 20  // that are listed
)

// lowTable lists the citations of the least relevance.
func lowTable(data *pageData) doc.Table {
	t := doc.Table{
		Caption: Plural(data.lows, "citation", "citations") + fmt.Sprintf(" of low relevance (below %v)", lowRelevance),
		Columns: []doc.Column{{Name: "answer"}, {Name: "source"}, {Name: "relevance", Number: true}},
	}
	for _, l := range data.low {
		t.Rows = append(t.Rows, []doc.Cell{
			{Text: doc.Text{{Text: clip(l.id, 60), Link: rowLink(data, l.run, l.row)}}}, doc.C(clip(l.doc, 80)), doc.C(number(l.relevance)),
		})
	}
	return t
}

// kindTable says of each kind of source how its citations do, and what providers tell of them,
// the most cited kind first.
func kindTable(data *pageData) doc.Table {
	t := doc.Table{Caption: "Kinds of sources"}
	names := sortedKeys(data.kinds)
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(data.kinds[y].cited, data.kinds[x].cited) })
	for _, name := range names {
		k, supported, relevance, tokens, indexed := data.kinds[name], "", "", "", ""
		if data.judged() {
			supported = Thousands(k.supported)
		}
		if k.scored > 0 {
			relevance = number(k.relevance / float64(k.scored))
		}
		if k.counted > 0 {
			tokens = Thousands(k.tokens)
		}
		if !k.oldest.IsZero() {
			indexed = age(data.results[0].run.Manifest.Timings.Started.Sub(k.oldest)) + " the run"
		}
		name = clip(name, 80)
		t.Row()
		t.Add(doc.Column{Name: "source type"}, doc.Cell{Text: doc.Text{{Text: strings.ReplaceAll(name, "_", " "), Link: rowsLink("type:" + name)}}})
		t.Add(doc.Column{Name: "citations", Number: true}, doc.C(Thousands(k.cited)))
		t.Add(doc.Column{Name: "valid", Number: true}, doc.C(Thousands(k.valid)))
		t.Add(doc.Column{Name: "supported", Number: true}, doc.C(supported))
		t.Add(doc.Column{Name: "wrong", Number: true}, doc.C(fmt.Sprintf("%s (%s)", Thousands(k.wrong), percent(k.wrong, k.cited))))
		t.Add(doc.Column{Name: "mean relevance", Number: true, Keep: 1}, doc.C(relevance))
		t.Add(doc.Column{Name: "tokens", Number: true, Keep: 1}, doc.C(tokens))
		t.Add(doc.Column{Name: "oldest was indexed", Keep: 1}, doc.C(indexed))
	}
	return t
}
