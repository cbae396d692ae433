package harness

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/judge"
)

// TestToldCells: what is wrong with a verdict of another program is said of its row.
func TestToldCells(t *testing.T) {
	tests := []struct {
		name string
		set  []string // columns and cells in turn
		want string   // "" if all is well
	}{
		{"support", []string{"evidence", "joint", "support", "0.5"}, ""},
		{"a position as a float", []string{"evidence", "citation:0", "support", "1", "claim", "2.0"}, ""},
		{"nothing at all", []string{"evidence", "claim"}, ""},
		{"support outside", []string{"evidence", "joint", "support", "1.1"}, "support 1.1 is outside [0, 1]"},
		{"negative support", []string{"evidence", "joint", "support", "-0.1"}, "support -0.1 is outside [0, 1]"},
		{"support that is none", []string{"evidence", "joint", "support", "NaN"}, `support "NaN" is not a number`},
		{"support in words", []string{"evidence", "joint", "support", "high"}, `support "high" is not a number`},
		{"unknown label", []string{"evidence", "joint", "label", "supported"}, "supported"},
		{"unknown evidence", []string{"evidence", "source"}, `evidence "source" is none of`},
		{"evidence without a position", []string{"evidence", "citation:x"}, `citation:N has the position`},
		{"no evidence", nil, `evidence "" is none of`},
		{"a flag in words", []string{"evidence", "claim", "factual", "perhaps"}, `factual "perhaps" is not true or false`},
		{"half an interval in words", []string{"evidence", "claim", "claim_start", "x"}, `claim_start "x" is not a whole number`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v told
			var err error
			for i := 0; i < len(tt.set) && err == nil; i += 2 {
				err = v.set(tt.set[i], tt.set[i+1])
			}
			if err == nil {
				err = v.finish()
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// TestToldLabels: a label has its support and says whether the evidence contradicts.
func TestToldLabels(t *testing.T) {
	for label, want := range map[string]struct {
		support      ibid.Number
		contradicted ibid.Tri
	}{
		"full": {ibid.Some(1.0), ibid.No}, "contradicts": {ibid.Some(0.0), ibid.Yes}, "unsure": {ibid.Number{}, ibid.Unset},
	} {
		v := told{Judgment: runs.Judgment{Evidence: runs.JointEvidence, Label: label}}
		if err := v.finish(); err != nil {
			t.Fatal(err)
		}
		if (v.Support != nil) != want.support.Known() || v.Support != nil && *v.Support != want.support.Value || triOf(v.Contradicted) != want.contradicted {
			t.Errorf("%s: support %v, contradicted %s", label, v.Support, triOf(v.Contradicted))
		}
	}
}

// TestToldMatch: verdicts find their claims, or say why they do not.
func TestToldMatch(t *testing.T) {
	r := &judge.Request{Claims: []ibid.Claim{
		{ClaimID: "a", Text: "It rained.", Extent: ibid.Between(0, 10), Citations: []int32{0, 1}},
		{ClaimID: "b", Text: "It rained.", Extent: ibid.Between(11, 21), Citations: []int32{1}},
		{ClaimID: "c", Text: "It snowed.", Extent: ibid.Between(22, 32)},
	}}
	of := func(cells ...string) told {
		v := told{}
		for i := 0; i < len(cells); i += 2 {
			if err := v.set(cells[i], cells[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		return v
	}
	tests := []struct {
		name string
		told []told
		want string // positions of the claims, or the error
	}{
		{"by id", []told{of("claim_id", "b", "evidence", "joint")}, "1"},
		{"by text", []told{of("claim_text", " It  snowed.", "evidence", "joint")}, "2"},
		{"by interval", []told{of("claim_start", "11", "claim_end", "21", "evidence", "joint")}, "1"},
		{"by text and interval", []told{of("claim_text", "It rained.", "claim_start", "0", "evidence", "joint")}, "0"},
		{"by position", []told{of("claim", "2", "evidence", "joint")}, "2"},
		{"of all that cite it", []told{of("evidence", "citation:1")}, "0 1"},
		{"of none", []told{of("claim_id", "x", "evidence", "joint"), of("claim_id", "a", "claim_text", "It snowed.", "evidence", "joint")}, ""},
		{"labels are none", []told{of("claim_id", "a", "evidence", "joint", "annotator", "ann")}, ""},
		{"of one of two", []told{of("claim_text", "It rained.", "evidence", "joint")}, `2 claims have claim_text "It rained."`},
		{"twice", []told{of("claim_id", "a", "evidence", "joint"), of("claim", "0", "evidence", "joint")}, "two verdicts on claim 0 and joint"},
		{"two votes", []told{of("claim_id", "a", "evidence", "joint", "vote", "0"), of("claim_id", "a", "evidence", "joint", "vote", "1")}, "0 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all, err := matched(tt.told, r)
			var got []string
			for i := range all {
				got = append(got, string(rune('0'+*all[i].Claim)))
			}
			if err != nil {
				got = []string{err.Error()}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestRecordedInAnyOrder: verdicts of a run are found by their rows, whatever order they are in.
func TestRecordedInAnyOrder(t *testing.T) {
	one := func(id string, row int64, evidence string) runs.Judgment {
		return runs.Judgment{Key: runs.Key{ID: id, System: "s", Row: row}, Claim: new(int32(0)), Evidence: evidence, Support: new(1.0), Label: "full", Judge: "lexical", Source: runs.FromRule}
	}
	r := &judge.Request{Row: "a/s", Claims: []ibid.Claim{{Text: "It rained.", Citations: []int32{0}}}, Evidence: []judge.Evidence{{Text: "It rained.", Citation: 0}}}
	for name, rows := range map[string][]runs.Judgment{
		"row by row":  {one("a", 0, runs.JointEvidence), one("a", 0, "citation:0"), one("b", 1, runs.JointEvidence)},
		"by evidence": {one("b", 1, runs.JointEvidence), one("a", 0, runs.JointEvidence), one("b", 1, "citation:0"), one("a", 0, "citation:0")},
		"of two runs": {one("b", 0, runs.JointEvidence), one("a", 0, runs.JointEvidence), one("a", 0, "citation:0")},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := runs.Verdicts.Write(dir, rows); err != nil {
				t.Fatal(err)
			}
			v, err := openRecorded(filepath.Join(dir, runs.VerdictsFile))
			if err != nil || v.told != nil {
				t.Fatalf("told %t, %v", v.told != nil, err)
			}
			got, err := v.Judge(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if c := got.Claims[0]; c.Joint.Degree != ibid.Full || len(c.Checks) != 1 || c.Checks[0].Support.Degree != ibid.Full {
				t.Errorf("%+v", c)
			}
		})
	}
}

// TestRecordedDamaged: verdicts that cannot be read end the run.
func TestRecordedDamaged(t *testing.T) {
	dir := t.TempDir()
	rows := []runs.Judgment{{
		Key: runs.Key{ID: "a", System: "s"}, Claim: new(int32(0)), Evidence: runs.JointEvidence, Support: new(1.0), Why: "because it rained", Judge: "lexical", Source: runs.FromRule,
	}}
	if err := runs.Verdicts.Write(dir, rows); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, runs.VerdictsFile)
	v, err := openRecorded(path)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(whole, []byte(rows[0].Why)) // in a page of a column that was not needed yet
	if at < 0 {
		t.Fatal("the texts are not there as they are")
	}
	whole[at] ^= 1
	if err := os.WriteFile(path, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := v.Judge(t.Context(), &judge.Request{Row: "a/s", Claims: []ibid.Claim{{Text: "It rained."}}})
	if !errors.Is(err, parquet.ErrCorrupt) {
		t.Errorf("%+v, %v", got, err)
	}
}
