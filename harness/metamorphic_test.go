package harness_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
)

// A study is a dataset with its documents, to be changed as a whole.
type study struct {
	rows      []*ibid.Answer
	documents []ibid.Document
}

// newStudy draws answers of two systems about documents, marked by two annotators. Some
// citations miss, some are of no document, and some answers have no citation or no mark.
func newStudy() *study {
	rng := rand.New(rand.NewPCG(11, 12))
	words := strings.Fields("water stone fire bridge river tower north light winter summer garden iron glass paper music train")
	s := &study{}
	for d := range 9 {
		var text strings.Builder
		fmt.Fprintf(&text, "A %s stands by the %s. The ", words[(d+3)%16], words[d%7])
		for range 150 {
			text.WriteString(words[rng.IntN(len(words))])
			text.WriteString([]string{" ", " ", " ", ". "}[rng.IntN(4)])
		}
		s.documents = append(s.documents, ibid.Document{Doc: fmt.Sprintf("doc-%d", d), Text: text.String(), HasText: true})
	}
	at := func(n int) ibid.Integer { return ibid.Some(int64(n)) }
	for q := range 30 {
		place := func() (doc string, start, end int) {
			doc, start = fmt.Sprintf("doc-%d", (q+rng.IntN(2)*rng.IntN(3))%9), 50+40*(q%12)+rng.IntN(30)
			return doc, start, start + 20 + rng.IntN(60)
		}
		var marks []ibid.Mark
		for _, who := range []string{"ada", "bob"} {
			for range rng.IntN(3) {
				doc, start, end := place()
				marks = append(marks, ibid.Mark{Annotator: who, Doc: doc, Start: at(start), End: at(end)})
			}
		}
		for _, system := range []string{"a", "b"} {
			r := &ibid.Answer{
				ID: fmt.Sprintf("q-%02d", q), System: system, Query: "what?", Answer: "The " + words[q%16] + " is " + words[(q+5)%16] + ". A " + words[(q+3)%16] + " stands by the " + words[q%7] + ".",
				HasCitations: true, HasTruth: q%6 != 0, Tags: []ibid.Tag{{Key: "lang", Value: []string{"de", "en", "fr"}[q%3]}, {Key: "topic", Value: fmt.Sprint("t", q%15)}},
			}
			if r.HasTruth {
				r.Truth = marks
			}
			for range rng.IntN(4) {
				doc, start, end := place()
				if rng.IntN(12) == 0 {
					doc = "nowhere"
				}
				r.Citations = append(r.Citations, ibid.Citation{Doc: doc, Start: at(start), End: at(end)})
			}
			s.rows = append(s.rows, r)
		}
	}
	return s
}

// places calls f with every citation and mark.
func (s *study) places(f func(doc *string, start, end *ibid.Integer)) {
	for _, r := range s.rows {
		r.Truth = slices.Clone(r.Truth) // systems share them
		for i := range r.Citations {
			f(&r.Citations[i].Doc, &r.Citations[i].Start, &r.Citations[i].End)
		}
		for i := range r.Truth {
			f(&r.Truth[i].Doc, &r.Truth[i].Start, &r.Truth[i].End)
		}
	}
}

// run evaluates the study, its rows in so many files.
func (s *study) run(t *testing.T, files int, settings ...string) string {
	t.Helper()
	rows := t.TempDir()
	per := (len(s.rows) + files - 1) / files
	for i := range files {
		if err := os.Rename(writeRows(t, s.rows[i*per:min((i+1)*per, len(s.rows))]), filepath.Join(rows, fmt.Sprintf("%d.parquet", i))); err != nil {
			t.Fatal(err)
		}
	}
	return evaluate(t, rows, append([]string{"documents=" + writeDocuments(t, s.documents), "judge=lexical", "slices=[lang]", "keep=nothing"}, settings...)...)
}

// keysOf are the columns that name an entry of a table.
var keysOf = map[string][]string{
	runs.RowsFile:      {"id", "system"},
	runs.CitationsFile: {"id", "system", "citation"},
	runs.ClaimsFile:    {"id", "system", "claim"},
	runs.SummaryFile:   {"system", "slice", "metric", "agg"},
}

// A tableCells is a table by the keys of its entries and its columns.
type tableCells map[string]map[string]string

func readCells(t *testing.T, dir, file string) tableCells {
	t.Helper()
	f, err := parquet.OpenResult(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := make(tableCells)
	for _, row := range resultCells(t, filepath.Join(dir, file)) {
		by := make(map[string]string)
		for i, field := range f.Fields() {
			by[field.Name] = row[i]
		}
		var key []string
		for _, name := range keysOf[file] {
			key = append(key, by[name])
		}
		if name := strings.Join(key, "|"); out[name] == nil {
			out[name] = by
		} else {
			t.Fatalf("%s: %s twice", file, name)
		}
	}
	return out
}

// sameCells compares the cells of tables of two runs, but those of columns whose names have
// one of the words but.
func sameCells(t *testing.T, first, second string, but []string, files ...string) {
	t.Helper()
	for _, file := range files {
		a, b := readCells(t, first, file), readCells(t, second, file)
		if len(a) != len(b) || len(a) == 0 {
			t.Fatalf("%s: %d and %d entries", file, len(a), len(b))
		}
		for key, row := range a {
			for name, cell := range row {
				named := func(word string) bool { return strings.Contains(name, word) }
				if b[key][name] != cell && !slices.ContainsFunc(but, named) {
					t.Errorf("%s of %s: %s is %q, and %q in the second run", key, file, name, cell, b[key][name])
				}
			}
		}
	}
}

// A metamorphosis changes a study in a way of which it is known what follows.
type metamorphosis struct {
	name     string
	change   func(s *study)
	files    int
	settings []string
	// follows are the columns that change, with what the value before becomes; a nil
	// function is any other value in some row. All other columns stay as they are.
	follows map[string]map[string]func(before string) string
	twin    string                                          // put behind ids of entries that are there a second time
	except  func(row map[string]string, column string) bool // what may change or not; nil is nothing
}

func plus(n int) func(string) string {
	return func(before string) string {
		v, err := strconv.Atoi(before)
		if err != nil {
			return before // null
		}
		return strconv.Itoa(v + n)
	}
}

func times(n float64) func(string) string {
	return func(before string) string {
		v, err := strconv.ParseFloat(before, 64)
		if err != nil {
			return before // null
		}
		return strconv.FormatFloat(v*n, 'g', -1, 64)
	}
}

// TestMetamorphoses: the order of rows, how they are split into files, the names of
// documents, where their texts begin, how often a row is there and what annotators are called
// change what they should and nothing else.
func TestMetamorphoses(t *testing.T) {
	rename := strings.NewReplacer("doc-0", "x-8", "doc-1", "x-7", "doc-2", "x-6", "doc-3", "x-5", "doc-4", "x-4", "doc-5", "x-3", "doc-6", "x-2", "doc-7", "x-1", "doc-8", "x-0")
	renamed := func(before string) string { return rename.Replace(before) }
	type follows = map[string]map[string]func(string) string
	for _, m := range []metamorphosis{
		{name: "nothing", change: func(*study) {}},
		{
			name: "order of rows", change: func(s *study) {
				rand.New(rand.NewPCG(1, 2)).Shuffle(len(s.rows), func(i, j int) { s.rows[i], s.rows[j] = s.rows[j], s.rows[i] })
			},
			follows: follows{runs.RowsFile: {"row": nil}, runs.CitationsFile: {"row": nil}, runs.ClaimsFile: {"row": nil}},
		},
		{name: "split of files", change: func(*study) {}, files: 4},
		{
			name: "names of documents", change: func(s *study) {
				for i := range s.documents {
					s.documents[i].Doc = renamed(s.documents[i].Doc)
				}
				s.places(func(doc *string, _, _ *ibid.Integer) { *doc = renamed(*doc) })
			},
			follows: follows{
				runs.RowsFile: {"documents": nil, "answer_hash": nil}, runs.CitationsFile: {"doc": renamed}, runs.ClaimsFile: {"elsewhere_doc": renamed},
			},
		},
		{
			name: "begin of texts", change: func(s *study) {
				for i := range s.documents {
					s.documents[i].Text = strings.Repeat(" ", 25) + s.documents[i].Text
				}
				s.places(func(_ *string, start, end *ibid.Integer) { start.Value, end.Value = start.Value+25, end.Value+25 })
			},
			follows: follows{
				runs.RowsFile:      {"answer_hash": nil},
				runs.CitationsFile: {"start": plus(25), "end": plus(25), "quote_start": plus(25), "quote_end": plus(25)},
				runs.ClaimsFile:    {"elsewhere_start": plus(25), "elsewhere_end": plus(25)},
			},
		},
		{
			name: "every row twice", settings: []string{"statistics.cluster=topic"}, twin: "+", change: func(s *study) {
				for _, r := range slices.Clone(s.rows) {
					again := *r
					again.ID += "+"
					s.rows = append(s.rows, &again)
				}
			},
			follows: follows{runs.RowsFile: {"row": nil}, runs.CitationsFile: {"row": nil}, runs.ClaimsFile: {"row": nil}, runs.SummaryFile: {"n": times(2), "undefined": times(2), "reasons": eachNumber(times(2)), "undecided": times(2), "num": times(2), "den": times(2), "unscored": times(2)}},
			// Twice as many rows of a value of the tag tell more about it.
			except: func(_ map[string]string, column string) bool {
				return slices.Contains([]string{"ci_low", "ci_high", "se", "df", "design_effect", "clusters", "given", "method", "warnings"}, column)
			},
		},
		{
			name: "names of annotators", settings: []string{"truth_policy=mean"},
			follows: follows{runs.RowsFile: {"truth_annotator": strings.NewReplacer("ada", "bob", "bob", "ada").Replace}}, change: func(s *study) {
				for _, r := range s.rows {
					r.Truth = slices.Clone(r.Truth)
					for i := range r.Truth {
						r.Truth[i].Annotator = map[string]string{"ada": "bob", "bob": "ada"}[r.Truth[i].Annotator]
					}
				}
			},
		},
	} {
		t.Run(m.name, func(t *testing.T) {
			before, after := newStudy(), newStudy()
			m.change(after)
			first, second := before.run(t, 1, m.settings...), after.run(t, max(1, m.files), m.settings...)
			for file := range keysOf {
				m.compare(t, file, readCells(t, first, file), readCells(t, second, file))
			}
		})
	}
}

// eachNumber changes the numbers of a text.
func eachNumber(change func(string) string) func(string) string {
	return func(text string) string { return regexp.MustCompile(`\d+`).ReplaceAllStringFunc(text, change) }
}

// near reports whether two numbers are one but for the order in which they were added up: that
// of clusters is the order of their names.
func near(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && math.Abs(x-y) <= 1e-12*max(1, math.Abs(x))
}

func (m *metamorphosis) compare(t *testing.T, file string, before, after tableCells) {
	t.Helper()
	if len(before) < 30 {
		t.Fatalf("%s: %d entries", file, len(before))
	}
	entries := 0
	different := make(map[string]string) // an example of each column
	for key, row := range after {
		old := strings.Replace(key, m.twin+"|", "|", 1)
		was := before[old]
		if was == nil {
			t.Fatalf("%s: %s is new", file, key)
		}
		entries++
		for column, value := range row {
			want := was[column]
			follow, known := m.follows[file][column]
			if follow != nil {
				want = follow(want)
			}
			if column == "id" && old != key {
				want += m.twin
			}
			if m.except != nil && m.except(row, column) {
				continue
			}
			if value != want && !near(value, want) {
				different[column] = fmt.Sprintf("%s: %s, was %s", key, value, was[column])
				if known && follow == nil {
					different[column] = ""
				}
			} else if known && follow != nil && value != was[column] {
				different[column] = ""
			}
		}
	}
	if want := len(before); entries != want && (m.twin == "" || entries != 2*want && file != runs.SummaryFile) {
		t.Errorf("%s: %d entries, was %d", file, entries, want)
	}
	for _, column := range slices.Sorted(maps.Keys(different)) {
		if different[column] != "" {
			t.Errorf("%s, %s: %s", file, column, different[column])
		}
	}
	for column := range m.follows[file] {
		if _, changed := different[column]; !changed {
			t.Errorf("%s, %s: nothing changed", file, column)
		}
	}
}
