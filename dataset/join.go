package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ibid"
)

// A joined is what tables of their own say of rows.
type joined struct{ truth, labels *Gold } // nil if there is none

// fill adds to a row what it has not itself, and puts one opinion in place of its own ones.
func (j *joined) fill(r *ibid.Answer, want Want) {
	if j.truth != nil && want&WantSpans != 0 && (!r.HasTruth || j.truth.replaces) && !r.IDNull {
		j.truth.fillTruth(r, want)
	}
	if j.labels != nil && want&WantLabels != 0 && (len(r.Labels) == 0 || j.labels.replaces) && !r.IDNull {
		j.labels.fillLabels(r)
	}
}

// Join returns the source with truth and labels from tables of their own, nil for none.
// Every row that it yields has them as if they stood in it: truth by its id, labels by
// its id and system. [Source.CheckJoin] must say what became of them before any row is
// used; only then are labels there that name a claim by its text.
func (s *Source) Join(truth, labels *Gold) *Source {
	other := *s
	other.fileSet.joined = joined{truth, labels}
	return other.Select(other.fileSet.options.Want)
}

// A Joined says what became of a table of truth or labels.
type Joined struct {
	Column string // truth or labels

	Elements, Lost int64 // marks or labels of the table, and those of no row
	IDs, LostIDs   int64 // ids of the table, and those of no row; of labels with the system, as id/system
	Rows, Without  int64 // rows of the dataset, and those that have nothing of the kind

	NoRow     []string // the first ids that no row has, in the order of the table
	NoElement []string // the first ids of rows for which there is nothing, in the order of the dataset
	Nothing   []string // why the first labels of rows that are there are lost
}

// keptNames bounds the names that a Joined lists.
const keptNames = 1000

// CheckJoin reads the dataset once, and reports on each table that is joined to it. A
// row that has something itself and in a table is an [*ibid.Error]. claims gives the claims
// of a row that has labels, its places resolved but for what documents say; nil if nobody
// knows them yet, so that ids are believed and texts name none.
func (s *Source) CheckJoin(ctx context.Context, c Conventions, claims func(*ibid.Answer) []ibid.Claim) ([]Joined, error) {
	var all []*joinCheck
	want := WantKeys
	if g := s.fileSet.joined.truth; g != nil {
		want |= WantSpans
		all = append(all, newJoinCheck(g))
	}
	if g := s.fileSet.joined.labels; g != nil {
		want |= WantSpans | WantAnswers | WantQuotes | WantDetails | WantClaims | WantLabels
		g.claims = make([]string, len(g.entries))
		all = append(all, newJoinCheck(g))
	}
	if len(all) == 0 {
		return nil, nil
	}
	resolver := NewResolver(nil, c)
	var row ibid.Answer
	err := s.Join(nil, nil).Select(want).Read(ctx, 0, 1024, func(b *Batch) error {
		defer b.Release()
		for i := range b.Len() {
			b.Row(i, &row)
			for _, j := range all {
				if err := j.row(&row, resolver, claims); err != nil {
					return err
				}
			}
		}
		return nil
	})
	var out []Joined
	for _, j := range all {
		out = append(out, j.report())
	}
	return out, err
}

// A joinCheck finds out what became of one table.
type joinCheck struct {
	Joined
	gold  *Gold
	found []bool // of each entry: some row has its id and system
}

func newJoinCheck(g *Gold) *joinCheck {
	clear(g.lost)
	return &joinCheck{Joined: Joined{Column: g.column, Elements: int64(len(g.entries))}, gold: g, found: make([]bool, len(g.entries))}
}

// row looks up what the table says of a row.
func (j *joinCheck) row(r *ibid.Answer, resolver *Resolver, claims func(*ibid.Answer) []ibid.Claim) error {
	g := j.gold
	own := r.HasTruth
	if g.group == groupLabels {
		own = len(r.Labels) > 0
	}
	j.Rows++
	has := own
	own = own && !g.replaces
	any := false
	var names claimNames
	g.each(r.ID, r.System, func(k int, e *goldElement) {
		if r.IDNull {
			return
		}
		if !any && g.group == groupLabels && !own {
			resolver.Resolve(r)
			names = claimNames{answer: r, resolver: resolver, unknown: claims == nil}
			if claims != nil {
				names.claims = claims(r)
			}
		}
		any, j.found[k] = true, true
		if g.group == groupLabels && !own {
			why := ""
			if g.claims[k], why = names.of(e); why != "" {
				g.lost[k] = true
				if len(j.Nothing) < keptNames {
					j.Nothing = append(j.Nothing, fmt.Sprintf("%q of %s: %s", r.ID, r.System, why))
				}
			}
		}
	})
	switch {
	case any && own:
		return &ibid.Error{
			File: r.File, Row: ibid.Some(r.FileRow), Column: g.column,
			Err:  fmt.Errorf("the row %q has %s of its own, and there is some for it in %s", r.ID, g.column, g.files[0].Name),
			Hint: fmt.Sprintf("leave one of them out: a dataset with %s of its own needs no table", g.column),
		}
	case !any && !has:
		if j.Without++; len(j.NoElement) < keptNames {
			j.NoElement = append(j.NoElement, g.key(r.ID, r.System))
		}
	}
	return nil
}

// report counts what no row has.
func (j *joinCheck) report() Joined {
	g := j.gold
	ids := make(map[string]bool) // whether some row has it
	inOrder := make([]int, len(g.entries))
	for k := range inOrder {
		inOrder[k] = k
	}
	slices.SortFunc(inOrder, func(a, b int) int { return g.entries[a].at - g.entries[b].at })
	for _, k := range inOrder {
		if !j.found[k] || g.lost[k] {
			j.Lost++
		}
		e := g.element(k)
		id := g.key(e.id, e.system)
		ids[id] = ids[id] || j.found[k]
	}
	j.IDs = int64(len(ids))
	for _, k := range inOrder {
		e := g.element(k)
		id := g.key(e.id, e.system)
		if there, first := ids[id]; first && !there {
			if j.LostIDs++; len(j.NoRow) < keptNames {
				j.NoRow = append(j.NoRow, id)
			}
		}
		delete(ids, id)
	}
	return j.Joined
}

// key names an answer, or a question if the table is one of truth.
func (g *Gold) key(id, system string) string {
	if g.group == groupTruth {
		return strings.Clone(id)
	}
	return id + "/" + system
}

// A claimNames tells which claim of an answer a label is about.
type claimNames struct {
	answer   *ibid.Answer
	claims   []ibid.Claim
	resolver *Resolver
	unknown  bool // what is claimed
}

// of returns the id of the claim that a label is about, "" if it is about none, and why
// the label is lost if what it is about is not there. An id counts if the claim says
// what the label has as its text. Otherwise the text tells, if one claim alone has it,
// white space aside, and of several claims with one text the interval.
func (n *claimNames) of(e *goldElement) (id, why string) {
	l := &e.label
	if l.CitationID != "" && !slices.ContainsFunc(n.answer.Citations, func(c ibid.Citation) bool { return c.CitationID == l.CitationID }) {
		return "", fmt.Sprintf("no citation %.80q", l.CitationID)
	}
	if l.ClaimID == "" && !e.aboutText() {
		return "", ""
	}
	if n.unknown && l.ClaimID != "" {
		return l.ClaimID, ""
	}
	at := slices.IndexFunc(n.claims, func(c ibid.Claim) bool { return c.ClaimID == l.ClaimID })
	if l.ClaimID != "" && at >= 0 && (e.claimText == "" || sameWords(n.claims[at].Text, e.claimText)) {
		return l.ClaimID, ""
	}
	if !e.aboutText() {
		return "", fmt.Sprintf("no claim %.80q", l.ClaimID)
	}
	var found []int
	for k := range n.claims {
		if e.claimText == "" || sameWords(n.claims[k].Text, e.claimText) {
			found = append(found, k)
		}
	}
	if e.claimStart.Known() && (e.claimText == "" || len(found) > 1) {
		text, unit := n.resolver.answerUnit(n.answer)
		interval := n.resolver.answerInterval(text, unit, e.claimStart, e.claimEnd)
		found = slices.DeleteFunc(found, func(k int) bool { return n.claims[k].Extent != interval })
	}
	what := fmt.Sprintf("%.80q", e.claimText)
	if e.claimText == "" {
		what = fmt.Sprintf("at [%d, %d)", e.claimStart.Value, e.claimEnd.Value)
	}
	switch len(found) {
	case 0:
		return "", "no claim " + what
	case 1:
		return strings.Clone(n.claims[found[0]].ClaimID), ""
	}
	return "", "several claims " + what
}

// sameWords reports whether two texts are the same but for white space.
func sameWords(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }
