package harness_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ibid"
	"ibid/annotations/compare"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/judge"
)

// halfJudge says 0.4 of everything.
type halfJudge struct{}

func (halfJudge) Info() judge.Info { return judge.Info{Kind: "bot", Model: "half"} }

func (halfJudge) Judge(_ context.Context, r *judge.Request) (*judge.Verdict, error) {
	v := &judge.Verdict{Claims: make([]judge.ClaimVerdict, len(r.Claims))}
	for c := range r.Claims {
		v.Claims[c] = judge.ClaimVerdict{Joint: ibid.Scored(0.4), Votes: 1, ElsewhereEvidence: -1}
		for _, e := range r.Cited(c, nil) {
			v.Claims[c].Checks = append(v.Claims[c].Checks, judge.Check{Evidence: e, Citation: r.Evidence[e].Citation, Support: ibid.Scored(0.4)})
		}
	}
	return v, nil
}

// TestThresholdsOfSupport: judge.file takes the place of thresholds.supported for what the judge
// says, its content is an ingredient, and its folds decide when the run is calibrated.
func TestThresholdsOfSupport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rows := writeRows(t, labelledRows(12, func(int) bool { return true }))
	job := harness.Job{Source: rows, Judge: halfJudge{}}
	run := func(settings ...string) *runs.Manifest {
		t.Helper()
		dir := done(t, job, append([]string{"dataset=" + rows, "out=" + t.TempDir(), "id=run"}, settings...)...)
		m, err := runs.ReadManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		summary, err := runs.Summary.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range summary {
			if r.Metric == "cited_claim_precision" && r.Agg == runs.Macro && r.System == "" {
				want := 0.0
				if m.Supported() <= 0.4 {
					want = 1
				}
				if *r.Estimate != want {
					t.Errorf("supported from %v: %v", m.Supported(), *r.Estimate)
				}
				return m
			}
		}
		t.Fatal("no cited_claim_precision")
		return nil
	}
	plain := run()
	write(`{"schema": "ibid.thresholds/v1", "of": "support", "supported": 0.3, "folds": [{"supported": 0.5, "documents": ["d"]}]}`)
	low := run("judge.file=" + path)
	if plain.Supported() != 0.7 || low.Supported() != 0.3 || plain.Ingredients["judge.thresholds"] != "" || low.Effective().Thresholds.Supported != 0.7 {
		t.Errorf("supported from %v, then from %v", plain.Supported(), low.Supported())
	}
	fitted, err := harness.ThresholdsOf(t.Context(), low, path)
	if err != nil || fitted.Decide("d", 0.4) != ibid.No || fitted.Decide("another", 0.4) != ibid.Yes {
		t.Errorf("%+v, %v", fitted, err)
	}
	warned := func(m *runs.Manifest) bool {
		return strings.Contains(strings.Join(m.Warnings, "\n"), "has thresholds of judge")
	}
	write(fmt.Sprintf(`{"schema": "ibid.thresholds/v1", "judge": %q, "of": "support", "supported": 0.3}`, low.Judge.Name()))
	if own := run("judge.file=" + path); !warned(low) || warned(own) {
		t.Errorf("warnings %q of another judge's thresholds, %q of its own", low.Warnings, own.Warnings)
	}
	write(`{"schema": "ibid.thresholds/v1", "of": "support", "supported": 0.35}`)
	if _, err := harness.ThresholdsOf(t.Context(), low, path); !errors.Is(err, ibid.ErrUsage) || !strings.Contains(err.Error(), "changed since run run was made") {
		t.Error(err)
	}
	if other := run("judge.file=" + path); other.Ingredients["judge.thresholds"] == low.Ingredients["judge.thresholds"] || len(compare.Reasons(other, low)) > 0 {
		t.Errorf("%v, %v", other.Ingredients, compare.Reasons(other, low))
	}
	write(`{"schema": "ibid.thresholds/v1", "of": "overlap", "supported": 0.8}`)
	if _, err := plan(t, job, "dataset="+rows, "judge.file="+path); !errors.Is(err, ibid.ErrUsage) || !strings.Contains(err.Error(), "has thresholds of overlap, and judge bot needs some of support") {
		t.Error(err)
	}
}
