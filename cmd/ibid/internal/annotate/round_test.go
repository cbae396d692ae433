package annotate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
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
// and calibrate read what they said.
func TestRound(t *testing.T) {
	n := often(4)
	start(t)
	dir := t.TempDir()
	t.Chdir(dir)
	var rows strings.Builder
	for i, it := range portItems(n)[:n] {
		for _, system := range []string{"plain", "other"} {
			row := map[string]any{"id": fmt.Sprint("q", i), "system": system, "query": it.Query}
			answer := fmt.Sprintf("Quay %d cost %d million crowns. No accident with injuries was reported.", i, 80+i)
			if system == "other" {
				answer = fmt.Sprintf("The quay cost %d million crowns. No accident with injuries was reported.", 80+i)
			}
			cut := strings.Index(answer, ". ") + 1
			var documents []map[string]any
			for _, doc := range it.Documents {
				text, _ := it.Text(doc)
				documents = append(documents, map[string]any{"doc": fmt.Sprintf("%d/%s", i, doc), "text": text})
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
	ibid(t, 0, "sample", "answers.jsonl", "-o", "gold", "--fraction", "1", "--annotators", "ada,ben", "--overlap", "1")

	address := ""
	for _, who := range []string{"ada", "ben"} {
		url, stop := annotates(t, "gold", "--annotator", who)
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
		b.screenshot("round-" + who)
		stop()
		address = url
	}
	// Started again, the program has the same address.
	url, stop := annotates(t, "gold", "--annotator", "ben")
	if url != address {
		t.Errorf("the address is %s, and was %s", url, address)
	}
	stop()
	if info, err := os.Stat("gold/.ben.address"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}

	url, stop = annotates(t, "gold", "--annotator", "lead", "--decide")
	b := open(t, url, desktop)
	for b.text("String(!isDone(queue()[at]))") == "true" {
		b.press("1", "Enter") // the marks of one; full support
	}
	b.quiet(url)
	stop()
	if err := os.Rename("gold", "moved"); err != nil {
		t.Fatal(err)
	}
	t.Log(ibid(t, 0, "agree", "moved", "--gold", "merged.jsonl"))
	text := ibid(t, 0, "agree", "moved")
	if !strings.Contains(text, "char_jaccard") || !strings.Contains(text, fmt.Sprintf("ada %[1]d of %[1]d done; ben %[1]d of %[1]d done; lead decided ", 3*n)) {
		t.Errorf("agree says:\n%s", text)
	}
	ibid(t, 0, "run", "answers.jsonl", "--truth", "merged.jsonl", "--labels", "merged.jsonl", "--judge", "lexical", "--id", "r", "-q")
	if text := ibid(t, 0, "calibrate", "runs/r"); !strings.Contains(text, "precision") {
		t.Errorf("calibrate says:\n%s", text)
	}
	if shown := ibid(t, 0, "show", "runs/r", "--metric", "span_accuracy_score"); !strings.Contains(shown, "span_accuracy") {
		t.Errorf("show says:\n%s", shown)
	}
}
