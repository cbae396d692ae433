//go:build unix

// Command imports measures importing: a gigabyte of JSON Lines, once as responses
// of a provider with the requests beside them, whose offsets are proved, and once as
// our own columns. It prints the rate and the peak memory of each, and fails if
// memory is over the limit.
//
//	go run ./imports -ibid ../bin/ibid
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"ibid/benchmarks/program"
)

func main() {
	ibid := flag.String("ibid", "../bin/ibid", "the program to measure")
	megabytes := flag.Int64("mb", 1000, "size of each file, in 10^6 bytes")
	limit := flag.Int64("limit", 200, "most memory allowed, in MB")
	flag.Parse()
	if err := measure(*ibid, *megabytes*1e6, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "imports:", err)
		os.Exit(1)
	}
}

func measure(ibid string, size, limit int64) error {
	dir, err := os.MkdirTemp("", "ibid-imports-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Println("| format | records | MB a second of CPU | of wall | CPU µs a record | peak MB |\n|---|--:|--:|--:|--:|--:|")
	for _, kind := range []struct {
		format string
		record func(*writer) any
	}{
		{"anthropic", (*writer).response},
		{"jsonl", (*writer).row},
	} {
		path := filepath.Join(dir, kind.format+".jsonl")
		records, written, err := write(path, size, kind.record)
		if err != nil {
			return err
		}
		peak, err := run(ibid, kind.format, path, records, written)
		if err != nil {
			return err
		}
		if peak > limit {
			return fmt.Errorf("import %s: peak of %d MB, over %d", kind.format, peak, limit)
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// run imports one file and returns the peak of memory in MB.
func run(ibid, format, path string, records, size int64) (peak int64, err error) {
	out := strings.TrimSuffix(path, ".jsonl") + ".parquet"
	cost, _, err := program.Run(ibid, "import", format, path, "-o", out, "--docs", strings.TrimSuffix(out, ".parquet")+"-docs.parquet", "--quiet")
	if err != nil {
		return 0, err
	}
	mb := float64(size) / 1e6
	fmt.Printf("| `%s` | %d | %.1f | %.1f | %.1f | %.0f |\n",
		format, records, mb/cost.CPU.Seconds(), mb/cost.Wall.Seconds(), float64(cost.CPU.Microseconds())/float64(records), cost.PeakMB)
	return int64(cost.PeakMB), nil
}

// write writes records until the file has the size.
func write(path string, size int64, record func(*writer) any) (records, written int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	w := &writer{rng: rand.New(rand.NewPCG(5, 6))}
	for ; written < size; records++ {
		w.n = records
		line, err := json.Marshal(record(w))
		if err != nil {
			return 0, 0, err
		}
		written += int64(len(line)) + 1
		if _, err := out.Write(append(line, '\n')); err != nil {
			return 0, 0, err
		}
	}
	if err := out.Flush(); err != nil {
		return 0, 0, err
	}
	return records, written, f.Close()
}

// A writer makes records; the same ones every time.
type writer struct {
	rng *rand.Rand
	n   int64
}

var words = strings.Fields(`harbour bridge quay river lamp window market winter engine letter garden mountain council
	opened closed measured counted reported carried repaired painted moved doubled fell rose the of in a and was with for 1931 412 7.5 Größe naïve`)

// text is sentences of the given number of words.
func (w *writer) text(count int) string {
	var b strings.Builder
	for i := range count {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[w.rng.IntN(len(words))])
		if i%12 == 11 {
			b.WriteByte('.')
		}
	}
	return b.String()
}

// quote is a stretch of a text, in code points.
func (w *writer) quote(text string) (quoted string, start, end int) {
	runes := []rune(text)
	start = w.rng.IntN(len(runes) - 100)
	end = start + 60
	return string(runes[start:end]), start, end
}

type object = map[string]any

// document is the document of the record: every eighth record has one of its own, the others
// share a thousand.
func (w *writer) document() (name, text string) {
	n := w.n
	if n%8 != 0 {
		n = 1 + n%1000
	}
	rng := w.rng
	w.rng = rand.New(rand.NewPCG(uint64(n), 7))
	text = w.text(250)
	w.rng = rng
	return fmt.Sprintf("document-%d.txt", n), text
}

// response is a response of a provider with its request.
func (w *writer) response() any {
	name, text := w.document()
	var blocks []any
	for range 3 {
		quoted, start, end := w.quote(text)
		blocks = append(blocks, object{"type": "text", "text": w.text(24), "citations": []any{object{
			"type": "char_location", "cited_text": quoted, "document_index": 0, "document_title": name, "start_char_index": start, "end_char_index": end,
		}}}, object{"type": "text", "text": " "})
	}
	return object{
		"custom_id": fmt.Sprintf("q-%07d", w.n),
		"request": object{"model": "sample", "messages": []any{object{"role": "user", "content": []any{
			object{"type": "document", "title": name, "source": object{"type": "text", "media_type": "text/plain", "data": text}},
			object{"type": "text", "text": w.text(12)},
		}}}},
		"response": object{"id": fmt.Sprintf("msg_%d", w.n), "type": "message", "role": "assistant", "model": "sample-1", "content": blocks, "usage": object{"output_tokens": 80}},
	}
}

// row is a row of our own columns.
func (w *writer) row() any {
	name, text := w.document()
	var citations []any
	for range 3 {
		quoted, start, end := w.quote(text)
		citations = append(citations, object{"doc": name, "start": start, "end": end, "cited_text": quoted})
	}
	return object{
		"id": fmt.Sprintf("q-%07d", w.n), "query": w.text(12), "answer": w.text(72), "system": "sample", "citations": citations,
		"documents": []any{object{"doc": name, "text": text}},
	}
}
