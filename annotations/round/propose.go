package round

import (
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// ReadFound reads the places that the judge of a run found to support claims, by the ids of
// questions, whatever system's claims these are: what is cited, and what stands elsewhere.
// supported is the support from which on a place counts. Where the judge quotes, a place is
// its quote. Places of single pages are left out: they count from there and not from the
// start of the document. A run without a judge is an error of the file system.
func ReadFound(dir string, supported float64) (map[string][]Mark, error) {
	found := make(map[string][]Mark)
	columns := []string{"id", "evidence", "doc", "page", "start", "end", "support", "quote_start", "quote_end", "annotator", "vote"}
	err := runs.Verdicts.Scan(dir, columns, func(_ int64, v *runs.Judgment) error {
		if v.Annotator != nil || v.Vote != nil || v.Support == nil || *v.Support < supported || v.Doc == "" || v.Page != nil || v.Start == nil || v.End == nil {
			return nil
		}
		if !strings.HasPrefix(v.Evidence, runs.CitationEvidence) && v.Evidence != runs.ElsewhereEvidence {
			return nil
		}
		m := Mark{Doc: v.Doc, Start: *v.Start, End: *v.End}
		if v.QuoteStart != nil && v.QuoteEnd != nil {
			m.Start, m.End = *v.Start+*v.QuoteStart, *v.Start+*v.QuoteEnd
		}
		if m.Start < m.End && !slices.Contains(found[v.ID], m) {
			m.Doc = strings.Clone(m.Doc)
			id := strings.Clone(v.ID)
			found[id] = append(found[id], m)
		}
		return nil
	})
	return found, err
}

// Propose gives items of truth what a judge found. Half of them, those with an even hash, show
// it; of the others the key keeps it. It returns how many items have proposals, and how many
// show them.
func (d *Drawn) Propose(judge string, found map[string][]Mark) (all, shown int) {
	d.Key.Judge = judge
	var ids []string
	proposed := make(map[string][]Mark)
	for i := range d.Items {
		it := &d.Items[i]
		if it.Purpose != Truth {
			continue
		}
		for _, m := range found[d.Key.Items[i].ID] {
			if it.checkMark(&m) == nil {
				proposed[it.ID] = append(proposed[it.ID], m)
			}
		}
		if proposed[it.ID] != nil {
			ids = append(ids, it.ID)
		}
	}
	even := make(map[string]bool)
	for _, id := range ids {
		even[id] = stats.Key(d.Key.Draw.Seed+"\x00"+id)%2 == 0
	}
	for i := range d.Items {
		it := &d.Items[i]
		switch marks := proposed[it.ID]; {
		case marks == nil:
		case even[it.ID]:
			it.Proposals = marks
			shown++
		default:
			d.Key.Withheld = append(d.Key.Withheld, Withheld{it.ID, marks})
		}
	}
	return len(ids), shown
}

// Following says how near marks are to what a judge proposed: means of the Jaccard index over
// people and items, undefined without any.
type Following struct {
	Shown       ibid.Number `json:"shown"`
	ShownItems  int         `json:"shown_items"`
	Hidden      ibid.Number `json:"hidden"`
	HiddenItems int         `json:"hidden_items"`
}

// Following compares marks with proposals; it is nil if nothing was proposed.
func (r *Round) Following() *Following {
	if r.Key == nil || r.Key.Judge == "" {
		return nil
	}
	hidden := make(map[string][]Mark)
	for _, w := range r.Key.Withheld {
		hidden[w.Item] = w.Proposals
	}
	var f Following
	mean := func(of func(it *Item) []Mark) (ibid.Number, int) {
		sum, n, items := 0.0, 0.0, 0
		for _, a := range r.Asked() {
			proposed := Opinion{Marks: of(&r.Items[a.Item])}
			if len(proposed.Marks) == 0 {
				continue
			}
			before := n
			for _, o := range marked(a.Said) {
				if !o.Earlier {
					both := []Opinion{o, proposed}
					sum += float64(length(Combine(ibid.PolicyIntersection, both))) / float64(length(Combine(ibid.PolicyUnion, both)))
					n++
				}
			}
			if n > before {
				items++
			}
		}
		return stats.FractionOf(sum, n), items
	}
	f.Shown, f.ShownItems = mean(func(it *Item) []Mark { return it.Proposals })
	f.Hidden, f.HiddenItems = mean(func(it *Item) []Mark { return hidden[it.ID] })
	return &f
}
