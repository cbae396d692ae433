//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"

	"ibid"
	"ibid/dataset"
	"ibid/metrics/span"
)

// own are parts of ibid as commands of their own, so that they are measured as peers
// are: whole processes. Each prints its answer.
var own map[string]func(args []string) error

func init() {
	own = map[string]func(args []string) error{
		"nothing":   func([]string) error { return nil },
		"decode":    decode,
		"jaccard":   jaccard,
		"kernel":    kernel,
		"draws":     drawn,
		"intervals": intervals,
	}
}

// eachBatch decodes the spans of a dataset.
func eachBatch(path string, f func(*dataset.Batch)) error {
	source, err := dataset.Open(path, dataset.ReadOptions{})
	if err != nil {
		return err
	}
	return source.Select(dataset.WantKeys|dataset.WantSpans).Read(context.Background(), 0, 8192, func(b *dataset.Batch) error {
		f(b)
		b.Release()
		return nil
	})
}

// decode prints how many rows were decoded.
func decode(args []string) error {
	n := 0
	err := eachBatch(args[0], func(b *dataset.Batch) { n += b.Len() })
	fmt.Println(n)
	return err
}

// jaccard prints the mean character Jaccard of the rows of a dataset whose marks are one
// annotator's.
func jaccard(args []string) error {
	var row ibid.Answer
	var c span.Comparer
	var truth, pred []span.Span
	sum, rows := 0.0, 0
	err := eachBatch(args[0], func(b *dataset.Batch) {
		for i := range b.Len() {
			b.Row(i, &row)
			truth, pred = truth[:0], pred[:0]
			for k := range row.Truth {
				m := &row.Truth[k]
				truth = append(truth, span.Span{Key: keyOf(&row, m.Doc, m.Page), Start: int32(m.Start.Value), End: int32(m.End.Value)})
			}
			for k := range row.Citations {
				m := &row.Citations[k]
				pred = append(pred, span.Span{Key: keyOf(&row, m.Doc, m.Page), Start: int32(m.Start.Value), End: int32(m.End.Value)})
			}
			if s := c.Sizes(truth, pred, 0); s.Union > 0 {
				sum += float64(s.Overlap) / float64(s.Union)
				rows++
			}
		}
	})
	fmt.Printf("%.9f\n", sum/float64(rows))
	return err
}

// keyOf is the number of a document and page within a row: its first mark or citation there.
func keyOf(row *ibid.Answer, doc string, page ibid.Integer) int32 {
	for k := range row.Truth {
		if row.Truth[k].Page == page && row.Truth[k].Doc == doc {
			return int32(k)
		}
	}
	for k := range row.Citations {
		if row.Citations[k].Page == page && row.Citations[k].Doc == doc {
			return int32(len(row.Truth) + k)
		}
	}
	return -1
}

// kernel compares spans in memory as a run does, all metrics of spans for each row: ROWS
// SPANS, where spec.py draws the same. With one span a side it prints the sums of exact
// and tolerance Jaccards.
func kernel(args []string) error {
	var c span.Comparer
	var exact, tolerance float64
	err := eachDrawn(args, func(truth, pred []span.Span) {
		c.Sizes(truth, pred, 10)
		m := c.Match(truth, pred, 10, 0.5)
		if len(truth) == 1 && m.Truth[0].Pred >= 0 {
			exact += m.Truth[0].Exact.Float()
			tolerance += m.Truth[0].Tolerance.Float()
		}
	})
	if err == nil && args[1] == "1" {
		fmt.Printf("%.6f %.6f\n", exact, tolerance)
	}
	return err
}

// drawn draws what kernel compares, and compares nothing.
func drawn(args []string) error { return eachDrawn(args, func(_, _ []span.Span) {}) }

// eachDrawn draws ROWS rows of SPANS spans a side.
func eachDrawn(args []string, compare func(truth, pred []span.Span)) error {
	rows, spans, err := twoNumbers(args)
	if err != nil {
		return err
	}
	var d draws
	truth, pred := make([]span.Span, spans), make([]span.Span, spans)
	for range rows {
		for i := range spans {
			truth[i], pred[i] = d.pair()
		}
		compare(truth, pred)
	}
	return nil
}

// draws is the generator of random spans that spec.py has, too.
type draws struct{ state uint64 }

func (d *draws) next(n uint64) uint64 {
	d.state = (d.state*6364136223846793005 + 1442695040888963407)
	return (d.state >> 33) % n
}

// pair is a mark, and a citation that hits it, or nearly does, or is elsewhere.
func (d *draws) pair() (mark, citation span.Span) {
	start := int32(d.next(20_000))
	mark = span.Span{Start: start, End: start + 20 + int32(d.next(400))}
	citation = mark
	switch d.next(3) {
	case 1:
		citation = span.Span{Start: max(0, mark.Start+int32(d.next(21))-10), End: mark.End + int32(d.next(21)) - 10}
	case 2:
		start = int32(d.next(20_000))
		citation = span.Span{Start: start, End: start + 20 + int32(d.next(400))}
	}
	return mark, citation
}

// intervals prints how many positions two files of intervals, as BED, share, and how many
// are in either.
func intervals(args []string) error {
	var sets [2][]span.Span
	for i := range sets {
		var err error
		if sets[i], err = bedSpans(args[i]); err != nil {
			return err
		}
	}
	var c span.Comparer
	s := c.Sizes(sets[0], sets[1], 0)
	fmt.Println(s.Overlap, s.Union)
	return nil
}

// bedSpans reads the intervals of a BED file.
func bedSpans(path string) (spans []span.Span, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	spans = make([]span.Span, 0, bytes.Count(text, []byte{'\n'}))
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		start, err := strconv.ParseInt(string(fields[1]), 10, 32)
		if err != nil {
			return nil, err
		}
		end, err := strconv.ParseInt(string(fields[2]), 10, 32)
		if err != nil {
			return nil, err
		}
		spans = append(spans, span.Span{Start: int32(start), End: int32(end)})
	}
	return spans, nil
}

func twoNumbers(args []string) (a, b int, err error) {
	if len(args) != 2 {
		return 0, 0, fmt.Errorf("want two numbers, got %q", args)
	}
	if a, err = strconv.Atoi(args[0]); err != nil {
		return 0, 0, err
	}
	b, err = strconv.Atoi(args[1])
	return a, b, err
}
