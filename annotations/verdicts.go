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

// A VerdictKey names one question that a judge was asked: about a claim, or about
// a citation. The one that it is not about is "".
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
