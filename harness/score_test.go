package harness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"ibid"
	"ibid/configs"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/judge/judgetest"
)

// cited are rows whose answers cite documents of their own.
func cited(n int, systems ...string) []*ibid.Answer {
	rows := questions(n, systems...)
	for i, r := range rows {
		text := strings.Repeat(fmt.Sprintf("Water %d is wet. Fire is hot, and stones are hard. ", i%5), 20)
		r.Answer = fmt.Sprintf("Water %d is wet [1]. Stones are soft. Fire is hot.", i%3)
		r.HasDocuments = true
		for d := range 7 {
			r.Documents = append(r.Documents, ibid.Document{Doc: fmt.Sprintf("doc-%d", d), Text: text, HasText: true})
		}
	}
	return rows
}

// recordsOf are the rows of a dataset as Arrow has them.
func recordsOf(t testing.TB, path string) arrow.Record {
	t.Helper()
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := r.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all := array.NewTableReader(table, table.NumRows())
	if !all.Next() {
		t.Fatal("no rows")
	}
	return all.Record()
}

// withRow adds the column row, every third of which is null.
func withRow(record arrow.Record) arrow.Record {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range int(record.NumRows()) {
		if i%3 == 0 {
			b.AppendNull()
		} else {
			b.Append(int64(1000 + i))
		}
	}
	fields := append(slices.Clone(record.Schema().Fields()), arrow.Field{Name: "row", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	return array.NewRecord(arrow.NewSchema(fields, nil), append(slices.Clone(record.Columns()), b.NewArray()), record.NumRows())
}

// send is a stream of the rows [from, to) of a record in batches.
func send(t testing.TB, record arrow.Record, from, to int, cuts ...int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(record.Schema()))
	for _, end := range append(cuts, to) {
		if err := w.Write(record.NewSlice(int64(from), int64(end))); err != nil {
			t.Fatal(err)
		}
		from = end
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// score sends a stream through a filter.
func score(t testing.TB, in []byte, f harness.Filter, settings ...string) []byte {
	t.Helper()
	config, err := configs.Load(configs.Options{Set: settings})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (&harness.Job{Config: config}).Score(t.Context(), bytes.NewReader(in), &out, &f); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// cells are the rows of a stream, each cell as JSON, and how many rows each batch has.
func cells(t testing.TB, stream []byte) (names []string, rows [][]string, sizes []int) {
	t.Helper()
	r, err := ipc.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Schema().Fields() {
		names = append(names, f.Name)
	}
	for r.Next() {
		record := r.Record()
		sizes = append(sizes, int(record.NumRows()))
		for i := range int(record.NumRows()) {
			var row []string
			for _, c := range record.Columns() {
				row = append(row, c.ValueStr(i))
			}
			rows = append(rows, row)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return names, rows, sizes
}

// resultCells are the cells of a table of a run, as Arrow reads the file.
func resultCells(t testing.TB, path string) [][]string {
	t.Helper()
	record := recordsOf(t, path)
	rows := make([][]string, record.NumRows())
	for i := range rows {
		for _, c := range record.Columns() {
			rows[i] = append(rows[i], c.ValueStr(i))
		}
	}
	return rows
}

// streamCells are the cells of a file in the columns of a stream: what a run could not fill
// is null.
func streamCells(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := runs.OpenFrame(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	form := map[string]*runs.Form{runs.RowsFile: &runs.Rows().Form, runs.CitationsFile: &runs.Citations.Form, runs.VerdictsFile: &runs.Verdicts.Form}[filepath.Base(path)]
	rows := resultCells(t, path)
	for i, has := range rows {
		rows[i] = nil
		for _, field := range form.Fields() {
			if at := slices.IndexFunc(f.Fields(), func(f parquet.Field) bool { return f.Name == field.Name }); at >= 0 {
				rows[i] = append(rows[i], has[at])
			} else {
				rows[i] = append(rows[i], array.NullValueStr)
			}
		}
	}
	return rows
}

// TestScoreIsARun: however rows are split and cut into batches, each of them has what a run
// over all has, but for row, which is the input's.
func TestScoreIsARun(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	bad := cited(30, "a", "b")
	bad[4].AnswerNull = true
	bad[7].Citations = append(bad[7].Citations, ibid.Citation{Doc: "doc-0", Start: ibid.Some[int64](10), End: ibid.Some[int64](5)})
	for name, c := range map[string]struct {
		rows     []*ibid.Answer
		tables   []string
		settings []string
		without  []string
	}{
		"places":  {questions(30, "a", "b"), []string{"rows", "citations"}, []string{"judge=none", "slices=[lang]"}, []string{"documents"}},
		"lexical": {bad, []string{"rows", "citations", "verdicts"}, []string{"judge=lexical", "statistics.cluster=question"}, nil},
	} {
		path := writeRows(t, c.rows)
		run := evaluate(t, path, c.settings...)
		record := withRow(recordsOf(t, path))
		n := int(record.NumRows())
		for _, table := range c.tables {
			t.Run(name+" "+table, func(t *testing.T) {
				want := streamCells(t, filepath.Join(run, table+".parquet"))
				if len(want) == 0 {
					t.Fatal("no rows to compare")
				}
				var whole [][]string
				for split := range 4 {
					var got [][]string
					ends := []int{n}
					for range split {
						ends = append(ends, rng.IntN(n+1))
					}
					slices.Sort(ends)
					from := 0
					for _, to := range ends {
						cuts := []int{from + rng.IntN(to-from+1), from + rng.IntN(to-from+1)}
						slices.Sort(cuts)
						names, rows, sizes := cells(t, score(t, send(t, record, from, to, cuts...), harness.Filter{Table: table, Without: c.without}, c.settings...))
						if wantSizes := []int{cuts[0] - from, cuts[1] - cuts[0], to - cuts[1]}; table == "rows" && !slices.Equal(sizes, wantSizes) {
							t.Errorf("batches of %v rows, want %v", sizes, wantSizes)
						}
						got = append(got, rows...)
						from = to
						if names[2] != "row" {
							t.Fatal(names)
						}
					}
					if whole == nil {
						whole = got
					}
					if !slices.EqualFunc(got, whole, slices.Equal) {
						t.Errorf("split in %d: other rows", split+1)
					}
					compareRows(t, got, want)
				}
			})
		}
	}
}

// TestScoreAsksAModel: a model is asked as in a run, what it answered is kept for the next
// process and for a run, and a budget that nobody shares is refused.
func TestScoreAsksAModel(t *testing.T) {
	const key = "sk-or-v1-x"
	server := judgetest.NewServer(judgetest.ServerConfig{Key: key})
	defer server.Close()
	settings := []string{
		"judge.kind=openrouter", "judge.model=fake/judge", "judge.base_url=" + server.URL(), "judge.cache=" + filepath.Join(t.TempDir(), "cache.sqlite"),
	}
	path := writeRows(t, cited(12, "a"))
	record := withRow(recordsOf(t, path))
	send := func(settings []string, from, to int) ([][]string, error) {
		config, err := configs.Load(configs.Options{Set: settings})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err = (&harness.Job{Config: config, APIKey: key}).Score(t.Context(), bytes.NewReader(send(t, record, from, to, from+1)), &out, &harness.Filter{Table: "rows"})
		if err != nil {
			return nil, err
		}
		_, rows, _ := cells(t, out.Bytes())
		return rows, nil
	}
	first, err := send(settings, 0, 7)
	if err != nil {
		t.Fatal(err)
	}
	second, err := send(settings, 7, 12)
	if err != nil {
		t.Fatal(err)
	}
	asked := server.Counts().Requests
	if asked == 0 {
		t.Fatal("nobody was asked")
	}
	config, err := configs.Load(configs.Options{Set: append(slices.Clone(settings), "dataset="+path, "out="+t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := (&harness.Job{Config: config, ID: "run", APIKey: key}).Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if more := server.Counts().Requests - asked; more != 0 {
		t.Errorf("the run asked %d questions again", more)
	}
	want := streamCells(t, filepath.Join(out.Dir, "rows.parquet"))
	names := runs.Rows().Fields()
	for _, row := range want { // which has one system
		row[slices.IndexFunc(names, func(f parquet.Field) bool { return f.Name == "answer_hash" })] = ""
	}
	got := append(first, second...)
	for _, row := range got {
		row[slices.IndexFunc(names, func(f parquet.Field) bool { return f.Name == "answer_hash" })] = ""
	}
	compareRows(t, got, want)

	_, err = send(append(slices.Clone(settings), "judge.max_cost_usd=1"), 0, 7)
	if !errors.Is(err, ibid.ErrUsage) {
		t.Errorf("a budget of each process: %v", err)
	}
}

// TestScoreReadsAhead: the schema is there before anything is read, and rows are read while
// nobody takes what was written.
func TestScoreReadsAhead(t *testing.T) {
	record := recordsOf(t, writeRows(t, questions(9, "a")))
	config, err := configs.Load(configs.Options{Set: []string{"judge=none"}})
	if err != nil {
		t.Fatal(err)
	}
	in, toIn := io.Pipe()
	fromOut, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := (&harness.Job{Config: config, Workers: 2}).Score(t.Context(), in, out, &harness.Filter{Table: "rows"})
		out.Close()
		done <- err
	}()
	schema := make([]byte, 8)
	if _, err := io.ReadFull(fromOut, schema); err != nil || !bytes.HasPrefix(schema, []byte{0xFF, 0xFF, 0xFF, 0xFF}) {
		t.Fatal(schema, err)
	}
	rest := make([]byte, int(schema[4])|int(schema[5])<<8|int(schema[6])<<16)
	if _, err := io.ReadFull(fromOut, rest); err != nil {
		t.Fatal(err)
	}
	// Two batches are taken although nothing more is read of what is written.
	if _, err := toIn.Write(send(t, record, 0, 9, 1, 2)); err != nil {
		t.Fatal(err)
	}
	toIn.Close()
	var all bytes.Buffer
	all.Write(schema)
	all.Write(rest)
	if _, err := io.Copy(&all, fromOut); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, rows, sizes := cells(t, all.Bytes()); len(rows) != 9 || !slices.Equal(sizes, []int{1, 1, 7}) {
		t.Errorf("%d rows in %v", len(rows), sizes)
	}
}

// compareRows compares what was scored with results of a run over the same rows.
func compareRows(t *testing.T, got, want [][]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		var at int
		fmt.Sscan(want[i][2], &at)
		row := fmt.Sprint(1000 + at)
		if at%3 == 0 {
			row = array.NullValueStr
		}
		if got[i][2] != row {
			t.Fatalf("row of %v is %s, want %s", want[i][:2], got[i][2], row)
		}
		for c := range want[i] {
			if c != 2 && got[i][c] != want[i][c] {
				t.Fatalf("%v: cell %d is %s, want %s", want[i][:2], c, got[i][c], want[i][c])
			}
		}
	}
}
