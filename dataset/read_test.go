package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"ibid"
)

// citationText writes the citations of a row for comparison: doc, start and
// page of each, as far as they are known, and the row's error.
func citationText(r *ibid.Answer) string {
	if !r.HasCitations {
		return withError("null", r.Err)
	}
	var parts []string
	for _, c := range r.Citations {
		if reflect.DeepEqual(c, ibid.Citation{DocNull: true}) {
			parts = append(parts, "{null}")
			continue
		}
		s := "{" + c.Doc
		for _, v := range []ibid.Integer{c.Start, c.Page} {
			if v.Known() {
				s += fmt.Sprintf(" %d", v.Value)
			}
		}
		parts = append(parts, s+"}")
	}
	return withError("["+strings.Join(parts, " ")+"]", r.Err)
}

func withError(s string, err error) string {
	if err != nil {
		s += ": " + err.Error()
	}
	return s
}

// randomRows returns n rows with every list column, of any length from none to
// several, nulls included.
func randomRows(seed uint64, n int) []ibid.Answer {
	rng := rand.New(rand.NewPCG(seed, 0))
	word := func() string {
		return []string{"", "a", "Zoë", "🙂 smile", strings.Repeat("long ", rng.IntN(40)), fmt.Sprint(rng.IntN(1000))}[rng.IntN(6)]
	}
	number := func() ibid.Integer {
		if rng.IntN(5) == 0 {
			return ibid.Integer{}
		}
		return ibid.Some(rng.Int64N(1<<rng.IntN(40)) - 2)
	}
	share := func() ibid.Number {
		if rng.IntN(3) == 0 {
			return ibid.Number{}
		}
		return ibid.Some(rng.Float64())
	}
	words := func() []string {
		list := make([]string, rng.IntN(3))
		for i := range list {
			list[i] = word()
		}
		return list
	}
	length := func() (int, bool) { return max(0, rng.IntN(6)-2), rng.IntN(4) > 0 }
	rows := make([]ibid.Answer, n)
	for i := range rows {
		r := &rows[i]
		*r = ibid.Answer{ID: fmt.Sprintf("id-%d", i), Query: word(), Answer: word(), System: []string{"x", "y", "default"}[rng.IntN(3)], Model: word()}
		if k, has := length(); has {
			r.HasCitations = true
			for range k {
				c := ibid.Citation{
					Doc: word(), Start: number(), End: number(), Unit: "", CitedText: word(), AnswerStart: number(),
					SourceType: word(), Confidence: share(), TokenContribution: number(),
				}
				if rng.IntN(3) == 0 {
					c.Doc, c.DocNull = "", true
				}
				if rng.IntN(2) == 0 {
					c.Page = ibid.Some(rng.Int64N(1000))
				}
				r.Citations = append(r.Citations, c)
			}
		}
		if k, has := length(); has {
			r.HasTruth = true
			for range k {
				r.Truth = append(r.Truth, ibid.Mark{Annotator: word(), Doc: word(), Start: number(), End: number()})
			}
		}
		if k, has := length(); has {
			r.HasDocuments = true
			for range k {
				d := ibid.Document{Doc: word(), Text: word(), HasText: true}
				if rng.IntN(3) > 0 {
					d.HasPages, d.Pages = true, words()
				}
				r.Documents = append(r.Documents, d)
			}
		}
		if k, has := length(); has && k > 0 {
			r.Tags = []ibid.Tag{{Key: "lang", Value: "de"}, {Key: "topic", Value: word()}}[:min(k, 2)]
		}
	}
	return rows
}

// place fills in what a reader adds.
func place(rows []ibid.Answer, path string) []ibid.Answer {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Pos, rows[i].FileRow, rows[i].File = int64(i), int64(i), path
	}
	return rows
}

// Every way in which parquet-go can write the same rows reads the same.
func TestReadCodecsAndPages(t *testing.T) {
	rows := randomRows(1, 500)
	stored := make([]storedRow, len(rows))
	for i := range rows {
		var err error
		if stored[i], err = storeRow(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	codecs := map[string]compress.Codec{
		"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "brotli": &parquet.Brotli, "zstd": &parquet.Zstd, "lz4_raw": &parquet.Lz4Raw,
	}
	for name, codec := range codecs {
		for _, version := range []int{1, 2} {
			for _, pageBytes := range []int{60, 1 << 20} {
				t.Run(fmt.Sprintf("%s/v%d/page=%d", name, version, pageBytes), func(t *testing.T) {
					path := writeFile(t, stored, parquet.Compression(codec), parquet.DataPageVersion(version),
						parquet.PageBufferSize(pageBytes), parquet.MaxRowsPerRowGroup(190))
					if diff := diffRows(readRows(t, open(t, path, ReadOptions{}), 77), place(rows, path)); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

type encodedCitation struct {
	Doc        string   `parquet:"doc,delta"`
	CitedText  *string  `parquet:"cited_text,optional,dict"`
	Start      int64    `parquet:"start,optional,delta"` // 0 is null
	End        *int64   `parquet:"end,optional,dict"`
	Page       int32    `parquet:"page,optional,delta"`
	Confidence *float64 `parquet:"confidence,optional,split"`
	Relevance  *float32 `parquet:"relevance,optional,split"`
	Tokens     *uint32  `parquet:"token_contribution,optional"`
}

type encodedRow struct {
	ID        string            `parquet:"id,delta"`
	Query     string            `parquet:"query,dict"`
	Answer    string            `parquet:"answer"`
	Citations []encodedCitation `parquet:"citations,optional,list"`
	Labels    []struct {
		Value int64 `parquet:"value"`
	} `parquet:"labels,optional,list"`
}

func TestReadEncodings(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	rows := make([]encodedRow, 700)
	for i := range rows {
		rows[i] = encodedRow{ID: fmt.Sprintf("prefix-%06d", i), Query: fmt.Sprint(i % 7), Answer: "x"}
		for range rng.IntN(4) {
			c := encodedCitation{
				Doc: fmt.Sprintf("document-%d", rng.IntN(50)), CitedText: ptr("t"), Start: rng.Int64() - 1<<62, End: ptr(rng.Int64N(9)),
				Page: rng.Int32() - 1<<30, Confidence: ptr(rng.Float64()), Relevance: ptr(rng.Float32()), Tokens: ptr(uint32(1<<31 + i)),
			}
			if rng.IntN(4) == 0 {
				c.Start, c.Page, c.Relevance = 0, 0, nil
			}
			rows[i].Citations = append(rows[i].Citations, c)
			rows[i].Labels = append(rows[i].Labels, struct {
				Value int64 `parquet:"value"`
			}{int64(i)})
		}
	}
	for _, version := range []int{1, 2} {
		path := writeFile(t, rows, parquet.DataPageVersion(version), parquet.PageBufferSize(1000), parquet.Compression(&parquet.Zstd),
			parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.DeltaLengthByteArray))
		got := readRows(t, open(t, path, ReadOptions{}), 64)
		for i := range rows {
			if got[i].ID != rows[i].ID || got[i].Query != rows[i].Query || len(got[i].Citations) != len(rows[i].Citations) {
				t.Fatalf("v%d: row %d is %+v, want %+v", version, i, got[i], rows[i])
			}
			for k, w := range rows[i].Citations {
				want := ibid.Citation{
					Doc: w.Doc, CitedText: "t", Start: ibid.SomeIf(w.Start, w.Start != 0), End: ibid.Some(*w.End),
					Page: ibid.SomeIf(int64(w.Page), w.Page != 0), Confidence: ibid.Some(*w.Confidence), TokenContribution: ibid.Some(int64(*w.Tokens)),
				}
				if w.Relevance != nil {
					want.Relevance = ibid.Some(float64(*w.Relevance))
				}
				if g := got[i].Citations[k]; !reflect.DeepEqual(g, want) {
					t.Fatalf("v%d: row %d, citation %d: %+v, want %+v", version, i, k, g, want)
				}
				if v := got[i].Labels[k].Value; v != ibid.Some(float64(i)) {
					t.Fatalf("v%d: row %d, label %d: %v", version, i, k, v)
				}
			}
		}
	}
}

func TestReadFromAndBatches(t *testing.T) {
	dir := t.TempDir()
	var want []ibid.Answer
	for f, n := range []int{70, 0, 1, 130} {
		rows := randomRows(uint64(f), n)
		path := filepath.Join(dir, fmt.Sprintf("part-%d.parquet", f))
		stored := make([]storedRow, len(rows))
		for i := range rows {
			stored[i], _ = storeRow(&rows[i])
		}
		if err := parquet.WriteFile(path, stored, parquet.MaxRowsPerRowGroup(30), parquet.PageBufferSize(80)); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			rows[i].File, rows[i].FileRow, rows[i].Pos = path, int64(i), int64(len(want))
			want = append(want, rows[i])
		}
	}
	for _, name := range []string{".hidden.parquet", "_metadata.parquet", "note.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{dir, filepath.Join(dir, "part-*.parquet")} {
		s := open(t, pattern, ReadOptions{})
		if s.Rows() != 201 || len(s.Files()) != 4 {
			t.Fatalf("%s: %d rows in %d files", pattern, s.Rows(), len(s.Files()))
		}
		for _, from := range []int64{0, 1, 29, 30, 69, 70, 71, 75, 200, 201, 500} {
			for _, size := range []int{1, 40, 1000} {
				var got []ibid.Answer
				err := s.Read(t.Context(), from, size, func(b *Batch) error {
					if b.Pos() != from+int64(len(got)) {
						t.Errorf("batch at %d, want %d", b.Pos(), from+int64(len(got)))
					}
					for i := range b.Len() {
						var r ibid.Answer
						b.Row(i, &r)
						got = append(got, r)
					}
					if b.Len() != size && from+int64(len(got)) != 201 {
						t.Errorf("from %d: a batch of %d rows instead of %d", from, b.Len(), size)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if diff := diffRows(got, want[min(from, 201):]); diff != "" {
					t.Fatalf("from %d in %d (-want +got):\n%s", from, size, diff)
				}
			}
		}
		readsRows(t, s, want)
	}
}

// readsRows reads rows at random positions.
func readsRows(t *testing.T, s *Source, want []ibid.Answer) {
	t.Helper()
	random := rand.New(rand.NewPCG(9, 9))
	for share := 1; share <= 100; share *= 3 {
		var positions []int64
		var chosen []ibid.Answer
		for i := range want {
			if random.IntN(share) == 0 {
				positions, chosen = append(positions, int64(i)), append(chosen, want[i])
			}
		}
		k := 0
		err := s.ReadRows(t.Context(), positions, func(b *Batch, i int) error {
			var r ibid.Answer
			b.Row(i, &r)
			if diff := diffRows([]ibid.Answer{r}, chosen[k:k+1]); diff != "" {
				t.Fatalf("row %d (-want +got):\n%s", positions[k], diff)
			}
			k++
			return nil
		})
		if err != nil || k != len(positions) {
			t.Fatalf("%d of %d rows: %v", k, len(positions), err)
		}
	}
	for _, positions := range [][]int64{{3, 2}, {3, 3}, {-1}, {int64(len(want))}} {
		if err := s.ReadRows(t.Context(), positions, func(*Batch, int) error { return nil }); err == nil {
			t.Errorf("rows %d: no error", positions)
		}
	}
}

func TestReleasedBatchesAreReused(t *testing.T) {
	rows := randomRows(3, 300)
	path := writeRows(t, rows)
	want := place(rows, path)
	seen := map[*Batch]bool{}
	var r ibid.Answer
	err := open(t, path, ReadOptions{}).Read(t.Context(), 0, 20, func(b *Batch) error {
		seen[b] = true
		for i := range b.Len() {
			b.Row(i, &r)
			if diff := diffRows([]ibid.Answer{r}, want[:1]); diff != "" {
				t.Fatalf("row %d (-want +got):\n%s", r.Pos, diff)
			}
			want = want[1:]
		}
		b.Release()
		return nil
	})
	if err != nil || len(want) != 0 || len(seen) != 1 {
		t.Errorf("%v, %d rows missing, %d batches", err, len(want), len(seen))
	}
}

// Batches are handed over while the next ones are decoded.
func TestBatchesCrossGoroutines(t *testing.T) {
	rows := randomRows(8, 600)
	path := writeRows(t, rows)
	want := place(rows, path)
	batches := make(chan *Batch)
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			var r ibid.Answer
			for b := range batches {
				for i := range b.Len() {
					b.Row(i, &r)
					if diff := diffRows([]ibid.Answer{r}, want[r.Pos:r.Pos+1]); diff != "" {
						t.Errorf("row %d (-want +got):\n%s", r.Pos, diff)
					}
				}
				b.Release()
			}
		})
	}
	err := open(t, path, ReadOptions{}).Read(t.Context(), 0, 7, func(b *Batch) error {
		batches <- b
		return nil
	})
	close(batches)
	workers.Wait()
	if err != nil {
		t.Error(err)
	}
}

func TestWant(t *testing.T) {
	rows := everyRow()
	path := writeRows(t, rows)
	for _, tt := range []struct {
		name string
		want Want
		keep func(r *ibid.Answer)
	}{
		{"keys", WantKeys, func(r *ibid.Answer) {
			r.HasCitations, r.Citations, r.HasTruth, r.Truth, r.HasClaims, r.Claims = false, nil, false, nil, false, nil
			r.HasLabels, r.Labels, r.HasDocuments, r.Documents, r.HasMessages, r.Messages, r.Tags = false, nil, false, nil, false, nil, nil
			r.Query, r.Answer, r.QueryNull, r.AnswerNull = "", "", true, true
		}},
		{"quotes", WantQuotes, func(r *ibid.Answer) {
			*r = ibid.Answer{IDNull: true, QueryNull: true, AnswerNull: true, System: "default", HasCitations: r.HasCitations, Citations: r.Citations, HasTruth: r.HasTruth, Truth: r.Truth}
			for i := range r.Truth {
				r.Truth[i] = ibid.Mark{DocNull: true, CitedText: r.Truth[i].CitedText}
			}
			for i := range r.Citations {
				r.Citations[i] = ibid.Citation{DocNull: true, CitedText: r.Citations[i].CitedText}
			}
		}},
		{"labels, tags", WantLabels | WantTags, func(r *ibid.Answer) {
			*r = ibid.Answer{IDNull: true, QueryNull: true, AnswerNull: true, System: "default", HasLabels: r.HasLabels, Labels: r.Labels, Tags: r.Tags}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := everyRow()
			for i := range want {
				tt.keep(&want[i])
			}
			if diff := diffRows(readRows(t, open(t, path, ReadOptions{Want: tt.want}), 2), place(want, path)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadValues(t *testing.T) {
	type label struct {
		Value float64 `parquet:"value"`
		Kind  []byte  `parquet:"kind"`
	}
	type document struct {
		Doc   string   `parquet:"doc"`
		Pages []string `parquet:"pages,list"`
	}
	type row struct {
		layoutKeys
		System    string     `parquet:"system,dict"`
		Labels    []label    `parquet:"labels,list"`
		Documents []document `parquet:"documents,list"`
		Citations []struct {
			Tokens uint64 `parquet:"token_contribution"`
		} `parquet:"citations,list"`
	}
	rows := make([]row, 7)
	for i := range rows {
		rows[i].layoutKeys = keys(i)
		rows[i].Labels = []label{{1, []byte("support")}, {math.NaN(), []byte("support")}}
	}
	rows[1].Labels[1].Value = math.Inf(1)
	rows[2].Labels[1].Kind = []byte{'a', 0xff}
	rows[3].Documents = []document{{"d", nil}, {"e", []string{"x", "\xff"}}}
	rows[4].Citations = append(rows[4].Citations, struct {
		Tokens uint64 `parquet:"token_contribution"`
	}{1 << 63})
	rows[5].System = "\xc3"
	rows[6].Answer = "\xed\xa0\x80"
	want := []string{
		"<nil>", "labels.value: element 1: infinite number", "labels.kind: element 1: text is not UTF-8",
		"documents.pages: element 1: text is not UTF-8", "citations.token_contribution: element 0: integer out of range",
		"system: text is not UTF-8", "answer: text is not UTF-8",
	}
	for _, size := range []int{1, 2, 100} {
		for i, r := range readRows(t, open(t, writeFile(t, rows), ReadOptions{}), size) {
			if got := fmt.Sprint(r.Err); got != want[i] {
				t.Errorf("row %d: %s, want %s", i, got, want[i])
			}
			if i != 1 && r.Labels[1].Value.Known() {
				t.Errorf("row %d: NaN reads as a value", i)
			}
		}
	}
}

// A role that is none is an error of its row, and of no other.
func TestBadRole(t *testing.T) {
	good, bad := "marker", "span"
	id, text := "1", "A."
	row := func(role *string) storedRow {
		return storedRow{ID: &id, Query: &text, Answer: &text, Citations: []storedCitation{{Doc: &id}, {Doc: &id, AnswerRole: role}}}
	}
	path := writeFile(t, []storedRow{row(&good), row(&bad), row(nil)})
	rows := readRows(t, open(t, path, ReadOptions{}), 10)
	if rows[0].Err != nil || rows[0].Citations[1].AnswerRole != ibid.Marker || rows[2].Err != nil {
		t.Errorf("errors %v and %v, role %v", rows[0].Err, rows[2].Err, rows[0].Citations[1].AnswerRole)
	}
	if err := rows[1].Err; err == nil || err.Error() != `citations[1]: answer_role "span": neither segment nor marker` {
		t.Errorf("error %v", err)
	}
}
