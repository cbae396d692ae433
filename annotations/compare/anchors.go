package compare

import (
	"path/filepath"

	"ibid/dataset"
	"ibid/dataset/runs"
)

// An anchorRow names an anchor.
type anchorRow struct{ id, system string }

// An anchorKey names a verdict on an anchor. The text is part of it: another version
// of ibid may cut claims at other places.
type anchorKey struct {
	anchorRow
	citation bool
	number   int64 // of the claim or the citation, from 0
	text     string
}

// An anchorVerdict is one verdict of a run on its anchors.
type anchorVerdict struct {
	key     anchorKey
	name    string // claim_id or citation_id
	known   bool   // the judge could say
	support float64
	label   string
}

// anchorVerdicts are those of a run, claims before citations, each in the order of
// the file.
type anchorVerdicts struct {
	list []anchorVerdict
	at   map[anchorKey]int
}

// readAnchors reads the verdicts of the run over the anchors in dir.
func readAnchors(dir string) (*anchorVerdicts, error) {
	v := &anchorVerdicts{at: make(map[anchorKey]int)}
	alone := make(map[anchorKey]bool) // citations that are all that a claim cites
	err := eachRecord(filepath.Join(dir, runs.ClaimsFile),
		[]string{"id", "system", "claim", "claim_id", "text", "citations", "support", "label"},
		func(c map[string]dataset.Cell) {
			cited := c["citations"].Ints
			if len(cited) == 0 {
				return
			}
			row := anchorRow{c["id"].Text, c["system"].Text}
			if len(cited) == 1 {
				alone[anchorKey{anchorRow: row, number: cited[0]}] = true
			}
			v.add(anchorKey{anchorRow: row, number: c["claim"].Int, text: c["text"].Text}, c["claim_id"].Text, c)
		})
	if err != nil {
		return nil, err
	}
	err = eachRecord(filepath.Join(dir, runs.CitationsFile),
		[]string{"id", "system", "citation", "citation_id", "doc", "claims", "support", "label"},
		func(c map[string]dataset.Cell) {
			row := anchorRow{c["id"].Text, c["system"].Text}
			claims := len(c["claims"].Ints)
			if claims == 0 || claims == 1 && alone[anchorKey{anchorRow: row, number: c["citation"].Int}] {
				return
			}
			v.add(anchorKey{anchorRow: row, citation: true, number: c["citation"].Int, text: c["doc"].Text}, c["citation_id"].Text, c)
		})
	return v, err
}

// add adds the verdict in a record. A citation that is invalid has a support and no
// label: nobody was asked.
func (v *anchorVerdicts) add(key anchorKey, name string, c map[string]dataset.Cell) {
	v.at[key] = len(v.list)
	v.list = append(v.list, anchorVerdict{
		key: key, name: name, known: !c["support"].Null && !c["label"].Null, support: c["support"].Double, label: c["label"].Text,
	})
}

// flipped is the verdict with the other one on the same.
func (v *anchorVerdict) flipped(after *anchorVerdict) Flipped {
	f := Flipped{
		ID: v.key.id, System: v.key.system, Name: v.name, Text: v.key.text,
		Before: v.support, After: after.support, LabelBase: v.label, LabelAfter: after.label,
	}
	if v.key.citation {
		f.Citation = &v.key.number
	} else {
		f.Claim = &v.key.number
	}
	return f
}

// eachRecord calls yield with the cells of every record of a result file.
func eachRecord(path string, columns []string, yield func(map[string]dataset.Cell)) error {
	f, err := dataset.OpenResult(path)
	if err != nil {
		return err
	}
	defer f.Close()
	values := make([]dataset.ColumnValues, len(columns))
	cells := make(map[string]dataset.Cell, len(columns))
	for g := range f.RowGroups() {
		for i, name := range columns {
			if err := f.ReadColumn(g, name, &values[i]); err != nil {
				return err
			}
		}
		for r := range f.GroupRows(g) {
			for i, name := range columns {
				cells[name] = values[i].Cell(r)
			}
			yield(cells)
		}
	}
	return nil
}
