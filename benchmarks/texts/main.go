//go:build unix

// Command texts measures what texts cost: 100,000 rows with three citations each
// into 20,000 documents of 3 kB, judged by the lexical baseline. It prints CPU and
// peak memory of the run, also without the pass over the documents, and what that
// pass costs beside decompressing them once.
//
//	go run ./benchmarks/texts -ibid bin/ibid
//	go run ./benchmarks/texts -ibid bin/ibid -judge none -documents 3000 -chars 30000 -- --set keep=nothing --set report.page=never
//
// What stands behind -- goes to the run.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ibid"
	"ibid/dataset"
)

const spanChars = 160

func main() {
	ibid := flag.String("ibid", "bin/ibid", "the program to measure")
	rows := flag.Int64("rows", 100_000, "answers")
	docs := flag.Int("documents", 20_000, "documents")
	chars := flag.Int("chars", 3000, "characters of a document")
	keep := flag.String("keep", "", "a `folder` for the data, the run and its page")
	judge := flag.String("judge", "lexical", "the judge of the run")
	flag.Parse()
	if err := measure(*ibid, *judge, *keep, *rows, *docs, *chars, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "texts:", err)
		os.Exit(1)
	}
}

func measure(ibid, judge, dir string, rows int64, docs, chars int, more []string) error {
	if dir == "" {
		temporary, err := os.MkdirTemp("", "ibid-texts-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		dir = temporary
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	answers, documents := filepath.Join(dir, "answers.parquet"), filepath.Join(dir, "documents.parquet")
	texts, err := writeDocuments(documents, docs, chars)
	if err != nil {
		return err
	}
	if err := writeAnswers(answers, texts, rows); err != nil {
		return err
	}
	pass, err := comparePasses(documents, int64(docs)*int64(chars))
	if err != nil {
		return err
	}
	cmd := exec.Command(ibid, append([]string{"run", answers, "--documents", documents, "--judge", judge, "--out", filepath.Join(dir, "runs"), "--quiet"}, more...)...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return fmt.Errorf("no resource usage on this system")
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	per := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(rows) }
	fmt.Printf("run: %d rows, %d documents of %d characters, judge %s: %.1f µs CPU a row, %.1f without the text pass, %.1f s wall, peak %d MB\n", rows, docs, chars, judge,
		per(cpu), per(cpu-pass), time.Since(start).Seconds(), usage.Maxrss/1024)
	return nil
}

// comparePasses reads the documents once without doing anything and once as a run
// does, and compares the CPU time.
func comparePasses(path string, bytes int64) (time.Duration, error) {
	src, err := dataset.OpenDocuments(path, dataset.ReadOptions{})
	if err != nil {
		return 0, err
	}
	bare, err := bestOf(5, func() error {
		return src.Read(context.Background(), func(*ibid.Document) error { return nil })
	})
	if err != nil {
		return 0, err
	}
	pass, err := bestOf(5, func() error {
		docs, err := dataset.LoadDocuments(context.Background(), src, dataset.LoadOptions{})
		if err != nil {
			return err
		}
		return docs.Close()
	})
	if err != nil {
		return 0, err
	}
	fmt.Printf("text pass: %.0f ms, decompressing alone %.0f ms: %.2f times (%.0f MB)\n",
		ms(pass), ms(bare), float64(pass)/float64(bare), float64(bytes)/1e6)
	return pass, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// bestOf is the least CPU time of n calls.
func bestOf(n int, f func() error) (time.Duration, error) {
	best := time.Duration(1 << 62)
	for range n {
		before := cpuTime()
		if err := f(); err != nil {
			return 0, err
		}
		best = min(best, cpuTime()-before)
	}
	return best, nil
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var words = strings.Fields(`harbour bridge quay river lamp window market winter engine letter garden mountain council
	opened closed measured counted reported carried repaired painted moved doubled fell rose the of in a and was with for 1931 412 7.5`)

func writeDocuments(path string, n, chars int) ([]string, error) {
	w, err := dataset.NewDocumentWriter(path)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(3, 4))
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for b.Len() < chars {
			for k := range 12 {
				if k > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(words[rng.IntN(len(words))])
			}
			b.WriteString(". ")
		}
		texts[i] = b.String()[:chars]
		if err := w.Write(&ibid.Document{Doc: name(i), Text: texts[i], HasText: true}); err != nil {
			return nil, err
		}
	}
	return texts, w.Close()
}

func name(i int) string { return fmt.Sprintf("doc-%05d", i) }

func writeAnswers(path string, texts []string, rows int64) error {
	w, err := dataset.NewWriter(path, "document")
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range rows {
		row := &ibid.Answer{ID: fmt.Sprintf("q-%06d", i), Query: "what was reported?", HasCitations: true, HasTruth: true}
		for range 3 {
			d := rng.IntN(len(texts))
			start := rng.IntN(len(texts[d]) - spanChars)
			row.Answer += strings.TrimSpace(texts[d][start:start+spanChars/2]) + ". "
			row.Citations = append(row.Citations, ibid.Citation{Doc: name(d), Start: known(start), End: known(start + spanChars)})
			row.Truth = append(row.Truth, ibid.Mark{Doc: name(d), Start: known(start + 5), End: known(start + spanChars)})
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Close()
}

func known(v int) ibid.Integer { return ibid.Some(int64(v)) }
