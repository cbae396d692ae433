package dataset

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"ibid"
	"ibid/dataset/disk"
	"ibid/metrics/token"
)

func TestLoadDocumentsKeepsWhatIsNeeded(t *testing.T) {
	need := func(name string) bool { return name == "plain" || name == "named" || name == "none" }
	d, err := newDocuments(textMemory, "").addAll(t.Context(), need, documentList(testSource).read)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if len(d.docs) != 2 {
		t.Errorf("%d kept, want 2", len(d.docs))
	}
	for name, want := range map[string]bool{"plain": true, "named": true, "none": false, "wide": false} {
		if d.Has(name) != want {
			t.Errorf("Has(%q) = %v", name, !want)
		}
	}
	if got, want := d.texts.size, int64(len(plainDoc.Text)); got != want {
		t.Errorf("%d bytes kept, want %d", got, want)
	}
}

func TestLoadDocumentsOfOneName(t *testing.T) {
	tests := []struct {
		name string
		docs documentList
		want string
	}{
		{"equal", documentList{plainDoc, pagedDoc, apartDoc, plainDoc, pagedDoc, apartDoc}, ""},
		{
			"other text",
			documentList{withText("a", "x"), plainDoc, withText("a", "y")},
			`docs.parquet: row 2: doc: "a" differs from the document of the same name in docs.parquet: row 0`,
		},
		{
			"other pages",
			documentList{withPages("a", "x", "yz"), withPages("a", "xy", "z")},
			`docs.parquet: row 1: doc: "a" differs from the document of the same name in docs.parquet: row 0`,
		},
		{
			"text and no text",
			documentList{withText("a", ""), {Doc: "a"}},
			`docs.parquet: row 1: doc: "a" differs from the document of the same name in docs.parquet: row 0`,
		},
	}
	for _, tt := range tests {
		for _, memory := range []int64{textMemory, 1} { // in memory, and in a file from the start
			t.Run(tt.name+"/memory="+strconv.FormatInt(memory, 10), func(t *testing.T) {
				d, err := tt.docs.load(t, memory, t.TempDir())
				got := ""
				if err != nil {
					got = err.Error()
				} else if err := d.Close(); err != nil {
					t.Error(err)
				}
				if got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
			})
		}
	}
}

func TestLoadDocumentsProblems(t *testing.T) {
	bad := withText("bytes", "a\xff")
	partly := withPages("pages", "good", "")
	partly.Err = errors.New("pages: element 1: not UTF-8")
	d, err := documentList{bad, plainDoc, partly}.load(t, textMemory, "")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	want := []string{
		`docs.parquet: row 0: document "bytes": text is not valid UTF-8`,
		`docs.parquet: row 2: document "pages": pages: element 1: not UTF-8`,
	}
	if !slices.Equal(d.Problems(), want) {
		t.Errorf("Problems() = %q, want %q", d.Problems(), want)
	}
	view := d.View(0)
	for _, name := range []string{"bytes", "pages"} {
		if _, ok, err := textOf(view, name); ok || err != nil || !d.Has(name) {
			t.Errorf("%s: text %v, error %v, known %v; want a document without text", name, ok, err, d.Has(name))
		}
	}
}

func TestLoadDocumentsErrors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no", "such", "folder")
	_, err := documentList{plainDoc}.load(t, 1, missing)
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "document texts: ") {
		t.Errorf("no folder for the file: %v", err)
	}
	stopped := errors.New("stopped")
	_, err = newDocuments(1, "").addAll(t.Context(), nil, func(context.Context, func(string) bool, func(*ibid.Document) error) error { return stopped })
	if !errors.Is(err, stopped) {
		t.Errorf("reader's error: %v", err)
	}
}

// TestLoadDocumentsFromFiles reads what was written, and checks that nothing is
// kept of the reader's memory.
func TestLoadDocumentsFromFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs.parquet")
	w, err := NewDocumentWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	docs := slices.Clone(testSource)
	for i := range 1000 {
		docs = append(docs, withPages("many "+strconv.Itoa(i), "page one of "+strconv.Itoa(i), "page two"))
	}
	for i := range docs {
		if err := w.Write(&docs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	source, err := OpenDocuments(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadDocuments(t.Context(), source, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	got, want := loaded.View(1<<20), loadView(t, docs...)
	for _, doc := range docs {
		i, j := loaded.numbers[doc.Doc], want.docs.numbers[doc.Doc]
		if !loaded.docs[i].equal(&want.docs.docs[j].layout) {
			t.Errorf("%s: bounds %+v, want %+v", doc.Doc, loaded.docs[i].layout, want.docs.docs[j].layout)
		}
		a, aok, err := textOf(got, doc.Doc)
		b, bok, _ := textOf(want, doc.Doc)
		if err != nil || aok != bok || aok && a.String() != b.String() {
			t.Errorf("%s: text %v, %v, %v, want %v", doc.Doc, a, aok, err, b)
		}
	}
}

// TestDocumentTextsLeaveNothingBehind also compares texts kept in memory with
// texts that went to a file after the first ones.
func TestDocumentTextsLeaveNothingBehind(t *testing.T) {
	dir := t.TempDir()
	d, err := documentList(testSource).load(t, 50, dir)
	if err != nil {
		t.Fatal(err)
	}
	file, inMemory := d.View(0), loadView(t, testSource...)
	for _, doc := range testSource {
		got, ok, err := textOf(file, doc.Doc)
		want, wantOK, _ := textOf(inMemory, doc.Doc)
		if err != nil || ok != wantOK || ok && got.String() != want.String() {
			t.Errorf("text of %s from the file: %v, %v, %v, want %v", doc.Doc, got, ok, err, want)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	r := NewResolver(d.View(0), Conventions{Checks: allChecks})
	r.Resolve(&ibid.Answer{Citations: []ibid.Citation{ibid.Citation(at("wide", 0, 1).quoting("用"))}})
	if !errors.Is(r.Err(), os.ErrClosed) {
		t.Errorf("reading a text that is gone: %v, want %v", r.Err(), os.ErrClosed)
	}
}

// faultAt lets operation number at fail.
type faultAt struct{ at, count int }

func (f *faultAt) Before(op disk.Op) (int, error) {
	f.count++
	if f.count-1 == f.at {
		return op.Bytes / 2, syscall.EIO
	}
	return 0, nil
}

func (f *faultAt) Done(disk.Op) {}

// TestDocumentTextsOnABadDisk: where any operation on the file of texts fails, that is said,
// and no text is another one.
func TestDocumentTextsOnABadDisk(t *testing.T) {
	inMemory := loadView(t, testSource...)
	load := func(w disk.Watch) (said error) {
		defer disk.Watched(w)()
		d, err := documentList(testSource).load(t, 50, t.TempDir())
		if err != nil {
			return err
		}
		for _, doc := range testSource {
			got, ok, err := textOf(d.View(0), doc.Doc)
			want, wantOK, _ := textOf(inMemory, doc.Doc)
			if said = errors.Join(said, err); err == nil && (ok != wantOK || ok && got.String() != want.String()) {
				t.Errorf("%s: %v, want %v", doc.Doc, got, want)
			}
		}
		return errors.Join(said, d.Close())
	}
	all := &faultAt{at: -1}
	if err := load(all); err != nil || all.count < 10 {
		t.Fatalf("%d operations, %v", all.count, err)
	}
	for at := range all.count {
		if err := load(&faultAt{at: at}); !errors.Is(err, syscall.EIO) {
			t.Errorf("operation %d of %d failed, and was said to be: %v", at, all.count, err)
		}
	}
}

func TestLayOut(t *testing.T) {
	tests := []struct {
		name          string
		doc           ibid.Document
		text          string
		pages, blocks []stretch
		apart         bool
	}{
		{"pages are the text", withPages("", "é", "", "ab"), "éab", []stretch{{0, 1}, {1, 1}, {1, 3}}, nil, false},
		{"blocks are the text", ibid.Document{Blocks: []string{"a", "b"}, HasBlocks: true}, "ab", nil, []stretch{{0, 1}, {1, 2}}, false},
		{
			"pages before blocks",
			ibid.Document{Pages: []string{"a b"}, HasPages: true, Blocks: []string{"a", "b"}, HasBlocks: true},
			"a b",
			[]stretch{{0, 3}},
			[]stretch{{0, 1}, {2, 3}},
			false,
		},
		{
			"joined by form feeds",
			ibid.Document{Text: "é\fb\f\n", HasText: true, Pages: []string{"é", "b"}, HasPages: true},
			"é\fb\f\n",
			[]stretch{{0, 1}, {2, 3}},
			nil, false,
		},
		{
			"page starts with white space",
			ibid.Document{Text: "a\n b", HasText: true, Pages: []string{"a", " b"}, HasPages: true},
			"a\n b",
			[]stretch{{0, 1}, {2, 4}},
			nil, false,
		},
		{
			"not in the text",
			ibid.Document{Text: "a-b", HasText: true, Pages: []string{"a", "b"}, HasPages: true, Blocks: []string{"a", "b"}, HasBlocks: true},
			"a-bab",
			[]stretch{{3, 4}, {4, 5}},
			nil, true,
		},
		{
			"text goes on",
			ibid.Document{Text: "a b", HasText: true, Pages: []string{"a"}, HasPages: true},
			"a ba",
			[]stretch{{3, 4}},
			nil, true,
		},
		{"no pages", ibid.Document{Text: "", HasText: true, HasPages: true}, "", nil, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lay, got, problem := layOut(&tt.doc, math.MaxInt64)
			if problem != "" || !lay.hasText || got != tt.text {
				t.Fatalf("text %q, %v, problem %q, want %q", got, lay.hasText, problem, tt.text)
			}
			if !slices.Equal(lay.pages, tt.pages) || lay.apart != tt.apart || lay.hasPages != tt.doc.HasPages {
				t.Errorf("pages %v, apart %v, known %v, want %v, %v", lay.pages, lay.apart, lay.hasPages, tt.pages, tt.apart)
			}
			if !slices.Equal(lay.blocks, tt.blocks) || lay.hasBlocks != (tt.blocks != nil) {
				t.Errorf("blocks %v, known %v, want %v", lay.blocks, lay.hasBlocks, tt.blocks)
			}
		})
	}
}

func TestViewLetsGoOfTexts(t *testing.T) {
	var docs []ibid.Document
	for i := range 20 {
		docs = append(docs, withText(strconv.Itoa(i), strings.Repeat("word ", 600))) // 3,000 bytes, 600 tokens
	}
	view := loadView(t, docs...)
	view.limit = 30_000
	r := NewResolver(view, Conventions{})
	r.Resolve(&ibid.Answer{})
	tokens := func(doc string) (x token.Index, ok bool) {
		t.Helper()
		ok = r.Tokens(&x, doc, 0, 0, 3000)
		return x, ok
	}
	for range 3 {
		for _, doc := range docs {
			x, ok := tokens(doc.Doc)
			if !ok || x.Len() != 600 {
				t.Fatalf("Tokens(%q) = %v, %v", doc.Doc, x, ok)
			}
			if view.used > view.limit || view.used < 0 {
				t.Fatalf("%d bytes in use, limit %d", view.used, view.limit)
			}
		}
	}
	if n := view.recent.Len(); n != len(view.opened) || n != 3 { // 7,800 bytes each
		t.Errorf("%d texts kept under %d names, want 3", n, len(view.opened))
	}
	view.limit = 0
	if _, ok := tokens("3"); !ok || view.recent.Len() != 1 {
		t.Errorf("with no memory at all %d texts are kept, want the one in use", view.recent.Len())
	}
}

func TestViewsWorkSideBySide(t *testing.T) {
	d, err := documentList(testSource).load(t, 1, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			r := NewResolver(d.View(0), Conventions{Checks: allChecks})
			row := ibid.Answer{Citations: []ibid.Citation{ibid.Citation(at("plain", 4, 9).quoting("grass")), ibid.Citation(at("wide", 0, 1).quoting("用"))}}
			for range 200 {
				r.Resolve(&row)
				if a, b := describeCitation(&row.Citations[0]), describeCitation(&row.Citations[1]); a != "ok key 0 [4,9) held" || b != "quote_repaired key 0 [6,7) given [0,1)" {
					t.Errorf("got %s and %s", a, b)
					return
				}
			}
		})
	}
	workers.Wait()
}

func BenchmarkLoadDocuments(b *testing.B) {
	var docs documentList
	for i := range 1000 {
		docs = append(docs, withText(strconv.Itoa(i), strings.Repeat("The quick brown fox jumped, naïvely. ", 80)))
	}
	for _, memory := range []int64{textMemory, 1} {
		b.Run("memory="+strconv.FormatInt(memory, 10), func(b *testing.B) {
			b.SetBytes(int64(len(docs) * len(docs[0].Text)))
			b.ReportAllocs()
			for b.Loop() {
				d, err := docs.load(b, memory, b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				if err := d.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
