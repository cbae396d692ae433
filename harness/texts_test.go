package harness_test

import (
	"errors"
	"slices"
	"testing"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
)

// TestTextsAreReadAgain reads the rows of a run in order, with the texts of the
// documents that they name and of those that are asked for besides.
func TestTextsAreReadAgain(t *testing.T) {
	at := func(n int64) ibid.Integer { return ibid.Some(n) }
	rows := []*ibid.Answer{
		{ID: "a", System: "s", Query: "q", Answer: "one", HasCitations: true, Citations: []ibid.Citation{{Doc: "x", Start: at(0), End: at(4)}}},
		{ID: "b", System: "s", Query: "q", Answer: "two", HasTruth: true, Truth: []ibid.Mark{{Doc: "y", Start: at(2), End: at(5)}}},
	}
	m := manifestOf(t, writeRows(t, rows), documentsOf(t, "x", "y", "z", "w"))

	texts, err := harness.OpenTexts(t.Context(), t.TempDir(), m)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = texts.Each(t.Context(), []string{"z"}, []int64{0, 1}, func(row *ibid.Answer, text func(string, int32) (string, bool)) error {
		got = append(got, row.ID+" "+row.Answer)
		for _, name := range []string{"x", "y", "z"} {
			if s, ok := text(name, 0); !ok || s != "text of "+name {
				t.Errorf("row %s: the text of %s is %q, %v", row.ID, name, s, ok)
			}
		}
		if _, ok := text("w", 0); ok {
			t.Error("a document that nobody named is held")
		}
		if row.ID == "a" && (len(row.Citations) != 1 || row.Citations[0].Place.End != 4) {
			t.Errorf("places of a = %+v", row.Citations)
		}
		return nil
	})
	if want := []string{"a one", "b two"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Each gives %q, %v, want %q", got, err, want)
	}

	got = nil
	err = texts.Each(t.Context(), nil, []int64{1}, func(row *ibid.Answer, text func(string, int32) (string, bool)) error {
		got = append(got, row.ID)
		if _, ok := text("x", 0); ok {
			t.Error("a document of a row that nobody wants is held")
		}
		return nil
	})
	if err != nil || !slices.Equal(got, []string{"b"}) {
		t.Errorf("Each of the second row gives %q, %v", got, err)
	}

	stop := errors.New("stop")
	if err := texts.Each(t.Context(), nil, []int64{0}, func(*ibid.Answer, func(string, int32) (string, bool)) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of yield gives %v", err)
	}
	m.Inputs[0].Bytes++
	if _, err := harness.OpenTexts(t.Context(), t.TempDir(), m); err == nil {
		t.Error("another dataset than the run read is taken for it")
	}
}

// documentsOf writes documents whose text says their name.
func documentsOf(t *testing.T, names ...string) string {
	t.Helper()
	var documents []ibid.Document
	for _, name := range names {
		documents = append(documents, ibid.Document{Doc: name, Text: "text of " + name, HasText: true})
	}
	return writeDocuments(t, documents)
}

// manifestOf is what a run over these files says of them.
func manifestOf(t *testing.T, data, docs string) *runs.Manifest {
	t.Helper()
	config, err := configs.Load(configs.Options{Set: []string{"dataset=" + data, "documents=" + docs, "judge=none", "out=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := (&harness.Job{Config: config}).Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out.Manifest
}
