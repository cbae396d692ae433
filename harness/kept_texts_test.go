package harness_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"ibid"
	"ibid/dataset/disk"
	"ibid/dataset/runs"
	"ibid/harness"
)

// withLongAndOwn is a study in which one document is long, mostly of white space, which is
// soon judged, another has pages, and some rows bring documents along that have the name of
// each other's.
func withLongAndOwn() *study {
	s := judged()
	text := s.documents[2].Text
	s.documents[2].Text = text + strings.Repeat(" ", 600_000-len(text)) + text + strings.Repeat(" ", 1<<19)
	s.documents[3] = ibid.Document{Doc: s.documents[3].Doc, HasPages: true, Pages: []string{s.documents[3].Text[:400], s.documents[3].Text[400:]}}
	for i, r := range s.rows {
		if c := &r.Citations[0]; i%5 == 0 && c.Doc == s.documents[2].Doc {
			c.Start.Value, c.End.Value = c.Start.Value+600_000, c.End.Value+600_000
		}
		if i%3 == 0 {
			r.HasDocuments, r.Documents = true, []ibid.Document{{Doc: "own", HasText: true, Text: fmt.Sprintf("The text of row %d. And more.", i/6)}}
			r.Citations = append(r.Citations, ibid.Citation{Doc: "own", Start: ibid.Some[int64](0), End: ibid.Some[int64](18), CitationID: "own", ClaimID: "k"})
		}
	}
	return s
}

// TestKeptTextsAreAFunctionOfData: what a run keeps of its data has the same bytes with any
// number of workers, in ranges that are joined, and in a run that failed and was begun anew;
// from it, when the documents are gone, the run is scored as from them.
func TestKeptTextsAreAFunctionOfData(t *testing.T) {
	rows, documents := withLongAndOwn().files(t)
	settings := []string{"dataset=" + rows, "documents=" + documents, "judge=lexical", "rows_per_part=8"}
	kept := append(slices.Clone(allTables), runs.TextsFile, runs.AnswersFile)
	whole := done(t, harness.Job{Source: rows, Workers: 1}, append(settings, "out="+t.TempDir(), "id=run")...)
	for _, workers := range []int{2, 8} {
		sameTables(t, whole, done(t, harness.Job{Source: rows, Workers: workers}, append(settings, "out="+t.TempDir(), "id=run")...), kept...)
	}
	joined, err := join(t, rangesOf(t, settings, 0, 8, 40)...)
	if err != nil {
		t.Fatal(err)
	}
	sameTables(t, whole, joined, kept...)

	// A write of texts fails; the next process begins anew.
	out, failures := t.TempDir(), 0
	for at := 0; ; at += 1 + at/2 {
		w := &failingWrites{}
		w.left.Store(int64(at))
		stop := disk.Watched(w)
		p, err := plan(t, harness.Job{Source: rows, Workers: 2}, append(settings, "out="+out, fmt.Sprint("id=run-", at))...)
		if err == nil {
			_, err = p.Run(t.Context())
		}
		stop()
		if err == nil {
			break
		}
		if failures++; !errors.Is(err, syscall.EIO) {
			t.Fatalf("write %d fails: %v", at, err)
		}
		sameTables(t, whole, done(t, harness.Job{Source: rows, Workers: 2}, append(settings, "out="+out, fmt.Sprint("id=run-", at))...), kept...)
	}
	if failures < 4 {
		t.Errorf("%d runs were stopped", failures)
	}

	texts, err := runs.Texts.Read(whole)
	if err != nil {
		t.Fatal(err)
	}
	own, pieces := 0, 0
	for _, text := range texts {
		if text.Doc == "own" {
			own += len(text.Rows)
		}
		if text.At > 0 {
			pieces++
		}
	}
	if own != 20 || pieces == 0 {
		t.Errorf("%d rows bring documents along, want 20; %d pieces", own, pieces)
	}

	m, err := runs.ReadManifest(whole)
	if err != nil {
		t.Fatal(err)
	}
	again := func(id string) string {
		config, err := harness.SettingsOf(m, []string{"out=" + t.TempDir(), "thresholds.supported=0.4"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := (&harness.Job{Config: config, Source: m.Source, ID: id, SameDataAs: m, SameDataIn: whole}).Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		result, err := p.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return result.Dir
	}
	there := again("there")
	if err := os.Rename(documents, documents+".away"); err != nil {
		t.Fatal(err)
	}
	sameTables(t, there, again("gone"), kept...)

	// Without the dataset rows are those of the results, with their texts.
	type detail struct {
		row   ibid.Answer
		texts []string // of its citations
		kept  error
	}
	read := func() (d detail) {
		texts, err := harness.OpenTexts(t.Context(), whole, m)
		if err != nil {
			t.Fatal(err)
		}
		d.kept = texts.Kept
		err = texts.Each(t.Context(), nil, []int64{3}, func(row *ibid.Answer, text func(string, int32) (string, bool)) error {
			d.row = *row
			for i := range row.Citations {
				at := &row.Citations[i].Place
				found, _ := text(at.Doc, at.Page)
				d.texts = append(d.texts, found)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	want := read()
	if err := os.Rename(rows, rows+".away"); err != nil {
		t.Fatal(err)
	}
	got := read()
	if got.kept == nil || got.row.Answer != want.row.Answer || got.row.Query != want.row.Query || len(got.row.Citations) != len(want.row.Citations) || len(got.row.Truth) != 0 {
		t.Errorf("got %+v, want the row %+v", got, want.row)
	}
	for i := range want.row.Citations {
		a, b := &got.row.Citations[i].Place, &want.row.Citations[i].Place
		if a.Doc != b.Doc || a.Start != b.Start || a.End != b.End || got.texts[i] != want.texts[i] {
			t.Errorf("citation %d stands at %+v, want %+v", i, a, b)
		}
	}
}

// failingWrites lets one write into a nameless file fail; workers write at the same time.
type failingWrites struct{ left atomic.Int64 }

func (f *failingWrites) Before(op disk.Op) (int, error) {
	if op.Act != disk.ActWrite || !strings.HasPrefix(filepath.Base(op.Path), ".ibid-") {
		return 0, nil
	}
	if f.left.Add(-1) == -1 {
		return 0, syscall.EIO
	}
	return 0, nil
}

func (f *failingWrites) Done(disk.Op) {}
