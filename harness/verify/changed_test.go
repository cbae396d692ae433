package verify_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"ibid/dataset/runs"
)

// unchecked are columns that verify does not recompute; see its list.
var unchecked = map[string][]string{
	runs.RowsFile:      {"error", "citation_presence", "answer_hash"},
	runs.CitationsFile: {"scope_start", "scope_end"},
	runs.ClaimsFile:    {"text", "context", "start", "end", "claim_id", "citations", "opinions"},
	runs.SummaryFile:   {"corrected", "corrected_low", "corrected_high", "corrected_method", "warnings"},
}

func openParquet(t *testing.T, path string) *parquet.File {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func rowsOf(t *testing.T, file *parquet.File) (rows []parquet.Row) {
	t.Helper()
	for _, g := range file.RowGroups() {
		in := g.Rows()
		for {
			buffer := make([]parquet.Row, 1)
			n, err := in.ReadRows(buffer)
			for _, row := range buffer[:n] {
				rows = append(rows, row.Clone())
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		in.Close()
	}
	return rows
}

// rewrite rewrites a result file with the rows that edit leaves behind.
func rewrite(t *testing.T, path string, edit func(columns [][]string, rows []parquet.Row)) {
	t.Helper()
	file := openParquet(t, path)
	rows := rowsOf(t, file)
	edit(file.Schema().Columns(), rows)
	out, err := os.Create(path + ".new")
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewWriter(out, file.Schema())
	if _, err := w.WriteRows(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// eachRowOf calls f with the columns and the values of each row of a file.
func eachRowOf(t *testing.T, path string, f func(columns, values []string)) {
	t.Helper()
	file := openParquet(t, path)
	columns := file.Schema().Columns()
	for _, row := range rowsOf(t, file) {
		var names, values []string
		for _, v := range row {
			names, values = append(names, strings.Join(columns[v.Column()], ".")), append(values, v.String())
		}
		f(names, values)
	}
}

// change rewrites a result file with one changed value, and says which.
func change(t *testing.T, path string, r *rand.Rand) (what string) {
	t.Helper()
	rewrite(t, path, func(columns [][]string, rows []parquet.Row) {
		for {
			at := r.IntN(len(rows))
			leaf := r.IntN(len(rows[at]))
			name := columns[rows[at][leaf].Column()]
			if v, ok := changed(rows[at][leaf]); ok && !slices.Contains(unchecked[filepath.Base(path)], name[0]) && name[0] != "undefined" && name[0] != "tags" {
				what = fmt.Sprintf("%s of row %d: %v to %v", strings.Join(name, "."), at, rows[at][leaf], v)
				rows[at][leaf] = v
				return
			}
		}
	})
	return what
}

// TestMovedBootstrap moves the low ends of all bootstrap intervals by half of their width,
// and verify finds nearly all of them, with draws of its own.
func TestMovedBootstrap(t *testing.T) {
	dir := t.TempDir()
	data, docs := writeNasty(t, dir, 5, 60)
	for _, method := range []string{"bca", "percentile"} {
		out, m := run(t, dir, data, docs, method, []string{"judge=none", "statistics.method=" + method, "statistics.cluster=id"})
		tell(t, method, check(t, out, m))
		moved := 0
		rewrite(t, filepath.Join(out, runs.SummaryFile), func(columns [][]string, rows []parquet.Row) {
			at := func(name string) int {
				return slices.IndexFunc(columns, func(c []string) bool { return c[0] == name })
			}
			for _, row := range rows {
				low, high := row[at("ci_low")], row[at("ci_high")]
				if row[at("method")].String() == method && high.Double() > low.Double() {
					row[at("ci_low")] = parquet.DoubleValue((low.Double()+high.Double())/2).Level(low.RepetitionLevel(), low.DefinitionLevel(), low.Column())
					moved++
				}
			}
		})
		found := 0
		for _, c := range check(t, out, m).Counts {
			if c.Column == "ci_low" {
				found = int(c.Cells)
			}
		}
		t.Logf("%s: %d of %d found", method, found, moved)
		if moved < 20 || found < moved*9/10 {
			t.Errorf("%s: %d of %d intervals found whose low end was moved by half of the width", method, found, moved)
		}
	}
}

// changed is a value that is not v; ok is false for null.
func changed(v parquet.Value) (parquet.Value, bool) {
	var to parquet.Value
	switch v.Kind() {
	case parquet.Boolean:
		to = parquet.BooleanValue(!v.Boolean())
	case parquet.Int32:
		to = parquet.Int32Value(v.Int32() + 1)
	case parquet.Int64:
		to = parquet.Int64Value(v.Int64() + 1)
	case parquet.Double:
		to = parquet.DoubleValue(v.Double() + 1e-6)
	case parquet.ByteArray:
		to = parquet.ByteArrayValue(append([]byte("x"), v.ByteArray()...))
	}
	return to.Level(v.RepetitionLevel(), v.DefinitionLevel(), v.Column()), !v.IsNull()
}

// TestChangedValues changes one value of a result file of a run, again and again. Its checksums
// are right, and verify finds it.
func TestChangedValues(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	dir := t.TempDir()
	data, docs := writeNasty(t, dir, 11, 40)
	out, m := run(t, dir, data, docs, "changed", configurations[1])
	files := []string{runs.RowsFile, runs.CitationsFile, runs.ClaimsFile, runs.SummaryFile}
	found := 0
	changes := number("VERIFY_CHANGES", 8)
	if testing.Short() {
		changes = 2
	}
	for i := range changes {
		path := filepath.Join(out, files[i%len(files)])
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		what := change(t, path, r)
		if v := check(t, out, m); v.Different == 0 {
			t.Errorf("%s, %s: nothing found", filepath.Base(path), what)
		} else {
			found++
			t.Logf("%s, %s: %d cells, %s %s", filepath.Base(path), what, v.Different, v.Differences[0].File, v.Differences[0].Column)
		}
		if err := os.WriteFile(path, before, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("found %d of %d", found, changes)
	tell(t, "as it was", check(t, out, m))
}
