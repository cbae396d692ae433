//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	parquetgo "github.com/parquet-go/parquet-go"
	codec "github.com/parquet-go/parquet-go/compress"

	"ibid"
	"ibid/annotations"
	"ibid/annotations/round"
	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/report"
)

// A target is a file to damage, and how it is read.
type target struct {
	name string
	data []byte
	// read returns what the file says, in a form to compare.
	read func(dir string) (any, error)
	file string // its name in the directory
	// checked is where the checksums of the file end; 0 if it has none.
	checked int
	beside  string // a folder whose other files are read with it
}

// tortureMutations damages files of each writer, codec and structure, in process.
func tortureMutations(t *testing.T) []*ordeal {
	dir := t.TempDir()
	mustIbid(t, dir, "init", "-q")
	mustIbid(t, dir, "run", "ibid.yaml", "--judge", "lexical", "--id", "one", "-q", "--set", "gates=[]", "-o", "out")
	mustIbid(t, dir, "calibrate", "runs/one", "-q", "-o", "out")
	mustIbid(t, dir, "sample", "answers.parquet", "--documents", "documents.parquet", "-o", "blind")
	groups := []struct {
		o       ordeal
		targets []target
		n       int // in the whole torture
	}{
		{ordeal{what: "damaged datasets: ours"}, ourDatasets(t, dir), 4000},
		{ordeal{what: "damaged datasets: parquet-go"}, parquetGoFiles(t), 6000},
		{ordeal{what: "damaged datasets: Arrow"}, arrowFiles(t), 5000},
		{ordeal{what: "damaged results"}, ourResults(t, dir), 4000},
		{ordeal{what: "damaged JSON of runs and samples"}, ourJSON(t, dir), 2000},
	}
	var out []*ordeal
	for i := range groups {
		g := &groups[i]
		if len(g.targets) == 0 {
			t.Fatalf("%s: no files", g.o.what)
		}
		g.o.damage(t, g.targets, part(100, g.n))
		out = append(out, &g.o)
	}
	return out
}

// damage reads n damaged files, the targets in turn.
func (o *ordeal) damage(t *testing.T, targets []target, n int) {
	dir := t.TempDir()
	want := make([]any, len(targets))
	write := func(f *target, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, f.file), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i := range targets {
		f := &targets[i]
		if f.beside != "" {
			if err := os.CopyFS(dir, os.DirFS(f.beside)); err != nil {
				t.Fatal(err)
			}
		}
		write(f, f.data)
		var err error
		if want[i], err = f.read(dir); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		if again, err := f.read(dir); err != nil || !reflect.DeepEqual(again, want[i]) {
			t.Fatalf("%s: read twice, it differs: %v", f.name, err)
		}
	}
	rng := rand.New(rand.NewPCG(20, uint64(len(o.what))))
	refused, same, unseen := 0, 0, 0
	for i := range n {
		f := &targets[i%len(targets)]
		data, at, what := mutateFile(rng, f)
		write(f, data)
		got, err := o.readDamaged(t, f, dir, what)
		write(f, f.data) // the next one may be read beside it
		switch {
		case err != nil:
			refused++
		case reflect.DeepEqual(got, want[i%len(targets)]):
			same++
		case at < f.checked:
			o.fault(t, &o.wrong, "%s, %s: changed without a word", f.name, what)
		default:
			unseen++
		}
	}
	o.note = fmt.Sprintf("%d refused, %d read the same, %d read otherwise where no checksum is", refused, same, unseen)
	if refused < n/4 {
		t.Errorf("%s: %s: the mutations do not damage enough", o.what, o.note)
	}
}

// readDamaged reads a damaged file and notes what that took.
func (o *ordeal) readDamaged(t *testing.T, f *target, dir, what string) (got any, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	started := time.Now()
	defer func() {
		took := time.Since(started)
		if p := recover(); p != nil {
			o.fault(t, &o.crashed, "%s, %s: %v", f.name, what, p)
			err = errors.New("panic")
		}
		runtime.ReadMemStats(&after)
		allocated := int64(after.TotalAlloc - before.TotalAlloc)
		o.took(took, allocated)
		if allocated > refusedMemory {
			o.fault(t, &o.wrong, "%s, %s: %d MB allocated", f.name, what, allocated>>20)
		}
		if took > hungAfter {
			o.fault(t, &o.hung, "%s, %s: %v", f.name, what, took)
		}
	}()
	return f.read(dir)
}

// mutateFile damages a copy of a file in one of several ways, and says from where on.
func mutateFile(rng *rand.Rand, f *target) (data []byte, at int, what string) {
	data = bytes.Clone(f.data)
	at = rng.IntN(len(data))
	if tail := len(data) - f.checked; f.checked > 0 && rng.IntN(3) == 0 {
		at = f.checked + rng.IntN(tail)
	}
	n := min(1+rng.IntN(20), len(data)-at)
	switch rng.IntN(8) {
	case 0:
		data[at] ^= 1 << rng.IntN(8)
		what = "a bit"
	case 1, 2:
		data[at] = byte(rng.IntN(256))
		what = "a byte"
	case 3:
		for i := range n {
			data[at+i] = 0xFF
		}
		what = "ones"
	case 4:
		data = append(data[:at], data[at+n:]...)
		what = "cut out"
	case 5:
		from := rng.IntN(len(data) - n + 1)
		copy(data[at:at+n], f.data[from:from+n])
		what = "a piece of elsewhere"
	case 6:
		data = append(data[:at:at], append(bytes.Clone(f.data[at:at+n]), f.data[at:]...)...)
		what = "said twice"
	default:
		data = data[:at]
		what = "cut off"
	}
	return data, at, fmt.Sprintf("%s at %d of %d", what, at, len(f.data))
}

// footerOf is where the footer of a Parquet file begins, which no checksum covers.
func footerOf(data []byte) int {
	return len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
}

// readAnswers reads a DATASET file.
func readAnswers(dir string) (any, error) {
	s, err := dataset.Open(filepath.Join(dir, "f.parquet"), dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	var rows []string
	err = s.Read(context.Background(), 0, 64, func(b *dataset.Batch) error {
		for i := range b.Len() {
			var r ibid.Answer
			b.Row(i, &r)
			rows = append(rows, fmt.Sprintf("%+v", r))
		}
		return nil
	})
	return rows, err
}

func readDocuments(dir string) (any, error) {
	s, err := dataset.OpenDocuments(filepath.Join(dir, "f.parquet"), dataset.ReadOptions{})
	if err != nil {
		return nil, err
	}
	var all []string
	err = s.Read(context.Background(), func(d *ibid.Document) error {
		all = append(all, fmt.Sprintf("%+v", *d))
		return nil
	})
	return all, err
}

// readResult reads every column of a result file.
func readResult(dir string) (any, error) {
	f, err := parquet.OpenResult(filepath.Join(dir, "f.parquet"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []parquet.ColumnValues
	for g := range f.RowGroups() {
		for _, field := range f.Fields() {
			var v parquet.ColumnValues
			if err := f.ReadColumn(g, field.Name, nil, &v); err != nil {
				return nil, err
			}
			all = append(all, parquet.ColumnValues{Rows: v.Rows, Kind: v.Kind, Valid: v.Valid, Ints: v.Ints, Doubles: v.Doubles, Strings: v.Strings, Keys: v.Keys, Offsets: v.Offsets})
		}
	}
	return all, nil
}

func ourFile(t *testing.T, path string, read func(string) (any, error)) target {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return target{filepath.Base(path), data, read, "f.parquet", footerOf(data), ""}
}

func ourDatasets(t *testing.T, dir string) []target {
	path := filepath.Join(dir, "many.parquet")
	if err := writeAnswers(path, 100); err != nil {
		t.Fatal(err)
	}
	return []target{
		ourFile(t, filepath.Join(dir, "answers.parquet"), readAnswers), ourFile(t, path, readAnswers),
		ourFile(t, filepath.Join(dir, "documents.parquet"), readDocuments),
	}
}

func ourResults(t *testing.T, dir string) (all []target) {
	for _, name := range []string{runs.RowsFile, runs.CitationsFile, runs.ClaimsFile, runs.VerdictsFile, runs.SummaryFile, runs.AgreementFile} {
		all = append(all, ourFile(t, filepath.Join(dir, "runs", "one", name), readResult))
	}
	return all
}

// ourJSON is what runs and samples have beside Parquet. Each file ends with its own digest.
func ourJSON(t *testing.T, dir string) (all []target) {
	for _, f := range []struct {
		path, file string
		read       func(dir string) (any, error)
	}{
		{"runs/one/manifest.json", runs.ManifestFile, func(d string) (any, error) { return runs.ReadManifest(d) }},
		{"runs/one/disagreements.json", runs.DisagreementsFile, func(d string) (any, error) { return annotations.ReadDisagreements(d) }},
		{"runs/one/calibration.json", "calibration.json", func(d string) (any, error) { return report.ReadCalibration(d) }},
		{"blind/key.json", round.KeyFile, func(d string) (any, error) { return round.Open(d) }},
	} {
		data, err := os.ReadFile(filepath.Join(dir, f.path))
		if err != nil {
			t.Fatal(err)
		}
		beside := ""
		switch f.file {
		case runs.ManifestFile:
			beside = filepath.Join(dir, "runs", "one")
		case round.KeyFile:
			beside = filepath.Join(dir, "blind")
		}
		all = append(all, target{f.path, data, f.read, f.file, len(data) - 1, beside})
	}
	return all
}

// foreignRow is a row as parquet-go writes it, in most of its encodings.
type foreignRow struct {
	ID        string  `parquet:"id,delta"`
	Query     string  `parquet:"query,dict"`
	Answer    *string `parquet:"answer,optional"`
	System    *string `parquet:"system,optional,dict"`
	Citations []struct {
		Doc   *string `parquet:"doc,optional,dict"`
		Start *int64  `parquet:"start,optional"`
		End   *int64  `parquet:"end,optional"`
	} `parquet:"citations,optional,list"`
	Documents []struct {
		Doc   *string  `parquet:"doc,optional"`
		Pages []string `parquet:"pages,optional,list"`
	} `parquet:"documents,optional,list"`
	Tags map[string]string `parquet:"tags,optional"`
	Made int64             `parquet:"made_at,delta"`
}

// foreignJSON is row i, with null, empty and several elements.
func foreignJSON(i int) string {
	lists := []string{"null", "[]", `[{"doc":"d1","start":%[1]d,"end":99}]`, `[{"doc":"d1","start":%[1]d,"end":%[1]d},{"doc":null,"start":null,"end":null},{"doc":"d2","start":7,"end":9}]`}
	documents := []string{"null", "[]", `[{"doc":"d1","pages":["Zoë one","","three"]},{"doc":"d2","pages":null}]`}
	list := lists[i%4]
	if strings.Contains(list, "%") {
		list = fmt.Sprintf(list, i)
	}
	return fmt.Sprintf(`{"id":"id-%d","query":"q%d","answer":"Zoë %d said %s","system":"s","citations":%s,"documents":%s,"tags":null}`,
		i, i%3, i, strings.Repeat("so ", i%9), list, documents[i%3])
}

// parquetGoFiles are files of parquet-go: every codec, both versions of data pages. It
// writes checksums.
func parquetGoFiles(t *testing.T) (all []target) {
	rows := make([]foreignRow, 90)
	for i := range rows {
		if err := json.Unmarshal([]byte(foreignJSON(i)), &rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []codec.Codec{
		&parquetgo.Uncompressed, &parquetgo.Snappy, &parquetgo.Gzip, &parquetgo.Zstd, &parquetgo.Brotli, &parquetgo.Lz4Raw,
	} {
		for version := 1; version <= 2; version++ {
			var out bytes.Buffer
			w := parquetgo.NewGenericWriter[foreignRow](&out, parquetgo.Compression(c), parquetgo.DataPageVersion(version),
				parquetgo.PageBufferSize(300), parquetgo.MaxRowsPerRowGroup(40))
			if _, err := w.Write(rows); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			all = append(all, target{fmt.Sprintf("%v, version %d", c, version), out.Bytes(), readAnswers, "f.parquet", footerOf(out.Bytes()), ""})
		}
	}
	return all
}

// arrowFiles are files of Arrow, with its codecs and without checksums; see testdata/arrowfiles.
func arrowFiles(t *testing.T) (all []target) {
	var rows []string
	for i := range 90 {
		rows = append(rows, strings.Replace(foreignJSON(i), `,"tags":null`, "", 1))
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "run", "./testdata/arrowfiles", dir)
	cmd.Stdin = strings.NewReader("[" + strings.Join(rows, ",") + "]")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files of Arrow: %v", err)
	}
	for _, path := range paths {
		f := ourFile(t, path, readAnswers)
		f.checked = 0
		all = append(all, f)
	}
	return all
}
