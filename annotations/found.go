package annotations

import (
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// ReadFound reads the places that the judge of a run found to support claims, by the ids of
// questions, whatever system's claims these are: what is cited (method cited), and what
// stands elsewhere (method elsewhere). supported is the support from which on a place
// counts. Where the judge quotes, a place is its quote. Places of single pages are left
// out: they count from there and not from the start of the document. A run without a judge
// is an error of the file system.
func ReadFound(dir string, supported float64) (map[string][]Proposal, error) {
	found := make(map[string][]Proposal)
	columns := []string{"id", "evidence", "doc", "page", "start", "end", "support", "quote_start", "quote_end", "annotator", "vote"}
	err := runs.Verdicts.Scan(dir, columns, func(_ int64, v *runs.Judgment) error {
		if v.Annotator != nil || v.Vote != nil || v.Support == nil || *v.Support < supported || v.Doc == "" || v.Page != nil || v.Start == nil || v.End == nil {
			return nil
		}
		p := Proposal{Doc: strings.Clone(v.Doc), Start: *v.Start, End: *v.End}
		switch {
		case strings.HasPrefix(v.Evidence, runs.CitationEvidence):
			p.Method = "cited"
		case v.Evidence == runs.ElsewhereEvidence:
			p.Method = "elsewhere"
		default:
			return nil
		}
		if v.QuoteStart != nil && v.QuoteEnd != nil {
			p.Start, p.End = *v.Start+*v.QuoteStart, *v.Start+*v.QuoteEnd
		}
		same := func(q Proposal) bool { return q.Doc == p.Doc && q.Start == p.Start && q.End == p.End }
		if p.Start < p.End && !slices.ContainsFunc(found[v.ID], same) {
			id := strings.Clone(v.ID)
			found[id] = append(found[id], p)
		}
		return nil
	})
	return found, err
}
