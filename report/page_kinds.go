package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ibid"
	"ibid/metrics"
)

// A kindLine is one kind of source: how its citations do, and what their provider
// says of them.
type kindLine struct {
	Name, Link                     string
	Cited, Valid, Supported, Wrong string
	WrongShare                     string
	Relevance, Tokens, LastIndexed string // "" where no provider says
}

// kindTable is the table of kinds of sources; nil if no citation has one.
type kindTable struct {
	Lines                          []kindLine
	Judged                         bool
	Relevance, Tokens, LastIndexed bool // some line has it
}

// A kindCount counts the citations of one kind of source.
type kindCount struct {
	name                           string
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
		k = &kindCount{name: strings.Clone(name)}
		m[k.name] = k
	}
	return k
}

// count adds what the results say of a citation whose worst problem is given.
func (m kindCounts) count(l *limits, c *citation, problem metrics.Problem) {
	if c.sourceType == "" {
		return
	}
	k := m.of(c.sourceType)
	k.cited++
	if validStatus(c.status) {
		k.valid++
	}
	if c.support != nil && *c.support >= l.Supported {
		k.supported++
	}
	if problem.Fails() {
		k.wrong++
	}
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

// newKindTable puts the counts into words, the most cited kind first.
func newKindTable(data *pageData) *kindTable {
	if len(data.kinds) == 0 {
		return nil
	}
	var list []*kindCount
	for _, name := range sortedKeys(data.kinds) {
		list = append(list, data.kinds[name])
	}
	slices.SortStableFunc(list, func(x, y *kindCount) int { return cmp.Compare(y.cited, x.cited) })
	out := &kindTable{Judged: data.judged()}
	started := data.results[0].run.Manifest.Timings.Started
	for _, k := range list {
		name := line(k.name, 80)
		l := kindLine{
			Name: strings.ReplaceAll(name, "_", " "), Link: rowsLink("type:" + name), Cited: Thousands(k.cited), Valid: Thousands(k.valid),
			Supported: Thousands(k.supported), Wrong: Thousands(k.wrong), WrongShare: percent(k.wrong, k.cited),
		}
		if k.scored > 0 {
			l.Relevance, out.Relevance = number(k.relevance/float64(k.scored)), true
		}
		if k.counted > 0 {
			l.Tokens, out.Tokens = Thousands(k.tokens), true
		}
		if !k.oldest.IsZero() {
			l.LastIndexed, out.LastIndexed = fmt.Sprintf("%s the run", age(started.Sub(k.oldest))), true
		}
		out.Lines = append(out.Lines, l)
	}
	return out
}
