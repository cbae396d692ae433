// Package annotate is the page in which people mark places and label answers: served to
// the browser at this machine, or as one file.
package annotate

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"ibid"
	"ibid/annotations"
	"ibid/annotations/acts"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

//go:embed assets
var assets embed.FS

func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(b)
}

// style is the stylesheet of the page: that of the report, and what only this page has.
func style() string { return doc.PageStyle() + asset("page.css") }

// script is the script of the page, with the part that keeps acts.
func script(store string) string { return asset("fold.js") + asset(store) + asset("page.js") }

// Options say what a person annotates and how.
type Options struct {
	Annotator string
	Purpose   string // truth, labels or both
	Seed      string // of the order
	Share     acts.Share
	Overlap   float64

	// Dir has the files of others, and Agreement measures how far all of them agree, as
	// ibid agree does. Agreement is nil where it cannot be measured.
	Dir       string
	Agreement func(context.Context) ([]runs.AgreementRow, error)

	Proposals Proposals
}

// Proposals are places that a judge found, for items that ask for marks.
type Proposals struct {
	By       string // the judge
	Of       map[string][]annotations.Proposal
	Withheld map[string]bool // items that do not show theirs
}

// A place is one place of a queue.
type place struct {
	Item   string `json:"item"`
	Part   string `json:"part"`
	Shared bool   `json:"shared,omitempty"` // everybody gets it
}

// queue is what a person is shown, in this order: all places to mark before the first
// answer is seen, so that no answer says where to look.
func queue(items []acts.SampleItem, o *Options) []place {
	var truth, labels []string
	for i := range items {
		it := &items[i]
		if it.Labels > 0 {
			labels = append(labels, it.ID)
		}
		if it.Purpose != annotations.AskLabels {
			truth = append(truth, it.ID)
		}
	}
	var out []place
	for part, items := range map[string][]string{acts.Truth: truth, acts.Labels: labels} {
		if o.Purpose != "both" && o.Purpose != part {
			continue
		}
		names, shared := acts.Queue(items, o.Seed, o.Share, o.Overlap)
		for i, name := range names {
			out = append(out, place{Item: name, Part: part, Shared: shared[i]})
		}
	}
	slices.SortStableFunc(out, func(a, b place) int { return strings.Compare(b.Part, a.Part) }) // truth, labels
	return out
}

// An item is what the page shows of one.
type item struct {
	ID        string                 `json:"id"`
	Query     string                 `json:"query"`
	Answer    string                 `json:"answer,omitempty"`
	Questions []question             `json:"questions,omitempty"`
	Documents []documentRuns         `json:"documents"`
	Others    []acts.Opinion         `json:"others,omitempty"` // for who adjudicates
	Guide     []acts.Mark            `json:"guide,omitempty"`  // of the exercise, shown when it is done
	Proposals []annotations.Proposal `json:"proposals,omitempty"`
	texts     []*acts.Text           // of Documents
}

type documentRuns struct {
	Doc  string     `json:"doc"`
	Runs []acts.Run `json:"runs"`
}

// A question is one to answer about a claim or a citation.
type question struct {
	annotations.BlindLabel
	Ask     string                   `json:"ask"`
	Claim   string                   `json:"claim,omitempty"`
	Cited   []annotations.BlindPlace `json:"cited,omitempty"`
	Choices []choice                 `json:"choices"`
	Said    []saidValue              `json:"said,omitempty"` // for who adjudicates
	Settled bool                     `json:"settled,omitempty"`
}

type choice struct {
	Value float64 `json:"value"`
	Text  string  `json:"text"`
}

// supportScale and yesNo are the answers that the guide explains.
var (
	supportScale = []choice{{1, "all of it"}, {0.8, "all but a detail"}, {0.5, "part of it"}, {0, "nothing of it"}}
	yesNo        = []choice{{1, "yes"}, {0, "no"}}
)

// shown is what the page shows of an item for a part. Of an answer nothing is shown to
// who marks places.
func shown(it annotations.BlindItem, part string) *item {
	out := &item{ID: it.ID, Query: it.Query}
	for _, d := range it.Documents {
		t := acts.NewText(d.Text)
		out.texts = append(out.texts, t)
		out.Documents = append(out.Documents, documentRuns{d.Doc, t.Runs})
	}
	if part == acts.Truth {
		return out
	}
	out.Answer = it.Answer
	for _, l := range it.Labels {
		l.Value = nil
		q := question{BlindLabel: l, Choices: yesNo}
		q.Ask, q.Claim, q.Cited = it.Parts(l)
		if l.Kind == ibid.SupportLabel {
			q.Choices = supportScale
		}
		out.Questions = append(out.Questions, q)
	}
	return out
}

// text is a document of the item, nil if it has none of that name.
func (it *item) text(doc string) *acts.Text {
	i := slices.IndexFunc(it.Documents, func(d documentRuns) bool { return d.Doc == doc })
	if i < 0 {
		return nil
	}
	return it.texts[i]
}

// placed are the proposals that are in a text of the item.
func (it *item) placed(all []annotations.Proposal) []annotations.Proposal {
	var out []annotations.Proposal
	for _, p := range all {
		if t := it.text(p.Doc); t != nil && t.Holds(p.Start, p.End) {
			out = append(out, p)
		}
	}
	return out
}

// keptItems is how many items are kept with their runs.
const keptItems = 8

// A Server serves the page of one annotator. It is safe for concurrent use.
type Server struct {
	options Options
	source  source
	journal *acts.Journal
	mux     *http.ServeMux

	mu     sync.Mutex
	window string // the page that was opened last
	kept   map[string]*item
	order  []string // of kept
}

// A source is where items come from.
type source interface {
	places() []place
	item(id, part string) (*item, bool, error)
}

// NewServer makes the pages over a sample. The journal stays the caller's.
func NewServer(sample *acts.Sample, journal *acts.Journal, o Options) *Server {
	return newServer(&sampled{sample, queue(sample.Items, &o)}, journal, o)
}

type sampled struct {
	sample *acts.Sample
	queue  []place
}

func (s *sampled) places() []place { return s.queue }

func (s *sampled) item(id, part string) (*item, bool, error) {
	it, ok, err := s.sample.Item(id)
	if !ok || err != nil {
		return nil, ok, err
	}
	return shown(it, part), true, nil
}

func newServer(src source, journal *acts.Journal, o Options) *Server {
	s := &Server{options: o, source: src, journal: journal, mux: http.NewServeMux(), kept: make(map[string]*item)}
	text := func(path, kind, content string) {
		s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind+"; charset=utf-8")
			io.WriteString(w, content)
		})
	}
	text("/{$}", "text/html", servedPage())
	text("/page.css", "text/css", style())
	text("/page.js", "text/javascript", script("server.js"))
	s.mux.HandleFunc("POST /open", s.open)
	s.mux.HandleFunc("GET /item", s.serveItem)
	s.mux.HandleFunc("GET /exercise", func(w http.ResponseWriter, _ *http.Request) { answer(w, exercise()) })
	s.mux.HandleFunc("POST /act", s.act)
	s.mux.HandleFunc("GET /agreement", s.agreement)
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// answer writes a value as JSON.
func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // the page that asked may be gone
}

// setup is what a page needs first.
type setup struct {
	Annotator string     `json:"annotator"`
	Mode      string     `json:"mode"` // annotate or adjudicate
	Queue     []place    `json:"queue"`
	Acts      []acts.Act `json:"acts"`
	Exercise  bool       `json:"exercise"` // there is one
}

// open gives a page its queue and makes it the one that acts are taken from.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.window = r.Header.Get("Ibid-Window")
	s.mu.Unlock()
	mode := "annotate"
	if _, ok := s.source.(*adjudicated); ok {
		mode = "adjudicate"
	}
	answer(w, setup{
		Annotator: s.options.Annotator, Mode: mode, Exercise: mode == "annotate",
		Queue: append([]place{}, s.source.places()...), Acts: append([]acts.Act{}, s.journal.Acts()...),
	})
}

// find is an item for a part, with its runs.
func (s *Server) find(id, part string) (*item, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := part + "/" + id
	if it := s.kept[key]; it != nil {
		return it, true, nil
	}
	it, ok, err := s.source.item(id, part)
	if it == nil || err != nil {
		return nil, ok, err
	}
	if part == acts.Truth && !s.options.Proposals.Withheld[id] {
		it.Proposals = it.placed(s.options.Proposals.Of[id])
	}
	if len(s.order) == keptItems {
		delete(s.kept, s.order[0])
		s.order = s.order[1:]
	}
	s.kept[key], s.order = it, append(s.order, key)
	return it, true, nil
}

func (s *Server) serveItem(w http.ResponseWriter, r *http.Request) {
	it, ok, err := s.find(r.FormValue("id"), r.FormValue("part"))
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case !ok:
		http.Error(w, "there is no such item", http.StatusNotFound)
	default:
		answer(w, it)
	}
}

// A sentAct is an act as the page sends it: places are those of the page's text.
type sentAct struct {
	acts.Act
	Part string         `json:"part"` // in which part of the item the person is
	From *acts.Position `json:"from"`
	To   *acts.Position `json:"to"`
}

// act keeps an act and answers with it as it was kept. What a page shows as saved is on
// disk then.
func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	window := s.window
	s.mu.Unlock()
	if r.Header.Get("Ibid-Window") != window {
		http.Error(w, "This page is open in another window, which goes on. Reload to go on here.", http.StatusConflict)
		return
	}
	var sent sentAct
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.place(&sent); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	kept, err := s.journal.Append(sent.Act)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if a, ok := s.source.(*adjudicated); ok {
		if err := a.write(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	answer(w, kept)
}

// place gives an act its code points.
func (s *Server) place(a *sentAct) error {
	it, ok, err := s.find(a.Item, a.Part)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("there is no item %q", a.Item)
	}
	if a.Op == acts.OpTake {
		return it.take(a.Args)
	}
	if p := &s.options.Proposals; a.Op == acts.OpDone && a.Args != nil && a.Args.Part == acts.Truth {
		a.Args.Proposals, a.Args.ProposedBy, a.Args.Withheld = nil, "", false // the page does not say
		if found := it.placed(p.Of[a.Item]); len(found) > 0 {
			a.Args.Proposals, a.Args.ProposedBy, a.Args.Withheld = found, p.By, p.Withheld[a.Item]
		}
	}
	if a.Op != acts.OpMark && a.Op != acts.OpMove {
		return nil
	}
	if a.Args == nil || a.From == nil || a.To == nil {
		return errors.New("a mark needs a document and two places")
	}
	t := it.text(a.Args.Doc)
	if t == nil {
		return fmt.Errorf("the item has no document %q", a.Args.Doc)
	}
	start, end, err := t.Span(*a.From, *a.To)
	if err != nil {
		return err
	}
	a.Args.Start, a.Args.End = &start, &end
	return nil
}

// A liveAgreement is what the page says of agreement: nothing as long as somebody has not
// finished what all get.
type liveAgreement struct {
	With       []string  `json:"with"` // the others
	Statistics []measure `json:"statistics"`
}

// A measure is a statistic over all annotators with its interval; nil is undefined.
type measure struct {
	Name     string   `json:"name"`
	Estimate *float64 `json:"estimate"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	Items    int64    `json:"items"`
}

// liveStatistics are the statistics that the page shows, of marks and of labels.
var liveStatistics = []string{"char_jaccard", "char_alpha", "percent_agreement", "alpha_ordinal", "alpha_nominal"}

// agreement measures agreement with the others once every item that all get is finished
// by this annotator and by each other one whose file is there.
func (s *Server) agreement(w http.ResponseWriter, r *http.Request) {
	with, err := s.finishedWith()
	out := liveAgreement{With: with, Statistics: []measure{}}
	if err == nil && len(with) > 0 {
		var rows []runs.AgreementRow
		rows, err = s.options.Agreement(r.Context())
		for _, row := range rows {
			if row.Annotators == runs.AllAnnotators && !strings.Contains(row.Slice, ",") && (row.Slice == "" || strings.HasPrefix(row.Slice, "kind=")) && slices.Contains(liveStatistics, row.Statistic) {
				out.Statistics = append(out.Statistics, measure{strings.TrimSpace(row.Statistic + " " + strings.TrimPrefix(row.Slice, "kind=")), row.Estimate, row.Low, row.High, row.Items})
			}
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer(w, out)
}

// finishedWith are the others who finished every item that all get, if this annotator did
// so, too, and all of them did.
func (s *Server) finishedWith() ([]string, error) {
	if s.options.Agreement == nil {
		return nil, nil
	}
	said, err := acts.Opinions(s.options.Dir, "template")
	if err != nil {
		return nil, err
	}
	all := make(map[string]int)
	for _, opinions := range said {
		for _, o := range opinions {
			all[o.Annotator] = 0
		}
	}
	shared := 0
	for _, p := range s.source.places() {
		if !p.Shared {
			continue
		}
		shared++
		for _, o := range said[acts.Question{Item: p.Item, Part: p.Part}] {
			all[o.Annotator]++
		}
	}
	var with []string
	for name, n := range all {
		if n < shared || shared == 0 {
			return nil, nil
		}
		if name != s.options.Annotator {
			with = append(with, name)
		}
	}
	if _, mine := all[s.options.Annotator]; !mine {
		return nil, nil
	}
	slices.Sort(with)
	return with, nil
}
