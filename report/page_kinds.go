package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibid"
	"ibid/report/doc"
)

// A kindCount counts the citations of one kind of source.
type kindCount struct {
	cited, valid, supported, wrong int64

	relevance float64 // sum over scored citations
	scored    int64
	tokens    int64
	counted   int64
	oldest    time.Time
}

type kindCounts map[string]*kindCount

func (m kindCounts) of(name string) *kindCount {
	k := m[name]
	if k == nil {
		k = &kindCount{}
		m[strings.Clone(name)] = k
	}
	return k
}

// said adds what providers say of the citations of a row.
func (m kindCounts) said(row *ibid.Answer) {
	for i := range row.Citations {
		c := &row.Citations[i]
		if c.SourceType == "" {
			continue
		}
		k := m.of(c.SourceType)
		if c.Relevance.Known() {
			k.relevance += c.Relevance.Value
			k.scored++
		}
		if c.TokenContribution.Known() {
			k.tokens += c.TokenContribution.Value
			k.counted++
		}
		var ref reference
		if c.SourceReference == "" || json.Unmarshal([]byte(c.SourceReference), &ref) != nil {
			continue
		}
		if at, err := time.Parse(time.RFC3339, ref.LastIndexedAt); err == nil && (k.oldest.IsZero() || at.Before(k.oldest)) {
			k.oldest = at
		}
	}
}

// kindTable says of each kind of source how its citations do, and what providers say of
// them, the most cited kind first.
func kindTable(data *pageData) doc.Table {
	t := doc.Table{Caption: "Kinds of sources", Columns: []doc.Column{
		{Name: "source type"},
		{Name: "citations", Number: true},
		{Name: "valid", Number: true},
		{Name: "supported", Number: true},
		{Name: "wrong", Number: true},
		{Name: "mean relevance", Number: true, Keep: 1},
		{Name: "tokens", Number: true, Keep: 1},
		{Name: "oldest was indexed", Keep: 1},
	}}
	names := sortedKeys(data.kinds)
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(data.kinds[y].cited, data.kinds[x].cited) })
	started := data.results[0].run.Manifest.Timings.Started
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
			indexed = age(started.Sub(k.oldest)) + " the run"
		}
		name = line(name, 80)
		t.Rows = append(t.Rows, []doc.Cell{
			{Text: doc.Text{{Text: strings.ReplaceAll(name, "_", " "), Link: rowsLink("type:" + name)}}},
			doc.C(Thousands(k.cited)), doc.C(Thousands(k.valid)), doc.C(supported),
			doc.C(fmt.Sprintf("%s (%s)", Thousands(k.wrong), percent(k.wrong, k.cited))), doc.C(relevance), doc.C(tokens), doc.C(indexed),
		})
	}
	return t
}
