package dataset

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
)

// flatBatch is how many values of a column are read at a time.
const flatBatch = 1024

// withParquet opens a Parquet file of any schema. What the library panics with on
// damaged data becomes an error.
func withParquet(path string, use func(*parquet.File) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = corrupt("%v", p)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return corrupt("%v", err)
	}
	return use(file)
}

func flatParquetColumns(path string) (columns []string, err error) {
	err = withParquet(path, func(f *parquet.File) error {
		for _, field := range f.Schema().Fields() {
			if field.Leaf() && !field.Repeated() {
				columns = append(columns, field.Name())
			}
		}
		return nil
	})
	return columns, err
}

func readFlatParquet(path string, columns []string) (rows []FlatRow, err error) {
	have, err := flatParquetColumns(path)
	if err != nil {
		return nil, err
	}
	if _, err := places(columns, have); err != nil {
		return nil, err
	}
	err = withParquet(path, func(f *parquet.File) error {
		rows = make([]FlatRow, f.NumRows())
		for i := range rows {
			rows[i] = FlatRow{Line: int64(i + 1), Cells: make([]string, len(columns))}
		}
		for c, name := range columns {
			if err := readFlatColumn(f, name, func(i int64, text string) { rows[i].Cells[c] = text }); err != nil {
				return &Error{Row: -1, Column: name, Err: err}
			}
		}
		return nil
	})
	return rows, err
}

// readFlatColumn yields the values of a column that are not null.
func readFlatColumn(f *parquet.File, name string, yield func(row int64, text string)) error {
	leaf, ok := f.Schema().Lookup(name)
	if !ok {
		return fmt.Errorf("no such column")
	}
	row := int64(0)
	for _, group := range f.RowGroups() {
		pages := group.ColumnChunks()[leaf.ColumnIndex].Pages()
		err := readFlatPages(pages, func(v parquet.Value) {
			if !v.IsNull() && row < f.NumRows() {
				yield(row, v.String())
			}
			row++
		})
		if err := errors.Join(err, pages.Close()); err != nil {
			return err
		}
	}
	if row != f.NumRows() {
		return corrupt("%d values in %d rows", row, f.NumRows())
	}
	return nil
}

func readFlatPages(pages parquet.Pages, yield func(parquet.Value)) error {
	values := make([]parquet.Value, flatBatch)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		from := page.Values()
		for {
			n, err := from.ReadValues(values)
			for _, v := range values[:n] {
				yield(v)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
		}
		parquet.Release(page)
	}
}
