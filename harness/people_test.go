package harness_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/annotations"
	"ibid/annotations/acts"
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

// TestFirstRoundOfLabels: a person sees the answer, each claim with its place, and the whole
// documents that it cites, once; what has no text is left out.
func TestFirstRoundOfLabels(t *testing.T) {
	s := judged()
	s.rows[4].Citations[0].Doc, s.rows[5].Citations = "nowhere", nil
	s.rows[6].Citations = append(s.rows[6].Citations, s.rows[6].Citations[0])
	p := s.planned(t)
	sample, err := p.DrawBlind(t.Context(), harness.SampleOptions{Purpose: annotations.AskLabels, Fraction: "1", Seed: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if sample.Total != 59 || sample.Drawn != 59 || sample.Bare != 1 || len(sample.Items) != 58 || len(sample.Key.Items) != 58 {
		t.Fatalf("%d of %d drawn, %d bare, %d items, %d in the key", sample.Drawn, sample.Total, sample.Bare, len(sample.Items), len(sample.Key.Items))
	}
	texts := make(map[string]string)
	for _, d := range s.documents {
		texts[d.Doc] = d.Text
	}
	seen := make(map[int64]bool)
	for i, it := range sample.Items {
		k := sample.Key.Items[i]
		row := s.rows[k.Row]
		if seen[k.Row] || k.Blind != it.ID || k.ID != row.ID || k.System != row.System || k.Purpose != annotations.AskLabels || it.ID != annotations.BlindName(i) {
			t.Errorf("item %d is %+v of row %s", i, k, row.ID)
		}
		seen[k.Row] = true
		if it.Query != "" && it.Query != row.Query || it.Answer != row.Answer || it.Purpose != annotations.AskLabels || it.Truth != nil {
			t.Errorf("%s: %+v", row.ID, it)
		}
		if len(it.Claims) != 1 || it.Claims[0].ID != "k" || it.Claims[0].Text != row.Answer || *it.Claims[0].Start != 0 || *it.Claims[0].End != int64(len(row.Answer)) {
			t.Errorf("%s: claims %+v", row.ID, it.Claims)
		}
		if len(it.Citations) != len(row.Citations) || it.Citations[0].Doc != row.Citations[0].Doc || it.Citations[0].ClaimID != "k" {
			t.Errorf("%s: citations %+v", row.ID, it.Citations)
		}
		if len(it.Documents) != 1 || it.Documents[0].Text != texts[row.Citations[0].Doc] {
			t.Errorf("%s: %d documents", row.ID, len(it.Documents))
		}
		if len(it.Labels) != 1 || it.Labels[0].ClaimID != "k" || it.Labels[0].Kind != ibid.SupportLabel || it.Labels[0].Value != nil {
			t.Errorf("%s: labels %+v", row.ID, it.Labels)
		}
	}
	few, err := p.DrawBlind(t.Context(), harness.SampleOptions{Purpose: annotations.AskLabels, Items: 12, Stratify: "system", Seed: "x"})
	if err != nil || few.Drawn != 12 || few.Key.Fraction != "12/59" || len(few.Key.Strata) != 2 || few.Key.Strata["a"]+few.Key.Strata["b"] != 59 {
		t.Errorf("%+v, %v", few.Key, err)
	}
	of := make(map[string]int)
	for _, k := range few.Key.Items {
		of[k.System]++
	}
	if of["a"] != 6 || of["b"] != 6 {
		t.Errorf("of the systems %v", of)
	}
}

// TestFirstRoundOfTruth: one item a question, for the answers of all systems, with the
// documents that any of them cites or somebody marked, by name; for both, their answers come behind it.
func TestFirstRoundOfTruth(t *testing.T) {
	s := newStudy()
	p := s.planned(t)
	cites := make(map[string][]string)
	for _, r := range s.rows {
		for _, c := range r.Citations {
			if c.Doc != "nowhere" {
				cites[r.ID] = append(cites[r.ID], c.Doc)
			}
		}
		for _, m := range r.Truth {
			cites[r.ID] = append(cites[r.ID], m.Doc)
		}
	}
	for id := range cites {
		slices.Sort(cites[id])
		cites[id] = slices.Compact(cites[id])
	}
	sample, err := p.DrawBlind(t.Context(), harness.SampleOptions{Purpose: annotations.AskTruth, Fraction: "1", Seed: "x"})
	if err != nil || sample.Total != 30 || len(sample.Items) != len(cites) || sample.Bare != 30-len(cites) {
		t.Fatalf("%d questions, %d items, %d bare (%v), want %d", sample.Total, len(sample.Items), sample.Bare, err, len(cites))
	}
	for i, it := range sample.Items {
		var docs []string
		for _, d := range it.Documents {
			docs = append(docs, d.Doc)
		}
		if id := sample.Key.Items[i].ID; !slices.Equal(docs, cites[id]) || it.Answer != "" || len(it.Labels) != 0 || it.Query != "what?" || it.Purpose != annotations.AskTruth {
			t.Errorf("%s: documents %q, want %q; %q", id, docs, cites[id], it.Answer)
		}
	}
	both, err := p.DrawBlind(t.Context(), harness.SampleOptions{Purpose: annotations.AskBoth, Items: 10, Seed: "y"})
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int)
	for _, k := range both.Key.Items {
		counts[k.Purpose]++
	}
	if both.Total != 30 || both.Drawn != 10 || counts[annotations.AskTruth] == 0 || counts[annotations.AskLabels] == 0 || counts[annotations.AskTruth] > 10 || counts[annotations.AskLabels] > 20 {
		t.Errorf("%d drawn of %d: %v", both.Drawn, both.Total, counts)
	}
	for want, o := range map[string]harness.SampleOptions{
		"it cannot be stratified by system":  {Purpose: annotations.AskTruth, Fraction: "1", Stratify: "system"},
		"no row has a city to stratify by":   {Purpose: annotations.AskTruth, Fraction: "1", Stratify: "city"},
		"31 cannot be drawn: there are 30":   {Purpose: annotations.AskTruth, Items: 31},
		"-1 cannot be drawn: there are 30":   {Purpose: annotations.AskTruth, Items: -1},
		"no annotated row has a city":        {Fraction: "1", Stratify: "city"},
		"the fraction must be a number abov": {Purpose: annotations.AskTruth, Fraction: "2"},
	} {
		if _, err := p.DrawBlind(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	for _, r := range s.rows {
		r.HasTruth, r.Truth, r.Citations = false, nil, nil
	}
	bare := s.planned(t)
	for want, o := range map[string]harness.SampleOptions{
		"no row has truth or labels: there is nothing to annotate again": {Fraction: "1"},
		"no answer has a claim that cites something":                     {Purpose: annotations.AskLabels, Fraction: "1"},
	} {
		if _, err := bare.DrawBlind(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v of nothing: %v, want %s", o, err, want)
		}
	}
}

// TestMergeRounds: what the dataset has and what was said blindly become one opinion, as the
// rule or an adjudicator decides.
func TestMergeRounds(t *testing.T) {
	at := func(n int64) ibid.Integer { return ibid.Some(n) }
	mark := func(who string, start, end int64) ibid.Mark {
		return ibid.Mark{Annotator: who, Doc: "doc-0", Start: at(start), End: at(end)}
	}
	label := func(who string, v float64) ibid.Label {
		return ibid.Label{Annotator: who, ClaimID: "k", Kind: ibid.SupportLabel, Value: ibid.Some(v)}
	}
	s := newStudy()
	s.documents = s.documents[:1]
	s.rows = nil
	for i, r := range []ibid.Answer{
		{Truth: []ibid.Mark{mark("ada", 0, 10), mark("bob", 5, 20)}, Labels: []ibid.Label{label("ada", 1), label("bob", 1), label("ada", 0)}},
		{Truth: []ibid.Mark{mark("ada", 0, 10), mark("bob", 20, 30)}, Labels: []ibid.Label{label("ada", 1), label("bob", 0)}},
		{Truth: []ibid.Mark{{Annotator: "ada", DocNull: true}}},
		{Truth: []ibid.Mark{mark("ada", 0, 10), mark("bob", 20, 10)}},
		{},
	} {
		r.ID, r.System, r.Query, r.Answer, r.HasCitations = fmt.Sprint("q", i), "a", "q", "a", true
		r.HasTruth, r.HasLabels = len(r.Truth) > 0, true
		s.rows = append(s.rows, &r)
	}
	p := s.planned(t)
	place := func(start, end int64) annotations.BlindPlace {
		return annotations.BlindPlace{Doc: "doc-0", Start: &start, End: &end}
	}
	said := &annotations.Filled{Said: map[int64][]annotations.BlindItem{
		0: {{Annotator: "cyd", Truth: []annotations.BlindPlace{place(8, 12)}, Labels: []annotations.BlindLabel{{ClaimID: "k", Kind: ibid.SupportLabel, Value: new(1.0)}}}},
		4: {{Annotator: "cyd", Truth: []annotations.BlindPlace{}}},
	}}
	truths := func(m *harness.Merged) map[string]string {
		out := make(map[string]string)
		for _, it := range m.Items {
			if it.Truth != nil {
				out[it.ID] = "nothing"
				var all []string
				for _, x := range *it.Truth {
					all = append(all, fmt.Sprintf("%d-%d", x.Start, x.End))
				}
				if len(all) > 0 {
					out[it.ID] = strings.Join(all, " ")
				}
			}
			for _, l := range it.Labels {
				out[it.ID+" label"] = fmt.Sprint(*l.Value)
			}
		}
		return out
	}
	check := func(name string, filled *annotations.Filled, m acts.Merging, want map[string]string, undecided int64) {
		t.Helper()
		got, err := p.MergeRounds(t.Context(), filled, m)
		if err != nil {
			t.Fatal(err)
		}
		if all := truths(got); fmt.Sprint(all) != fmt.Sprint(want) || got.Undecided != undecided || got.Unclear != 1 {
			t.Errorf("%s: %v, %d undecided, %d unclear, want %v and %d", name, all, got.Undecided, got.Unclear, want, undecided)
		}
		labels := int64(0)
		for k := range want {
			if strings.HasSuffix(k, "label") {
				labels++
			}
		}
		if got.Labels != labels || got.Questions != int64(len(want))-labels {
			t.Errorf("%s: %d labels of %d questions", name, got.Labels, got.Questions)
		}
	}
	check("what anybody marked", said, acts.Merging{Rule: ibid.PolicyUnion}, map[string]string{"q0": "0-20", "q0 label": "1", "q1": "0-10 20-30", "q1 label": "1", "q2": "nothing", "q3": "0-10", "q4": "nothing"}, 0)
	check("what everybody marked", said, acts.Merging{Rule: ibid.PolicyIntersection}, map[string]string{"q0": "8-10", "q0 label": "1", "q1": "nothing", "q1 label": "0", "q2": "nothing", "q3": "0-10", "q4": "nothing"}, 0)
	check("no rule", said, acts.Merging{}, map[string]string{"q0 label": "1", "q2": "nothing", "q3": "0-10", "q4": "nothing"}, 3)
	decided := &annotations.Filled{Said: said.Said, Decided: map[int64][]annotations.BlindItem{
		0: {{Annotator: "eve", How: "new", Truth: []annotations.BlindPlace{place(1, 2)}}, {Annotator: "eve", How: "new", Truth: []annotations.BlindPlace{place(2, 4)}}},
		1: {{Annotator: "eve", How: "new", Labels: []annotations.BlindLabel{{ClaimID: "k", Kind: ibid.SupportLabel, Value: new(0.5)}}}},
	}}
	check("an adjudicator", decided, acts.Merging{}, map[string]string{"q0": "2-4", "q0 label": "1", "q1 label": "0.5", "q2": "nothing", "q3": "0-10", "q4": "nothing"}, 1)
	again := &annotations.Filled{Said: map[int64][]annotations.BlindItem{0: {{Annotator: "ada", Truth: []annotations.BlindPlace{place(8, 12)}}}}}
	if _, err := p.MergeRounds(t.Context(), again, acts.Merging{}); err == nil || !strings.Contains(err.Error(), `"ada" annotated "q0" before: the dataset has it`) {
		t.Errorf("somebody twice: %v", err)
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
		f, err := p.Forecast(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	before := forecast()
	if before.InputRows != 20 || before.Calls < 15 || before.Cached != 0 || before.RPM != 30 || !before.LatencyAssumed || before.Latency.Seconds() != 5 || !slices.Equal(before.Models, []string{"fake/judge"}) {
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
