package round

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/claims"
	"ibid/metrics/stats"
)

// A Draw says what to draw, and which annotators get which items.
type Draw struct {
	Purpose    string   `json:"purpose"`
	Second     bool     `json:"second_look,omitempty"` // of what the data have; [DrawRound] says so
	Fraction   string   `json:"fraction,omitempty"`    // of the questions, above 0 and at most 1; unless Items are asked for
	Items      int      `json:"n,omitempty"`           // questions, 0 for a fraction
	Stratify   string   `json:"stratify,omitempty"`    // a tag to draw in proportion to; "" for one stratum
	Seed       string   `json:"seed"`
	Annotators []string `json:"annotators,omitempty"`
	Overlap    float64  `json:"overlap,omitempty"` // share of the items that all annotators get
}

// Answers are the rows of a dataset, their places resolved, and the texts of documents.
type Answers interface {
	// Each calls yield with every row in its order, Rows with those at some positions.
	// Errors of rows are theirs.
	Each(ctx context.Context, yield func(*ibid.Answer, *dataset.Resolver) error) error
	Rows(ctx context.Context, rows []int64, yield func(*ibid.Answer, *dataset.Resolver) error) error
}

// A Drawn is a round before it is written.
type Drawn struct {
	Header Header
	Key    Key
	Items  []Item
	Of     int // questions that could be drawn
	Drawn  int // of them
	Bare   int // items left out, since no text is at hand that could be marked or judged

	marked map[string]bool // items of truth whose marks are noted
}

// A candidate is a question that could be drawn.
type candidate struct {
	rows     []int64
	systems  []string // of rows
	stratum  string
	labelled []bool // of rows: people labelled the answer
	truth    bool   // people marked places
	cites    bool   // some answer has a claim that cites something
}

// instructions are what a person is told who fills in a copy of the items.
const instructions = "Truth: mark the shortest text that answers the question; truth is a list of doc, start, end, and [] if nothing does. Labels: does the cited text support each claim? value is from 0 to 1."

// DrawRound draws questions, and makes items of them: of those that people annotated if
// there are any, else of all.
func DrawRound(ctx context.Context, answers Answers, options claims.Options, d Draw) (*Drawn, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	s := &sampler{draw: d, cutter: claims.NewCutter(options), questions: make(map[string]*candidate)}
	if err := answers.Each(ctx, s.note); err != nil {
		return nil, err
	}
	out, err := s.pick()
	if err != nil {
		return nil, err
	}
	if err := s.fill(ctx, answers, out); err != nil {
		return nil, err
	}
	out.dropBare()
	if len(out.Items) == 0 {
		return nil, ibid.Usagef("no text is at hand that could be marked or judged")
	}
	return out, out.share(&s.draw)
}

func (d *Draw) check() error {
	rate, ok := new(big.Rat).SetString(d.Fraction)
	switch {
	case !slices.Contains(Purposes, d.Purpose):
		return ibid.Usagef("unknown purpose %q", d.Purpose).With("purposes are " + strings.Join(Purposes, ", "))
	case d.Items == 0 && (!ok || rate.Sign() <= 0 || rate.Cmp(big.NewRat(1, 1)) > 0):
		return ibid.Usagef("the fraction must be a number above 0 and at most 1, such as 0.1")
	case !(d.Overlap >= 0 && d.Overlap <= 1):
		return ibid.Usagef("--overlap must be from 0 to 1")
	case d.Stratify == "system" || d.Stratify == "provider" || d.Stratify == "model":
		return ibid.Usagef("questions are drawn, whichever system answered them: they cannot be stratified by %s", d.Stratify)
	}
	for i, name := range d.Annotators {
		if err := CheckName(name); err != nil {
			return err
		}
		if slices.ContainsFunc(d.Annotators[:i], func(other string) bool { return strings.EqualFold(other, name) }) {
			return ibid.Usagef("--annotators names %q twice", name)
		}
	}
	return nil
}

// A sampler reads a dataset twice: for questions to draw, and for the drawn ones.
type sampler struct {
	draw      Draw
	cutter    *claims.Cutter
	linker    metrics.Linker
	order     []string // of questions
	questions map[string]*candidate
	taken     map[string]bool
}

// asks reports whether the round has items of a purpose.
func (s *sampler) asks(purpose string) bool {
	return s.draw.Purpose == purpose || s.draw.Purpose == Both
}

// note notes a row of the first pass.
func (s *sampler) note(row *ibid.Answer, _ *dataset.Resolver) error {
	q := s.questions[row.ID]
	if q == nil {
		id := strings.Clone(row.ID)
		q = new(candidate)
		s.questions[id], s.order = q, append(s.order, id)
	}
	q.rows, q.systems = append(q.rows, row.Pos), append(q.systems, strings.Clone(row.System))
	q.truth, q.labelled = q.truth || len(row.Truth) > 0, append(q.labelled, len(row.Labels) > 0)
	if s.draw.Stratify != "" && q.stratum == "" {
		q.stratum = strings.Clone(strings.Join(runs.AppendSlices(nil, row, s.draw.Stratify), ", "))
	}
	if s.draw.Purpose == Labels && !q.cites {
		q.cites = slices.ContainsFunc(s.claims(row), func(c ibid.Claim) bool { return len(c.Citations) > 0 })
	}
	if s.taken == nil {
		s.taken = make(map[string]bool)
	}
	for i := range row.Truth {
		s.take(row.Truth[i].Annotator)
	}
	for i := range row.Labels {
		s.take(row.Labels[i].Annotator)
	}
	return nil
}

func (s *sampler) take(name string) {
	if name != "" && !s.taken[name] {
		s.taken[strings.Clone(name)] = true
	}
}

// claims cuts a row into claims, linked to its citations. They are valid until the next
// call.
func (s *sampler) claims(row *ibid.Answer) []ibid.Claim {
	cut := s.cutter.Cut(row)
	s.linker.Link(cut.List, row.Citations, cut.Scopes, cut.Provided || !row.HasClaims)
	return cut.List
}

// pick draws questions, by the hash of seed and id, in proportion to the strata: the same
// ids and seed give the same draw whatever their order. Every stratum gives at least one
// question.
func (s *sampler) pick() (*Drawn, error) {
	annotated := func(q *candidate) bool {
		return s.asks(Truth) && q.truth || s.asks(Labels) && slices.Contains(q.labelled, true)
	}
	for _, q := range s.questions {
		s.draw.Second = s.draw.Second || annotated(q)
	}
	strata, sizes, known := make(map[string][]string), make(map[string]int), s.draw.Stratify == ""
	of := 0
	for _, id := range s.order {
		q := s.questions[id]
		if s.draw.Second && !annotated(q) || !s.draw.Second && s.draw.Purpose == Labels && !q.cites {
			continue
		}
		strata[q.stratum] = append(strata[q.stratum], id)
		sizes[q.stratum]++
		known = known || q.stratum != ""
		of++
	}
	switch {
	case of == 0 && s.draw.Purpose == Labels && len(s.order) > 0:
		return nil, ibid.Usagef("no answer has a claim that cites something: there is nothing to judge")
	case of == 0:
		return nil, ibid.Usagef("there is no question to draw")
	case !known:
		return nil, ibid.Usagef("no question that could be drawn has a %s to stratify by", s.draw.Stratify)
	case s.draw.Items > of:
		return nil, ibid.Usagef("%d cannot be drawn: there are %d", s.draw.Items, of)
	}
	rate, _ := new(big.Rat).SetString(s.draw.Fraction)
	if s.draw.Items > 0 {
		rate = big.NewRat(int64(s.draw.Items), int64(of))
	}
	var drawn []string
	for stratum, n := range stats.Allocate(sizes, rate, 0, 1).Strata {
		drawn = append(drawn, stats.HashSelect(s.draw.Seed, stratum, strata[stratum], n)...)
	}
	out := &Drawn{Of: of, Drawn: len(drawn), marked: make(map[string]bool), Key: Key{Schema: keySchema, Strata: sizes}}
	out.Header = Header{Purpose: s.draw.Purpose, Annotators: s.draw.Annotators, Taken: slices.Sorted(maps.Keys(s.taken)), Instructions: instructions}
	for _, name := range s.draw.Annotators {
		if err := out.Header.CheckAnnotator(name, false); err != nil {
			return nil, err
		}
	}
	s.order = stats.HashSelect(s.draw.Seed, "", drawn, len(drawn)) // neighbours have nothing to do with each other
	return out, nil
}

// fill makes the items of the drawn questions: of truth, then of labels.
func (s *sampler) fill(ctx context.Context, answers Answers, out *Drawn) error {
	truth, labels := make(map[int64]int), make(map[int64]int) // of rows
	var all []int64
	if s.asks(Truth) {
		for _, id := range s.order {
			q := s.questions[id]
			if s.draw.Second && !q.truth {
				continue
			}
			for _, row := range q.rows {
				truth[row], all = len(out.Items), append(all, row)
			}
			out.add(Item{Purpose: Truth, Labels: []Label{}}, KeyItem{ID: id})
		}
	}
	if s.asks(Labels) {
		var names []string
		at := make(map[string]KeyItem)
		rows := make(map[string]int64)
		for _, id := range s.order {
			q := s.questions[id]
			for k, row := range q.rows {
				if s.draw.Second && !q.labelled[k] {
					continue
				}
				name := id + "\x00" + q.systems[k]
				names, at[name], rows[name] = append(names, name), KeyItem{ID: id, System: q.systems[k]}, row
			}
		}
		for _, name := range stats.HashSelect(s.draw.Seed, "", names, len(names)) {
			labels[rows[name]], all = len(out.Items), append(all, rows[name])
			out.add(Item{Purpose: Labels, Labels: []Label{}}, at[name])
		}
	}
	slices.Sort(all)
	return answers.Rows(ctx, slices.Compact(all), func(row *ibid.Answer, r *dataset.Resolver) error {
		if i, ok := truth[row.Pos]; ok {
			it := &out.Items[i]
			for _, doc := range documentsOf(row) {
				it.show(r, doc)
			}
			if it.Query == "" {
				it.Query = strings.Clone(row.Query)
			}
			if s.draw.Second {
				out.note(it, row)
			}
		}
		if i, ok := labels[row.Pos]; ok {
			out.Items[i].Query = strings.Clone(row.Query)
			s.ask(&out.Items[i], row, r)
			if s.draw.Second {
				out.note(&out.Items[i], row)
			}
		}
		return nil
	})
}

func (d *Drawn) add(it Item, k KeyItem) {
	it.ID = itemName(len(d.Items))
	k.Item = it.ID
	d.Items, d.Key.Items = append(d.Items, it), append(d.Key.Items, k)
}

// show adds a document to an item, and reports whether its text is at hand.
func (it *Item) show(r *dataset.Resolver, doc string) bool {
	if slices.Contains(it.Documents, doc) {
		return true
	}
	text, ok := r.Text(doc, 0)
	if ok && doc != "" {
		it.AddText(strings.Clone(doc), strings.Clone(text))
	}
	return ok && doc != ""
}

// documentsOf are the documents that a row has to do with: those that it brings along, that
// the system cited, and that somebody marked. To show the marked ones alone would say where
// the marks are, and no document that there are none.
func documentsOf(row *ibid.Answer) []string {
	var docs []string
	for i := range row.Documents {
		docs = append(docs, row.Documents[i].Doc)
	}
	for i := range row.Citations {
		docs = append(docs, row.Citations[i].Doc)
	}
	for i := range row.Truth {
		docs = append(docs, row.Truth[i].Doc)
	}
	return docs
}

// ask fills in what a person judges of a row: the answer, its claims, and what of their
// citations can be read. In a first round a claim is asked about if any can; in a second
// look the questions are those that people answered.
func (s *sampler) ask(it *Item, row *ibid.Answer, r *dataset.Resolver) {
	it.Answer = strings.Clone(row.Answer)
	cited := make(map[int32]bool)
	for _, c := range s.claims(row) {
		claim := Claim{ID: strings.Clone(c.ClaimID), Text: strings.Clone(c.Text)}
		if c.Extent.Known() {
			claim.Start, claim.End = new(c.Extent.Start.Value), new(c.Extent.End.Value)
		}
		it.Claims = append(it.Claims, claim)
		asked := false
		for _, k := range c.Citations {
			cited[k] = true
			p := it.cite(&row.Citations[k], r)
			p.ClaimID = claim.ID
			asked = asked || p.Text != "" || slices.Contains(it.Documents, p.Doc)
		}
		if asked && !s.draw.Second {
			it.Labels = append(it.Labels, Label{ClaimID: claim.ID, Kind: ibid.SupportLabel})
		}
	}
	if !s.draw.Second {
		return
	}
	for k := range row.Citations {
		if !cited[int32(k)] {
			it.cite(&row.Citations[k], r)
		}
	}
	for i := range row.Labels {
		l := &row.Labels[i]
		q := Label{ClaimID: strings.Clone(l.ClaimID), CitationID: strings.Clone(l.CitationID), Kind: strings.Clone(l.Kind)}
		if !slices.Contains(it.Labels, q) {
			it.Labels = append(it.Labels, q)
		}
	}
}

// cite adds a citation to the item, with its document.
func (it *Item) cite(c *ibid.Citation, r *dataset.Resolver) *Place {
	p := Place{CitationID: strings.Clone(c.CitationID), ClaimID: strings.Clone(c.ClaimID), Doc: strings.Clone(c.Doc), Text: strings.Clone(c.CitedText)}
	if c.Place.Doc != "" {
		p.Doc = strings.Clone(c.Place.Doc)
	}
	if at := &c.Place; at.InSets() {
		p.Start, p.End = new(at.Start), new(at.End)
	}
	it.show(r, p.Doc)
	it.Citations = append(it.Citations, p)
	return &it.Citations[len(it.Citations)-1]
}

// note notes what annotators said of the row of an item: the places that they marked, or their
// labels. Of a question that several rows have, the first with marks counts. An annotator of whom
// some mark has no place is left out.
func (d *Drawn) note(it *Item, row *ibid.Answer) {
	if d.marked[it.ID] {
		return
	}
	for _, o := range OpinionsOf(row) {
		switch said := (Said{Item: it.ID, Annotator: o.Annotator}); {
		case it.Purpose == Truth && o.Marks != nil:
			said.Truth, d.marked[it.ID] = o.Marks, true
			d.Key.Said = append(d.Key.Said, said)
		case it.Purpose == Labels && o.Labels != nil:
			said.Labels = o.Labels
			d.Key.Said = append(d.Key.Said, said)
		}
	}
}

// dropBare leaves out items of which nobody could say anything: no text is at hand.
func (d *Drawn) dropBare() {
	names := make(map[string]string) // new ones by old ones
	kept := 0
	for i := range d.Items {
		it := &d.Items[i]
		if it.Purpose == Labels && len(it.Labels) == 0 || it.Purpose == Truth && len(it.Documents) == 0 {
			d.Bare++
			continue
		}
		names[it.ID] = itemName(kept)
		it.ID = names[it.ID]
		it.sortDocuments()
		d.Items[kept], d.Key.Items[kept] = *it, d.Key.Items[i]
		d.Key.Items[kept].Item = it.ID
		kept++
	}
	d.Items, d.Key.Items = d.Items[:kept], d.Key.Items[:kept]
	d.Key.Said = slices.DeleteFunc(d.Key.Said, func(s Said) bool { return names[s.Item] == "" })
	for i := range d.Key.Said {
		d.Key.Said[i].Item = names[d.Key.Said[i].Item]
	}
}

func itemName(at int) string { return fmt.Sprintf("item-%04d", at+1) }

// sortDocuments puts the documents into the order of their names.
func (it *Item) sortDocuments() {
	of := make(map[string]string, len(it.Documents))
	for i, doc := range it.Documents {
		of[doc] = it.texts[i]
	}
	slices.Sort(it.Documents)
	for i, doc := range it.Documents {
		it.texts[i] = of[doc]
	}
}

// share says who gets which item: the first share of the items of each purpose go to all,
// so that agreement can be measured before the rest, and each other one to one person.
func (d *Drawn) share(draw *Draw) error {
	d.Key.Draw = *draw
	if len(draw.Annotators) == 0 {
		return nil
	}
	for _, purpose := range []string{Truth, Labels} {
		var items []*Item
		for i := range d.Items {
			if d.Items[i].Purpose == purpose {
				items = append(items, &d.Items[i])
			}
		}
		all := int(math.Ceil(draw.Overlap*float64(len(items)) - 1e-9))
		for _, it := range items[all:] {
			it.For = stats.HashSelect(draw.Seed, it.ID, draw.Annotators, 1)
		}
	}
	return nil
}

// Check refuses a folder that has a round already. A key alone is what a killed sample left.
func Check(dir string) error {
	path := filepath.Join(dir, ItemsFile)
	if _, err := os.Stat(path); err == nil {
		return ibid.Usagef("%s is there already", path).With("choose another folder: what people filled in must not be lost")
	}
	return nil
}

// Write writes the round to a folder. The items are written last: with them it is there.
// More are files beside it.
func (d *Drawn) Write(dir string, more map[string]func(io.Writer) error) error {
	if err := Check(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := WriteItems(io.Discard, &d.Header, d.Items); err != nil {
		return err
	}
	d.Key.Round = d.Header.Round
	if err := runs.WriteJSON(filepath.Join(dir, KeyFile), &d.Key); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		if err := dataset.WriteFile(filepath.Join(dir, name), more[name]); err != nil {
			return err
		}
	}
	return dataset.WriteFile(filepath.Join(dir, ItemsFile), func(w io.Writer) error { return WriteItems(w, &d.Header, d.Items) })
}
