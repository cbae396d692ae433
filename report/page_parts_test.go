package report

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/configs"
	"ibid/metrics"
	"ibid/report/doc"
)

// TestWords makes sure that every status that exists has its words.
func TestWords(t *testing.T) {
	for i, s := range ibid.Statuses() {
		w := statusWords[i]
		if w.Code != s.String() || w.Long == "" {
			t.Errorf("status %s has the words of %s", s, w.Code)
		}
		if validStatus(s.String()) != s.Valid() {
			t.Errorf("status %s: valid is %v", s, validStatus(s.String()))
		}
	}
	for i, w := range problemWords {
		if w.Short == "" || w.Long == "" || w.Tone == "" {
			t.Errorf("problem %d has no words", i)
		}
		p := metrics.Problem(i)
		if bad := w.Tone == doc.Warn || w.Tone == doc.Bad; w.Code != p.String() || bad != p.Fails() {
			t.Errorf("problem %s has the words of %s, with tone %s", p, w.Code, w.Tone)
		}
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	f := harbour()
	f.manifest.Source = "https://user:hush@example.com/run.yaml?token=hush"
	f.manifest.Settings = []configs.Value{
		{Key: "judge.base_url", Value: "https://user:hush@example.com/v1", Source: "ibid.yaml:1:1"},
		{Key: "judge.api_key", Value: "hush", Source: "environment"},
		{Key: "judge.api_key_env", Value: "MY_KEY", Source: "ibid.yaml:2:1"},
		{Key: "judge.request", Value: "{max_tokens: 4096}", Source: "ibid.yaml:3:1"},
		{Key: "mark_scope", Value: "sentence", Source: "default"},
	}
	html := writePage(t, f.page(t, PageOptions{}))
	if strings.Contains(html, "hush") {
		t.Error("the page shows a secret")
	}
	for _, want := range []string{"MY_KEY", "4096", "(not shown)", "https://example.com/v1"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPercent(t *testing.T) {
	tests := []struct {
		n, of int64
		want  string
	}{{0, 0, "–"}, {0, 7, "0 %"}, {1, 1000, "< 1 %"}, {999, 1000, "> 99 %"}, {1000, 1000, "100 %"}, {1, 3, "33 %"}, {2, 3, "67 %"}}
	for _, tt := range tests {
		if got := percent(tt.n, tt.of); got != tt.want {
			t.Errorf("percent(%d, %d) = %q, want %q", tt.n, tt.of, got, tt.want)
		}
	}
}

// TestPageOfTooManyRows lists them all, opens the worst, and says so.
func TestPageOfTooManyRows(t *testing.T) {
	f := large(600, 50)
	p := f.page(t, PageOptions{MaxBytes: 150_000})
	opened, size := 0, 0
	for _, k := range p.Packs {
		size += len(k.Data)
		if strings.HasPrefix(k.ID, "rows-") {
			opened += strings.Count(packOf(t, p, k.ID), `<section id="row"`)
		}
	}
	if size > 150_000 || opened < 60 || opened >= 600 {
		t.Errorf("%d bytes, %d rows can be opened", size, opened)
	}
	if text, want := sectionText(t, p, "answers"), fmt.Sprintf("note: %d of them can be opened here, the worst.", opened); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%.500s", want, text)
	}
}

// TestPageOfMoreRowsThanItLists counts all rows all the same, and lists the worst.
func TestPageOfMoreRowsThanItLists(t *testing.T) {
	f := large(3_000, 50)
	f.rows[17]["fails_because"] = "contradicted"
	data := f.run(t)
	of := func(most int) *pageData {
		p, err := readPageData(t.Context(), PageOptions{}, []RunData{data}, most)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole, some := of(3_000), of(2_000)
	all, counted := [...]counts{whole.states, whole.statuses, whole.outcomes}, [...]counts{some.states, some.statuses, some.outcomes}
	if len(some.answers) != 2_000 || some.find(0, 17) == nil || !reflect.DeepEqual(all, counted) {
		t.Errorf("%d answers; %+v, and of all %+v", len(some.answers), counted, all)
	}
	if whole.left != "" || some.left != "This page lists 2,000 of 3,000 answers, those that fail first. All numbers are over all answers; ibid report --serve and ibid show open every one." {
		t.Errorf("%q, %q", whole.left, some.left)
	}
}

// TestWorst keeps the same as sorting everything.
func TestWorst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	f := worst{most: 7}
	var all []found
	for k := range 1000 {
		x := found{row: int64(k), problem: metrics.Problem(rng.IntN(metrics.NumProblems)), lead: rng.Float64(), hasLead: k%3 > 0}
		if f.keeps(&x) {
			f.add(x)
		}
		all = append(all, x)
		if len(f.list) > 15 {
			t.Fatalf("%d are held", len(f.list))
		}
	}
	slices.SortFunc(all, func(x, y found) int { return x.worse(&y) })
	if got := f.sorted(); !reflect.DeepEqual(got, all[:7]) {
		t.Errorf("got %v, want %v", got, all[:7])
	}
}

// TestPageOfTenThousandRows is about the size of the file; the benchmark beside
// it is about time.
func TestPageOfTenThousandRows(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 10,000 rows")
	}
	html := writePage(t, large(10_000, 4_000).page(t, PageOptions{}))
	if limit := 15 << 20; len(html) > limit {
		t.Errorf("10,000 rows over 4,000 documents take %d bytes, more than %d", len(html), limit)
	}
	t.Logf("%.1f MB", float64(len(html))/1e6)
}

func BenchmarkWritePage(b *testing.B) {
	data := large(10_000, 4_000).run(b)
	b.ReportAllocs()
	for b.Loop() {
		p, err := newPage(b.Context(), PageOptions{}, data)
		if err != nil {
			b.Fatal(err)
		}
		writePage(b, p)
	}
}

// TestLeadMetrics chooses what a reader asks for first.
func TestLeadMetrics(t *testing.T) {
	with := func(names ...string) func(string) bool {
		return func(name string) bool { return slices.Contains(names, name) }
	}
	spans := leadOf(with("char_f1", "char_precision", "span_accuracy_score", "mean_snapped_jaccard", "overall_citation_accuracy"))
	if want := []string{"char_f1", "char_precision", "mean_snapped_jaccard"}; !slices.Equal(spans, want) {
		t.Errorf("without a judge: %q, want %q", spans, want)
	}
	judged := leadOf(with("char_f1", "span_accuracy_score", "mean_snapped_jaccard", "overall_citation_accuracy", "citation_correctness"))
	if want := []string{"overall_citation_accuracy", "citation_correctness", "span_accuracy_score", "char_f1"}; !slices.Equal(judged, want) {
		t.Errorf("with a judge: %q, want %q", judged, want)
	}
}
