// Command arrowfiles writes rows that it reads as a JSON list from standard input into a folder, as
// Arrow writes Parquet: its codecs, both versions of data pages, with and without dictionaries. It
// writes no checksums.
//
// It is a program of its own because Arrow's writer needs its compute and flight packages, and the
// binary of the tests is started thousands of times.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

func main() {
	text, integer := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	field := func(name string, typ arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: typ, Nullable: true}
	}
	schema := arrow.NewSchema([]arrow.Field{
		field("id", text), field("query", text), field("answer", arrow.BinaryTypes.LargeString), field("system", text),
		field("citations", arrow.ListOf(arrow.StructOf(field("doc", text), field("start", integer), field("end", integer)))),
		field("documents", arrow.ListOf(arrow.StructOf(field("doc", text), field("pages", arrow.ListOf(text))))),
	}, nil)
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	defer record.Release()
	for _, c := range []compress.Compression{
		compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Zstd, compress.Codecs.Brotli,
	} {
		for i, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, dictionary := range []bool{true, false} {
				name := fmt.Sprintf("%v, version %d, dictionary %t.parquet", c, i+1, dictionary)
				err := write(filepath.Join(os.Args[1], name), record, parquet.WithCompression(c), parquet.WithDataPageVersion(version),
					parquet.WithDictionaryDefault(dictionary))
				if err != nil {
					log.Fatal(err)
				}
			}
		}
	}
}

func write(path string, record arrow.Record, options ...parquet.WriterProperty) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	options = append(options, parquet.WithDataPageSize(400), parquet.WithBatchSize(32), parquet.WithMaxRowGroupLength(40))
	w, err := pqarrow.NewFileWriter(record.Schema(), f, parquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps())
	if err != nil {
		return err
	}
	return errors.Join(w.Write(record), w.Close()) // which closes the file, too
}
