package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// A Drift says whether the judge of two runs moved between them, by its verdicts on
// the same anchors.
//
// A verdict is the one on a claim with all that it cites, and the one on a citation
// unless it is all that one claim cites, which would be the same again. A verdict
// from thresholds.supported of the base run on is supported. The anchors are fixed;
// what chance is about is what the judge answers when it is asked again. One request
// asks about one row, so that the row is the unit: under the hypothesis that the
// judge is what it was, the two answers about a row could as well be swapped.
type Drift struct {
	Base      string `json:"base"` // run ids
	New       string `json:"new"`
	BaseDir   string `json:"-"`                   // run directory of the base
	Unchecked string `json:"unchecked,omitempty"` // why there is no test
	Digest    string `json:"digest"`              // of the anchors

	Rows     int64    `json:"rows"`      // that have a verdict in both runs
	Verdicts int64    `json:"verdicts"`  // that both runs have
	OneSided int64    `json:"one_sided"` // that only one of them has: the other could not say
	Gained   int64    `json:"gained"`    // supported in the new run only
	Lost     int64    `json:"lost"`      // supported in the base only
	FlipRate *float64 `json:"flip_rate"`

	P     *float64 `json:"p"` // two-sided
	Test  string   `json:"test"`
	Level float64  `json:"level"`
	Moved bool     `json:"moved"` // P <= 1-Level

	Flipped   []Flipped        `json:"flipped"`   // in the order of the anchors
	Agreement []DriftAgreement `json:"agreement"` // with people, where they labelled anchors
}

// A Flipped verdict is one that only one of the runs calls supported.
type Flipped struct {
	ID         string  `json:"id" doc:"id of the anchor"`
	System     string  `json:"system" doc:"system of the anchor"`
	Claim      *int64  `json:"claim" doc:"position of the claim, from 0" null:"the verdict is on a citation"`
	Citation   *int64  `json:"citation" doc:"position of the citation, from 0" null:"the verdict is on a claim"`
	Name       string  `json:"name" doc:"its claim_id or citation_id; empty if it has none"`
	Text       string  `json:"text" doc:"text of the claim, or document of the citation"`
	Before     float64 `json:"before" range:"[0, 1]" doc:"support in the base"`
	After      float64 `json:"after" range:"[0, 1]" doc:"support in the new run"`
	LabelBase  string  `json:"label_before" doc:"label in the base"`
	LabelAfter string  `json:"label_after" doc:"label in the new run"`
}

// A FlippedLine is a flipped verdict with the drift that it is part of.
type FlippedLine struct {
	Base string `col:"base" doc:"id of the base"`
	New  string `col:"new" doc:"id of the new run"`
	Flipped
	P    *float64 `col:"p" range:"[0, 1]" doc:"two-sided p-value of no drift, over all anchors" null:"no test"`
	Test string   `col:"test" doc:"how p was computed"`
}

// FlippedLines is the table of flipped verdicts, in CSV.
var FlippedLines = runs.NewTable[FlippedLine]("ibid compare, of runs whose judge moved", "one verdict on an anchor that only one of the runs calls supported")

// Lines are the flipped verdicts of a drift.
func (d *Drift) Lines() []FlippedLine {
	var all []FlippedLine
	for _, f := range d.Flipped {
		all = append(all, FlippedLine{d.Base, d.New, f, d.P, d.Test})
	}
	return all
}

// DriftAgreement is how the judge agrees with people on anchors, in both runs.
type DriftAgreement struct {
	Kind   string         `json:"kind"` // claim support or citation support
	Before AgreementRates `json:"before"`
	After  AgreementRates `json:"after"`
}

// AgreementRates are undefined where people have no verdict of that side.
type AgreementRates struct {
	Items       int64    `json:"items"`
	Sensitivity *float64 `json:"sensitivity"`
	Specificity *float64 `json:"specificity"`
}

// RatesOf are the rates of counts with people as the reference.
func RatesOf(c stats.Confusion) AgreementRates {
	return AgreementRates{
		Items:       c.N(),
		Sensitivity: stats.FractionOf(float64(c.TP), float64(c.TP+c.FN)).Pointer(),
		Specificity: stats.FractionOf(float64(c.TN), float64(c.TN+c.FP)).Pointer(),
	}
}

// A DriftError says that runs must not be compared because the judge moved.
type DriftError struct {
	Drifts []*Drift // those of the runs that it moved in
}

func (e *DriftError) Error() string { return e.Drifts[0].Sentence() }

// DriftBetween tests whether the judge moved between two finished runs, nil if neither
// has anchors. It reads nothing but the verdicts on those.
func DriftBetween(base, other runs.Listed, o Options) (*Drift, error) {
	before := &Run{Dir: base.Dir, Manifest: base.Manifest}
	t, err := newTester(before, o)
	if err != nil {
		return nil, err
	}
	return t.drift(before, &Run{Dir: other.Dir, Manifest: other.Manifest})
}

// drift tests whether the judge moved between two runs, nil if neither has anchors.
func (t *tester) drift(base, other *Run) (*Drift, error) {
	a, b := base.Manifest.Anchors, other.Manifest.Anchors
	if a == nil && b == nil {
		return nil, nil
	}
	d := &Drift{
		Base: base.Manifest.ID, New: other.Manifest.ID, BaseDir: base.Dir, Level: t.level, Flipped: []Flipped{}, Agreement: []DriftAgreement{},
	}
	switch {
	case a == nil:
		d.Unchecked = d.Base + " has no anchors"
	case b == nil:
		d.Unchecked = d.New + " has no anchors"
	case a.Digest != b.Digest:
		d.Unchecked = "their anchors are not the same"
	}
	if d.Unchecked != "" {
		return d, nil
	}
	d.Digest = a.Digest
	d.agree(a, b)
	before, err := readAnchors(filepath.Join(base.Dir, runs.AnchorsDir))
	if err != nil {
		return d.unread(d.Base, err)
	}
	after, err := readAnchors(filepath.Join(other.Dir, runs.AnchorsDir))
	if err != nil {
		return d.unread(d.New, err)
	}
	moved := d.pair(before, after, base.Manifest.Effective().Thresholds.Supported)
	if need := stats.ClustersNeeded(t.level); d.Rows < need {
		d.Unchecked = fmt.Sprintf("%d anchors have a verdict in both, and fewer than %d cannot show it", d.Rows, need)
		return d, nil
	}
	d.FlipRate = stats.FractionOf(float64(d.Gained+d.Lost), float64(d.Verdicts)).Pointer()
	if moved != nil {
		s := moved.Spread(nil)
		test := s.Difference(moved.Value, 1, t.level)
		d.Test, d.P = test.Test, test.P.Pointer()
		d.Moved = d.P != nil && *d.P <= 1-t.level
	}
	return d, nil
}

// unread says that the verdicts of a run on its anchors are gone.
func (d *Drift) unread(run string, err error) (*Drift, error) {
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	d.Unchecked = "the verdicts of " + run + " on its anchors are gone"
	return d, nil
}

// pair pairs verdicts, counts them, and lists those that flipped. It returns the share of
// verdicts that are a yes now less that of before, over the rows.
func (d *Drift) pair(before, after *anchorVerdicts, supported float64) *stats.Quotient {
	type counts struct{ verdicts, gained, lost int64 }
	rows := make(map[anchorRow]*counts)
	var order []*counts
	for i := range before.list {
		x := &before.list[i]
		k, ok := after.at[x.key]
		if !ok {
			continue
		}
		y := &after.list[k]
		if x.known != y.known {
			d.OneSided++
		}
		if !x.known || !y.known {
			continue
		}
		row := rows[x.key.anchorRow]
		if row == nil {
			row = new(counts)
			rows[x.key.anchorRow], order = row, append(order, row)
		}
		row.verdicts++
		was, is := x.support >= supported, y.support >= supported
		switch {
		case is && !was:
			row.gained++
		case was && !is:
			row.lost++
		}
		if was != is {
			d.Flipped = append(d.Flipped, x.flipped(y))
		}
	}
	var y, x []float64
	for _, row := range order {
		d.Verdicts, d.Gained, d.Lost = d.Verdicts+row.verdicts, d.Gained+row.gained, d.Lost+row.lost
		y, x = append(y, float64(row.gained-row.lost)), append(x, float64(row.verdicts))
	}
	d.Rows = int64(len(order))
	return stats.NewQuotient(y, x)
}

// agree sets the agreement with people before and after side by side.
func (d *Drift) agree(before, after *runs.AnchorsRecord) {
	for i := range before.Agreement {
		for k := range after.Agreement {
			if x, y := &before.Agreement[i], &after.Agreement[k]; x.Kind == y.Kind {
				d.Agreement = append(d.Agreement, DriftAgreement{Kind: x.Kind, Before: RatesOf(x.Counts()), After: RatesOf(y.Counts())})
			}
		}
	}
}

// Sentence says in one line what the test found.
func (d *Drift) Sentence() string {
	pair := fmt.Sprintf("between %s and %s", d.Base, d.New)
	if d.Unchecked != "" {
		return fmt.Sprintf("whether the judge moved %s was not checked: %s", pair, d.Unchecked)
	}
	verb := "the judge did not move " + pair
	if d.Moved {
		verb = "the judge moved " + pair
	}
	return fmt.Sprintf("%s: of %d verdicts on %d anchors, %d became supported and %d became unsupported (%s)",
		verb, d.Verdicts, d.Rows, d.Gained, d.Lost, d.pText())
}

func (d *Drift) pText() string {
	text := "p<0.001"
	switch {
	case d.P == nil:
		return "p undefined"
	case *d.P >= 0.001:
		text = fmt.Sprintf("p=%.3f", *d.P)
	}
	if d.Test != "" {
		text += ", " + d.Test
	}
	return text
}

// Where names the verdict: the anchor, and the claim or citation in it.
func (f *Flipped) Where() string {
	what, n := "claim", f.Claim
	if n == nil {
		what, n = "citation", f.Citation
	}
	return fmt.Sprintf("%s/%s %s %s", f.ID, f.System, what, cmp.Or(f.Name, fmt.Sprint(*n)))
}

// Change is the verdict before and after.
func (f *Flipped) Change() string {
	return fmt.Sprintf("%s %.2g -> %s %.2g", f.LabelBase, f.Before, f.LabelAfter, f.After)
}

type anchorRow struct{ id, system string }

// An anchorKey names a verdict on an anchor. The text is part of it: another version
// of ibid may cut claims at other places.
type anchorKey struct {
	anchorRow
	citation bool
	number   int64 // of the claim or the citation, from 0
	text     string
}

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
	err := runs.Claims.Scan(dir, []string{"id", "system", "claim", "claim_id", "text", "citations", "support", "label"},
		func(_ int64, c *runs.Claim) error {
			if len(c.Citations) == 0 {
				return nil
			}
			row := anchorRow{c.ID, c.System}
			if len(c.Citations) == 1 {
				alone[anchorKey{anchorRow: row, number: int64(c.Citations[0])}] = true
			}
			v.add(anchorKey{anchorRow: row, number: int64(c.Number), text: c.Text}, c.ClaimID, c.Support, c.Label)
			return nil
		})
	if err != nil {
		return nil, err
	}
	err = runs.Citations.Scan(dir, []string{"id", "system", "citation", "citation_id", "doc", "claims", "support", "label"},
		func(_ int64, c *runs.Citation) error {
			row, number := anchorRow{c.ID, c.System}, int64(c.Number)
			if len(c.Claims) == 0 || len(c.Claims) == 1 && alone[anchorKey{anchorRow: row, number: number}] {
				return nil
			}
			v.add(anchorKey{anchorRow: row, citation: true, number: number, text: c.Doc}, c.CitationID, c.Support, c.Label)
			return nil
		})
	return v, err
}

// add adds a verdict. A citation that is invalid has a support and no label: nobody
// was asked.
func (v *anchorVerdicts) add(key anchorKey, name string, support *float64, label string) {
	verdict := anchorVerdict{key: key, name: name, known: support != nil && label != "", label: label}
	if support != nil {
		verdict.support = *support
	}
	v.at[key] = len(v.list)
	v.list = append(v.list, verdict)
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
