package compare_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid/annotations/compare"
	"ibid/dataset/runs"
)

// An anchor is what a judge says of one claim and of all that it cites.
type anchor struct {
	id        string
	joint     float64   // negative if the judge could not say
	citations []float64 // the same of each
}

// anchored makes a run with anchors, each of one claim.
func anchored(t *testing.T, id, digest string, anchors []anchor, change func(*runs.AnchorsRecord)) *compare.Run {
	t.Helper()
	r := write(t, id, []row{{id: "q", system: "a", f1: new(0.5)}}, func(m *runs.Manifest) {
		if digest == "" {
			return
		}
		m.Anchors = &runs.AnchorsRecord{Digest: digest}
		if change != nil {
			change(m.Anchors)
		}
	})
	var claims []runs.Claim
	var citations []runs.Citation
	said := func(v float64) (support *float64, label string) {
		if v >= 0 {
			support, label = &v, fmt.Sprintf("label-%g", v)
		}
		return support, label
	}
	for n, a := range anchors {
		key := runs.Key{ID: a.id, System: "default", Row: int64(n)}
		claim := runs.Claim{Key: key, Text: "claim of " + a.id, Citations: []int32{}}
		claim.Support, claim.Label = said(a.joint)
		for i, v := range a.citations {
			claim.Citations = append(claim.Citations, int32(i))
			citation := runs.Citation{Key: key, Number: int32(i), Doc: "doc", Status: "ok", Claims: []int32{0}}
			citation.Support, citation.Label = said(v)
			citations = append(citations, citation)
		}
		claims = append(claims, claim)
	}
	dir := filepath.Join(r.Dir, runs.AnchorsDir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(runs.Claims.Write(dir, claims), runs.Citations.Write(dir, citations)); err != nil {
		t.Fatal(err)
	}
	return r
}

// singles are n anchors of one claim with one citation, of which the first no are
// not supported.
func singles(n, no int) []anchor {
	var out []anchor
	for i := range n {
		v := 1.0
		if i < no {
			v = 0.5
		}
		out = append(out, anchor{fmt.Sprintf("a%02d", i), v, []float64{v}})
	}
	return out
}

// driftOf compares the anchors of two runs.
func driftOf(t *testing.T, base, other *compare.Run) *compare.Drift {
	t.Helper()
	r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{})
	var moved *compare.DriftError
	switch {
	case errors.As(err, &moved):
		return moved.Drifts[0]
	case err != nil:
		t.Fatal(err)
	case len(r.Drifts) == 0:
		return nil
	}
	return r.Drifts[0]
}

// TestDriftVerdicts: a claim counts once if it cites once, and with each of its
// citations if it cites more; a row is tested as one; what one run could not say is
// left out.
func TestDriftVerdicts(t *testing.T) {
	before := append(singles(8, 0),
		anchor{"two", 1, []float64{1, 0}},
		anchor{"unsure", -1, []float64{-1}},
		anchor{"silent", 1, []float64{1}},
		anchor{"uncited", 0, nil})
	after := append(singles(8, 1),
		anchor{"two", 0.6, []float64{0.6, 0.7}},
		anchor{"unsure", -1, []float64{-1}},
		anchor{"silent", -1, []float64{-1}},
		anchor{"uncited", 1, nil})
	d := driftOf(t, anchored(t, "before", "x", before, nil), anchored(t, "after", "x", after, nil))
	if d == nil || d.Verdicts != 11 || d.Rows != 9 || d.OneSided != 1 || d.Gained != 1 || d.Lost != 3 || *d.FlipRate != 4.0/11 {
		t.Fatalf("%+v", d)
	}
	// Row a00 loses 1, row two loses 2 and gains 1.
	if d.Test != "t" || *d.P < 0.1 || *d.P > 0.6 || d.Moved {
		t.Errorf("%s, p %v, moved %t", d.Test, *d.P, d.Moved)
	}
	var where []string
	for i := range d.Flipped {
		where = append(where, d.Flipped[i].Where()+": "+d.Flipped[i].LabelBase+" "+d.Flipped[i].LabelAfter)
	}
	want := []string{
		"a00/default claim 0: label-1 label-0.5", "two/default claim 0: label-1 label-0.6",
		"two/default citation 0: label-1 label-0.6", "two/default citation 1: label-0 label-0.7",
	}
	if !slices.Equal(where, want) {
		t.Errorf("flipped %q, want %q", where, want)
	}
}

// TestDriftRefuses: the judge moved where so many flips one way are no chance, and
// then there is neither a comparison nor an answer to a gate.
func TestDriftRefuses(t *testing.T) {
	base := anchored(t, "base", "x", singles(20, 0), nil)
	for lost, want := range map[int]bool{0: false, 2: false, 5: true, 12: true} {
		other := anchored(t, "other", "x", singles(20, lost), nil)
		d := driftOf(t, base, other)
		if d.Moved != want || d.Lost != int64(lost) || (lost > 0) != (d.Test == "t") {
			t.Errorf("%d of 20: %+v", lost, d)
		}
		_, err := compare.NewLookup(base, other, compare.Options{})
		var moved *compare.DriftError
		if errors.As(err, &moved) != want {
			t.Errorf("%d of 20: gates: %v", lost, err)
		}
		r, err := compare.Runs(base, []*compare.Run{other}, compare.Options{Force: true})
		if err != nil || strings.HasPrefix(r.Notes[0], "compared by force, although the judge moved") != want {
			t.Errorf("%d of 20: by force: %v, %v", lost, r, err)
		}
	}
}

// TestDriftUnchecked: what cannot be tested is said to be so.
func TestDriftUnchecked(t *testing.T) {
	base := anchored(t, "base", "x", singles(20, 0), nil)
	gone := anchored(t, "gone", "x", singles(20, 20), nil)
	if err := os.RemoveAll(filepath.Join(gone.Dir, runs.AnchorsDir)); err != nil {
		t.Fatal(err)
	}
	for want, other := range map[string]*compare.Run{
		"the verdicts of gone on its anchors are gone": gone,
		"bare has no anchors":                          anchored(t, "bare", "", singles(20, 20), nil),
		"their anchors are not the same":               anchored(t, "other", "y", singles(20, 20), nil),
		"5 anchors have a verdict in both":             anchored(t, "few", "x", singles(5, 5), nil),
		"0 anchors have a verdict in both, ":           anchored(t, "none", "x", []anchor{{"z", 1, []float64{1}}}, nil),
	} {
		if d := driftOf(t, base, other); d == nil || d.Moved || d.P != nil || !strings.Contains(d.Sentence(), "was not checked: "+want) {
			t.Errorf("%s: %+v", want, d)
		}
	}
	if d := driftOf(t, anchored(t, "a", "", nil, nil), anchored(t, "b", "", nil, nil)); d != nil {
		t.Errorf("without any anchors: %+v", d)
	}
}

// TestDriftAgreement: agreement with people is shown before and after, and is
// undefined where people say only yes.
func TestDriftAgreement(t *testing.T) {
	label := func(yes, missed int64) func(*runs.AnchorsRecord) {
		return func(a *runs.AnchorsRecord) {
			a.Agreement = []runs.AnchorsAgreement{{Kind: "claim support", BothYes: yes, HumanOnly: missed}}
		}
	}
	d := driftOf(t, anchored(t, "a", "x", singles(20, 0), label(20, 0)), anchored(t, "b", "x", singles(20, 5), label(15, 5)))
	if len(d.Agreement) != 1 {
		t.Fatalf("%+v", d)
	}
	a := d.Agreement[0]
	if *a.Before.Sensitivity != 1 || *a.After.Sensitivity != 0.75 || a.Before.Specificity != nil || a.After.Items != 20 {
		t.Errorf("%+v", a)
	}
}
