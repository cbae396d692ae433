// Package round is a round of annotation: a folder with the items that people are asked
// about, a key that says which item is which, and one file for each person. Nothing else is
// opened, so that the folder may be moved and sent.
//
// Offsets are code points of a document, the end exclusive.
package round

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid"
	"ibid/dataset/runs"
)

// Files of a round. Those of people are called NAME.jsonl.
const (
	ItemsFile = "items.jsonl"
	KeyFile   = "key.json"
)

const (
	itemsSchema = "ibid.items/v1"
	keySchema   = "ibid.key/v1"
	marksSchema = "ibid.marks/v1"
)

// What an item asks for.
const (
	Truth  = "truth"  // the places that answer a question; one item for all systems
	Labels = "labels" // whether each claim of one answer is supported by what it cites
	Both   = "both"   // of a round: items of truth, then items of labels for the same questions
)

// Purposes are those that a round can have.
var Purposes = []string{Truth, Labels, Both}

// A Header is the first line of the items.
type Header struct {
	Schema       string   `json:"schema"`
	Round        string   `json:"round"` // 16 hex digits of the SHA-256 of the lines behind the first
	Purpose      string   `json:"purpose"`
	Annotators   []string `json:"annotators,omitempty"` // who may annotate; empty: anybody who is not taken
	Taken        []string `json:"taken,omitempty"`      // annotators that the data have
	Instructions string   `json:"instructions,omitempty"`
}

// An Item is what a person is asked about.
type Item struct {
	ID        string   `json:"id"`
	Purpose   string   `json:"purpose"` // [Truth] or [Labels]
	Query     string   `json:"query"`
	Answer    string   `json:"answer,omitempty"`
	Claims    []Claim  `json:"claims,omitempty"`
	Citations []Place  `json:"citations,omitempty"`
	Documents []string `json:"documents,omitempty"`
	Truth     []Mark   `json:"truth"`  // null; filled in by who fills in a copy
	Labels    []Label  `json:"labels"` // questions; values are null but in a copy that is filled in
	For       []string `json:"for,omitempty"`
	Proposals []Mark   `json:"proposals,omitempty"` // what a judge found, where that is shown

	texts []string // of Documents
}

// A Claim is a claim to be judged.
type Claim struct {
	ID    string `json:"claim_id"`
	Text  string `json:"text,omitempty"`
	Start *int64 `json:"start,omitempty"` // where it stands in the answer; nil if that is not known
	End   *int64 `json:"end,omitempty"`
}

// A Place is a citation to be judged.
type Place struct {
	CitationID string `json:"citation_id,omitempty"`
	ClaimID    string `json:"claim_id,omitempty"`
	Doc        string `json:"doc"`
	Start      *int64 `json:"start,omitempty"`
	End        *int64 `json:"end,omitempty"`
	Text       string `json:"cited_text,omitempty"`
}

// A Mark is a stretch of a document.
type Mark struct {
	Doc   string `json:"doc"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	Text  string `json:"cited_text,omitempty"` // what stands there, "" if that is not said
}

// UnmarshalJSON refuses a mark without its ends.
func (m *Mark) UnmarshalJSON(data []byte) error {
	var in struct {
		Doc   string `json:"doc"`
		Start *int64 `json:"start"`
		End   *int64 `json:"end"`
		Text  string `json:"cited_text"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.Doc == "" || in.Start == nil || in.End == nil {
		return errors.New("a mark needs doc, start and end")
	}
	*m = Mark{in.Doc, *in.Start, *in.End, in.Text}
	return nil
}

// A Label is a question about an answer; Value is nil as long as it is open.
type Label struct {
	ClaimID    string   `json:"claim_id,omitempty"`
	CitationID string   `json:"citation_id,omitempty"`
	Kind       string   `json:"kind"`
	Value      *float64 `json:"value"`
}

// question is the label without its value.
func (l Label) question() Label {
	l.Value = nil
	return l
}

// A documentLine is a text of the items that follow it.
type documentLine struct {
	Doc  string `json:"doc"`
	Text string `json:"text"`
}

// A Key says which item is which, what the data already have, and how the round was drawn.
type Key struct {
	Schema   string         `json:"schema"`
	Round    string         `json:"round"`
	Items    []KeyItem      `json:"items"`
	Said     []Said         `json:"said,omitempty"` // of a second look
	Dataset  string         `json:"dataset"`        // its name, for people: it is not opened
	Draw     Draw           `json:"draw"`
	Strata   map[string]int `json:"strata"`             // questions that could be drawn
	Judge    string         `json:"judge,omitempty"`    // who proposes
	Foreign  bool           `json:"foreign,omitempty"`  // the data count otherwise than in code points with exclusive ends
	Withheld []Withheld     `json:"withheld,omitempty"` // proposals that are not shown
}

// A KeyItem is the question or the answer that an item is about.
type KeyItem struct {
	Item   string `json:"item"`
	ID     string `json:"id"`
	System string `json:"system,omitempty"` // of an item of labels
}

// Said is what one annotator of the data says of an item.
type Said struct {
	Item      string  `json:"item"`
	Annotator string  `json:"annotator"`
	Truth     []Mark  `json:"truth"` // null: did not look; []: nothing to mark
	Labels    []Label `json:"labels,omitempty"`
}

// Withheld are the proposals of an item that does not show them.
type Withheld struct {
	Item      string `json:"item"`
	Proposals []Mark `json:"proposals"`
}

// A Round is the folder of a round as it was read.
type Round struct {
	Header   Header
	Items    []Item
	Key      *Key // nil if it is not there
	People   []*Person
	Warnings []string

	dir   string
	index map[string]int // of items
}

// Open reads the round in a folder with what people have said so far. What is wrong with
// their files is an error that names file and line.
func Open(dir string) (*Round, error) {
	r := &Round{dir: dir}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, ibid.Usagef("%s is no folder", dir).With("a round is the folder that ibid sample wrote")
	}
	if err := r.readItems(); err != nil {
		return nil, err
	}
	key, err := readKey(filepath.Join(dir, KeyFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return r, r.readPeople()
	case err != nil:
		return nil, err
	case key.Round != r.Header.Round:
		return nil, ibid.Usagef("%s is the key of another round than %s", filepath.Join(dir, KeyFile), ItemsFile)
	}
	r.Key = key
	return r, r.readPeople()
}

// IsRound reports whether a path is the folder of a round.
func IsRound(path string) bool {
	for _, name := range []string{ItemsFile, KeyFile} {
		if info, err := os.Stat(filepath.Join(path, name)); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// readKey reads a key, which ends with its own digest: another key would give labels to other
// answers without a word.
func readKey(path string) (*Key, error) {
	var k Key
	sealed, err := runs.ReadJSON(path, &k)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, err
	case err != nil:
		return nil, &ibid.Error{Usage: true, Err: err}
	case k.Schema != keySchema:
		return nil, ibid.Usagef("%s: no key of a round: schema is %q, not %q", path, k.Schema, keySchema)
	case !sealed:
		return nil, &ibid.Error{Usage: true, Err: runs.Damaged(path, "has lost the digest of itself")}
	}
	return &k, nil
}

// readItems reads the items and their texts.
func (r *Round) readItems() error {
	path := filepath.Join(r.dir, ItemsFile)
	lines, err := readLines(path)
	if errors.Is(err, os.ErrNotExist) {
		return ibid.Usagef("%s has no %s", r.dir, ItemsFile).With("ibid sample writes a round into a folder")
	}
	if err != nil {
		return err
	}
	bad := func(n int, err error) error { return ibid.Usagef("%s: line %d: %w", path, n+1, err) }
	if len(lines) == 0 || json.Unmarshal(lines[0], &r.Header) != nil || r.Header.Schema != itemsSchema {
		return bad(0, fmt.Errorf("no items of a round: schema is %q, not %q", r.Header.Schema, itemsSchema))
	}
	if roundOf(lines[1:]) != r.Header.Round {
		return ibid.Usagef("%s has changed since it was drawn", path).With("fill in a copy: ada.jsonl")
	}
	r.Items, err = parseItems(lines[1:])
	if err != nil {
		return ibid.Usagef("%s: %w", path, err)
	}
	r.index = make(map[string]int, len(r.Items))
	for i := range r.Items {
		if _, twice := r.index[r.Items[i].ID]; twice {
			return ibid.Usagef("%s: %q is there twice", path, r.Items[i].ID)
		}
		r.index[r.Items[i].ID] = i
	}
	return nil
}

// parseItems reads the lines behind the first: texts and items.
func parseItems(lines [][]byte) ([]Item, error) {
	var items []Item
	texts := make(map[string]string)
	for n, line := range lines {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var is struct {
			ID  *string `json:"id"`
			Doc *string `json:"doc"`
		}
		err := json.Unmarshal(line, &is)
		if err == nil && is.ID == nil && is.Doc != nil {
			var d documentLine
			if err = json.Unmarshal(line, &d); err == nil {
				texts[d.Doc] = d.Text
				continue
			}
		}
		var it Item
		if err == nil {
			d := json.NewDecoder(bytes.NewReader(line))
			d.DisallowUnknownFields() // a misspelt member would be lost
			err = d.Decode(&it)
		}
		switch {
		case err != nil:
		case it.ID == "":
			err = errors.New("an item needs an id")
		case it.Purpose != Truth && it.Purpose != Labels:
			err = fmt.Errorf("unknown purpose %q", it.Purpose)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+2, err)
		}
		for _, doc := range it.Documents {
			text, ok := texts[doc]
			if !ok {
				return nil, fmt.Errorf("line %d: no line before it has the text of %q", n+2, doc)
			}
			it.texts = append(it.texts, text)
		}
		items = append(items, it)
	}
	return items, nil
}

// readLines reads the lines of a file; a last one without its end is a line, too.
func readLines(path string) ([][]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return slices.Collect(bytes.Lines(data)), nil
}

// roundOf names a round by its lines behind the first.
func roundOf(lines [][]byte) string {
	sum := sha256.New()
	for _, line := range lines {
		sum.Write(line)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
}

// WriteItems writes items with the header before them, whose round it names. Each text
// stands once, before the first item that names it.
func WriteItems(w io.Writer, h *Header, items []Item) error {
	var body bytes.Buffer
	e := encoder(&body)
	texts := make(map[string]string)
	for i := range items {
		it := &items[i]
		for k, doc := range it.Documents {
			if text, there := texts[doc]; there && text == it.texts[k] {
				continue
			}
			texts[doc] = it.texts[k]
			if err := e.Encode(documentLine{doc, it.texts[k]}); err != nil {
				return err
			}
		}
		if err := e.Encode(it); err != nil {
			return err
		}
	}
	h.Schema, h.Round = itemsSchema, roundOf(slices.Collect(bytes.Lines(body.Bytes())))
	out := bufio.NewWriter(w)
	if err := encoder(out).Encode(h); err != nil {
		return err
	}
	if _, err := out.Write(body.Bytes()); err != nil {
		return err
	}
	return out.Flush()
}

func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// Item is the item of that name, nil if there is none.
func (r *Round) Item(id string) *Item {
	if i, ok := r.index[id]; ok {
		return &r.Items[i]
	}
	return nil
}

// Text is the text of a document of the item; ok is false if it has none of that name.
func (it *Item) Text(doc string) (text string, ok bool) {
	i := slices.Index(it.Documents, doc)
	if i < 0 {
		return "", false
	}
	return it.texts[i], true
}

// AddText adds a document to the item.
func (it *Item) AddText(doc, text string) {
	it.Documents, it.texts = append(it.Documents, doc), append(it.texts, text)
}

// IsFor reports whether an annotator gets the item.
func (it *Item) IsFor(annotator string) bool {
	return it.For == nil || slices.ContainsFunc(it.For, func(name string) bool { return strings.EqualFold(name, annotator) })
}

// checkMark refuses a mark outside its text, and one whose text does not stand there.
func (it *Item) checkMark(m *Mark) error {
	text, ok := it.Text(m.Doc)
	if !ok {
		return fmt.Errorf("%s has no document %q", it.ID, m.Doc)
	}
	if length := int64(utf8.RuneCountInString(text)); m.Start < 0 || m.Start >= m.End || m.End > length {
		return fmt.Errorf("%s: [%d, %d) is no stretch of %q, which has %d characters", it.ID, m.Start, m.End, m.Doc, length)
	}
	if m.Text != "" && cut(text, m.Start, m.End) != m.Text {
		return fmt.Errorf("%s: %.60q does not stand at [%d, %d) of %q", it.ID, m.Text, m.Start, m.End, m.Doc)
	}
	return nil
}

// cut is the text between two places, which it has.
func cut(text string, start, end int64) string {
	from, to, point := len(text), len(text), int64(0)
	for i := range text {
		if point == start {
			from = i
		}
		if point == end {
			to = i
			break
		}
		point++
	}
	return text[from:to]
}

// annotatorName is a name that can be a file's.
var annotatorName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// reserved are names of files that are nobody's.
var reserved = []string{"items", "key", "gold", ibid.Adjudicated}

// CheckName refuses a name that cannot be an annotator's of any round.
func CheckName(name string) error {
	switch {
	case name == "":
		return ibid.Usagef("nobody is named to annotate").With("add --annotator NAME: the name of the file that is written")
	case !annotatorName.MatchString(name), slices.ContainsFunc(reserved, func(r string) bool { return strings.EqualFold(r, name) }):
		return ibid.Usagef("%q cannot be the name of an annotator", name).With("letters, digits, points, dashes and underscores, such as ada; not " + strings.Join(reserved, ", "))
	}
	return nil
}

// CheckAnnotator refuses a name that cannot be an annotator's, or a decider's, of the round.
func (h *Header) CheckAnnotator(name string, decides bool) error {
	same := func(other string) bool { return strings.EqualFold(other, name) }
	switch err := CheckName(name); {
	case err != nil:
		return err
	case slices.ContainsFunc(h.Taken, same):
		return ibid.Usagef("the data have an annotator %q already", name).With("choose another name, such as " + name + "-2")
	case !decides && len(h.Annotators) > 0 && !slices.ContainsFunc(h.Annotators, same):
		return ibid.Usagef("%q is not among the annotators of this round: %s", name, strings.Join(h.Annotators, ", "))
	}
	return nil
}
