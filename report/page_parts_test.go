package report

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/span"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file, or rewrites it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale; if the change is meant, run go test ./report -update\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestPictures(t *testing.T) {
	p := harbour().page(t, PageOptions{})
	pictures := []struct {
		name, template string
		data           any
	}{
		{"strip.svg", "strip", p.Tiles[0].Strip},
		{"strip-gate.svg", "strip", p.Compare[1].Lines[1].Strip},
		{"spread.svg", "spread", p.Spreads[1]},
		{"bars.html", "bars", p.Statuses},
	}
	for _, x := range pictures {
		t.Run(x.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := pageTemplates.ExecuteTemplate(&b, x.template, x.data); err != nil {
				t.Fatal(err)
			}
			golden(t, x.name, append(bytes.TrimSpace(b.Bytes()), '\n'))
		})
	}
}

func TestProblems(t *testing.T) {
	l := limits{supported: 0.7, goodMatch: 0.8}
	some := func(v float64) dataset.NullFloat { return dataset.NullFloat{Value: v, Valid: true} }
	tests := []struct {
		name  string
		c     citation
		claim claim
		want  problem
	}{
		{"nothing known", citation{status: "unchecked"}, claim{}, fine},
		{"exact", citation{status: "ok", exact: some(1), snapped: some(1)}, claim{}, fine},
		{"good after snapping", citation{status: "ok", exact: some(0.7), snapped: some(0.9)}, claim{}, fine},
		{"covers too little", citation{status: "ok", exact: some(0.5), snapped: some(0.5)}, claim{}, partly},
		{"touches nothing", citation{status: "ok", exact: some(0)}, claim{}, beside},
		{"an invented document is worse than touching nothing", citation{status: "document_not_found", exact: some(0)}, claim{}, invented},
		{"repaired", citation{status: "quote_repaired"}, claim{}, repaired},
		{"unsupported claim", citation{status: "ok", support: some(0)}, claim{outcome: "unsupported"}, unsupported},
		{"not the citation that fails its claim", citation{status: "ok", support: some(0.9)}, claim{outcome: "unsupported"}, fine},
		{"contradicts", citation{status: "ok", label: "contradicts", support: some(0)}, claim{outcome: "contradicted", citations: []int64{0, 1}}, contradicted},
		{"beside one that contradicts", citation{status: "ok", support: some(0)}, claim{outcome: "contradicted", citations: []int64{0, 1}}, fine},
		{"supported elsewhere", citation{status: "ok", support: some(0)}, claim{outcome: "supported_elsewhere"}, elsewhere},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.claims = []int64{0}
			r := &results{citations: []citation{tt.c}, claims: []claim{tt.claim}, firstCite: []int32{0, 1}, firstClm: []int32{0, 1}}
			if got := l.ofCitation(r, 0, &r.citations[0]); got != tt.want {
				t.Errorf("problem is %s, want %s", problemWords[got].Code, problemWords[tt.want].Code)
			}
		})
	}
}

// TestWords makes sure that every status that exists has its words.
func TestWords(t *testing.T) {
	for i, s := range span.Statuses() {
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

// TestGateRules reads gates as configs writes them.
func TestGateRules(t *testing.T) {
	tests := []struct {
		gate string
		want parsedGate
		ok   bool
	}{
		{"char_f1 >= 0.7", parsedGate{metric: "char_f1", op: ">=", number: 0.7}, true},
		{"char_dice>=0.7", parsedGate{metric: "char_f1", op: ">=", number: 0.7}, true},
		{"lo(micro(char_f1))[lang=de] < 0.6", parsedGate{micro: true, metric: "char_f1", slice: "lang=de", op: "<", number: 0.6}, true},
		{"hi(hallucination_rate)[system=a][lang=de] <= 0.1", parsedGate{metric: "hallucination_rate", system: "a", slice: "lang=de", op: "<=", number: 0.1}, true},
		{"diff(char_f1) >= -0.1", parsedGate{op: ">=", number: -0.1}, false},
	}
	for _, tt := range tests {
		g, err := configs.ParseGate(tt.gate)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := parseGate(g.String()); ok != tt.ok || got != tt.want {
			t.Errorf("parseGate(%q) = %+v, %v, want %+v, %v", g.String(), got, ok, tt.want, tt.ok)
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
		{Key: "judge.max_tokens", Value: "4096", Source: "ibid.yaml:3:1"},
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

// TestBins puts every value into the bin that its link filters by.
func TestBins(t *testing.T) {
	for _, a := range []axis{{0, 1}, {0, 20}, {-5, 50}} {
		for k := range 10001 {
			v := rounded(a.lo + (a.hi-a.lo)*float64(k)/10000)
			b := binOf(a, v)
			if last := b == bins-1; v < a.edge(b) || (!last && v >= a.edge(b+1)) || v > a.edge(b+1) {
				t.Fatalf("%v is in bin %d, [%v, %v)", v, b, a.edge(b), a.edge(b+1))
			}
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
	if size > 150_000 || p.Rows.Held != 600 || p.Rows.Opened >= 600 || p.Rows.Opened < staticRows {
		t.Errorf("%d bytes, %d of %d rows can be opened", size, p.Rows.Opened, p.Rows.Held)
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
	want := fmt.Sprintf("%d of the rows can be opened here, %d of them failing;", p.Rows.Opened, failing)
	if !strings.HasPrefix(p.Rows.Sampled, want) || !strings.Contains(writePage(t, p), want) {
		t.Errorf("the page says %q", p.Rows.Sampled)
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
	builder := func() *pageBuilder {
		b := &pageBuilder{page: &Page{}, results: []*results{{run: &RunData{Manifest: &runs.Manifest{Seed: 7}}}}}
		r := b.results[0]
		b.totals.failing = []int64{1000}
		for k := range 10_000 {
			row := pageRow{index: k}
			if k%10 == 3 {
				row.problem = invented
			}
			b.rows = append(b.rows, row)
			r.id, r.system = append(r.id, fmt.Sprint(k)), append(r.system, "s")
		}
		return b
	}
	b := builder()
	c := b.choose(4_000)
	failing := 0
	for _, k := range c.listed {
		if b.failing(&b.rows[k]) {
			failing++
		}
	}
	if len(c.listed) != 4_000 || failing != 1000 || c.sample != 3_000 || !slices.IsSorted(c.listed) {
		t.Errorf("%d rows, %d of them failing, %d drawn", len(c.listed), failing, c.sample)
	}
	// Some of the others can be opened in any case, then the failing ones come.
	if k := c.opened[openedSample-1]; b.failing(&b.rows[k]) {
		t.Error("too few of the others can be opened")
	}
	if k := c.opened[openedSample]; !b.failing(&b.rows[k]) {
		t.Error("failing rows do not come before others")
	}
	if again := builder().choose(4_000); !slices.Equal(c.listed, again.listed) || !slices.Equal(c.opened, again.opened) {
		t.Error("the same rows give another sample")
	}
	b.saySampled(&c, 4_000)
	if want := "This page lists 4,000 of 10,000 rows: all 1,000 failing rows and a sample of 3,000 others (seed 7). All numbers are over all rows;"; !strings.HasPrefix(b.page.Rows.Sampled, want) {
		t.Errorf("the page says %q", b.page.Rows.Sampled)
	}
	// More fail than a page lists: the worst, and still some others.
	b = builder()
	c = b.choose(2_500)
	b.saySampled(&c, 100)
	if want := "This page lists 2,500 of 10,000 rows: the 500 worst of 1,000 failing rows and a sample of 2,000 others (seed 7). 100 of the rows can be opened here, 0 of them failing;"; !strings.HasPrefix(b.page.Rows.Sampled, want) {
		t.Errorf("the page says %q", b.page.Rows.Sampled)
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
		p, err := NewPage(b.Context(), PageOptions{}, data)
		if err != nil {
			b.Fatal(err)
		}
		writePage(b, p)
	}
}

// TestLeadMetrics chooses what a reader asks for first.
func TestLeadMetrics(t *testing.T) {
	with := func(names ...string) []*results {
		r := &results{}
		for _, name := range names {
			d, _ := metrics.Lookup(name)
			r.metrics = append(r.metrics, metricColumn{def: d})
		}
		return []*results{r}
	}
	spans := leadMetrics(with("char_f1", "char_precision", "span_accuracy_score", "mean_snapped_jaccard", "overall_citation_accuracy"))
	if want := []string{"char_f1", "char_precision", "mean_snapped_jaccard"}; !slices.Equal(spans, want) {
		t.Errorf("without a judge: %q, want %q", spans, want)
	}
	judged := leadMetrics(with("char_f1", "span_accuracy_score", "mean_snapped_jaccard", "overall_citation_accuracy", "citation_correctness"))
	if want := []string{"overall_citation_accuracy", "citation_correctness", "span_accuracy_score", "char_f1"}; !slices.Equal(judged, want) {
		t.Errorf("with a judge: %q, want %q", judged, want)
	}
}
