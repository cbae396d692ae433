package annotations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// KeySchema names the form of a key file.
const KeySchema = "ibid.sample/v1"

// A Key says which items of a dataset stand in a blind sample, under which names.
// It stays with whoever drew the sample until the annotators are done.
type Key struct {
	Schema    string         `json:"schema"`
	Dataset   string         `json:"dataset"` // as the user named it
	Documents string         `json:"documents,omitempty"`
	Truth     string         `json:"truth,omitempty"` // tables that were joined to the dataset
	Labels    string         `json:"labels,omitempty"`
	Digest    string         `json:"dataset_digest"`    // of the dataset's content
	Fraction  string         `json:"fraction"`          // as it was asked for
	Purpose   string         `json:"purpose,omitempty"` // what was asked for: see [Purposes]; "" for a second look at what people said
	Stratify  string         `json:"stratify,omitempty"`
	Seed      string         `json:"seed"`
	Template  string         `json:"template"` // file beside the key with what the annotators say
	Strata    map[string]int `json:"strata"`   // items that could be drawn
	Items     []KeyItem      `json:"items"`
}

// A KeyItem is one item of a blind sample.
type KeyItem struct {
	Blind   string `json:"blind"`             // its name in the template
	Purpose string `json:"purpose,omitempty"` // [AskTruth], [AskLabels], or "" for both
	ID      string `json:"id"`
	System  string `json:"system"` // "" for an item that is about the question, whoever answers it
	Row     int64  `json:"row"`    // position in the dataset; of an item about the question, of its first answer
	Stratum string `json:"stratum,omitempty"`
}

// What an item asks for.
const (
	AskTruth  = "truth"  // what should be cited: the question alone, one item for all systems
	AskLabels = "labels" // whether each claim of one answer is supported by what it cites
	AskBoth   = "both"   // of a sample: truth items, then items of labels of the same questions
)

// Purposes are those that a sample of answers that nobody has annotated can have.
var Purposes = []string{AskTruth, AskLabels, AskBoth}

// A Candidate is an item that could be drawn.
type Candidate struct {
	ID, System string
	Row        int64
	Stratum    string
}

// name is the name that an item is drawn by.
func (c *Candidate) name() string { return c.ID + "\x00" + c.System }

// Draw draws a fraction of the candidates, in proportion to the strata, by the
// hash of seed and name: the same candidates and seed give the same sample
// whatever their order. A larger fraction only adds to what a stratum gives, unless
// rounding gives its share to another one. Every stratum gives at least one item. Items are in the order of their hashes, so that neighbours
// have nothing to do with each other.
func Draw(candidates []Candidate, fraction *big.Rat, seed string) ([]KeyItem, stats.Allocation) {
	sizes := make(map[string]int)
	for i := range candidates {
		sizes[candidates[i].Stratum]++
	}
	all, names := make([]string, len(candidates)), make(map[string][]string, len(sizes))
	for i := range candidates {
		c := &candidates[i]
		if names[c.Stratum] == nil {
			names[c.Stratum] = make([]string, 0, sizes[c.Stratum])
		}
		all[i] = c.name()
		names[c.Stratum] = append(names[c.Stratum], all[i])
	}
	plan := stats.Allocate(sizes, fraction, 0, 1)
	var drawn []string
	for stratum, n := range plan.Strata {
		drawn = append(drawn, stats.HashSelect(seed, stratum, names[stratum], n)...)
	}
	clear(names)
	byName := make(map[string]*Candidate, len(drawn))
	for _, name := range drawn {
		byName[name] = nil
	}
	for i, name := range all {
		if _, ok := byName[name]; ok {
			byName[name] = &candidates[i]
		}
	}
	items := make([]KeyItem, 0, len(drawn))
	for i, name := range stats.HashSelect(seed, "", drawn, len(drawn)) {
		c := byName[name]
		items = append(items, KeyItem{Blind: BlindName(i), ID: c.ID, System: c.System, Row: c.Row, Stratum: c.Stratum})
	}
	return items, plan
}

// BlindName is the name of the item at a position of a sample, from 0.
func BlindName(at int) string { return fmt.Sprintf("item-%04d", at+1) }

// Write writes the key to a file.
func (k *Key) Write(path string) error { return runs.WriteJSON(path, k) }

// ReadKey reads a key file.
func ReadKey(path string) (*Key, error) {
	var k Key
	if _, err := runs.ReadJSON(path, &k); err != nil {
		return nil, err
	}
	if k.Schema != KeySchema {
		return nil, fmt.Errorf("%s: no key of a sample: schema is %q, not %q", path, k.Schema, KeySchema)
	}
	return &k, nil
}

// TemplatePath is the file that the annotators filled in, beside the key.
func (k *Key) TemplatePath(key string) string { return filepath.Join(filepath.Dir(key), k.Template) }

// A BlindItem is one line of a template: an item without its names and without
// what was said of it. Filled in, it is what one annotator said.
type BlindItem struct {
	Annotator string          `json:"-"` // who filled it in
	ID        string          `json:"id"`
	Purpose   string          `json:"purpose,omitempty"` // [AskTruth], [AskLabels], or "" for both
	Query     string          `json:"query"`
	Answer    string          `json:"answer"`
	Claims    []BlindClaim    `json:"claims,omitempty"`
	Citations []BlindPlace    `json:"citations,omitempty"`
	Documents []BlindDocument `json:"documents,omitempty"`
	Truth     []BlindPlace    `json:"truth"`  // to be filled in: null is not looked at, [] is nothing to mark
	Labels    []BlindLabel    `json:"labels"` // whose values are to be filled in

	// What a judge found, where it was proposed to the person, or would have been had it
	// not been withheld; nil if nothing was to be proposed.
	Proposals  []Proposal `json:"proposals,omitempty"`
	ProposedBy string     `json:"proposed_by,omitempty"` // the judge
	Withheld   bool       `json:"withheld,omitempty"`    // the proposals were not shown

	// How an adjudicator decided, from what From said; "" for what an annotator says.
	How  string   `json:"how,omitempty"`
	From []string `json:"from,omitempty"`

	Note string `json:"note,omitempty"`
	Flag bool   `json:"flag,omitempty"`
}

// A Proposal is a stretch of a document that a judge found. Offsets are code points, the
// end exclusive.
type Proposal struct {
	Doc    string `json:"doc"`
	Start  int64  `json:"start"`
	End    int64  `json:"end"`
	Method string `json:"method,omitempty"` // how it was found, as the run says
}

// A BlindClaim is a claim to be judged.
type BlindClaim struct {
	ID    string `json:"claim_id"`
	Text  string `json:"text,omitempty"`
	Start *int64 `json:"start,omitempty"` // where it stands in the answer, in code points; nil if that is not known
	End   *int64 `json:"end,omitempty"`
}

// A BlindPlace is a citation to be judged, or a place that was marked. Offsets
// are code points of the document, the end exclusive.
type BlindPlace struct {
	CitationID string `json:"citation_id,omitempty"`
	ClaimID    string `json:"claim_id,omitempty"`
	Doc        string `json:"doc"`
	Page       int64  `json:"page,omitempty"`
	Start      *int64 `json:"start,omitempty"`
	End        *int64 `json:"end,omitempty"`
	Text       string `json:"cited_text,omitempty"`
}

// A BlindDocument is a text to mark places in.
type BlindDocument struct {
	Doc  string `json:"doc"`
	Text string `json:"text"`
}

// A BlindLabel is a question; Value is nil until it is answered.
type BlindLabel struct {
	ClaimID    string   `json:"claim_id,omitempty"`
	CitationID string   `json:"citation_id,omitempty"`
	Kind       string   `json:"kind"`
	Value      *float64 `json:"value"`
}

// Hows are the ways in which an adjudicator decides: all said the same, one annotator's
// marks or value, what anybody marked, what everybody marked, something new.
var Hows = []string{"equal", "take", "union", "intersection", "new"}

// Shown is the judge whose proposals the person saw, "" for none.
func (it *BlindItem) Shown() string {
	if it.Withheld {
		return ""
	}
	return it.ProposedBy
}

// Answered reports whether something was filled in.
func (it *BlindItem) Answered() bool {
	return it.Truth != nil || slices.ContainsFunc(it.Labels, func(l BlindLabel) bool { return l.Value != nil })
}

// BlindAnnotator is the name under which a blind sample was annotated, where the file says
// no other.
const BlindAnnotator = "blind"

// A Filled is what people said of a blind sample, by the position of the item in the
// dataset: one element for each annotator and item.
type Filled struct {
	Said    map[int64][]BlindItem // by annotators
	Decided map[int64][]BlindItem // by adjudicators: items with How
}

// FilledFiles are the files beside a key with what people said: the template, and those
// that are called NAME.jsonl, but for journals of acts.
func (k *Key) FilledFiles(key string) ([]string, error) {
	files := []string{k.TemplatePath(key)}
	entries, err := os.ReadDir(filepath.Dir(key))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		if filepath.Ext(name) == ".jsonl" && !strings.HasSuffix(name, ActsSuffix) && name != k.Template && name != MergedFile {
			files = append(files, filepath.Join(filepath.Dir(key), name))
		}
	}
	return files, nil
}

// MergedFile is the file that an adjudicator's page writes beside those of the annotators.
const MergedFile = "adjudicated.jsonl"

// ActsSuffix ends the names of journals of what people did while annotating.
const ActsSuffix = ".acts.jsonl"

// ReadFilled reads what annotators said of a blind sample: templates that one of them each
// filled in, or datasets whose ids are the items' names. Of one file what is said last of
// an item counts. An item that is not of the key is an error.
//
// In a first round annotators are called as their files are, or as datasets have them. In
// a second one they are called [BlindAnnotator], and where there are several of them that,
// a colon and their names: they may be the same people.
func ReadFilled(ctx context.Context, paths []string, k *Key) (*Filled, error) {
	out := &Filled{Said: make(map[int64][]BlindItem), Decided: make(map[int64][]BlindItem)}
	names := k.byName()
	for _, path := range paths {
		var items []BlindItem
		var err error
		if filepath.Ext(path) == ".parquet" {
			items, err = readAnnotated(ctx, path, names)
		} else {
			items, err = readTemplate(path, names)
		}
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			of := names[it.ID]
			it.Purpose = of.Purpose
			if filepath.Base(path) == k.Template && filepath.Ext(path) != ".parquet" {
				it.Annotator = BlindAnnotator
			}
			if it.How != "" {
				out.Decided[of.Row] = append(out.Decided[of.Row], it)
			} else {
				out.Said[of.Row] = append(out.Said[of.Row], it)
			}
		}
	}
	if k.Purpose == "" {
		nameBlind(out.Said)
	}
	return out, nil
}

// readTemplate reads a template that was filled in: a file of items, one a line, of which
// some are answered. A member that no item has, a mark without its ends and an unknown way
// of deciding are errors.
func readTemplate(path string, names map[string]*KeyItem) ([]BlindItem, error) {
	annotator := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	last := make(map[string]int)
	var items []BlindItem
	err := EachLine(path, func(line []byte) error {
		it := BlindItem{Annotator: annotator}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		err := d.Decode(&it)
		if err == nil {
			err = it.check()
		}
		switch of := names[it.ID]; {
		case err != nil:
		case of == nil:
			err = fmt.Errorf("%q is no item of the sample", it.ID)
		case of.Purpose == AskLabels && it.Truth != nil:
			err = fmt.Errorf("%q asks for labels, and not for places", it.ID)
		}
		at, again := last[it.ID]
		switch {
		case err != nil:
			return err
		case !it.Answered():
		case again:
			items[at] = it
		default:
			last[it.ID] = len(items)
			items = append(items, it)
		}
		return nil
	})
	return items, err
}

// EachLine calls do with every line of a file that is not blank, and says in which line
// its error is.
func EachLine(path string, do func(line []byte) error) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	number := 0
	for line := range bytes.Lines(data) {
		if number++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := do(line); err != nil {
			return fmt.Errorf("%s: line %d: %w", path, number, err)
		}
	}
	return nil
}

// CheckMarks refuses a mark without its ends.
func (it *BlindItem) CheckMarks() error {
	if slices.ContainsFunc(it.Truth, func(p BlindPlace) bool { return p.Start == nil || p.End == nil }) {
		return errors.New("a mark needs doc, start and end")
	}
	return nil
}

func (it *BlindItem) check() error {
	if err := it.CheckMarks(); err != nil {
		return err
	}
	if it.How != "" && !slices.Contains(Hows, it.How) {
		return fmt.Errorf("how is %q, not one of %s", it.How, strings.Join(Hows, ", "))
	}
	return nil
}

// byName are the items of the sample by their names there.
func (k *Key) byName() map[string]*KeyItem {
	items := make(map[string]*KeyItem, len(k.Items))
	for i := range slices.Backward(k.Items) {
		items[k.Items[i].Blind] = &k.Items[i]
	}
	return items
}

// filledBatch is how many rows are read at a time.
const filledBatch = 512

// readAnnotated reads a dataset that holds what annotators said of a blind sample: its
// ids are the items' names, and truth and labels are what was said of them.
func readAnnotated(ctx context.Context, path string, names map[string]*KeyItem) ([]BlindItem, error) {
	source, err := dataset.Open(path, dataset.ReadOptions{Want: dataset.WantKeys | dataset.WantSpans | dataset.WantLabels})
	if err != nil {
		return nil, err
	}
	c := source.Conventions()
	if c.OffsetUnit != "" && c.OffsetUnit != "codepoint" || c.SpanEnd != "" && c.SpanEnd != "exclusive" || c.OffsetBase != "" && c.OffsetBase != "document" {
		return nil, fmt.Errorf("%s: offsets must be code points of the document, the end exclusive", path)
	}
	var filled []BlindItem
	seen := make(map[string]bool)
	err = source.Read(ctx, 0, filledBatch, func(b *dataset.Batch) error {
		defer b.Release()
		for i := range b.Len() {
			var row ibid.Answer
			b.Row(i, &row)
			switch {
			case row.Err != nil:
				return fmt.Errorf("%s: row %d: %w", path, row.Pos, row.Err)
			case names[row.ID] == nil:
				return fmt.Errorf("%s: row %d: %q is no item of the sample", path, row.Pos, row.ID)
			case seen[row.ID]:
				return fmt.Errorf("%s: row %d: %q is there twice", path, row.Pos, row.ID)
			}
			items, err := annotatedItems(&row)
			if err != nil {
				return fmt.Errorf("%s: row %d: %w", path, row.Pos, err)
			}
			seen[strings.Clone(row.ID)] = true
			filled = append(filled, items...)
		}
		return nil
	})
	return filled, err
}

// annotatedItems is a row as what each of its annotators said.
func annotatedItems(row *ibid.Answer) ([]BlindItem, error) {
	var items []BlindItem
	of := func(annotator string) *BlindItem {
		i := slices.IndexFunc(items, func(it BlindItem) bool { return it.Annotator == annotator })
		if i < 0 {
			i = len(items)
			items = append(items, BlindItem{Annotator: strings.Clone(annotator), ID: strings.Clone(row.ID)})
		}
		return &items[i]
	}
	for _, t := range row.Truth {
		it := of(t.Annotator)
		if it.Truth == nil {
			it.Truth = []BlindPlace{}
		}
		if t.DocNull {
			continue
		}
		if !t.Start.Known() || !t.End.Known() || t.Unit != "" && t.Unit != "codepoint" {
			return nil, fmt.Errorf("a mark of %q has no offsets in code points", t.Annotator)
		}
		it.Truth = append(it.Truth, BlindPlace{Doc: strings.Clone(t.Doc), Start: new(t.Start.Value), End: new(t.End.Value)})
	}
	for _, l := range row.Labels {
		if !l.Value.Known() {
			continue
		}
		it := of(l.Annotator)
		it.Labels = append(it.Labels, BlindLabel{
			ClaimID: strings.Clone(l.ClaimID), CitationID: strings.Clone(l.CitationID), Kind: strings.Clone(l.Kind), Value: new(l.Value.Value),
		})
	}
	return items, nil
}

// nameBlind tells blind annotators from those of the dataset.
func nameBlind(filled map[int64][]BlindItem) {
	known := map[string]bool{}
	for _, items := range filled {
		for i := range items {
			known[items[i].Annotator] = true
		}
	}
	for _, items := range filled {
		for i := range items {
			if len(known) == 1 {
				items[i].Annotator = BlindAnnotator
			} else if items[i].Annotator != BlindAnnotator {
				items[i].Annotator = BlindAnnotator + ":" + items[i].Annotator
			}
		}
	}
}

// asks are the questions of the kinds of labels.
var asks = map[string]string{
	ibid.SupportLabel:       "How far is this supported by the place that it cites?",
	ibid.RelevantLabel:      "Is the cited place about what is claimed at all?",
	ibid.NeedsCitationLabel: "Should this claim have a citation?",
	ibid.FactualLabel:       "Is this a claim about facts, and not a courtesy or an opinion?",
}

// Ask puts a question of the item in words, with the claim and the cited places that
// it is about.
func (it *BlindItem) Ask(q BlindLabel) string {
	ask, claim, cited := it.Parts(q)
	if q.ClaimID != "" {
		ask += "\nClaim: " + claim
	}
	for i := range cited {
		ask += "\nCited: " + it.cited(&cited[i]) + " (" + cited[i].Doc + ")"
	}
	return ask
}

// Parts are what a question asks, the claim that it is about ("" if about none), and the
// cited places that it depends on.
func (it *BlindItem) Parts(q BlindLabel) (ask, claim string, cited []BlindPlace) {
	ask = asks[q.Kind]
	if q.ClaimID != "" {
		claim = it.claim(q.ClaimID)
	}
	if q.Kind == ibid.NeedsCitationLabel || q.Kind == ibid.FactualLabel {
		return ask, claim, nil // which do not depend on what is cited
	}
	for i := range it.Citations {
		c := &it.Citations[i]
		if q.CitationID == "" && c.ClaimID == q.ClaimID && q.ClaimID != "" || q.CitationID != "" && c.CitationID == q.CitationID {
			cited = append(cited, *c)
		}
	}
	return ask, claim, cited
}

// claim is the text of a claim, or its id if that is all that is known.
func (it *BlindItem) claim(id string) string {
	i := slices.IndexFunc(it.Claims, func(c BlindClaim) bool { return c.ID == id })
	if i < 0 || it.Claims[i].Text == "" {
		return id
	}
	return it.Claims[i].Text
}

// cited is the text of a cited place.
func (it *BlindItem) cited(c *BlindPlace) string {
	i := slices.IndexFunc(it.Documents, func(d BlindDocument) bool { return d.Doc == c.Doc })
	if i < 0 || c.Start == nil || c.End == nil {
		return c.Text
	}
	text := []rune(it.Documents[i].Text)
	if lo, hi := *c.Start, *c.End; 0 <= lo && lo < hi && hi <= int64(len(text)) {
		return string(text[lo:hi])
	}
	return c.Text
}
