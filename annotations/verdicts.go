package annotations

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"

	"ibid/dataset"
	"ibid/dataset/runs"
)

// The kinds of questions about support, see [VerdictKey.Question].
const (
	ClaimSupport    = "claim support"
	CitationSupport = "citation support"
)

// A VerdictKey names one question that a judge was asked: about a claim, about a
// citation, or about the pair of both. What it is not about is "".
type VerdictKey struct {
	ID, System      string
	Kind            string // support, relevant, needs_citation, factual
	Claim, Citation string
}

// Question names the kind of question, in which support of a claim and support of
// a citation are two.
func (k VerdictKey) Question() string {
	switch {
	case k.Kind != "support":
		return k.Kind
	case k.Citation != "":
		return CitationSupport
	}
	return ClaimSupport
}

func (k VerdictKey) compare(other VerdictKey) int {
	return cmp.Or(cmp.Compare(k.ID, other.ID), cmp.Compare(k.System, other.System), cmp.Compare(k.Kind, other.Kind),
		cmp.Compare(k.Claim, other.Claim), cmp.Compare(k.Citation, other.Citation))
}

// Verdicts are a judge's answers: a degree of support in [0, 1], or yes (1) and
// no (0).
type Verdicts map[VerdictKey]float64

// ReadVerdicts reads what the judge of a finished run said. Claims and citations
// without an id are named by their position, from 0.
func ReadVerdicts(dir string) (Verdicts, error) {
	return FindVerdicts(dir, func(*VerdictKey) bool { return true })
}

// FindVerdicts reads those verdicts of [ReadVerdicts] that wants is true of.
func FindVerdicts(dir string, wants func(*VerdictKey) bool) (Verdicts, error) {
	v := make(Verdicts)
	err := v.read(filepath.Join(dir, runs.ClaimsFile), wants, func(k *VerdictKey) *string { return &k.Claim },
		"claim_id", "claim", map[string]string{"support": "support", "factual": "factual", "needs_citation": "needs_citation"})
	if err == nil {
		err = v.read(filepath.Join(dir, runs.CitationsFile), wants, func(k *VerdictKey) *string { return &k.Citation },
			"citation_id", "citation", map[string]string{"support": "support", "relevant": "relevant"})
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the run has no judge
	}
	return v, err
}

// AddPairs adds what the run in dir says of the pairs of a citation and the one
// claim that cites it, which is what it says of the citation. Of other pairs a run
// does not keep what the judge said.
func (v Verdicts) AddPairs(dir string) error {
	type place struct {
		id, system string
		claim      int64
	}
	claims := make(map[place]string)
	err := eachResult(filepath.Join(dir, runs.ClaimsFile), []string{"id", "system", "claim", "claim_id"}, func(cells runs.Record) {
		claims[place{cells["id"].Text, cells["system"].Text, cells["claim"].Int}] = nameOf(cells["claim_id"], cells["claim"])
	})
	if err != nil {
		return err
	}
	return eachResult(filepath.Join(dir, runs.CitationsFile), []string{"id", "system", "citation", "citation_id", "claims"}, func(cells runs.Record) {
		if len(cells["claims"].Ints) != 1 {
			return
		}
		at := place{cells["id"].Text, cells["system"].Text, cells["claims"].Ints[0]}
		key := VerdictKey{ID: at.id, System: at.system, Citation: nameOf(cells["citation_id"], cells["citation"])}
		for _, kind := range []string{"support", "relevant"} {
			key.Kind, key.Claim = kind, ""
			if score, ok := v[key]; ok {
				key.Claim = claims[at]
				v[key] = score
			}
		}
	})
}

// nameOf is an id, or else the position.
func nameOf(id, position dataset.Cell) string {
	if id.Null {
		return strconv.FormatInt(position.Int, 10)
	}
	return id.Text
}

// eachResult calls yield with some columns of each row of a file of results.
func eachResult(path string, columns []string, yield func(runs.Record)) error {
	f, err := dataset.OpenResult(path)
	if err != nil {
		return err
	}
	defer f.Close()
	values := make(map[string]*dataset.ColumnValues, len(columns))
	for _, column := range columns {
		values[column] = new(dataset.ColumnValues)
	}
	for g := range f.RowGroups() {
		for _, column := range columns {
			if err := f.ReadColumn(g, column, values[column]); err != nil {
				return err
			}
		}
		cells := make(runs.Record, len(columns))
		for i := range f.GroupRows(g) {
			for _, column := range columns {
				cells[column] = values[column].Cell(i)
			}
			yield(cells)
		}
	}
	return nil
}

// read reads one file. kinds maps columns to kinds of questions.
func (v Verdicts) read(path string, wants func(*VerdictKey) bool, item func(*VerdictKey) *string, name, position string, kinds map[string]string) error {
	f, err := dataset.OpenResult(path)
	if err != nil {
		return err
	}
	defer f.Close()
	columns := map[string]*dataset.ColumnValues{"id": {}, "system": {}, name: {}, position: {}}
	for column := range kinds {
		columns[column] = new(dataset.ColumnValues)
	}
	for g := range f.RowGroups() {
		for column, into := range columns {
			if err := f.ReadColumn(g, column, into); err != nil {
				return err
			}
		}
		for i := range f.GroupRows(g) {
			key := VerdictKey{ID: columns["id"].Strings[i], System: columns["system"].Strings[i]}
			*item(&key) = columns[name].Strings[i]
			if !columns[name].Valid[i] {
				*item(&key) = strconv.FormatInt(columns[position].Ints[i], 10)
			}
			for column, kind := range kinds {
				c := columns[column]
				if !c.Valid[i] {
					continue
				}
				if key.Kind = kind; !wants(&key) {
					continue
				}
				if c.Kind == dataset.Double {
					v[key] = c.Doubles[i]
				} else {
					v[key] = float64(c.Ints[i])
				}
			}
		}
	}
	return nil
}
