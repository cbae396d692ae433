package annotations

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/dataset"
)

// writeRows writes a dataset whose offsets have the base that is given.
func writeRows(t *testing.T, base string, rows ...ibid.Answer) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "said.parquet")
	w, err := dataset.NewWriter(path, base)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if err := w.Write(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func at(n int64) ibid.Integer { return ibid.Some(n) }

var blindKey = &Key{Items: []KeyItem{{Blind: "item-0001", ID: "q7", Row: 7}, {Blind: "item-0002", ID: "q3", Row: 3}, {Blind: "item-0003", ID: "q5", Row: 5}}}

// TestReadFilledDataset reads what several people said of a sample: who did not see an
// item is not there, and who marked nothing has an empty list.
func TestReadFilledDataset(t *testing.T) {
	one := ibid.Some[float64](1)
	path := writeRows(t, "document",
		ibid.Answer{
			ID: "item-0001", HasTruth: true, Truth: []ibid.Mark{
				{Annotator: "cyd", Doc: "d", Start: at(2), End: at(5)}, {Annotator: "dan", DocNull: true}, {Annotator: "cyd", Doc: "e", Start: at(0), End: at(1)},
			},
			HasLabels: true, Labels: []ibid.Label{{Annotator: "dan", ClaimID: "c", CitationID: "s", Kind: "support", Value: one}, {Annotator: "eve", Kind: "factual", ClaimID: "c"}},
		},
		ibid.Answer{ID: "item-0002", HasLabels: true, Labels: []ibid.Label{{Annotator: "cyd", ClaimID: "c", Kind: "support", Value: one}}},
		ibid.Answer{ID: "item-0003"},
	)
	got, err := ReadFilled(t.Context(), []string{path}, blindKey)
	if err != nil {
		t.Fatal(err)
	}
	start, end, zero, first, value := int64(2), int64(5), int64(0), int64(1), 1.0
	want := map[int64][]BlindItem{
		7: {
			{Annotator: "blind:cyd", ID: "item-0001", Truth: []BlindPlace{{Doc: "d", Start: &start, End: &end}, {Doc: "e", Start: &zero, End: &first}}},
			{Annotator: "blind:dan", ID: "item-0001", Truth: []BlindPlace{}, Labels: []BlindLabel{{ClaimID: "c", CitationID: "s", Kind: "support", Value: &value}}},
		},
		3: {{Annotator: "blind:cyd", ID: "item-0002", Labels: []BlindLabel{{ClaimID: "c", Kind: "support", Value: &value}}}},
	}
	if diff := cmp.Diff(want, got.Said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}

	alone := writeRows(t, "document", ibid.Answer{ID: "item-0002", HasTruth: true, Truth: []ibid.Mark{{Annotator: "cyd", DocNull: true}}})
	got, err = ReadFilled(t.Context(), []string{alone}, blindKey)
	if err != nil || len(got.Said) != 1 || got.Said[3][0].Annotator != BlindAnnotator || got.Said[3][0].Truth == nil {
		t.Errorf("one annotator: %+v, %v", got, err)
	}
}

func TestReadFilledDatasetRefuses(t *testing.T) {
	marked := func(id string, m ibid.Mark) ibid.Answer {
		m.Annotator = "cyd"
		return ibid.Answer{ID: id, HasTruth: true, Truth: []ibid.Mark{m}}
	}
	for _, tt := range []struct {
		name, base, want string
		rows             []ibid.Answer
	}{
		{"another item", "document", `row 0: "q7" is no item of the sample`, []ibid.Answer{{ID: "q7"}}},
		{"twice", "document", `row 1: "item-0002" is there twice`, []ibid.Answer{marked("item-0002", ibid.Mark{DocNull: true}), {ID: "item-0002", System: "s"}}},
		{"UTF-16", "document", `row 0: a mark of "cyd" has no offsets in code points`, []ibid.Answer{marked("item-0002", ibid.Mark{Doc: "d", Unit: "utf16", Start: at(0), End: at(1)})}},
		{"no offsets", "document", `row 0: a mark of "cyd" has no offsets in code points`, []ibid.Answer{marked("item-0002", ibid.Mark{Doc: "d"})}},
		{"offsets in pages", "page", "offsets must be code points of the document, the end exclusive", []ibid.Answer{{ID: "item-0002"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadFilled(t.Context(), []string{writeRows(t, tt.base, tt.rows...)}, blindKey)
			if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
	if _, err := ReadFilled(t.Context(), []string{filepath.Join(t.TempDir(), "none.parquet")}, blindKey); err == nil {
		t.Error("a file that is not there was read")
	}
}

// TestAsk puts questions with the claim and the places that they are about.
func TestAsk(t *testing.T) {
	lo, hi, far := int64(4), int64(9), int64(900)
	it := BlindItem{
		Claims: []BlindClaim{{ID: "c1", Text: "It cost 84."}, {ID: "c2"}},
		Citations: []BlindPlace{
			{CitationID: "s1", ClaimID: "c1", Doc: "d", Start: &lo, End: &hi, Text: "as the system quotes it"},
			{CitationID: "s2", ClaimID: "c1", Doc: "d", Start: &lo, End: &far, Text: "out of the text"},
			{CitationID: "s3", ClaimID: "c2", Doc: "unknown", Text: "no text"},
		},
		Documents: []BlindDocument{{Doc: "d", Text: "abc 𠮷éxyz."}},
	}
	for _, tt := range []struct {
		q    BlindLabel
		want string
	}{
		{BlindLabel{Kind: "support", ClaimID: "c1"}, "How far is this supported by the place that it cites?\nClaim: It cost 84.\nCited: 𠮷éxyz (d)\nCited: out of the text (d)"},
		{BlindLabel{Kind: "support", ClaimID: "c1", CitationID: "s2"}, "How far is this supported by the place that it cites?\nClaim: It cost 84.\nCited: out of the text (d)"},
		{BlindLabel{Kind: "relevant", CitationID: "s3"}, "Is the cited place about what is claimed at all?\nCited: no text (unknown)"},
		{BlindLabel{Kind: "needs_citation", ClaimID: "c2"}, "Should this claim have a citation?\nClaim: c2"},
		{BlindLabel{Kind: "factual", ClaimID: "c9"}, "Is this a claim about facts, and not a courtesy or an opinion?\nClaim: c9"},
	} {
		if got := it.Ask(tt.q); got != tt.want {
			t.Errorf("Ask(%+v) =\n%s\nwant\n%s", tt.q, got, tt.want)
		}
	}
}

func TestReadKeyRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sample.key.json")
	for text, want := range map[string]string{`{"schema":"ibid.other/v1"}`: "no key of a sample", `{`: path} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKey(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestFilledFiles: the template, and what other people filled in; journals of acts and other
// files are not among them.
func TestFilledFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"blind.jsonl", "ada.jsonl", "ben.jsonl", "ada" + ActsSuffix, "notes.txt", "x.jsonl.gz"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	k := &Key{Template: "blind.jsonl"}
	key := filepath.Join(dir, "key.json")
	got, err := k.FilledFiles(key)
	want := []string{k.TemplatePath(key), filepath.Join(dir, "ada.jsonl"), filepath.Join(dir, "ben.jsonl")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("files %v, %v, want %v", got, err, want)
	}
	for _, tt := range []struct {
		it   BlindItem
		want bool
	}{{BlindItem{}, false}, {BlindItem{Labels: []BlindLabel{{}}}, false}, {BlindItem{Labels: []BlindLabel{{}, {Value: new(0.0)}}}, true}} {
		if tt.it.Answered() != tt.want {
			t.Errorf("%+v is answered: %v", tt.it, !tt.want)
		}
	}
}
