package annotate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ibid/cmd/ibid/internal/cli"
)

// ibid runs a command in this process; it returns what the command printed.
func ibid(t testing.TB, want int, args ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	code := cli.Main(t.Context(), cli.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said})
	if code != want {
		t.Fatalf("ibid %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, out.String(), said.String())
	}
	return out.String() + said.String()
}

// annotates runs ibid annotate until stop is called; it returns the address of the page.
func annotates(t testing.TB, args ...string) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	done := make(chan int)
	var said bytes.Buffer
	go func() {
		done <- cli.Main(ctx, cli.Process{Args: append([]string{"annotate"}, args...), Stdin: strings.NewReader(""), Stdout: write, Stderr: &said})
		write.Close()
	}()
	lines := make(chan string)
	go func() {
		text := make([]byte, 1<<16)
		for {
			n, err := read.Read(text)
			if n > 0 {
				lines <- string(text[:n])
			}
			if err != nil {
				close(lines)
				return
			}
		}
	}()
	for line := range lines {
		if _, rest, ok := strings.Cut(line, "open "); ok {
			url = strings.TrimSpace(rest)
			break
		}
	}
	if url == "" {
		cancel()
		t.Fatalf("ibid annotate %v: exit code %d\n%s", args, <-done, said.String())
	}
	go func() {
		for range lines {
		}
	}()
	return url, func() {
		t.Helper()
		cancel()
		if code := <-done; code != 0 {
			t.Errorf("ibid annotate %v: exit code %d\n%s", args, code, said.String())
		}
	}
}

// TestRound goes from answers that nobody has annotated to corrected scores, with nothing
// but ibid: two people annotate with the keyboard alone, a third decides, and agree, run
// and calibrate read what they said. What the page says of agreement is what agree says.
func TestRound(t *testing.T) {
	n := often(4)
	start(t)
	dir := t.TempDir()
	t.Chdir(dir)
	var rows strings.Builder
	for i, it := range portItems(n) {
		for _, system := range []string{"plain", "other"} {
			row := map[string]any{"id": fmt.Sprint("q", i), "system": system, "query": it.Query}
			answer := fmt.Sprintf("Quay %d cost %d million crowns. No accident with injuries was reported.", i, 80+i)
			if system == "other" {
				answer = fmt.Sprintf("The quay cost %d million crowns. No accident with injuries was reported.", 80+i)
			}
			cut := strings.Index(answer, ". ") + 1
			var documents []map[string]any
			for _, d := range it.Documents {
				documents = append(documents, map[string]any{"doc": fmt.Sprintf("%d/%s", i, d.Doc), "text": d.Text})
			}
			row["answer"], row["documents"] = answer, documents
			port := documents[1]["text"].(string)
			accident := strings.Index(port, "No accident")
			row["citations"] = []map[string]any{
				{"doc": documents[1]["doc"], "start": 26, "end": accident - 1, "answer_start": 0, "answer_end": cut},
				{"doc": documents[1]["doc"], "start": accident, "end": accident + 38, "answer_start": cut + 1, "answer_end": len(answer)},
			}
			line, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			rows.Write(append(line, '\n'))
		}
	}
	if err := os.WriteFile("answers.jsonl", []byte(rows.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	ibid(t, 0, "import", "jsonl", "answers.jsonl", "-o", "answers.parquet", "-q")
	ibid(t, 0, "sample", "answers.parquet", "-o", "gold", "--purpose", "both", "--fraction", "1")
	ibid(t, 0, "run", "answers.parquet", "--judge", "lexical", "--id", "judged", "-q")

	live := ""
	for _, who := range []string{"ada", "ben"} {
		url, stop := annotates(t, "gold", "--annotator", who, "--overlap", "1")
		b := open(t, url, desktop)
		begin := time.Now()
		for i := 0; b.text("part()") == "truth" && b.text("String(!isDone(queue()[at]))") == "true"; i++ {
			b.press("]")
			b.press(b.hintOf("The new quay")...)
			if who == "ben" && i%3 == 0 {
				b.press("ArrowLeft", "ArrowLeft")
			}
			b.press("Enter")
		}
		for i := 0; b.text("String(!isDone(queue()[at]))") == "true"; i++ {
			second := "1"
			if i%3 == 1 || who == "ben" && i%3 == 0 {
				second = "4"
			}
			b.press("1", second, "Enter")
		}
		t.Logf("%s: %d questions and %d answers, %d strokes, %.1f a place; %v", who, n, 2*n, b.strokes, float64(b.strokes)/float64(3*n), time.Since(begin).Round(time.Second))
		if who == "ben" {
			b.wait(`!document.getElementById("agreement").hidden`)
			live = b.text(`document.getElementById("agreement").textContent`)
			b.eval(`(async () => { window.measured = await store.agreement(); })()`, nil)
			var got struct {
				Statistics []struct {
					Name                string
					Estimate, Low, High *float64
				}
			}
			b.eval(`measured`, &got)
			stop()
			compareAgreement(t, got.Statistics[0].Name, got.Statistics[0].Estimate, got.Statistics[0].Low, got.Statistics[0].High)
			if len(got.Statistics) < 2 {
				t.Errorf("the page has %d statistics:\n%s", len(got.Statistics), live)
			}
		} else {
			if b.text(`String(document.getElementById("agreement").hidden)`) != "true" {
				t.Errorf("with nobody to agree with the page says %q", b.text(`document.getElementById("agreement").textContent`))
			}
			stop()
		}
		b.screenshot("round-" + who)
	}
	t.Log(live)

	url, stop := annotates(t, "gold", "--annotator", "lead", "--adjudicate")
	b := open(t, url, desktop)
	for b.text("String(!isDone(queue()[at]))") == "true" {
		b.press("1", "Enter") // ada's marks; full support
	}
	b.quiet(url)
	stop()
	t.Log(ibid(t, 0, "agree", "--blind", "gold/key.json", "--adjudicate", "decided", "-o", "merged.jsonl"))
	if text := ibid(t, 0, "agree", "--blind", "gold/key.json"); !strings.Contains(text, "char_jaccard") {
		t.Errorf("agree says:\n%s", text)
	}
	ibid(t, 0, "run", "answers.parquet", "--truth", "merged.jsonl", "--labels", "merged.jsonl", "--judge", "lexical", "--id", "r", "-q")
	text := ibid(t, 0, "calibrate", "runs/r")
	if !strings.Contains(text, "precision") {
		t.Errorf("calibrate says:\n%s", text)
	}
	shown := ibid(t, 0, "show", "runs/r", "--metric", "span_accuracy_score")
	if !strings.Contains(shown, "span_accuracy") {
		t.Errorf("show says:\n%s", shown)
	}
	if _, err := os.Stat(filepath.Join("gold", "adjudicated.jsonl")); err != nil {
		t.Error(err)
	}
	ibid(t, 0, "run", "answers.parquet", "--truth", "gold/adjudicated.jsonl", "--labels", "gold/adjudicated.jsonl", "--judge", "none", "--id", "s", "-q")
}

// compareAgreement compares a statistic of the page with that of agree, to the last digit.
func compareAgreement(t *testing.T, name string, estimate, low, high *float64) {
	t.Helper()
	var said struct {
		Statistics []struct {
			Statistic, Annotators, Slice string
			Estimate                     *float64
			Low                          *float64 `json:"ci_low"`
			High                         *float64 `json:"ci_high"`
		}
	}
	text := ibid(t, 0, "agree", "--blind", "gold/key.json", "--json", "-q")
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	same := func(a, b *float64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
	for _, s := range said.Statistics {
		if s.Statistic == name && s.Annotators == "all" && s.Slice == "" {
			if !same(s.Estimate, estimate) || !same(s.Low, low) || !same(s.High, high) || estimate == nil {
				t.Errorf("%s: the page says %v, agree %v", name, estimate, s.Estimate)
			}
			return
		}
	}
	t.Errorf("agree has no %s: %.500s", name, text)
}
