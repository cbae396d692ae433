package judge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"ibid"
	"ibid/judge"
)

// testJudge puts [promised] to the judges that newJudge makes and checks every
// promise of the interface: the shape of verdicts, scores in range, the same
// verdict every time and from every goroutine, a request that stays as it was,
// errors, and that a context that has ended is obeyed. A judge may fail single
// requests with a [*judge.RowFailure], but not all of them. Under the race detector only the
// promises about goroutines and contexts are checked: the store of answers is slow there.
func testJudge(t *testing.T, newJudge func() judge.Judge) {
	if !judge.Raced() {
		t.Run("info", func(t *testing.T) { testInfo(t, newJudge()) })
		t.Run("verdicts", func(t *testing.T) { testVerdicts(t, newJudge()) })
		t.Run("deterministic", func(t *testing.T) { testDeterministic(t, newJudge) })
		t.Run("request unchanged", func(t *testing.T) { testUnchanged(t, newJudge()) })
	}
	t.Run("concurrent", func(t *testing.T) { testConcurrent(t, newJudge()) })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, newJudge()) })
}

func testInfo(t *testing.T, j judge.Judge) {
	before := j.Info()
	if before.Kind == "" {
		t.Error("Info().Kind is empty")
	}
	for _, r := range promised() {
		_, _ = j.Judge(t.Context(), r) // errors are the matter of the other tests
	}
	if after := j.Info(); after != before {
		t.Errorf("Info() changed from %+v to %+v", before, after)
	}
}

func testVerdicts(t *testing.T, j judge.Judge) {
	judged := 0
	for _, r := range promised() {
		v, err := j.Judge(t.Context(), r)
		var failure *judge.RowFailure
		switch {
		case errors.As(err, &failure):
			if v != nil {
				t.Errorf("%s: a verdict beside the error %v", r.Row, err)
			}
			if failure.Row != r.Row || failure.Reason == "" {
				t.Errorf("%s: failure %+v does not name row and reason", r.Row, failure)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", r.Row, err)
			continue
		}
		judged++
		for _, problem := range problemsOf(r, v) {
			t.Errorf("%s: %s", r.Row, problem)
		}
	}
	if judged == 0 {
		t.Error("no request got a verdict")
	}
}

func testDeterministic(t *testing.T, newJudge func() judge.Judge) {
	first, second := newJudge(), newJudge()
	for _, r := range promised() {
		want, wantErr := first.Judge(t.Context(), r)
		for _, j := range []judge.Judge{first, second} {
			if got, err := j.Judge(t.Context(), r); !same(got, want, err, wantErr) {
				t.Errorf("%s: first %+v, %v, then %+v, %v", r.Row, want, wantErr, got, err)
			}
		}
	}
}

func testUnchanged(t *testing.T, j judge.Judge) {
	for _, r := range promised() {
		before := dump(t, r)
		v, _ := j.Judge(t.Context(), r)
		if after := dump(t, r); after != before {
			t.Errorf("%s: the request changed\nfrom %s\nto   %s", r.Row, before, after)
		}
		if v == nil {
			continue
		}
		// What a caller does to one verdict must not reach another.
		kept, keptErr := j.Judge(t.Context(), r)
		for i := range v.Claims {
			clear(v.Claims[i].Checks)
			if p := v.Claims[i].ElsewherePlace; p != nil {
				*p = judge.Place{}
			}
		}
		clear(v.Claims)
		if again, err := j.Judge(t.Context(), r); !same(again, kept, err, keptErr) {
			t.Errorf("%s: after a verdict was overwritten %+v, %v, want %+v, %v", r.Row, again, err, kept, keptErr)
		}
	}
}

func testConcurrent(t *testing.T, j judge.Judge) {
	const workers = 8
	requests := promised()
	type result struct {
		verdict *judge.Verdict
		err     error
	}
	want := make([]result, len(requests))
	for i, r := range requests {
		want[i].verdict, want[i].err = j.Judge(t.Context(), r)
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := range 3 * len(requests) {
				i := (n + w) % len(requests)
				if got, err := j.Judge(t.Context(), requests[i]); !same(got, want[i].verdict, err, want[i].err) {
					t.Errorf("%s: alone %+v, %v, among others %+v, %v", requests[i].Row, want[i].verdict, want[i].err, got, err)
				}
			}
		})
	}
	wg.Wait()
}

func testCancelled(t *testing.T, j judge.Judge) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range promised() {
		if v, err := j.Judge(ctx, r); !errors.Is(err, context.Canceled) || v != nil {
			t.Errorf("%s: %+v, %v after the context was cancelled", r.Row, v, err)
		}
	}
}

// same compares verdicts but for what calls took, and errors by their text.
func same(a, b *judge.Verdict, aErr, bErr error) bool {
	if aErr != nil || bErr != nil {
		return a == nil && b == nil && aErr != nil && bErr != nil && aErr.Error() == bErr.Error()
	}
	return reflect.DeepEqual(a.Claims, b.Claims) && a.Tampering == b.Tampering
}

func dump(t *testing.T, r *judge.Request) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// promised returns the requests of [testJudge], made anew: plain ones with
// human labels, and the odd ones that data brings. Each has its own Row.
func promised() []*judge.Request {
	return []*judge.Request{
		plain(), shared(), odd(), spaceless(),
		{Row: "empty/a"},
		{Row: "no evidence/a", Question: "Why?", Claims: []ibid.Claim{{Text: "Nothing is cited here."}, {}}},
	}
}

// plain has a claim of two citations, one of an invalid citation, one uncited.
func plain() *judge.Request {
	source := "The bridge opened on 11 July 1909. It carries 4,200 cars a day. It was never closed."
	return &judge.Request{
		Row: "plain/a", Question: "When did the bridge open?", Answer: "The bridge opened in 1909. It is red. It was closed.",
		Claims: []ibid.Claim{
			{ClaimID: "one", Text: "The bridge opened in 1909 and carries 4200 cars.", Citations: []int32{0, 1}},
			{Text: "The bridge is red.", Citations: []int32{2}},
			{Text: "It was closed."},
		},
		Evidence: []judge.Evidence{
			{Text: "The bridge opened on 11 July 1909.", Citation: 0},
			{Text: "It carries 4,200 cars a day.", Citation: 1},
		},
		Sources: []judge.Source{{Doc: "bridge", Page: 1, Text: source, Cited: []judge.Interval{
			{Start: 0, End: 34, Citation: 0}, {Start: 35, End: 63, Citation: 1},
		}}},
		Labels: []judge.HumanLabel{
			{Label: ibid.Label{Annotator: "a", Kind: ibid.SupportLabel, Value: ibid.Some[float64](1)}, Claim: 0, Citation: -1},
			{Label: ibid.Label{Annotator: "b", Kind: ibid.SupportLabel, Value: ibid.Some(0.5)}, Claim: 0, Citation: -1},
			{Label: ibid.Label{Annotator: "a", Kind: ibid.SupportLabel, Value: ibid.Some(0.5)}, Claim: 0, Citation: 1},
			{Label: ibid.Label{Annotator: "a", Kind: ibid.RelevantLabel, Value: ibid.Some[float64](0)}, Claim: -1, Citation: 2},
			{Label: ibid.Label{Annotator: "a", Kind: ibid.FactualLabel, Value: ibid.Some[float64](1)}, Claim: 2, Citation: -1},
			{Label: ibid.Label{Annotator: "b", Kind: ibid.NeedsCitationLabel, Value: ibid.Some[float64](0)}, Claim: 2, Citation: -1},
		},
	}
}

// shared has one text cited twice, by one claim and by two.
func shared() *judge.Request {
	text := "Rain fell for three days in Lisbon."
	return &judge.Request{
		Row: "shared/a",
		Claims: []ibid.Claim{
			{Text: "It rained in Lisbon.", Citations: []int32{0, 3}},
			{Text: "It rained for three days.", Citations: []int32{3}},
			{Text: "It did not rain in Lisbon.", Citations: []int32{4}},
		},
		Evidence: []judge.Evidence{{Text: text, Citation: 0}, {Text: text, Citation: 3}, {Text: "Porto was dry.", Citation: 4}},
	}
}

// odd has what no one writes on purpose: markers alone, no letters, bytes that
// are not UTF-8, evidence without text, a word of 100,000 letters.
func odd() *judge.Request {
	long := strings.Repeat("x", 100_000)
	return &judge.Request{
		Row: "odd/a", Question: "?",
		Claims: []ibid.Claim{
			{Text: "[1][2]", Citations: []int32{0}},
			{Text: "\xff\xfe 1.2.3.4 --5,,6 [", Citations: []int32{1}},
			{Text: long, Citations: []int32{2}},
			{Text: strings.Repeat("[", 1000) + "0" + strings.Repeat("9", 400), Citations: []int32{0, 1, 2}},
		},
		Evidence: []judge.Evidence{{Citation: 0}, {Text: "\xffnot UTF-8\xc3 5", Citation: 1}, {Text: long + " " + long, Citation: 2}},
		Sources:  []judge.Source{{Doc: "d"}, {Doc: "e", Text: "\n\n.\n"}},
	}
}

// spaceless has scripts that do not divide words by spaces.
func spaceless() *judge.Request {
	return &judge.Request{
		Row: "spaceless/a", Question: "大桥何时开放？",
		Claims: []ibid.Claim{
			{Text: "大桥于1909年7月11日开放。", Citations: []int32{0}},
			{Text: "橋は閉鎖されなかった。", Citations: []int32{1}},
			{Text: "다리는 붉은색이다"},
		},
		Evidence: []judge.Evidence{{Text: "大桥于1909年7月11日开放,长2公里。", Citation: 0}, {Text: "橋は閉鎖された。", Citation: 1}},
		Sources:  []judge.Source{{Doc: "ko", Text: "다리는 붉은색이다. 길이는 2킬로미터이다."}},
	}
}

// problemsOf says what is wrong with a verdict on r, nothing if all is well.
func problemsOf(r *judge.Request, v *judge.Verdict) []string {
	c := checker{request: r}
	if len(v.Claims) != len(r.Claims) {
		return []string{fmt.Sprintf("%d claims, want %d", len(v.Claims), len(r.Claims))}
	}
	if v.Tampering != "" && !slices.Contains(ibid.Tamperings(), v.Tampering) {
		c.addf("tampering %q", v.Tampering)
	}
	for i := range v.Claims {
		c.where = fmt.Sprintf("claim %d: ", i)
		c.claim(&r.Claims[i], r.Cited(i, nil), &v.Claims[i])
	}
	return c.problems
}

type checker struct {
	request  *judge.Request
	where    string
	problems []string
}

func (c *checker) addf(format string, args ...any) {
	c.problems = append(c.problems, c.where+fmt.Sprintf(format, args...))
}

func (c *checker) claim(claim *ibid.Claim, evidence []int, v *judge.ClaimVerdict) {
	c.support("joint", v.Joint)
	c.support("elsewhere", v.Elsewhere)
	c.tri("factual", v.Factual)
	c.tri("needs citation", v.NeedsCitation)
	if len(claim.Citations) == 0 && v.Joint != ibid.None.Support() {
		c.addf("cites nothing, joint is %+v", v.Joint)
	}
	if v.Joint.Degree == ibid.Contradicts && v.Contradicted != ibid.Yes || v.Contradicted == ibid.Yes && v.Joint.Value >= 0.5 {
		c.addf("contradicted is %q, joint %s", v.Contradicted, v.Joint.Degree)
	}
	if v.Votes < 0 || v.Votes > 0 && len(claim.Citations) == 0 {
		c.addf("%d votes", v.Votes)
	}
	seen := make(map[int]bool)
	for i := range v.Checks {
		check := &v.Checks[i]
		if seen[check.Citation] {
			c.addf("citation %d is checked twice", check.Citation)
		}
		seen[check.Citation] = true
		c.check(claim, evidence, check)
	}
	for _, e := range evidence {
		if !seen[c.request.Evidence[e].Citation] {
			c.addf("citation %d is not checked", c.request.Evidence[e].Citation)
		}
	}
	for _, set := range v.Sufficient {
		for _, e := range set {
			if !slices.Contains(evidence, e) {
				c.addf("sufficient has evidence %d, which it does not cite", e)
			}
		}
	}
	c.elsewhere(evidence, v)
}

func (c *checker) check(claim *ibid.Claim, evidence []int, v *judge.Check) {
	if !slices.Contains(claim.Citations, int32(v.Citation)) {
		c.addf("a check of citation %d, which it does not cite", v.Citation)
	}
	c.support("check", v.Support)
	c.tri("relevant", v.Relevant)
	if v.Evidence == -1 {
		return
	}
	if !slices.Contains(evidence, v.Evidence) || c.request.Evidence[v.Evidence].Citation != v.Citation {
		c.addf("a check of citation %d in evidence %d", v.Citation, v.Evidence)
		return
	}
	c.interval("quote", c.request.Evidence[v.Evidence].Text, v.QuoteAt.Start, v.QuoteAt.End)
}

func (c *checker) elsewhere(evidence []int, v *judge.ClaimVerdict) {
	if v.ElsewhereEvidence >= 0 {
		switch {
		case v.ElsewhereEvidence >= len(c.request.Evidence):
			c.addf("elsewhere in evidence %d of %d", v.ElsewhereEvidence, len(c.request.Evidence))
		default:
			e := &c.request.Evidence[v.ElsewhereEvidence]
			before, length := int32(utf8.RuneCountInString(e.Before)), int32(utf8.RuneCountInString(e.Text))
			if at := v.ElsewhereAt; slices.Contains(evidence, v.ElsewhereEvidence) && (at.Start == at.End || at.Start < length && at.End > 0) {
				c.addf("elsewhere in evidence %d at %+v, which it cites", v.ElsewhereEvidence, at)
			}
			c.interval("elsewhere", e.Before+e.Text+e.After, v.ElsewhereAt.Start+before, v.ElsewhereAt.End+before)
		}
	}
	if p := v.ElsewherePlace; p != nil {
		i := slices.IndexFunc(c.request.Sources, func(s judge.Source) bool { return s.Doc == p.Doc && s.Page == p.Page })
		if i < 0 {
			c.addf("elsewhere in unknown document %q, page %d", p.Doc, p.Page)
			return
		}
		c.interval("elsewhere", c.request.Sources[i].Text, p.Start, p.End)
	}
}

func (c *checker) interval(what, text string, start, end int32) {
	if start == 0 && end == 0 {
		return
	}
	if n := int32(utf8.RuneCountInString(text)); start < 0 || start >= end || end > n {
		c.addf("%s at [%d,%d) of %d", what, start, end, n)
	}
}

func (c *checker) support(what string, s ibid.Support) {
	switch {
	case !s.Known() && (s.Value != 0 || s.Degree != ibid.Unsure):
		c.addf("%s is unscored and has %+v", what, s)
	case s.Known() && !(s.Value >= 0 && s.Value <= 1):
		c.addf("%s has score %v", what, s.Value)
	case s.Known() && (s.Degree == ibid.Unsure || s.Degree > ibid.Contradicts):
		c.addf("%s has a score and label %d", what, s.Degree)
	case s.Degree == ibid.Contradicts && s.Value != 0:
		c.addf("%s contradicts with score %v", what, s.Value)
	}
}

func (c *checker) tri(what string, t ibid.Tri) {
	if t > ibid.Yes {
		c.addf("%s is %d", what, t)
	}
}
