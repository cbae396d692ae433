package parquet

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// joinedFile writes parts of various shapes, an empty one among them, and joins
// them.
func joinedFile(t testing.TB, metadata map[string]string) (path string, parts []Part, want *resultRows) {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(7, 7))
	want = &resultRows{fields: everyKind()}
	for i, p := range []struct{ n, spread, nulls int }{{300, 5, 3}, {0, 1, 1}, {1, 1, 0}, {2000, 1 << 20, 6}, {700, 300, 2}} {
		m := randomResult(rng, want.fields, p.n, p.spread, p.nulls)
		want.rows = append(want.rows, m.rows...)
		part := Part{Path: filepath.Join(dir, "part"+string(rune('0'+i))+".parquet")}
		if err := os.WriteFile(part.Path, encodeTable(t, m.table(t)), 0o666); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	path = filepath.Join(dir, "all.parquet")
	joinFile(t, path, want.fields, parts, metadata)
	return path, parts, want
}

// joinFile joins parts into the file path.
func joinFile(t testing.TB, path string, fields []Field, parts []Part, metadata map[string]string) {
	t.Helper()
	var b bytes.Buffer
	if err := Join(&b, fields, parts, metadata); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestJoin(t *testing.T) {
	metadata := map[string]string{"ibid.b": "2", "ibid.a": "1"}
	path, parts, want := joinedFile(t, metadata)
	sameRows(t, readResult(t, path), want)

	f, err := OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if d := cmp.Diff(metadata, f.Metadata); d != "" {
		t.Errorf("metadata (-want +got):\n%s", d)
	}
	if f.RowGroups() != len(parts) {
		t.Errorf("%d row groups of %d parts", f.RowGroups(), len(parts))
	}
}

// TestJoinCopies: the bytes of each column of each part are in the joined file as they are.
func TestJoinCopies(t *testing.T) {
	path, parts, want := joinedFile(t, nil)
	columns := func(path string, group int) (chunks [][]byte) {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.footer.RowGroups[group].Columns {
			c := f.chunk(group, i)
			chunks = append(chunks, data[c.start():c.start()+c.Meta.TotalCompressedSize])
		}
		return chunks
	}
	for k, part := range parts {
		from, to := columns(part.Path, 0), columns(path, k)
		if len(from) < len(want.fields) || len(from) != len(to) {
			t.Fatalf("%d columns of %d", len(to), len(from))
		}
		for i := range from {
			if !bytes.Equal(from[i], to[i]) {
				t.Errorf("part %d, column %d: %d bytes became others, %d", k, i, len(from[i]), len(to[i]))
			}
		}
	}
}

// Groups of joined files and parts mix, and one that is not there is an error.
func TestJoinAgain(t *testing.T) {
	path, parts, want := joinedFile(t, map[string]string{"ibid.a": "1"})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mixed := []Part{{path, 0}, {path, 1}, parts[2], {path, 3}, parts[4]}
	var again bytes.Buffer
	if err := Join(&again, want.fields, mixed, map[string]string{"ibid.a": "1"}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Bytes(), whole) {
		t.Error("joining the same row groups from other files gives other bytes")
	}
	if err := Join(io.Discard, want.fields, []Part{{path, 7}}, nil); err == nil || !strings.Contains(err.Error(), "row group 7") {
		t.Errorf("a group that is not there: %v", err)
	}
}

func TestJoinOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := Join(&b, everyKind(), nil, nil); err != nil {
		t.Fatal(err)
	}
	got := readResult(t, writeResult(t, "none.parquet", b.Bytes()))
	sameRows(t, got, &resultRows{fields: everyKind()})
}

func TestJoinErrors(t *testing.T) {
	path, parts, want := joinedFile(t, nil)
	text := writeResult(t, "notes.txt", []byte("these are not columns"))
	tests := []struct {
		name   string
		fields []Field
		part   Part
		want   string
	}{
		{"no file", want.fields, Part{path + "x", 0}, "all.parquetx: row group 0: no such file"},
		{"not Parquet", want.fields, Part{text, 0}, "notes.txt: row group 0: not a Parquet file"},
		{"no such group", want.fields, Part{path, len(parts)}, "row group 5: the file has 5 row groups"},
		{"negative group", want.fields, Part{path, -1}, "row group -1: the file has 5 row groups"},
		{"other columns", want.fields[1:], Part{path, 0}, "other columns than the result has"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Join(io.Discard, tt.fields, []Part{tt.part}, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Join: %v, want %q", err, tt.want)
			}
		})
	}
	t.Run("writer fails", func(t *testing.T) {
		whole := &failingWriter{left: math.MaxInt}
		if err := Join(whole, want.fields, parts, nil); err != nil {
			t.Fatal(err)
		}
		for after := range math.MaxInt - whole.left {
			if err := Join(&failingWriter{left: after}, want.fields, parts, nil); !errors.Is(err, errDiskFull) {
				t.Errorf("Join with a writer that fails after %d writes: %v", after, err)
			}
		}
	})
}

var errDiskFull = errors.New("disk full")

// A failingWriter takes a number of writes and then none.
type failingWriter struct{ left int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errDiskFull
	}
	return len(b), nil
}
