package dataset

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"ibid"
)

type flatTable struct {
	Text     string   `parquet:"text,dict"`
	Null     *string  `parquet:"null,optional"`
	Int      int32    `parquet:"int"`
	Long     *int64   `parquet:"long,optional"`
	Unsigned uint64   `parquet:"unsigned"`
	Float    float32  `parquet:"float"`
	Double   *float64 `parquet:"double,optional"`
	Flag     bool     `parquet:"flag"`
	List     []string `parquet:"list,list"`
	Bytes    [2]byte  `parquet:"bytes"`
}

var flatColumns = []string{"text", "null", "int", "long", "unsigned", "float", "double", "flag"}

func flatFile(t testing.TB) string {
	return writeFile(t, []flatTable{
		{Text: "a", Int: -7, Long: ptr(int64(1) << 40), Unsigned: 1<<64 - 1, Float: 0.1, Double: ptr(0.1), Flag: true, List: []string{"x", "y"}},
		{Text: "", Null: ptr(""), Double: ptr(1e300)},
		{Text: "a", Null: ptr("Zoë"), Int: 7, Float: 2},
	}, parquet.MaxRowsPerRowGroup(2), parquet.Compression(&parquet.Zstd))
}

func TestReadFlatParquet(t *testing.T) {
	path := flatFile(t)
	table, err := ReadFlat(path, flatColumns)
	if diff := cmp.Diff(append(flatColumns, "bytes"), table.Columns); err != nil || diff != "" {
		t.Errorf("ReadFlat: %v\n%s", err, diff)
	}
	want := []FlatRow{
		{1, []string{"a", "", "-7", "1099511627776", "18446744073709551615", "0.1", "0.1", "true"}},
		{2, []string{"", "", "0", "", "0", "0", "1e+300", "false"}},
		{3, []string{"a", "Zoë", "7", "", "0", "2", "", "false"}},
	}
	if diff := cmp.Diff(want, table.Rows); diff != "" {
		t.Errorf("ReadFlat:\n%s", diff)
	}
	for column, want := range map[string]string{
		"list":  `no column "list"`,
		"bytes": `bytes: line 1: {"type of Parquet":"FIXED_LEN_BYTE_ARRAY"} is not a text, a number or a boolean`,
	} {
		table, err := ReadFlat(path, []string{column})
		if err == nil {
			err = table.Need(path, column)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadFlat(%s): %v, want %q", column, err, want)
		}
	}
}

// A damaged table is an error of that file, never a panic.
func TestReadFlatDamaged(t *testing.T) {
	whole := readFile(t, flatFile(t))
	path := filepath.Join(t.TempDir(), "damaged.parquet")
	rng := rand.New(rand.NewPCG(1, 1))
	refused := 0
	for range 500 {
		b := bytes.Clone(whole)
		b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		var e *ibid.Error
		if _, err := ReadFlat(path, flatColumns); errors.As(err, &e) && e.File == path {
			refused++
		} else if err != nil {
			t.Errorf("%v does not name the file", err)
		}
	}
	if refused < 100 {
		t.Errorf("%d of 500 damaged files were refused", refused)
	}
}

// A record of text that does not end is refused before it is all in memory.
func TestReadFlatEndless(t *testing.T) {
	long := bytes.Repeat([]byte("9"), mostRecord+1<<20)
	for _, tt := range []struct{ name, head string }{{"a.jsonl", `{"id":`}, {"a.csv", "\"id\n"}, {"b.csv", "id\n\"1\n"}} {
		path := filepath.Join(t.TempDir(), tt.name)
		if err := os.WriteFile(path, append([]byte(tt.head), long...), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFlat(path, []string{"id"}); !errors.Is(err, ErrLongRecord) {
			t.Errorf("%s: %v, want %v", tt.name, err, ErrLongRecord)
		}
	}
}

// TestFlatColumnsOfLaterObjects: a member that only a later object has is a column, too.
func TestFlatColumnsOfLaterObjects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte("{\"id\": \"1\"}\n{\"id\": \"2\", \"doc\": \"d\"}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	table, err := ReadFlat(path, []string{"id", "doc"})
	if err != nil || !slices.Equal(table.Columns, []string{"id", "doc"}) {
		t.Fatal(table.Columns, err)
	}
	if rows := table.Rows; len(rows) != 2 || rows[0].Cells[1] != "" || rows[1].Cells[1] != "d" {
		t.Errorf("%v", rows)
	}
}
