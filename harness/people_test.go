package harness_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/annotations/round"
	"ibid/harness"
	"ibid/judge/judgetest"
)

// planned plans a study.
func (s *study) planned(t *testing.T, settings ...string) *harness.Plan {
	t.Helper()
	rows, documents := s.files(t)
	p, err := plan(t, harness.Job{Source: rows}, append([]string{"dataset=" + rows, "documents=" + documents, "judge=none", "out=" + t.TempDir(), "id=run"}, settings...)...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drawn draws a round of a study.
func (s *study) drawn(t *testing.T, d round.Draw) (*round.Drawn, error) {
	t.Helper()
	answers, err := s.planned(t).OpenAnswers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer answers.Close()
	options, err := answers.ClaimOptions()
	if err != nil {
		t.Fatal(err)
	}
	return round.DrawRound(t.Context(), answers, options, d)
}

// TestFirstRoundOfLabels: a person sees the answer, each claim with its place, and the whole
// documents that it cites, once; what has no text is left out.
func TestFirstRoundOfLabels(t *testing.T) {
	s := judged()
	for _, r := range s.rows {
		r.HasLabels, r.Labels = false, nil
	}
	s.rows[4].Citations[0].Doc, s.rows[5].Citations = "nowhere", nil
	s.rows[6].Citations = append(s.rows[6].Citations, s.rows[6].Citations[0])
	d, err := s.drawn(t, round.Draw{Purpose: round.Labels, Fraction: "1", Seed: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Of != 30 || d.Drawn != 30 || d.Bare != 2 || len(d.Items) != 58 || len(d.Key.Items) != 58 || d.Key.Draw.Second {
		t.Fatalf("%d of %d drawn, %d bare, %d items, %d in the key", d.Drawn, d.Of, d.Bare, len(d.Items), len(d.Key.Items))
	}
	texts := make(map[string]string)
	for _, d := range s.documents {
		texts[d.Doc] = d.Text
	}
	rows := make(map[string]*ibid.Answer)
	for _, r := range s.rows {
		rows[r.ID+"/"+r.System] = r
	}
	for i, it := range d.Items {
		k := d.Key.Items[i]
		row := rows[k.ID+"/"+k.System]
		if row == nil || k.Item != it.ID || it.ID != fmt.Sprintf("item-%04d", i+1) {
			t.Fatalf("item %d is %+v", i, k)
		}
		delete(rows, k.ID+"/"+k.System)
		if it.Query != "" && it.Query != row.Query || it.Answer != row.Answer || it.Purpose != round.Labels || it.Truth != nil {
			t.Errorf("%s: %+v", row.ID, it)
		}
		if len(it.Claims) != 1 || it.Claims[0].ID != "k" || it.Claims[0].Text != row.Answer || *it.Claims[0].Start != 0 || *it.Claims[0].End != int64(len(row.Answer)) {
			t.Errorf("%s: claims %+v", row.ID, it.Claims)
		}
		if len(it.Citations) != len(row.Citations) || it.Citations[0].Doc != row.Citations[0].Doc || it.Citations[0].ClaimID != "k" {
			t.Errorf("%s: citations %+v", row.ID, it.Citations)
		}
		if text, ok := it.Text(row.Citations[0].Doc); len(it.Documents) != 1 || !ok || text != texts[row.Citations[0].Doc] {
			t.Errorf("%s: %d documents", row.ID, len(it.Documents))
		}
		if len(it.Labels) != 1 || it.Labels[0].ClaimID != "k" || it.Labels[0].Kind != ibid.SupportLabel || it.Labels[0].Value != nil {
			t.Errorf("%s: labels %+v", row.ID, it.Labels)
		}
	}
}

// TestFirstRoundOfTruth: one item a question, for the answers of all systems, with the
// documents that any of them cites or somebody marked, by name; for both, their answers come behind it.
func TestFirstRoundOfTruth(t *testing.T) {
	s := newStudy()
	cites := make(map[string][]string)
	for _, r := range s.rows {
		r.HasTruth, r.Truth = false, nil
		for _, c := range r.Citations {
			if c.Doc != "nowhere" {
				cites[r.ID] = append(cites[r.ID], c.Doc)
			}
		}
	}
	for id := range cites {
		slices.Sort(cites[id])
		cites[id] = slices.Compact(cites[id])
	}
	d, err := s.drawn(t, round.Draw{Purpose: round.Truth, Fraction: "1", Seed: "x"})
	if err != nil || d.Of != 30 || len(d.Items) != len(cites) || d.Bare != 30-len(cites) {
		t.Fatalf("%+v (%v), want %d items", d, err, len(cites))
	}
	for i, it := range d.Items {
		if id := d.Key.Items[i].ID; !slices.Equal(it.Documents, cites[id]) || it.Answer != "" || len(it.Labels) != 0 || it.Query != "what?" || it.Purpose != round.Truth || d.Key.Items[i].System != "" {
			t.Errorf("%s: documents %q, want %q; %q", id, it.Documents, cites[id], it.Answer)
		}
	}
	both, err := s.drawn(t, round.Draw{Purpose: round.Both, Items: 10, Seed: "y"})
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int)
	for _, it := range both.Items {
		counts[it.Purpose]++
	}
	if both.Of != 30 || both.Drawn != 10 || counts[round.Truth] == 0 || counts[round.Labels] == 0 || counts[round.Truth] > 10 || counts[round.Labels] > 20 {
		t.Errorf("%d drawn of %d: %v", both.Drawn, both.Of, counts)
	}
	for want, o := range map[string]round.Draw{
		"they cannot be stratified by system":                {Purpose: round.Truth, Fraction: "1", Stratify: "system"},
		"no question that could be drawn has a city to stra": {Purpose: round.Truth, Fraction: "1", Stratify: "city"},
		"31 cannot be drawn: there are 30":                   {Purpose: round.Truth, Items: 31},
		"the fraction must be a number above 0 and at most":  {Purpose: round.Truth, Fraction: "2"},
		`unknown purpose "praise"`:                           {Purpose: "praise", Fraction: "1"},
		`"items" cannot be the name of an annotator`:         {Purpose: round.Truth, Fraction: "1", Annotators: []string{"items"}},
		`names "Ada" twice`:                                  {Purpose: round.Truth, Fraction: "1", Annotators: []string{"ada", "Ada"}},
	} {
		if _, err := s.drawn(t, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	for _, r := range s.rows {
		r.Citations = nil
	}
	for want, o := range map[string]round.Draw{
		"no text is at hand that could be marked":    {Purpose: round.Both, Fraction: "1"},
		"no answer has a claim that cites something": {Purpose: round.Labels, Fraction: "1"},
	} {
		if _, err := s.drawn(t, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v of nothing: %v, want %s", o, err, want)
		}
	}
}

// TestForecastIsWhatIsAsked: a run sends as many questions as were forecast, of the length of
// the longest; what the store has is forecast no call.
func TestForecastIsWhatIsAsked(t *testing.T) {
	server := judgetest.NewServer(judgetest.ServerConfig{Key: simulatedKey})
	defer server.Close()
	s := judged()
	s.rows = s.rows[:20]
	s.rows[3].Citations = nil
	rows, documents := s.files(t)
	cache := filepath.Join(t.TempDir(), "answers.db")
	settings := []string{
		"dataset=" + rows, "documents=" + documents, "judge.kind=openrouter", "judge.model=fake/judge", "judge.base_url=" + server.URL(), "judge.cache=" + cache,
		"out=" + t.TempDir(), "id=run", "judge.rpm=30", "judge.max_cost_usd=0.0001", "judge.necessity=false",
	}
	job := harness.Job{Source: rows, APIKey: simulatedKey}
	forecast := func() *harness.Forecast {
		t.Helper()
		p, err := plan(t, job, settings...)
		if err != nil {
			t.Fatal(err)
		}
		c, f, err := p.DryRun(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.Rows != 20 {
			t.Errorf("%d rows", c.Rows)
		}
		return f
	}
	before := forecast()
	if before.Calls < 15 || before.Cached != 0 || before.RPM != 30 || !before.LatencyAssumed || before.Latency.Seconds() != 5 || !slices.Equal(before.Models, []string{"fake/judge"}) {
		t.Errorf("%+v", before)
	}
	if want := math.Max(math.Ceil(float64(before.Calls)/float64(before.Concurrency))*5, float64(before.Calls)/30*60); math.Abs(before.Time.Seconds()-want) > 1e-6 {
		t.Errorf("%v of %d calls, want %v s", before.Time, before.Calls, want)
	}
	if sent := server.Counts().Requests; sent > 1 {
		t.Errorf("a forecast sent %d requests", sent)
	}
	priced := before.Unpriced == 0 && before.NanoUSD > 100_000
	if says := slices.ContainsFunc(before.Warnings, func(w string) bool { return strings.Contains(w, "more than the $0.0001 that the run may cost") }); says != priced {
		t.Errorf("%d nano-dollars: warnings %q", before.NanoUSD, before.Warnings)
	}
	settings = slices.DeleteFunc(settings, func(set string) bool {
		return strings.HasPrefix(set, "judge.max_cost") || strings.HasPrefix(set, "judge.rpm")
	})
	asked := len(server.Log())
	done(t, job, settings...)
	calls := len(server.Log()) - asked
	if int64(calls) != before.Calls {
		t.Errorf("%d calls, %d were forecast", calls, before.Calls)
	}
	settings = append(slices.DeleteFunc(settings, func(set string) bool { return set == "id=run" }), "id=again")
	if after := forecast(); after.Calls != 0 || after.Cached != before.Calls || after.LatencyAssumed || after.Time != 0 || after.Cache != cache || after.LongestPrompt != before.LongestPrompt {
		t.Errorf("with all answers at hand %+v", after)
	}
}
