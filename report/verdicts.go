package report

import (
	"cmp"
	"fmt"
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
	m := &verdictTable{}
	cells := make(map[[2]int32]*verdictCell) // by claim and citation
	row := func(claim int32) *verdictRow {
		i, found := slices.BinarySearchFunc(m.Claims, claim, func(r verdictRow, c int32) int { return cmp.Compare(r.Claim, c) })
		if !found {
			m.Claims = slices.Insert(m.Claims, i, verdictRow{Claim: claim})
		}
		return &m.Claims[i]
	}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Vote != nil || v.Annotator != nil || v.Claim == nil || v.Evidence == runs.ClaimEvidence {
			continue
		}
		cell := &verdictCell{Support: v.Support, Label: strings.Clone(v.Label), Unscored: strings.Clone(v.Unscored)}
		switch r := row(*v.Claim); v.Evidence {
		case runs.JointEvidence:
			r.Joint = cell
		case runs.ElsewhereEvidence:
			r.Elsewhere = cell
		default:
			n, err := strconv.ParseInt(strings.TrimPrefix(v.Evidence, runs.CitationEvidence), 10, 32)
			if err != nil {
				continue
			}
			if at, known := slices.BinarySearch(m.Citations, int32(n)); !known {
				m.Citations = slices.Insert(m.Citations, at, int32(n))
			}
			cells[[2]int32{*v.Claim, int32(n)}] = cell
		}
	}
	if len(m.Claims) == 0 {
		return nil
	}
	for i := range m.Claims {
		r := &m.Claims[i]
		r.Cells = make([]*verdictCell, len(m.Citations))
		for k, n := range m.Citations {
			r.Cells[k] = cells[[2]int32{r.Claim, n}]
		}
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
	t = doc.Table{Caption: "Claims and sources", Columns: []doc.Column{{Name: "claim"}}}
	for _, n := range m.Citations {
		t.Columns = append(t.Columns, doc.Column{Name: fmt.Sprintf("[%d]", n+1)})
	}
	t.Columns = append(t.Columns, doc.Column{Name: "together"}, doc.Column{Name: "elsewhere"})
	for i := range m.Claims {
		r := &m.Claims[i]
		row := []doc.Cell{doc.C(fmt.Sprint(r.Claim + 1))}
		for _, c := range append(slices.Clone(r.Cells), r.Joint, r.Elsewhere) {
			row = append(row, doc.C(c.text()))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
