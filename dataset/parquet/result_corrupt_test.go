package parquet

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"ibid"
)

// tryResult reads everything there is in the file, and returns nil and the
// first error if there is one.
func tryResult(path string) (*resultRows, error) {
	f, err := OpenResult(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &resultRows{fields: f.Fields()}
	var v ColumnValues
	for k := range f.RowGroups() {
		at := len(m.rows)
		for c, field := range m.fields {
			if err := f.ReadColumn(k, field.Name, nil, &v); err != nil {
				return nil, err
			}
			for i := range v.Rows {
				if c == 0 {
					m.rows = append(m.rows, make([]Cell, len(m.fields)))
				}
				m.rows[at+i][c] = v.Cell(i)
			}
		}
	}
	return m, nil
}

func TestCorruptResults(t *testing.T) {
	path, _, want := joinedFile(t, map[string]string{"ibid.a": "1"})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, end, err := footerOf(whole)
	if err != nil {
		t.Fatal(err)
	}
	dataEnd := int(end)
	mutated := filepath.Join(t.TempDir(), "mutated.parquet")
	try := func(b []byte) (*resultRows, error) {
		t.Helper()
		if err := os.WriteFile(mutated, b, 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := tryResult(mutated)
		if err != nil {
			var e *ibid.Error
			if !errors.As(err, &e) || e.File != mutated {
				t.Errorf("%v is no *ibid.Error with the file's name", err)
			}
		}
		return m, err
	}

	t.Run("pages", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 1))
		refused := 0
		for range 100 {
			b := bytes.Clone(whole)
			at := 4 + rng.IntN(dataEnd-4)
			b[at] ^= byte(1 + rng.IntN(255))
			got, err := try(b)
			if err != nil {
				refused++
				continue
			}
			sameRows(t, got, want) // a header's field that does not matter
		}
		if refused < 90 {
			t.Errorf("%d of 100 changed files were refused", refused)
		}
	})
	t.Run("footer", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			b := bytes.Clone(whole)
			for range 1 + rng.IntN(3) {
				b[dataEnd+rng.IntN(len(b)-dataEnd)] = byte(rng.Uint32())
			}
			try(b) // a changed name is still a name: only a panic is wrong
		}
	})
	t.Run("truncated", func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 3))
		for range 100 {
			if _, err := try(whole[:rng.IntN(len(whole))]); !errors.Is(err, ErrCorrupt) {
				t.Errorf("truncated file: %v", err)
			}
		}
		if _, err := try(nil); !errors.Is(err, ErrCorrupt) {
			t.Errorf("empty file: %v", err)
		}
	})
}

func TestOpenResultErrors(t *testing.T) {
	var foreign bytes.Buffer
	w := parquet.NewGenericWriter[struct{ A int64 }](&foreign)
	if _, err := w.Write([]struct{ A int64 }{{1}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	other := writeResult(t, "other.parquet", foreign.Bytes())
	if _, err := OpenResult(other); err == nil || err.Error() != other+": not a result file of ibid" {
		t.Errorf("file of another program: %v", err)
	}
	if _, err := OpenResult(other + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}

	path, _, _ := joinedFile(t, nil)
	f, err := OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var v ColumnValues
	if err := f.ReadColumn(0, "char_f2", nil, &v); err == nil || err.Error() != path+": char_f2: no such column" {
		t.Errorf("unknown column: %v", err)
	}
	if err := f.ReadColumn(9, "optional_0", nil, &v); err == nil || !strings.Contains(err.Error(), "row group 9 of 5") {
		t.Errorf("unknown row group: %v", err)
	}
}

func TestReadOneRow(t *testing.T) {
	path, _, want := joinedFile(t, nil)
	f, err := OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, n := range []int64{0, 299, 300, 301, 2300, 2301, 3000} { // group 1 is empty
		group, at := 0, int(n)
		for ; at >= f.GroupRows(group); group++ {
			at -= f.GroupRows(group)
		}
		var cells []Cell
		var v ColumnValues
		for _, field := range want.fields {
			if err := f.ReadColumn(group, field.Name, []int{at}, &v); err != nil {
				t.Fatal(err)
			}
			cells = append(cells, v.Cell(0))
		}
		sameRows(t, &resultRows{want.fields, [][]Cell{cells}}, &resultRows{want.fields, want.rows[n : n+1]})
	}
	if !f.Has("optional_3") || f.Has("optional_99") {
		t.Error("Has is wrong")
	}
}

// FuzzResult writes random rows as two parts, joins them, and reads them back.
func FuzzResult(f *testing.F) {
	f.Add(uint64(1), uint16(10), uint16(3), uint32(4), uint8(2))
	f.Add(uint64(2), uint16(200), uint16(0), uint32(1), uint8(0))
	f.Add(uint64(3), uint16(64), uint16(65), uint32(1<<30), uint8(8))
	f.Fuzz(func(t *testing.T, seed uint64, n1, n2 uint16, spread uint32, nulls uint8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		kinds := everyKind()
		fields := make([]Field, 0, 4)
		for range 1 + rng.IntN(4) {
			f := kinds[rng.IntN(len(kinds))]
			f.Name += strings.Repeat("x", len(fields))
			fields = append(fields, f)
		}
		want := &resultRows{fields: fields}
		dir := t.TempDir()
		var parts []Part
		for _, n := range []uint16{n1, n2} {
			m := randomResult(rng, fields, int(n%2000), int(spread%(1<<30))+1, int(nulls))
			want.rows = append(want.rows, m.rows...)
			p := Part{Path: filepath.Join(dir, "part"+string(rune('0'+len(parts))))}
			if err := os.WriteFile(p.Path, encodeTable(t, m.table(t)), 0o666); err != nil {
				t.Fatal(err)
			}
			parts = append(parts, p)
		}
		all := filepath.Join(dir, "all")
		joinFile(t, all, fields, parts, nil)
		sameRows(t, readResult(t, all), want)
	})
}

// FuzzPage reads arbitrary pages of every kind of value: whatever they hold, reading ends with
// as many rows as were asked for, or an error.
func FuzzPage(f *testing.F) {
	leaves := []Leaf{
		{Kind: Integer, physical: format.Int64},
		{Kind: Integer, Def: 1, physical: format.Int32},
		{Kind: Float, Def: 1, physical: format.Double},
		{Kind: Flag, Def: 1, physical: format.Boolean},
		{Kind: Text, Def: 1, physical: format.ByteArray},
		{Kind: Text, Def: 2, Rep: 1, physical: format.ByteArray},
	}
	encodings := []format.Encoding{format.Plain, format.DeltaBinaryPacked, format.RLEDictionary, format.RLE, format.DeltaLengthByteArray, format.DeltaByteArray, format.ByteStreamSplit}
	for i := range leaves {
		for k := range encodings {
			f.Add(uint8(i), uint8(k), uint16(3), []byte{2, 0, 0, 0, 6, 1, 1, 0, 0, 0, 'x', 0, 0, 0, 0, 0, 0, 0}, []byte{1, 0, 0, 0, 'x', 0, 0, 0})
		}
	}
	f.Fuzz(func(t *testing.T, leaf, encoding uint8, n uint16, body, dict []byte) {
		l := leaves[int(leaf)%len(leaves)]
		p := hostilePage{values: int32(n), uncompressed: int32(len(body)), encoding: encodings[int(encoding)%len(encodings)], body: body}
		if p.encoding == format.RLEDictionary {
			p.dict, p.dictValues, p.dictUncompressed = dict, int32(len(dict)/8), int32(len(dict))
		}
		c := chunkCursor(p.chunk(t), l, format.Uncompressed, int(n), 1<<40)
		var values Values
		if l.Rep > 0 {
			var rep []byte
			if entries, err := c.ReadRows(2, math.MaxInt, &values, &rep, nil); err == nil && (entries < 2 || len(rep) != entries) {
				t.Errorf("%d entries of 2 rows, %d levels", entries, len(rep))
			}
		} else if _, err := c.ReadRows(int(n), int(n), &values, nil, nil); err == nil && len(values.Levels) != int(n) && l.Def > 0 {
			t.Errorf("%d entries of %d", len(values.Levels), n)
		}
	})
}
