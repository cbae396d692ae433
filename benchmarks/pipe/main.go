// Command pipe writes made-up answers as an Arrow IPC stream, to be scored by ibid score, or
// as a dataset with the same rows, to be evaluated by ibid run: it measures what a row costs
// either way, and whether memory grows with their number.
//
//	go run ./benchmarks/pipe -rows 10000000 | ibid score ibid.yaml > scored.arrow
//	go run ./benchmarks/pipe -rows 1000000 -parquet answers.parquet
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"ibid"
	"ibid/dataset"
)

func main() {
	rows := flag.Int("rows", 1_000_000, "how many rows")
	batch := flag.Int("batch", 10_000, "rows of a batch")
	documents := flag.Bool("documents", false, "give each row a document of about 1 kB")
	path := flag.String("parquet", "", "write a dataset to this file instead")
	flag.Parse()
	if err := write(*rows, *batch, *documents, *path); err != nil {
		log.Fatal(err)
	}
}

func write(rows, batch int, documents bool, path string) error {
	if path != "" {
		w, err := dataset.NewWriter(path, "document")
		if err != nil {
			return err
		}
		for i := range rows {
			r := made(i, batch, documents)
			if err := w.Write(&r); err != nil {
				return err
			}
		}
		return w.Close()
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	var w *ipc.Writer
	for from := 0; from < rows; from += batch {
		record := recordOf(from, min(batch, rows-from), batch, documents)
		if w == nil {
			w = ipc.NewWriter(out, ipc.WithSchema(record.Schema()))
		}
		if err := w.Write(record); err != nil {
			return err
		}
		record.Release()
	}
	if err := w.Close(); err != nil {
		return err
	}
	return out.Flush()
}

// made is row i. Rows repeat after a batch, but for their ids.
func made(i, batch int, documents bool) ibid.Answer {
	k := i % batch
	rng := rand.New(rand.NewPCG(1, uint64(k)))
	doc := fmt.Sprintf("doc-%d", k)
	start := rng.Int64N(500)
	at := start + rng.Int64N(40)
	a := ibid.Answer{
		ID: fmt.Sprintf("q-%09d", i), System: "one", Query: "What is wet, and since when?",
		Answer:       fmt.Sprintf("Water is wet, says source %d [1]. It has been so for a long time, and stones are hard.", k%7),
		HasCitations: true, HasTruth: true, HasDocuments: documents,
		Citations: []ibid.Citation{{Doc: doc, Start: ibid.Some(at), End: ibid.Some(at + 50)}},
		Truth:     []ibid.Mark{{Doc: doc, Start: ibid.Some(start), End: ibid.Some(start + 60)}},
		Tags:      []ibid.Tag{{Key: "lang", Value: []string{"de", "en"}[k/100%2]}},
	}
	if documents {
		a.Documents = []ibid.Document{{Doc: doc, Text: strings.Repeat(fmt.Sprintf("Water %d is wet, fire is hot, and stones are hard. ", k%7), 20), HasText: true}}
	}
	return a
}

func spanType() arrow.DataType {
	return arrow.ListOf(arrow.StructOf(
		arrow.Field{Name: "doc", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "start", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		arrow.Field{Name: "end", Type: arrow.PrimitiveTypes.Int64, Nullable: true}))
}

// recordOf are n rows from row first on.
func recordOf(first, n, batch int, documents bool) arrow.Record {
	text := arrow.BinaryTypes.String
	fields := []arrow.Field{
		{Name: "id", Type: text},
		{Name: "system", Type: text},
		{Name: "query", Type: text},
		{Name: "answer", Type: text},
		{Name: "citations", Type: spanType(), Nullable: true},
		{Name: "truth", Type: spanType(), Nullable: true},
		{Name: "tags", Type: arrow.MapOf(text, text), Nullable: true},
		{Name: "row", Type: arrow.PrimitiveTypes.Int64},
	}
	if documents {
		fields = append(fields, arrow.Field{Name: "documents", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "doc", Type: text}, arrow.Field{Name: "text", Type: text})), Nullable: true})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	span := func(column int, doc string, start, end ibid.Integer) {
		list := b.Field(column).(*array.ListBuilder)
		list.Append(true)
		of := list.ValueBuilder().(*array.StructBuilder)
		of.Append(true)
		of.FieldBuilder(0).(*array.StringBuilder).Append(doc)
		of.FieldBuilder(1).(*array.Int64Builder).Append(start.Value)
		of.FieldBuilder(2).(*array.Int64Builder).Append(end.Value)
	}
	for i := first; i < first+n; i++ {
		a := made(i, batch, documents)
		for column, s := range []string{a.ID, a.System, a.Query, a.Answer} {
			b.Field(column).(*array.StringBuilder).Append(s)
		}
		span(4, a.Citations[0].Doc, a.Citations[0].Start, a.Citations[0].End)
		span(5, a.Truth[0].Doc, a.Truth[0].Start, a.Truth[0].End)
		tags := b.Field(6).(*array.MapBuilder)
		tags.Append(true)
		tags.KeyBuilder().(*array.StringBuilder).Append(a.Tags[0].Key)
		tags.ItemBuilder().(*array.StringBuilder).Append(a.Tags[0].Value)
		b.Field(7).(*array.Int64Builder).Append(int64(i))
		if documents {
			list := b.Field(8).(*array.ListBuilder)
			list.Append(true)
			of := list.ValueBuilder().(*array.StructBuilder)
			of.Append(true)
			of.FieldBuilder(0).(*array.StringBuilder).Append(a.Documents[0].Doc)
			of.FieldBuilder(1).(*array.StringBuilder).Append(a.Documents[0].Text)
		}
	}
	return b.NewRecord()
}
