package claims

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// A markCase is a text, what it could cite, and the marks that stand in it.
type markCase struct {
	ID, Text, Rest string
	Sources        []struct{ Doc, Title string }
	First          *int
	Unread         map[string]int
	Citations      []struct {
		Start, End int
		Form       string
		Doc        *string
		Number     *int
		Page       int32
		From, To   *int64
		Quote      string
	}
}

func (c *markCase) check(t *testing.T) {
	first := 1
	if c.First != nil {
		first = *c.First
	}
	var sources []Cited
	for _, s := range c.Sources {
		sources = append(sources, Cited(s))
	}
	got, unread := ReadMarks(c.Text, sources, first)
	var want []Mark
	for _, w := range c.Citations {
		m := Mark{Start: w.Start, End: w.End, Number: -1, Source: -1, Page: w.Page, Quote: w.Quote}
		m.Form = Form(slices.Index(formNames[:], w.Form))
		if w.Doc != nil {
			m.Doc = *w.Doc
			m.Source = slices.IndexFunc(sources, func(s Cited) bool { return s.Doc == m.Doc })
		}
		if w.Number != nil {
			m.Number = *w.Number
		}
		if w.From != nil {
			m.HasSpan, m.From, m.To = true, *w.From, *w.To
		}
		want = append(want, m)
	}
	for i := range got {
		got[i].Listed, got[i].OfTurn, got[i].WordsStart, got[i].WordsEnd = false, false, 0, 0
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q:\ngot  %+v\nwant %+v", c.Text, got, want)
	}
	counts := make(map[string]int)
	for _, u := range unread {
		counts[u.Form]++
	}
	if !maps.Equal(counts, c.Unread) {
		t.Errorf("%q: unread %v, want %v", c.Text, unread, c.Unread)
	}
	if rest := readMarks(c.Text, sources, first).rest(); rest != c.Rest {
		t.Errorf("%q: rest %q, want %q", c.Text, rest, c.Rest)
	}
}

// TestIndex tells marks from indices and from words: behind a name of one letter stands an
// index, behind an abbreviation a mark; a file in parentheses is a mark, and words are none.
func TestIndex(t *testing.T) {
	for text, marks := range map[string]int{
		"Set x[1] to zero.": 0, "Print a.b[1] twice.": 0, "Read list.A[1].": 0, "Print A[1].": 0, "Call f_x[1].": 0,
		"It fell in 1700 (tower.md).": 1, "It fell in 1700 (see the file tower.md).": 0, "It fell in 1700 (tower).": 0, "It fell (tower.md, p. 2).": 1,
		"It is filed under 35 U.S.C[1]. It ends.": 1, "It left the U.S[1].": 1, "It left the U.S.[1]": 1, "It left[1].": 1,
	} {
		if got, unread := ReadMarks(text, []Cited{{Doc: "s"}}, 1); len(got) != marks || len(unread) > 0 {
			t.Errorf("%q: %d marks and %d unread, want %d", text, len(got), len(unread), marks)
		}
	}
}

// TestNumbers reads numbers with words beside them.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"[doc_1]": "1", "[Doc-2]": "2", "[1 and 2]": "1 2", "[1, 2, and 3]": "1 2 3", "[Sources 1, 2, and 3]": "1 2 3", "[1 und 2]": "1 2", "(Sources 1 & 2)": "1 2",
		"[Source: Document 1]": "1", "(see Document 1)": "1", "(see also Sources 1 and 2)": "1 2", "[2, p. 3]": "2:3", "(Document 1, page 3)": "1:3",
		"(see Table 1)": "", "[1 and only]": "", "(1 and 2)": "", "(see 1)": "", "[see 1]": "", "[1 2]": "", "[and 1]": "", "(2, p. 3)": "", "(page 3)": "", "[doc_1_2]": "", "[1 and]": "", "[doc_]": "",
	} {
		marks, unread := ReadMarks("Cats sleep "+text+".", []Cited{{Doc: "a"}, {Doc: "b"}, {Doc: "c"}}, 1)
		var got []string
		for _, m := range marks {
			s := strconv.Itoa(m.Number)
			if m.Page > 0 {
				s += ":" + strconv.Itoa(int(m.Page))
			}
			got = append(got, s)
		}
		if strings.Join(got, " ") != want || len(unread) > 0 {
			t.Errorf("%s: %q and %v unread, want %q", text, got, unread, want)
		}
	}
	marks, _ := ReadMarks("Cats sleep (Smith, 2019, 1204-1210).", []Cited{{Doc: "a", Title: "Smith 2019"}}, 1)
	if len(marks) != 1 || marks[0].Source != 0 {
		t.Errorf("pages behind a year: %+v", marks)
	}
}

// TestMarks reads the marks of own and shared cases.
func TestMarks(t *testing.T) {
	for name, path := range map[string]string{
		"own":    filepath.Join("testdata", "marks.json"),
		"shared": filepath.Join("..", "..", "..", "shared", "vectors", "inputs", "marks.json"),
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) && name == "shared" {
				t.Skipf("%s is missing", path)
			}
			if err != nil {
				t.Fatal(err)
			}
			var cases []markCase
			if err := json.Unmarshal(data, &cases); err != nil {
				t.Fatal(err)
			}
			for i := range cases {
				t.Run(cases[i].ID, cases[i].check)
			}
		})
	}
}

// rest is the text without marks and without the answer's own list: white space within
// a line is one space, and none stands before a stop that a mark stood before.
func (r *reading) rest() string {
	var b strings.Builder
	at, line := 0, 0 // where the line begins in b
	space, cut := false, false
	last := rune(-1)
	write := func(piece string) {
		for _, c := range piece {
			switch {
			case c == '\n':
				b.WriteByte('\n')
				space, line, last = false, b.Len(), -1
			case unicode.IsSpace(c):
				space = true
			default:
				space = space || cut && (isWordRune(last) && isWordRune(c) || last == '*' && c == '*')
				if space && b.Len() > line && !(cut && strings.ContainsRune(".,;:!?。，；：！？、", c)) {
					b.WriteByte(' ')
				}
				space, cut, last = false, false, c
				b.WriteRune(c)
			}
		}
	}
	for _, c := range r.cuts {
		write(r.text[at:c.start])
		at, cut = c.end, true
	}
	write(r.text[at:])
	return strings.TrimRight(b.String(), "\n ")
}

// TestProse: an answer without any mark names its sources in its sentences. The words stay.
func TestProse(t *testing.T) {
	sources := []Cited{{}, {}, {}}
	for _, tt := range []struct {
		text string
		want string // the text of each mark and the number of its source
		miss string
	}{
		{"According to Document 1, it opened in 1931. source 2 says 1932.", "Document 1=0; source 2=1", ""},
		{"Sources 1, 2 and 3 say so, and so does passage 2.", "Sources 1, 2 and 3=0,1,2; passage 2=1", ""},
		{"根据文档1，大桥是红色的。", "文档1=0", ""},
		{"Laut Dokument 2 ist sie rot.", "Dokument 2=1", ""},
		{"Document 4 says so. Document 0 does not.", "", ""},             // no such source
		{"Document 1.5 and document 1st, source 2%, chunk 1-2.", "", ""}, // no number of a source
		{"The documentation 1 is red.", "", ""},                          //
		{"It is red. I could not find the answer in Document 1 or Document 2. See source 3.", "source 3=2", ""},
		{"Document 2 says so [1].", "[1]=0", ""},                                                               // marks are what cites
		{"It opened in 1931 (1). It is red (2).", "", "(1) (2)"},                                               //
		{"It is (1) red, (2) long. See equation (3). Two (2).", "", ""},                                        // counts, and no source
		{"It opened {1}. It is red [S2]. Vitamin [B9]. An a{1}.", "", "{1} [S2] {1}"},                          //
		{"It is red (9).", "", ""},                                                                             //
		{"It is red.\nSources: Document 1, Document 2", "Sources: Document 1, Document 2=0,1", ""},             // what the whole answer cites
		{"<think>Document 2 is about ships.</think>\nAccording to Document 1, it is red.", "Document 1=0", ""}, // reasoning is not the answer
	} {
		marks, unread := ReadMarks(tt.text, sources, 1)
		var got []string
		for i, m := range marks {
			if i > 0 && marks[i-1].Start == m.Start {
				got[len(got)-1] += fmt.Sprintf(",%d", m.Source)
				continue
			}
			got = append(got, fmt.Sprintf("%s=%d", string([]rune(tt.text)[m.Start:m.End]), m.Source))
		}
		var missed []string
		for _, u := range unread {
			missed = append(missed, u.Text)
		}
		if g := strings.Join(got, "; "); g != tt.want || strings.Join(missed, " ") != tt.miss {
			t.Errorf("%q: marks %q, unread %q; want %q, %q", tt.text, g, missed, tt.want, tt.miss)
		}
	}
	named := []Cited{{Doc: "docs/tower.txt"}, {Doc: "a-b_2.pdf"}}
	marks, _ := ReadMarks("As tower.txt says, it is red. a-b_2.pdf. See config.yaml, and e.g. this.", named, 1)
	if len(marks) != 2 || marks[0].Source != 0 || marks[0].Start != 3 || marks[0].End != 12 || marks[1].Source != 1 {
		t.Errorf("names of files: %+v", marks)
	}
	if marks, unread := ReadMarks("According to Document 1, it is red (1).", nil, 1); len(marks)+len(unread) > 0 {
		t.Errorf("without sources: %v, %v", marks, unread)
	}
}
