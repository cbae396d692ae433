package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"ibid/configs"
	"ibid/dataset"
)

// tally counts what the rows of the sample have.
func tally(t *testing.T, path string) map[string]int {
	t.Helper()
	source, err := dataset.Open(path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	mark := func(what string, there bool) {
		if there {
			n[what]++
		}
	}
	var row dataset.Row
	err = source.Read(t.Context(), 0, 16, func(b *dataset.Batch) error {
		defer b.Release()
		for i := range b.Len() {
			b.Row(i, &row)
			mark("rows", true)
			mark("no truth", !row.HasTruth)
			mark("no citations", !row.HasCitations)
			mark("citations empty", row.HasCitations && len(row.Citations) == 0)
			mark("claims", len(row.Claims) > 0)
			mark("claims empty", row.HasClaims && len(row.Claims) == 0)
			mark("conversation", len(row.Messages) > 1)
			mark("own documents", len(row.Documents) > 0)
			mark("emoji", strings.ContainsFunc(row.Query+row.Answer, func(r rune) bool { return unicode.Is(unicode.So, r) }))
			for _, tag := range row.Tags {
				mark(tag.Key+" "+tag.Value, tag.Key == "lang")
				mark("topic", tag.Key == "topic")
			}
			for _, m := range row.Messages {
				mark("role "+m.Role, true)
			}
			for _, l := range row.Labels {
				mark("label "+l.Kind, true)
				mark("labels by "+l.Annotator, true)
			}
			for _, x := range row.Truth {
				mark("truth by "+x.Annotator, true)
				mark("marked nothing", x.DocNull)
			}
			for _, c := range row.Citations {
				mark("quote", c.CitedText != "")
				mark("no quote", c.CitedText == "")
				mark("answer position", c.AnswerStart.Valid)
				mark("no answer position", !c.AnswerStart.Valid)
				mark("claim id", c.ClaimID != "")
				mark("unit "+c.Unit, c.Unit != "")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSampleHolds(t *testing.T) {
	dir := t.TempDir()
	if err := writeSampleData(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{sampleAnswers, secondSampleAnswers} {
		n := tally(t, filepath.Join(dir, name))
		if n["rows"] != 72 || n["topic"] != n["rows"] || n["lang en"]+n["lang de"]+n["lang zh"]+n["lang ar"] != n["rows"] {
			t.Errorf("%s: %v: want 72 rows, each with topic and one of four languages", name, n)
		}
		for _, what := range []string{
			"lang en", "lang de", "lang zh", "lang ar", "emoji", "conversation", "role system", "role tool", "own documents",
			"no truth", "truth by ada", "truth by ben", "marked nothing",
			"no citations", "citations empty", "claims", "claims empty",
			"labels by ada", "labels by ben", "label support", "label relevant", "label needs_citation", "label factual",
			"quote", "no quote", "answer position", "no answer position", "claim id",
		} {
			if n[what] == 0 {
				t.Errorf("%s has no row with: %s", name, what)
			}
		}
	}
	if n := tally(t, filepath.Join(dir, sampleAnswers)); n["unit page"] == 0 || n["unit block"] == 0 {
		t.Errorf("no citation of a page or of a block: %v", n)
	}
	documents, err := dataset.OpenDocuments(filepath.Join(dir, sampleDocuments), dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	err = documents.Read(t.Context(), func(d *dataset.Document) error {
		switch {
		case d.HasText:
			n["text"]++
		case d.HasPages:
			n["pages"]++
		case d.HasBlocks:
			n["blocks"]++
		default:
			n["name only"]++
		}
		if d.Title == "" {
			t.Errorf("%s has no title", d.Doc)
		}
		return nil
	})
	if want := map[string]int{"text": 9, "pages": 1, "blocks": 1, "name only": 1}; err != nil || !cmp.Equal(want, n) {
		t.Errorf("documents: %v, %v, want %v", n, err, want)
	}
}

// The two run files differ in nothing but the dataset, and what a user gets is
// small.
func TestSampleFiles(t *testing.T) {
	nights := runSample(t)
	settings := func(name string) map[string]string {
		c, err := configs.Load(configs.Options{File: filepath.Join(nights.dir, name)})
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]string{}
		for _, v := range c.Effective() {
			values[v.Key] = v.Value
		}
		return values
	}
	first, second := settings(sampleRunFile), settings(secondSampleRunFile)
	if first["dataset"] != sampleAnswers || second["dataset"] != secondSampleAnswers {
		t.Errorf("datasets %s and %s", first["dataset"], second["dataset"])
	}
	delete(first, "dataset")
	delete(second, "dataset")
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("settings differ (-%s +%s):\n%s", sampleRunFile, secondSampleRunFile, diff)
	}
	const most = 120 << 10
	if n := size(t, sample); n > most {
		t.Errorf("%d bytes are embedded, want at most %d", n, most)
	}
	written := 0
	for _, name := range sampleFiles {
		info, err := os.Stat(filepath.Join(nights.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		written += int(info.Size())
	}
	if written > most {
		t.Errorf("%d bytes are written, want at most %d", written, most)
	}
}

// size is how many bytes the files of a file system have.
func size(t *testing.T, files fs.FS) int {
	t.Helper()
	n := 0
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		n += int(info.Size())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
