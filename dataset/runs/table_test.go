package runs

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/parquet"
)

type inner struct {
	Name  string `json:"name" doc:"a name" null:"none"`
	Count int64  `json:"count"`
}

type kindly string

// everything has a field of each kind that a column can have.
type everything struct {
	Key
	Text    string             `json:"text"`
	Late    bool               `json:"late"`
	Kind    kindly             `json:"kind" null:"no kind"`
	Small   int32              `json:"small"`
	Page    *int32             `json:"page"`
	Big     *int64             `json:"big" unit:"bytes"`
	Level   float64            `json:"level" range:"(0, 1)" null:"never"`
	Value   *float64           `json:"value"`
	Number  ibid.Number        `json:"number"`
	Flag    *bool              `json:"flag"`
	Many    ListOf[int32]      `json:"many" null:"not known"`
	Words   ListOf[string]     `json:"words"`
	Tags    map[string]string  `json:"tags" null:"none"`
	Place   *inner             `json:"place" prefix:"place_"`
	Hidden  int                `json:"hidden" col:"-"`
	Numbers map[string]float64 `json:"-" col:"*"`
}

var everythings = NewTable[everything]("everything.parquet", "one of everything",
	Column{Name: "score", Kind: parquet.Double}, Column{Name: "hits", Kind: parquet.Int64})

func full() []everything {
	return []everything{
		{
			Key: Key{"a", "s", 7}, Text: "<t>", Late: true, Kind: "k", Small: 3, Page: new(int32(2)), Big: new(int64(1 << 40)), Level: 0.95,
			Value: new(0.1), Number: ibid.Some(2.0), Flag: new(false), Many: []int32{1, 2}, Words: []string{"x", "y"},
			Tags: map[string]string{"b": "2", "a": "1"}, Place: &inner{"n", 4}, Numbers: map[string]float64{"score": 1.5, "hits": 3},
		},
		{Key: Key{"b", "s", 8}, Many: []int32{}, Words: []string{}},
		{Key: Key{"c", "s", 9}, Words: []string{}},
	}
}

func TestTableColumns(t *testing.T) {
	var names []string
	for _, f := range everythings.Fields() {
		name := f.Name + " " + f.Kind.String()
		if f.Required {
			name += " required"
		}
		names = append(names, name)
	}
	want := []string{
		"id string required", "system string required", "row int64 required", "text string required", "late bool required", "kind string",
		"small int32 required", "page int32", "big int64", "level double", "value double", "number double", "flag bool",
		"many list<int32>", "words list<string> required", "tags map<string,string>",
		"place_name string", "place_count int64", "score double", "hits int64",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	c := everythings.Columns[everythings.Index("big")]
	if c.Unit != "bytes" || everythings.Columns[everythings.Index("level")].Range != "(0, 1)" {
		t.Errorf("tags of %+v", c)
	}
}

func TestTableReadsWhatItWrote(t *testing.T) {
	dir := t.TempDir()
	if rows, err := everythings.ReadIfAny(dir); rows != nil || err != nil {
		t.Fatalf("no file: %v, %v", rows, err)
	}
	if err := everythings.Write(dir, full()); err != nil {
		t.Fatal(err)
	}
	rows, err := everythings.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(rows, full()) {
		t.Errorf("-want +got\n%s", cmp.Diff(full(), rows))
	}
	mine, err := everythings.OfRow(dir, 8)
	if err != nil || len(mine) != 1 || mine[0].ID != "b" {
		t.Errorf("of row 8: %v, %v", mine, err)
	}
	err = everythings.Scan(dir, []string{"id", "score"}, func(at int64, r *everything) error {
		if r.ID != full()[at].ID || r.Text != "" || len(r.Numbers) > 0 != (at == 0) {
			t.Errorf("row %d: %+v", at, r)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestScanSome reads few rows of a part, passing over the others, and many.
func TestScanSome(t *testing.T) {
	dir := t.TempDir()
	var want []everything
	for range 400 {
		want = append(want, full()...)
	}
	if err := everythings.Write(dir, want); err != nil {
		t.Fatal(err)
	}
	for _, step := range []int64{1, 7, 100, 1199} {
		at := []int64{}
		for i := step - 1; i < int64(len(want)); i += step {
			at = append(at, i)
		}
		err := everythings.ScanSome(dir, nil, at, func(i int64, r *everything) error {
			if i != at[0] || !reflect.DeepEqual(*r, want[i]) {
				t.Fatalf("row %d instead of %d, -want +got\n%s", i, at[0], cmp.Diff(want[i], *r))
			}
			at = at[1:]
			return nil
		})
		if err != nil || len(at) > 0 {
			t.Errorf("every %d rows: %d are not read, %v", step, len(at), err)
		}
	}
}

func TestTableCSV(t *testing.T) {
	var out bytes.Buffer
	if err := everythings.WriteCSV(&out, full()[:2]); err != nil {
		t.Fatal(err)
	}
	want := "id,system,row,text,late,kind,small,page,big,level,value,number,flag,many,words,tags,place_name,place_count,score,hits\n" +
		"a,s,7,<t>,true,k,3,2,1099511627776,0.95,0.1,2,false,1; 2,x; y,a=1; b=2,n,4,1.5,3\n" +
		"b,s,8,,false,,0,,,0,,,,,,,,,,\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestListOfIsNeverNullInJSON(t *testing.T) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode([]ListOf[string]{nil, {"a < b"}}); err != nil || out.String() != "[[],[\"a < b\"]]\n" {
		t.Errorf("%s, %v", out.String(), err)
	}
}

// A time is written as text, in UTC.
func TestTableTime(t *testing.T) {
	type night struct {
		At time.Time `json:"at"`
	}
	var out strings.Builder
	at := time.Date(2026, 5, 4, 3, 2, 1, 5, time.FixedZone("", 3600))
	if err := NewTable[night]("", "").WriteCSV(&out, []night{{at}}); err != nil || out.String() != "at\n2026-05-04T02:02:01Z\n" {
		t.Errorf("%s, %v", out.String(), err)
	}
}

// A file of an earlier version may lack columns that can be null, and no others.
func TestTableOfEarlierVersion(t *testing.T) {
	type earlier struct {
		Key
		Text string `json:"text"`
	}
	type now struct {
		Key
		Text string `json:"text"`
		More *int64 `json:"more"`
	}
	type later struct {
		now
		Less int64 `json:"less"`
	}
	dir := t.TempDir()
	if err := NewTable[earlier]("x", "").Write(dir, []earlier{{Key{"a", "s", 1}, "t"}}); err != nil {
		t.Fatal(err)
	}
	if rows, err := NewTable[now]("x", "").Read(dir); err != nil || len(rows) != 1 || rows[0].Text != "t" {
		t.Errorf("%v, %v", rows, err)
	}
	if _, err := NewTable[later]("x", "").Read(dir); err == nil || !strings.Contains(err.Error(), "less") {
		t.Errorf("a required column is missing: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
}

func TestBind(t *testing.T) {
	var columns struct {
		ID, System, Text, Kind, Row, Small, Page, Value, Late, Many, Words, Tags, PlaceName *parquet.Column
	}
	table := everythings.Bind(&columns)
	columns.ID.AppendText("a")
	columns.System.AppendString("s\xff")
	columns.Row.AppendInt(7)
	columns.Small.AppendInt(3)
	columns.Page.AppendKnownInt(ibid.Integer{})
	columns.Text.AppendText("t")
	columns.Kind.AppendKnownText("")
	columns.Value.AppendDouble(0.5)
	columns.Late.AppendBool(true)
	columns.Many.AppendInts([]int32{1})
	columns.Words.AppendStrings(nil)
	columns.Tags.AppendMap([]string{"k"}, []string{"v"})
	columns.PlaceName.AppendText("n")
	table.EndRow()
	dir := t.TempDir()
	if err := dataset.WriteFile(filepath.Join(dir, everythings.File), func(w io.Writer) error {
		var e parquet.Encoder
		return e.EncodePart(w, table)
	}); err != nil {
		t.Fatal(err)
	}
	rows, err := everythings.Read(dir)
	want := []everything{{
		Key: Key{"a", "s\uFFFD", 7}, Small: 3, Text: "t", Value: new(0.5), Late: true, Many: []int32{1}, Words: []string{},
		Tags: map[string]string{"k": "v"}, Place: &inner{Name: "n"},
	}}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%v: -want +got\n%s", err, cmp.Diff(want, rows))
	}
	less := everythings.Without("x")
	less.left = append(less.left, "Other")
	var other struct{ Other *parquet.Column }
	if less.Bind(&other); other.Other != nil {
		t.Errorf("a field that was left out: %v, %v", other.Other, err)
	}
	other.Other.AppendText("a column that was left out takes nothing")
	other.Other.AppendInts([]int32{1})
	other.Other.AppendMap([]string{"k"}, []string{"v"})
	defer func() {
		if recover() == nil {
			t.Error("a field without a column is bound")
		}
	}()
	everythings.Bind(&other)
}

// Every column of every table of a run says what it is, and what null means.
func TestColumnsAreDocumented(t *testing.T) {
	for _, f := range Forms() {
		if f.Doc == "" || f.File == "" {
			t.Errorf("%+v: no documentation", f)
		}
		for _, c := range f.Columns {
			if c.Doc == "" || !c.Required && c.Null == "" {
				t.Errorf("%s: column %s: %q, null: %q", f.File, c.Name, c.Doc, c.Null)
			}
		}
	}
}
