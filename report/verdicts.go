package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ibid/dataset/runs"
	"ibid/report/doc"
)

// A verdictTable is what was said of each claim of a row and each source: a row for a claim, a
// column for a citation that some claim is linked to. What was not asked is blank.
type verdictTable struct {
	Citations []int32      `json:"citations"` // positions, the columns
	Claims    []verdictRow `json:"claims"`
}

type verdictRow struct {
	Claim     int32          `json:"claim"`
	Cells     []*verdictCell `json:"cells"` // parallel to the citations; null where nobody was asked
	Joint     *verdictCell   `json:"joint"`
	Elsewhere *verdictCell   `json:"elsewhere"`
}

type verdictCell struct {
	Support  *float64 `json:"support"`
	Label    string   `json:"label,omitempty"`
	Unscored string   `json:"unscored,omitempty"`
}

// text is the cell in a word or a number.
func (c *verdictCell) text() string {
	switch {
	case c == nil:
		return ""
	case c.Unscored != "":
		return c.Unscored
	case c.Label != "" && (c.Label != "unsure" || c.Support == nil):
		return c.Label
	}
	return numberOrDash(c.Support)
}

// newVerdictTable is the matrix of what counts among verdicts, nil if there is none.
func newVerdictTable(verdicts []runs.Judgment) *verdictTable {
	type key struct {
		claim    int32
		evidence string
	}
	cells, claims, citations := make(map[key]*verdictCell), make(map[int32]bool), make(map[int32]bool)
	for i := range verdicts {
		v := &verdicts[i]
		if v.Vote != nil || v.Annotator != nil || v.Claim == nil || v.Evidence == runs.ClaimEvidence {
			continue
		}
		if n, ok := strings.CutPrefix(v.Evidence, runs.CitationEvidence); ok {
			if n, err := strconv.ParseInt(n, 10, 32); err == nil {
				citations[int32(n)] = true
			}
		}
		claims[*v.Claim] = true
		cells[key{*v.Claim, v.Evidence}] = &verdictCell{Support: v.Support, Label: strings.Clone(v.Label), Unscored: strings.Clone(v.Unscored)}
	}
	if len(claims) == 0 {
		return nil
	}
	m := &verdictTable{Citations: slices.Sorted(maps.Keys(citations))}
	for _, claim := range slices.Sorted(maps.Keys(claims)) {
		r := verdictRow{Claim: claim, Cells: []*verdictCell{}, Joint: cells[key{claim, runs.JointEvidence}], Elsewhere: cells[key{claim, runs.ElsewhereEvidence}]}
		for _, n := range m.Citations {
			r.Cells = append(r.Cells, cells[key{claim, runs.CitationEvidence + strconv.Itoa(int(n))}])
		}
		m.Claims = append(m.Claims, r)
	}
	return m
}

// suspectedIn is what of a row looks written for its judge.
func suspectedIn(verdicts []runs.Judgment) []string {
	for i := range verdicts {
		if s := verdicts[i].Suspected; len(s) > 0 {
			return s
		}
	}
	return nil
}

// tamperingInWords says what is known of tampering with the judge of a row, a line each.
func tamperingInWords(word string, suspected []string) []string {
	var out []string
	if where, found := strings.CutPrefix(word, "in_"); found {
		out = append(out, "the judge found an attempt to steer it in the "+where)
	}
	for _, text := range suspected {
		out = append(out, "suspected, "+text)
	}
	return out
}

// table is the matrix in words, empty where the claims and citations beside it say all of it.
func (m *verdictTable) table() (t doc.Table) {
	if m == nil || len(m.Claims) < 2 || len(m.Citations) < 2 {
		return t
	}
	t.Caption = "Claims and sources"
	for i := range m.Claims {
		r := &m.Claims[i]
		t.Row()
		t.Add(doc.Column{Name: "claim"}, doc.C(fmt.Sprint(r.Claim+1)))
		for k, n := range m.Citations {
			t.Add(doc.Column{Name: fmt.Sprintf("[%d]", n+1)}, doc.C(r.Cells[k].text()))
		}
		t.Add(doc.Column{Name: "together"}, doc.C(r.Joint.text()))
		t.Add(doc.Column{Name: "elsewhere"}, doc.C(r.Elsewhere.text()))
	}
	return t
}
