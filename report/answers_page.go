package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"ibid"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// How many answers and lines of the list the page opens at once, and has before its script.
const (
	answersPerPack = 100
	linesPerPack   = 500
	linesAtOnce    = 40
)

// About how much of a page the answers take, in bytes: a row, and each of its citations.
const (
	sizeOfAnswer   = 700
	sizeOfCitation = 350
)

// A packer compresses packs, several at a time, in the order in which they were added.
type packer struct {
	packs   []*doc.Pack
	working sync.WaitGroup
	room    chan struct{}
}

func (p *packer) add(id string, data []byte) {
	k := &doc.Pack{ID: id}
	p.packs = append(p.packs, k)
	p.room <- struct{}{}
	p.working.Go(func() {
		var out bytes.Buffer
		z, _ := gzip.NewWriterLevel(&out, 8) // a tenth smaller than level 5 at a tenth more time; only a wrong level is an error
		z.Write(data)
		z.Close()
		k.Data = base64.StdEncoding.EncodeToString(out.Bytes())
		<-p.room
	})
}

// A pulled is what belongs to the rows of a run in a table, row by row.
type pulled[T any] struct {
	next func() (int64, T, bool)
	stop func()
	row  int64
	item T
	more bool
	err  error
}

var errStopped = errors.New("stopped")

// A scan reads some columns of a table, nil for all, of some rows: [runs.Table.ScanSome] or
// [runs.Table.ScanOf].
type scan[T any] = func(dir string, columns []string, rows []int64, yield func(row int64, item *T) error) error

// pull begins to read a table. A run that does not have it has nothing in it.
func pull[T any](scan scan[T], dir string, rows []int64, columns ...string) *pulled[T] {
	p := &pulled[T]{}
	p.next, p.stop = iter.Pull2(func(yield func(int64, T) bool) {
		p.err = scan(dir, columns, rows, func(row int64, item *T) error {
			if !yield(row, *item) {
				return errStopped
			}
			return nil
		})
		if errors.Is(p.err, fs.ErrNotExist) || errors.Is(p.err, errStopped) {
			p.err = nil
		}
	})
	p.row, p.item, p.more = p.next()
	return p
}

// of is what belongs to a row; rows are asked for in ascending order.
func (p *pulled[T]) of(row int64) (items []T) {
	for p.more && p.row <= row {
		if p.row == row {
			items = append(items, p.item)
		}
		p.row, p.item, p.more = p.next()
	}
	return items
}

// packAnswers reads the listed answers with their texts, and packs them for the script of the
// page, run by run, in the order of the input.
func packAnswers(ctx context.Context, data *pageData) error {
	worst := slices.Clone(data.answers)
	slices.SortFunc(worst, worseAnswer)
	room := int64(data.options.MaxBytes)
	for _, x := range worst {
		if room -= sizeOfAnswer + sizeOfCitation*min(x.size, mostPanels); room < 0 {
			break
		}
		x.place = 0
		data.opened++
	}
	n := 0
	byID := make(map[answerName][]*answer)
	for _, x := range data.answers {
		if x.place == 0 {
			x.place, n = n, n+1
		}
		name := answerName{run: count(int64(x.run)), id: x.id}
		byID[name] = append(byID[name], x)
	}
	o := &opener{data: data, sameQuestion: byID, numbers: make(map[string]int), packer: packer{room: make(chan struct{}, runtime.GOMAXPROCS(0))}}
	for run := range data.results {
		if err := o.run(ctx, run); err != nil {
			return fmt.Errorf("%s: %w", data.results[run].run.Dir, err)
		}
	}
	o.flush()
	list := listOf(data)
	for from := linesAtOnce; from < len(list.Rows); from += linesPerPack {
		o.rows.Reset()
		if err := doc.WriteRows(&o.rows, &list, from, min(from+linesPerPack, len(list.Rows))); err != nil {
			return err
		}
		o.add("lines-"+strconv.Itoa((from-linesAtOnce)/linesPerPack), slices.Clone(o.rows.Bytes()))
	}
	names, err := json.Marshal(append([]string{}, o.names...))
	if err != nil {
		return err
	}
	o.add("facets", names)
	o.working.Wait()
	for _, p := range o.packs {
		data.packs = append(data.packs, *p)
	}
	data.list = list
	return nil
}

// An opener makes the rows of a page.
type opener struct {
	packer
	data         *pageData
	sameQuestion map[answerName][]*answer
	names        []string // of facets
	numbers      map[string]int
	rows         bytes.Buffer // of the pack that is being filled
	held, filled int          // answers in it, and packs before it
}

func (o *opener) flush() {
	if o.held > 0 {
		o.add("rows-"+strconv.Itoa(o.filled), slices.Clone(o.rows.Bytes()))
		o.rows.Reset()
		o.held, o.filled = 0, o.filled+1
	}
}

// run opens the answers of a run.
func (o *opener) run(ctx context.Context, run int) error {
	data, r := o.data, o.data.results[run]
	list, positions, at := data.ofRun(run), []int64(nil), []int64(nil)
	for _, x := range list {
		positions, at = append(positions, x.row), append(at, x.at)
	}
	dir := r.run.Dir
	rows := pull(runs.Rows().ScanSome, dir, at)
	defer rows.stop()
	citations := pull(runs.Citations.ScanOf, dir, positions)
	defer citations.stop()
	claims := pull(runs.Claims.ScanOf, dir, positions)
	defer claims.stop()
	calls := pull(runs.Calls.ScanOf, dir, positions)
	defer calls.stop()
	quoted := pull(runs.Quotations.ScanOf, dir, positions)
	defer quoted.stop()
	verdicts := pull(runs.Verdicts.ScanOf, dir, positions, "row", "claim", "evidence", "support", "label", "annotator", "vote", "unscored", "tampering", "suspected")
	defer verdicts.stop()
	limits, next := limitsOf(r.run.Manifest), 0
	open := func(in *ibid.Answer, text func(string, int32) (string, bool)) error {
		x := list[next]
		next++
		row := rows.of(x.at)
		if len(row) != 1 {
			return cmp.Or(rows.err, fmt.Errorf("%s has no row %d", runs.RowsFile, x.row))
		}
		s := &RowSource{
			Run: r.run.Manifest, Row: &row[0], Citations: citations.of(x.row), Claims: claims.of(x.row), Calls: calls.of(x.row), Verdicts: verdicts.of(x.row), Quotations: quoted.of(x.row),
			Display: r.run.Display, Parts: r.run.Parts, Answer: in, Text: text, limits: &limits,
		}
		return cmp.Or(citations.err, claims.err, calls.err, verdicts.err, quoted.err, o.open(x, s))
	}
	if r.run.Texts != nil {
		further, err := elsewhere(dir, positions)
		if err != nil {
			return err
		}
		disputed := make(map[int64][]*disagreementView)
		for _, v := range data.disagreements[run] {
			disputed[v.found.Row] = append(disputed[v.found.Row], v)
		}
		rows := slices.AppendSeq(slices.Clone(positions), maps.Keys(disputed))
		slices.Sort(rows)
		err = r.run.Texts.Each(ctx, further, slices.Compact(rows), func(row *ibid.Answer, text func(string, int32) (string, bool)) error {
			for _, v := range disputed[row.Pos] {
				v.read(row, text)
			}
			for next < len(list) && list[next].row < row.Pos {
				if err := open(nil, nil); err != nil {
					return err
				}
			}
			if next == len(list) || list[next].row != row.Pos {
				return nil
			}
			return open(row, text)
		})
		if err != nil {
			return err
		}
	}
	for next < len(list) {
		if err := open(nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere names the documents that hold evidence which rows did not cite.
func elsewhere(dir string, rows []int64) ([]string, error) {
	seen := make(map[string]bool)
	err := runs.Claims.ScanOf(dir, []string{"row", "elsewhere_doc"}, rows, func(_ int64, c *runs.Claim) error {
		if c.Elsewhere != nil && c.Elsewhere.Doc != "" {
			seen[c.Elsewhere.Doc] = true
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return sortedKeys(seen), err
}

// open makes the row of an answer, and what it is found by.
func (o *opener) open(x *answer, s *RowSource) error {
	data, system := o.data, o.data.systems[x.system]
	find := strconv.Itoa(x.place)
	for _, f := range facets(s.Row, s.Citations, s.Claims, x, clip(system, 80)) {
		n, ok := o.numbers[f]
		if !ok {
			n = len(o.names)
			o.numbers[f], o.names = n, append(o.names, strings.Clone(f))
		}
		find += " " + strconv.Itoa(n)
	}
	x.find = find
	if s.Answer != nil {
		x.question = strings.Clone(clip(s.Answer.Query, 240))
	}
	if x.place < 0 && !x.later {
		return nil
	}
	v := NewRowView(s)
	if x.later {
		x.earlier = &earlierAnswer{run: s.Run.ID, answer: strings.Clone(clip(v.Answer, longAnswer)), state: *x.state}
		for k := range v.Citations {
			x.earlier.places = append(x.earlier.places, v.Citations[k].Place)
		}
	}
	if x.place < 0 {
		return nil
	}
	v.System = system
	if x.before != nil {
		v.Before = x.before.earlier
	}
	for _, y := range o.sameQuestion[answerName{run: count(int64(x.run)), id: x.id}] {
		if y != x && len(v.Others) < 2*mostOthers {
			v.Others = append(v.Others, doc.Span{Text: clip(y.name, 40) + " " + signs[y.state.Tone], Link: "#row=" + data.key(y)}, doc.Span{Text: "  "})
		}
	}
	if err := doc.WriteHTML(&o.rows, v.section()); err != nil {
		return err
	}
	if o.held++; o.held == answersPerPack {
		o.flush()
	}
	return nil
}

// mostOthers is how many other answers to a question are linked.
const mostOthers = 20

// mostColumns is how many systems stand side by side in the list of answers.
const mostColumns = 8

// listOf is the list of answers: a line for each question, where most systems answer most of
// them, else for each answer; those that fail first.
func listOf(data *pageData) doc.Table {
	type question struct {
		id           string
		newly, fails int
		of           []*answer // by system
		first        *answer
	}
	t := doc.Table{Caption: "Answers, those that fail first", Class: "answers", Fold: linesAtOnce}
	byID := make(map[string]*question)
	var questions []*question
	for _, x := range data.answers {
		q := byID[x.id]
		if q == nil {
			q = &question{id: x.id, of: make([]*answer, len(data.systems)), first: x}
			byID[x.id], questions = q, append(questions, q)
		}
		q.of[x.system] = x
		if x.problem.Fails() {
			q.fails++
		}
		if x.since == "new" {
			q.newly++
		}
	}
	n := len(data.systems)
	if n < 2 || n > mostColumns || 5*len(data.answers) < 3*n*len(questions) {
		list := slices.Clone(data.answers)
		slices.SortFunc(list, worseAnswer)
		for _, x := range list {
			system, lead := doc.Cell{}, doc.Cell{}
			if n > 1 {
				system = doc.C(clip(data.systems[x.system], 60))
			}
			if x.hasLead {
				lead = doc.C(number(math.Abs(x.lead)))
			}
			t.Row()
			t.Add(doc.Column{Name: "question"}, questionCell(x))
			t.Add(doc.Column{Name: "system", Keep: 1}, system)
			t.Add(doc.Column{Name: "answer"}, answerCell(data, x, false))
			if len(data.lead) > 0 {
				t.Add(doc.Column{Name: shortName(data.lead[0]), Number: true}, lead)
			}
		}
		return t
	}
	slices.SortStableFunc(questions, func(x, y *question) int { return cmp.Or(y.newly-x.newly, y.fails-x.fails) })
	for _, q := range questions {
		t.Row()
		t.Add(doc.Column{Name: "question"}, questionCell(q.first))
		for k, x := range q.of {
			cell := doc.Cell{}
			if x != nil {
				cell = answerCell(data, x, true)
			}
			t.Add(doc.Column{Name: clip(data.systems[k], 40)}, cell)
		}
	}
	return t
}

func questionCell(x *answer) doc.Cell {
	return doc.Cell{Text: doc.Text{{Text: clip(x.id, 60), Tone: doc.Dim}, {Text: " " + x.question}}}
}

// answerCell says what became of an answer, and opens it. Of one that passes it has the leading
// number if that has no column of its own.
func answerCell(data *pageData, x *answer, lead bool) doc.Cell {
	span := x.state.span("#row=" + data.key(x))
	if lead && x.hasLead && x.state.Code == "passes" {
		span.Text = signs[x.state.Tone] + " " + number(math.Abs(x.lead))
	}
	if x.since == "new" {
		span.Text += " new"
	}
	if x.place < 0 {
		span.Link = ""
	}
	return doc.Cell{Text: doc.Text{span}, Find: x.find}
}

// answersSection is the list of answers, with a search and a choice of what is listed.
func answersSection(data *pageData) *doc.Section {
	show := []doc.Option{{Value: "", Text: "all answers"}}
	add := func(n int64, value, text string) {
		if n > 0 {
			show = append(show, doc.Option{Value: value, Text: text})
		}
	}
	add(data.failed(), "is:failing", "failing")
	since := make(map[string]int64)
	for _, x := range data.answers {
		since[x.since]++
	}
	add(since["new"], "since:new", "newly failing")
	add(since["fixed"], "since:fixed", "fixed")
	for _, w := range answerStates() {
		if w.Code != "passes" {
			add(data.states.sum(w.Code), "problem:"+w.Code, w.Short)
		}
	}
	for _, kind := range sortedKeys(data.kinds) {
		add(1, "type:"+clip(kind, 120), "cites "+strings.ReplaceAll(clip(kind, 80), "_", " "))
	}
	var out []doc.Block
	for _, r := range data.results {
		if why := r.run.NoTexts; why != "" {
			out = append(out, doc.Para{Kind: doc.Note, Text: doc.T(fmt.Sprintf("%s: the texts are not on this page (%s).", r.run.Manifest.ID, why))})
		}
	}
	if data.left != "" {
		out = append(out, doc.Para{Kind: doc.Note, Text: doc.T(data.left)})
	}
	out = append(out, doc.Form{ID: "find", Fields: []doc.Field{{Label: "search", Name: "q"}, {Label: "show", Name: "f", Options: show}}}, data.list)
	return &doc.Section{ID: "answers", Title: "Answers", Blocks: out}
}

// leftOut says which answers the page does not list or open; "" if it has all.
func leftOut(data *pageData) string {
	all, listed := data.states.sum(), int64(len(data.answers))
	text := ""
	if listed < all {
		text = fmt.Sprintf("This page lists %s of %s answers, those that fail first. ", Thousands(listed), Thousands(all))
	}
	if data.opened < listed {
		text += fmt.Sprintf("%s of them can be opened here, the worst. ", Thousands(data.opened))
	}
	if text != "" {
		text += "All numbers are over all answers; ibid report --serve and ibid show open every one."
	}
	return text
}
