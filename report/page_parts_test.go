package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// TestProblems: a row that fails has the problem that the run names; a citation
// and a row of an earlier run have the worst of what the tables say.
func TestProblems(t *testing.T) {
	l := limits{ProblemLimits: metrics.ProblemLimits{Supported: 0.7, GoodMatch: 0.8}}
	some := func(v float64) *float64 { return &v }
	tests := []struct {
		name    string
		because string
		c       citation
		outcome string
		want    metrics.Problem // of the citation
		row     metrics.Problem
	}{
		{"nothing known", "", citation{status: "unchecked"}, "", metrics.NoProblem, metrics.NoProblem},
		{"a status of another version", "", citation{status: "new"}, "", metrics.NoProblem, metrics.NoProblem},
		{"not what the run names", "low_score", citation{status: "ok"}, "", metrics.NoProblem, metrics.ProblemLowScore},
		{"not in the run", "", citation{status: "ok", exact: some(0)}, "", metrics.ProblemWrongPlace, metrics.ProblemWrongPlace},
		{"of its claim", "", citation{status: "ok", support: some(0), label: "contradicts"}, "contradicted", metrics.ProblemContradicted, metrics.ProblemContradicted},
		{"not why its claim fails", "", citation{status: "ok", support: some(0.7)}, "unsupported", metrics.NoProblem, metrics.ProblemUncited},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.claims = []int32{0}
			r := &results{
				failed: []string{""}, because: []string{tt.because}, truthSpans: make([]int64, 1), citations: []citation{tt.c}, firstCite: []int32{0, 1},
				findings: []metrics.ClaimFinding{{Outcome: outcomeNamed[tt.outcome]}}, firstClm: []int32{0, 1},
			}
			if got := l.ofCitation(r, 0, &r.citations[0]); got != tt.want {
				t.Errorf("the citation's problem is %s, want %s", got, tt.want)
			}
			if got := l.ofRow(r, 0); got != tt.row {
				t.Errorf("the row's problem is %s, want %s", got, tt.row)
			}
		})
	}
}

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
		if bad := w.Tone == toneWarn || w.Tone == toneBad; w.Code != p.String() || bad != p.Fails() {
			t.Errorf("problem %s has the words of %s, with tone %s", p, w.Code, w.Tone)
		}
	}
}

// TestPieces takes random marks in random texts, and finds the marked text again
// in the way the script of the page does.
func TestPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		runes := make([]rune, random.IntN(9000)+1)
		for i := range runes {
			runes[i] = []rune("ab é😀中")[random.IntN(6)]
		}
		text := string(runes)
		var s sources
		key := textKey{doc: "d"}
		var rows [][]mark
		for range random.IntN(5) + 1 {
			var marks []mark
			for k := range random.IntN(4) + 1 {
				start := random.Int64N(int64(len(runes)))
				marks = append(marks, mark{start, start + random.Int64N(300) + 1, markPredicted, int32(k)})
			}
			s.add(key, text, marks)
			rows = append(rows, marks)
		}
		held := s.byKey[key]
		for i := range held.pieces {
			if p := held.pieces[i]; p.text != string(runes[p.start:p.end]) || i > 0 && p.start <= held.pieces[i-1].end {
				t.Fatalf("piece %d is [%d, %d) of %d", i, p.start, p.end, len(runes))
			}
		}
		for _, marks := range rows {
			checkView(t, runes, marks, held)
		}
	}
}

// checkView compares a view with what the marks say of each code point.
func checkView(t *testing.T, runes []rune, marks []mark, held *sourceText) {
	t.Helper()
	marked := make(map[int64]bool)
	for _, v := range held.view(marks) {
		p := held.pieces[v.Piece]
		units := utf16.Encode([]rune(p.text))
		if v.Runs[0] != 0 || int(v.Runs[len(v.Runs)-2]) != len(units) {
			t.Fatalf("runs %v of %d units", v.Runs, len(units))
		}
		at := p.start
		for k := 0; k < len(v.Runs); k += 3 {
			if k > 0 && v.Runs[k] != v.Runs[k-2] {
				t.Fatalf("runs %v leave something out", v.Runs)
			}
			for _, r := range utf16.Decode(units[v.Runs[k]:v.Runs[k+1]]) {
				if r != runes[at] {
					t.Fatalf("code point %d is %q, want %q", at, r, runes[at])
				}
				marked[at] = v.Runs[k+2]&markPredicted != 0
				at++
			}
		}
	}
	for _, m := range marks {
		for at := m.start; at < min(m.end, int64(len(runes))); at++ {
			if !marked[at] {
				t.Fatalf("code point %d is marked by [%d, %d), but not shown so", at, m.start, m.end)
			}
		}
	}
	for at, yes := range marked {
		if yes && !slices.ContainsFunc(marks, func(m mark) bool { return m.start <= at && at < m.end }) {
			t.Fatalf("code point %d is shown as marked", at)
		}
	}
}

func FuzzUnitsBefore(f *testing.F) {
	f.Add("a😀b", 1, 2)
	f.Add("", 0, 5)
	f.Fuzz(func(t *testing.T, text string, a, b int) {
		if !strings.Contains(text, "\ufffd") && a >= 0 && a <= b && b < 1<<20 {
			runes := []rune(text)
			want := []int32{int32(len(utf16.Encode(runes[:min(a, len(runes))]))), int32(len(utf16.Encode(runes[:min(b, len(runes))])))}
			if got := unitsBefore(text, []int64{int64(a), int64(b)}); !slices.Equal(got, want) {
				t.Errorf("unitsBefore(%q, %d, %d) = %v, want %v", text, a, b, got, want)
			}
		}
	})
}

// TestGateRules draws the limits of gates in the normal form that runs hold.
func TestGateRules(t *testing.T) {
	tests := []struct {
		gate                  string
		system, slice, metric string // of the group that shows the limit
		want                  string // "" if no group shows it
	}{
		{"char_f1 >= 0.7", "", "", "char_f1", ">= 0.700"},
		{"char_dice>=0.7", "", "", "char_f1", ">= 0.700"},
		{"lo(micro(char_f1))[lang=de] < 0.6", "", "lang=de", "char_f1", ""}, // no macro value
		{"lo(char_f1)[lang=de] < 0.6", "", "lang=de", "char_f1", "< 0.600"},
		{"hi(hallucination_rate)[system=a][lang=de] <= 0.1", "a", "lang=de", "hallucination_rate", "<= 0.100"},
		{"diff(char_f1) >= -0.1", "", "", "char_f1", ""},
	}
	groups := [][2]string{{"", ""}, {"a", ""}, {"b", ""}, {"", "lang=de"}, {"a", "lang=de"}, {"", "lang=fr"}}
	for _, tt := range tests {
		g, err := configs.ParseGate(tt.gate)
		if err != nil {
			t.Fatal(err)
		}
		results := []runs.GateResult{{Gate: g.String()}}
		for _, group := range groups {
			for _, metric := range []string{"char_f1", "hallucination_rate"} {
				rules := gateRules(results, group[0], group[1], metric)
				here := tt.want != "" && group == [2]string{tt.system, tt.slice} && metric == tt.metric
				if here != (len(rules) == 1) || here && rules[0].text != tt.want {
					t.Errorf("gate %s in %q, %s: %+v, want %q: %v", g, group, metric, rules, tt.want, here)
				}
			}
		}
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	f := harbour()
	f.manifest.Source = "https://user:hush@example.com/run.yaml?token=hush"
	f.manifest.Settings = []runs.Setting{
		{Key: "judge.base_url", Value: "https://user:hush@example.com/v1", Source: "ibid.yaml:1:1"},
		{Key: "judge.api_key", Value: "hush", Source: "environment"},
		{Key: "judge.api_key_env", Value: "MY_KEY", Source: "ibid.yaml:2:1"},
		{Key: "judge.request", Value: "{max_tokens: 4096}", Source: "ibid.yaml:3:1"},
		{Key: "tokenizer", Value: "words", Source: "default"},
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

// TestPageOfTooManyRows lists them all, opens the worst and some others, and says
// so.
func TestPageOfTooManyRows(t *testing.T) {
	f := large(600, 50)
	p := f.page(t, PageOptions{MaxBytes: 150_000})
	size := 0
	for _, k := range p.packs {
		size += len(k.Data)
	}
	if size > 150_000 || view[rowsTable](p).Held != 600 || view[rowsTable](p).Opened >= 600 || view[rowsTable](p).Opened < staticRows {
		t.Errorf("%d bytes, %d of %d rows can be opened", size, view[rowsTable](p).Opened, view[rowsTable](p).Held)
	}
	var x rowIndex
	openPack(t, p, "index", &x)
	failing := 0
	for pack := range 3 {
		var rows []*rowDetail
		openPack(t, p, fmt.Sprintf("rows-%d", pack), &rows)
		for k, r := range rows {
			if r != nil {
				failing += int(x.Failing[200*pack+k])
			}
		}
	}
	want := fmt.Sprintf("%d of the rows can be opened here, %d of them failing;", view[rowsTable](p).Opened, failing)
	if text := sectionText(t, p, "verdict"); !strings.Contains(text, "\nnote: "+want[:40]) || !strings.Contains(writePage(t, p), want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	var rows []*rowDetail
	openPack(t, p, "rows-0", &rows)
	opened := 0
	for _, r := range rows {
		if r != nil {
			opened++
		}
	}
	if len(rows) != 200 || opened == 0 || opened == 200 {
		t.Errorf("%d of the first %d rows can be opened", opened, len(rows))
	}
}

// TestChoice takes what fails and a sample of the rest, the same each time.
func TestChoice(t *testing.T) {
	chosen := func(most int, systems int) (*pageData, choice) {
		b := &pageData{results: []*results{{run: &RunData{Manifest: &runs.Manifest{Seed: 7}}}}}
		b.totals.rows, b.totals.failing = []int64{10_000}, []int64{1000}
		c := newChooser(most, 10_000)
		for k := range 10_000 {
			x := candidate{row: int64(k), lot: lot(7, fmt.Sprint(k), "s")}
			if k%10 == 3 {
				x.problem = metrics.ProblemNoDocument
			}
			if systems > 1 && k > 9000 {
				x.system, x.problem = 1, metrics.ProblemMisquoted
			}
			c.add(x)
		}
		return b, c.choose()
	}
	b, c := chosen(4_000, 1)
	failing := 0
	for _, x := range c.listed {
		if x.problem.Fails() {
			failing++
		}
	}
	inOrder := slices.IsSortedFunc(c.listed, candidate.before)
	if len(c.listed) != 4_000 || failing != 1000 || c.sample != 3_000 || !inOrder {
		t.Errorf("%d rows, %d of them failing, %d drawn", len(c.listed), failing, c.sample)
	}
	// Some of the others can be opened in any case, then the failing ones come.
	if c.opened[openedSample-1].problem.Fails() {
		t.Error("too few of the others can be opened")
	}
	if !c.opened[openedSample].problem.Fails() {
		t.Error("failing rows do not come before others")
	}
	if _, again := chosen(4_000, 1); !slices.Equal(c.listed, again.listed) || !slices.Equal(c.opened, again.opened) {
		t.Error("the same rows give another sample")
	}
	if got, want := sampledInWords(b, &c, 4_000), "This page lists 4,000 of 10,000 rows: all 1,000 failing rows and a sample of 3,000 others (seed 7). All numbers are over all rows;"; !strings.HasPrefix(got, want) {
		t.Errorf("the page says %q", got)
	}
	// More fail than a page lists: the worst, and still some others.
	b, c = chosen(2_500, 1)
	if got, want := sampledInWords(b, &c, 100), "This page lists 2,500 of 10,000 rows: the 500 worst of 1,000 failing rows and a sample of 2,000 others (seed 7). 100 of the rows can be opened here, 0 of them failing;"; !strings.HasPrefix(got, want) {
		t.Errorf("the page says %q", got)
	}
	// Each system has its turn, however much worse another one is.
	_, c = chosen(4_000, 2)
	if x, y := c.opened[openedSample], c.opened[openedSample+1]; x.system == y.system {
		t.Errorf("the first failing rows to be opened are of one system: %+v, %+v", x, y)
	}
}

// TestPageOfMoreRowsThanItLists counts all rows all the same, and compares the rows
// that it lists with their partners.
func TestPageOfMoreRowsThanItLists(t *testing.T) {
	f := large(3_000, 50)
	for i := range f.citations {
		if i%40 < 30 {
			f.citations[i]["exact_jaccard"], f.citations[i]["snapped_jaccard"] = 1.0, 1.0
		}
		if i%40 == 7 {
			f.citations[i]["source_type"] = "web"
			f.citations[i]["status"] = "document_not_found"
		}
	}
	data := f.run(t)
	o := PageOptions{MaxBytes: 1 << 30, Comparison: pairOf()}
	whole, err := newPage(t.Context(), o, data)
	if err != nil {
		t.Fatal(err)
	}
	o.maxRows = 2_400
	p, err := newPage(t.Context(), o, data)
	if err != nil {
		t.Fatal(err)
	}
	if got := view[rowsTable](p); got.Total != 3_000 || got.Held != 2_400 {
		t.Errorf("the page lists %d of %d rows", got.Held, got.Total)
	}
	const sampled = "This page lists 2,400 of 3,000 rows"
	head := sectionText(t, p, "verdict")
	if !strings.Contains(head, sampled) || strings.Contains(sectionText(t, whole, "verdict"), sampled) {
		t.Errorf("the page says\n%s", head)
	}
	for _, same := range [][2]any{
		{docView(t, whole, "why"), docView(t, p, "why")},
		{docView(t, whole, "metrics"), docView(t, p, "metrics")},
		{docView(t, whole, "systems"), docView(t, p, "systems")},
	} {
		if !reflect.DeepEqual(same[0], same[1]) {
			t.Errorf("%T differs from the page that lists all:\n%+v\n%+v", same[0], same[0], same[1])
		}
	}
}

// TestFirst keeps the same as sorting everything.
func TestFirst(t *testing.T) {
	f := first{most: 7, order: candidate.drawnBefore}
	var all []candidate
	for k := range 1000 {
		x := candidate{row: int64(k), lot: lot(1, fmt.Sprint(k), "")}
		f.add(x)
		all = append(all, x)
		if len(f.list) > 15 {
			t.Fatalf("%d are held", len(f.list))
		}
	}
	slices.SortFunc(all, candidate.drawnBefore)
	if got := f.sorted(); !slices.Equal(got, all[:7]) {
		t.Errorf("got %v, want %v", got, all[:7])
	}
}

// TestRounded is as the decimal digits say.
func TestRounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	check := func(v float64) {
		t.Helper()
		want, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 4, 64), 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := rounded(v); got != want || math.Signbit(got) != math.Signbit(want) {
			t.Errorf("rounded(%v) = %v, want %v", v, got, want)
		}
	}
	for _, v := range []float64{0, 0.00005, 0.00015, -0.00005, -0.00001, 1.00005, 0.5, 1e300, -1e12, 123456789.00005} {
		check(v)
	}
	for range 20_000 {
		check(rng.Float64())
		check(float64(rng.IntN(200_001)) / 200_000)
		check((rng.Float64() - 0.5) * math.Pow(10, float64(rng.IntN(20))))
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
