package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
)

// Both nights of the sample, made and evaluated as a user does, and the first night as the
// offline judge has it.
type sampleNights struct {
	dir                  string
	first, second, words string // run directories
}

func runSample(t *testing.T) sampleNights {
	t.Helper()
	dir := t.TempDir()
	must := func(args ...string) string {
		var out, errors bytes.Buffer
		code := Main(t.Context(), Process{Args: args, Stdout: &out, Stderr: &errors})
		if code != ExitOK {
			t.Fatalf("ibid %s: exit code %d\n%s", strings.Join(args, " "), code, errors.String())
		}
		return out.String()
	}
	must("init", dir, "-q")
	for night, file := range map[string]string{"night-1": sampleRunFile, "night-2": secondSampleRunFile} {
		out := must("run", filepath.Join(dir, file), "--out", dir, "--id", night, "--all")
		if n := strings.Count(out, " PASS "); n != 4 {
			t.Errorf("%s: %d gates passed, want 4:\n%s", night, n, out)
		}
	}
	must("run", filepath.Join(dir, sampleRunFile), "--judge", "lexical", "--set", "gates=[]", "--out", dir, "--id", "words", "-q")
	return sampleNights{dir, filepath.Join(dir, "night-1"), filepath.Join(dir, "night-2"), filepath.Join(dir, "words")}
}

// readTable reads the texts of a result file that are not null.
func readTable(t *testing.T, dir, name string) []map[string]string {
	t.Helper()
	f, err := runs.OpenFrame(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []map[string]string
	err = f.Each(func(b *runs.Block) error {
		for i := range b.Len() {
			r := make(map[string]string)
			for _, field := range f.Fields() {
				if v := b.Column(field.Name); field.Kind == parquet.String && v.Valid[i] {
					r[field.Name] = v.Strings[i]
				}
			}
			all = append(all, r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every status, outcome and undefined reason occurs, so that whoever reads a
// report of the sample meets each at least once.
func TestSampleCovers(t *testing.T) {
	nights := runSample(t)
	for _, dir := range []string{nights.first, nights.second} {
		rows := readTable(t, dir, "rows.parquet")
		reasons, failed := map[string]int{}, 0
		perSystem := map[string]int{}
		for _, r := range rows {
			perSystem[r["system"]]++
			if r["status"] == "error" {
				failed++
			}
		}
		for _, dir := range []string{dir, nights.words} {
			err := runs.Rows().Scan(dir, []string{"undefined"}, func(_ int64, r *runs.Row) error {
				for _, why := range r.Undefined {
					reasons[why]++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if want := map[string]int{"pointer": 24, "careful": 24, "dreamer": 24}; !cmp.Equal(want, perSystem) {
			t.Errorf("rows per system: %v, want %v", perSystem, want)
		}
		if failed != 1 {
			t.Errorf("%d error rows, want 1", failed)
		}

		// All reasons but one can be had without a model. no_judge: the metrics that need
		// leave-one-out verdicts, for which judge.necessity is off. judge_failed: its judges
		// always answer. Truth of the sample has no quotes.
		for why := ibid.NoTruth; why <= ibid.RowError; why++ {
			if why != ibid.TruthNotFound && why != ibid.JudgeFailed && reasons[why.String()] == 0 {
				t.Errorf("no metric is undefined for reason %s", why)
			}
		}

		statuses := map[string]int{}
		for _, c := range readTable(t, dir, "citations.parquet") {
			statuses[c["status"]]++
		}
		for _, s := range ibid.Statuses() {
			if dir == nights.second && s == ibid.StatusQuoteRepaired {
				continue // careful counts right on the second night
			}
			if s == ibid.StatusQuoteLocated || s == ibid.StatusQuoteAmbiguous || s == ibid.StatusQuoteNotFound {
				continue // all quotes of the sample have offsets, and none stands in two places
			}
			if statuses[s.String()] == 0 {
				t.Errorf("no citation is %s", s)
			}
		}
		outcomes := map[string]int{}
		for _, dir := range []string{dir, nights.words} {
			for _, c := range readTable(t, dir, "claims.parquet") {
				outcomes[c["outcome"]]++
			}
		}
		for o := ibid.NotFactual; o <= ibid.Unsupported; o++ {
			if o == ibid.Contradicted {
				continue // its judges are asked about no contradiction
			}
			if outcomes[o.String()] == 0 {
				t.Errorf("no claim is %s", o)
			}
		}
	}
}

// estimates are the macro values of a run by "system metric".
func estimates(t *testing.T, dir string) map[string]float64 {
	t.Helper()
	summary, err := runs.Summary.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, r := range summary {
		if r.Slice == "" && r.Agg == runs.Macro && r.Estimate != nil {
			values[r.System+" "+r.Metric] = *r.Estimate
		}
	}
	return values
}

// The systems differ in kind, and neither night's scores leave doubt about what
// changed.
func TestSampleSystems(t *testing.T) {
	nights := runSample(t)
	one, two := estimates(t, nights.first), estimates(t, nights.second)
	within := func(what string, got, low, high float64) {
		t.Helper()
		if got < low || got > high {
			t.Errorf("%s: %.3f, want %v to %v", what, got, low, high)
		}
	}
	within("pointer points at the place", one["pointer char_f1"], 0.9, 0.99)
	within("... exactly, mostly", one["pointer exact_match"], 0.7, 0.95)
	within("... and claims too much", one["pointer hallucination_rate"], 0.2, 0.5)
	within("... so that citations do not hold it", one["pointer citation_correctness"], 0.5, 0.8)
	within("careful points beside it", one["careful char_f1"], 0.7, 0.85)
	within("... hardly ever exactly", one["careful exact_match"], 0.01, 0.2)
	within("... and claims what stands there", one["careful hallucination_rate"], 0, 0.1)
	within("... so that citations hold it", one["careful citation_correctness"], 0.9, 1)
	within("dreamer points anywhere", one["dreamer char_f1"], 0.1, 0.5)
	within("... and invents", one["dreamer hallucination_rate"], 0.7, 0.95)
	within("... but not always", one["dreamer citation_correctness"], 0.01, 0.2)

	within("pointer claims more", two["pointer hallucination_rate"]-one["pointer hallucination_rate"], 0.1, 0.25)
	within("... and points as before", two["pointer char_f1"]-one["pointer char_f1"], -0.01, 0.01)
	within("careful points closer", two["careful char_f1"]-one["careful char_f1"], 0.02, 0.1)
	within("... and claims the same", two["careful hallucination_rate"]-one["careful hallucination_rate"], 0, 0)
	for name, value := range one {
		if strings.HasPrefix(name, "dreamer ") && two[name] != value {
			t.Errorf("%s: %v, then %v", name, value, two[name])
		}
	}
}

func TestSecondNight(t *testing.T) {
	const first = `{"id":"1","system":"a","answer":"x"}` + "\n" + `{"id":"1","system":"b"}` + "\n"
	tests := []struct{ name, first, changed, want, err string }{
		{"nothing changed", first, "", first, ""},
		{"in its place", first, `{"id":"1","system":"a","answer":"y"}` + "\n", strings.Replace(first, "x", "y", 1), ""},
		{"nothing to replace", first, `{"id":"2","system":"a"}` + "\n", "", "sample: no first answer 2/a to replace"},
		{"change is no JSON", first, "?\n", "", "sample: invalid character '?' looking for beginning of value"},
		{"answer is no JSON", "?\n", "", "", "sample: invalid character '?' looking for beginning of value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := secondNight([]byte(tt.first), []byte(tt.changed))
			switch {
			case err != nil && err.Error() != tt.err:
				t.Errorf("error %q, want %q", err, tt.err)
			case err == nil && (tt.err != "" || !slices.Equal(got, []byte(tt.want))):
				t.Errorf("%q, want %q and error %q", got, tt.want, tt.err)
			}
		})
	}
}

// Citations say how long they are, and how long the claims are that they are for.
func TestSampleLengths(t *testing.T) {
	dir := runSample(t).first
	citations, err := runs.Citations.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := runs.Claims.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		row    int64
		number int32
	}
	texts := make(map[place]int64)
	for _, c := range claims {
		texts[place{c.Row, c.Number}] = int64(utf8.RuneCountInString(c.Text))
	}
	cited, linked := 0, 0
	for _, c := range citations {
		var want *int64
		if c.Unit == "codepoint" && *c.End >= *c.Start {
			want = new(*c.End - *c.Start)
			cited++
		}
		if !cmp.Equal(c.CitedLength, want) {
			t.Errorf("row %d, citation %d: cited_length %v, want %v", c.Row, c.Number, c.CitedLength, want)
		}
		want = nil
		for _, k := range c.Claims {
			if want == nil {
				want = new(int64)
			}
			*want += texts[place{c.Row, k}]
		}
		if want != nil {
			linked++
		}
		if !cmp.Equal(c.ClaimLength, want) {
			t.Errorf("row %d, citation %d: claim_length %v, want %v", c.Row, c.Number, c.ClaimLength, want)
		}
	}
	if cited == 0 || linked == 0 {
		t.Errorf("%d citations have a length, %d are linked to claims", cited, linked)
	}
}

// TestFailsIsOneTruth: the column fails, show --failing, JUnit and the page count
// the same rows.
func TestFailsIsOneTruth(t *testing.T) {
	nights := runSample(t)
	must := func(args ...string) string {
		var out, errors bytes.Buffer
		if code := Main(t.Context(), Process{Args: args, Stdout: &out, Stderr: &errors}); code != ExitOK {
			t.Fatalf("ibid %s: exit code %d\n%s", strings.Join(args, " "), code, errors.String())
		}
		return out.String()
	}
	for _, dir := range []string{nights.first, nights.second} {
		fails, because := 0, map[string]int{}
		for _, r := range readTable(t, dir, runs.RowsFile) {
			if r["fails_because"] != "" {
				fails++
				because[r["fails_because"]]++
			}
		}
		var shown struct {
			Failing int
			Rows    []struct {
				Because string `json:"fails_because"`
			}
		}
		if err := json.Unmarshal([]byte(must("show", dir, "--failing", "--json")), &shown); err != nil {
			t.Fatal(err)
		}
		for _, r := range shown.Rows {
			because[r.Because]--
		}
		if fails == 0 || shown.Failing != fails || len(shown.Rows) != fails {
			t.Errorf("%d rows fail; show --failing says %d and lists %d", fails, shown.Failing, len(shown.Rows))
		}
		for name, n := range because {
			if n != 0 {
				t.Errorf("%s: %d more rows in the file than on the terminal", name, n)
			}
		}
		page, err := os.ReadFile(filepath.Join(dir, "report.html"))
		if want := fmt.Sprintf(">%d of 71 answers fail", fails); err != nil || !strings.Contains(string(page), want) {
			t.Errorf("the page does not say %q, %v", want, err)
		}
	}
}

// tally counts what the rows of the sample have.
func tally(t *testing.T, path string) map[string]int {
	t.Helper()
	source, err := dataset.Open(path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	mark := func(what string, there bool) {
		if there {
			n[what]++
		}
	}
	var row ibid.Answer
	err = source.Read(t.Context(), 0, 16, func(b *dataset.Batch) error {
		defer b.Release()
		for i := range b.Len() {
			b.Row(i, &row)
			mark("rows", true)
			mark("no truth", !row.HasTruth)
			mark("no citations", !row.HasCitations)
			mark("citations empty", row.HasCitations && len(row.Citations) == 0)
			mark("claims", len(row.Claims) > 0)
			mark("claims empty", row.HasClaims && len(row.Claims) == 0)
			mark("conversation", len(row.Messages) > 1)
			mark("own documents", len(row.Documents) > 0)
			mark("emoji", strings.ContainsFunc(row.Query+row.Answer, func(r rune) bool { return unicode.Is(unicode.So, r) }))
			for _, tag := range row.Tags {
				mark(tag.Key+" "+tag.Value, tag.Key == "lang")
				mark("topic", tag.Key == "topic")
			}
			for _, m := range row.Messages {
				mark("role "+m.Role, true)
			}
			for _, l := range row.Labels {
				mark("label "+l.Kind, true)
				mark("labels by "+l.Annotator, true)
			}
			for _, x := range row.Truth {
				mark("truth by "+x.Annotator, true)
				mark("marked nothing", x.DocNull)
			}
			for _, c := range row.Citations {
				mark("quote", c.CitedText != "")
				mark("no quote", c.CitedText == "")
				mark("answer position", c.AnswerStart.Known())
				mark("no answer position", !c.AnswerStart.Known())
				mark("claim id", c.ClaimID != "")
				mark("unit "+c.Unit, c.Unit != "")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSampleHolds(t *testing.T) {
	dir := t.TempDir()
	if err := writeSampleData(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{sampleAnswers, secondSampleAnswers} {
		n := tally(t, filepath.Join(dir, name))
		if n["rows"] != 72 || n["topic"] != n["rows"] || n["lang en"]+n["lang de"]+n["lang zh"]+n["lang ar"] != n["rows"] {
			t.Errorf("%s: %v: want 72 rows, each with topic and one of four languages", name, n)
		}
		for _, what := range []string{
			"lang en", "lang de", "lang zh", "lang ar", "emoji", "conversation", "role system", "role tool", "own documents",
			"no truth", "truth by ada", "truth by ben", "marked nothing",
			"no citations", "citations empty", "claims", "claims empty",
			"labels by ada", "labels by ben", "label support", "label relevant", "label needs_citation", "label factual",
			"quote", "no quote", "answer position", "no answer position", "claim id",
		} {
			if n[what] == 0 {
				t.Errorf("%s has no row with: %s", name, what)
			}
		}
	}
	if n := tally(t, filepath.Join(dir, sampleAnswers)); n["unit page"] == 0 || n["unit block"] == 0 {
		t.Errorf("no citation of a page or of a block: %v", n)
	}
	documents, err := dataset.OpenDocuments(filepath.Join(dir, sampleDocuments), dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	err = documents.Read(t.Context(), func(d *ibid.Document) error {
		switch {
		case d.HasText:
			n["text"]++
		case d.HasPages:
			n["pages"]++
		case d.HasBlocks:
			n["blocks"]++
		default:
			n["name only"]++
		}
		if d.Title == "" {
			t.Errorf("%s has no title", d.Doc)
		}
		return nil
	})
	if want := map[string]int{"text": 9, "pages": 1, "blocks": 1, "name only": 1}; err != nil || !cmp.Equal(want, n) {
		t.Errorf("documents: %v, %v, want %v", n, err, want)
	}
}

// The two run files differ in nothing but the dataset, and what a user gets is
// small.
func TestSampleFiles(t *testing.T) {
	nights := runSample(t)
	settings := func(name string) map[string]string {
		c, err := configs.Load(configs.Options{File: filepath.Join(nights.dir, name)})
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]string{}
		for _, v := range c.Effective() {
			values[v.Key] = v.Value
		}
		return values
	}
	first, second := settings(sampleRunFile), settings(secondSampleRunFile)
	if first["dataset"] != sampleAnswers || second["dataset"] != secondSampleAnswers {
		t.Errorf("datasets %s and %s", first["dataset"], second["dataset"])
	}
	delete(first, "dataset")
	delete(second, "dataset")
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("settings differ (-%s +%s):\n%s", sampleRunFile, secondSampleRunFile, diff)
	}
	const most = 120 << 10
	if n := size(t, sample); n > most {
		t.Errorf("%d bytes are embedded, want at most %d", n, most)
	}
	written := 0
	for _, name := range sampleFiles {
		info, err := os.Stat(filepath.Join(nights.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		written += int(info.Size())
	}
	// The files of Parquet have a footer and an index of pages each.
	if most := most + 16<<10; written > most {
		t.Errorf("%d bytes are written, want at most %d", written, most)
	}
}

// size is how many bytes the files of a file system have.
func size(t *testing.T, files fs.FS) int {
	t.Helper()
	n := 0
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		n += int(info.Size())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
