// Package annotate is the page in which people mark places and label answers: served to
// the browser at this machine, or as one file.
package annotate

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations/round"
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

// script is the script of the page, with the part that keeps states.
func script(store string) string { return asset("text.js") + asset(store) + asset("page.js") }

// A place is an item in the list of a person.
type place struct {
	Item  string   `json:"item"`
	Part  string   `json:"part"`
	Query string   `json:"query"`
	For   []string `json:"for,omitempty"`
}

func placeOf(it *round.Item) place { return place{it.ID, it.Purpose, it.Query, it.For} }

// An item is what the page shows of one.
type item struct {
	ID        string       `json:"id"`
	Query     string       `json:"query"`
	Answer    string       `json:"answer,omitempty"`
	Questions []question   `json:"questions,omitempty"`
	Documents []document   `json:"documents"`
	Others    []others     `json:"others,omitempty"` // for who decides
	Union     []round.Mark `json:"union,omitempty"`
	Common    []round.Mark `json:"intersection,omitempty"`
	Guide     []round.Mark `json:"guide"` // of the exercise, shown when it is done
	Proposals []round.Mark `json:"proposals,omitempty"`
}

type document struct {
	Doc  string `json:"doc"`
	Text string `json:"text"`
}

// Others are the marks of one of those between whom somebody decides, without their name.
type others struct {
	Annotator string       `json:"annotator"`
	Marks     []round.Mark `json:"marks"`
}

// A question is one to answer about a claim or a citation.
type question struct {
	round.Label
	Ask     string        `json:"ask"`
	Claim   string        `json:"claim,omitempty"`
	Cited   []round.Place `json:"cited,omitempty"`
	Choices []choice      `json:"choices"`
	Said    []saidValue   `json:"said,omitempty"` // for who decides
	Settled bool          `json:"settled,omitempty"`
}

type choice struct {
	Value float64 `json:"value"`
	Text  string  `json:"text"`
}

// A saidValue is what one of several answered.
type saidValue struct {
	Annotator string  `json:"annotator"`
	Value     float64 `json:"value"`
}

// supportScale and yesNo are the answers that the guide explains.
var (
	supportScale = []choice{{1, "all of it"}, {0.8, "all but a detail"}, {0.5, "part of it"}, {0, "nothing of it"}}
	yesNo        = []choice{{1, "yes"}, {0, "no"}}
)

// shown is what the page shows of an item. Of an answer nothing is in an item of truth.
func shown(it *round.Item) *item {
	out := &item{ID: it.ID, Query: it.Query, Documents: []document{}}
	for _, doc := range it.Documents {
		text, _ := it.Text(doc)
		out.Documents = append(out.Documents, document{doc, text})
	}
	if it.Purpose == round.Truth {
		out.Proposals = it.Proposals
		return out
	}
	out.Answer = it.Answer
	for _, l := range it.Labels {
		q := question{Label: l, Choices: yesNo}
		q.Ask, q.Claim, q.Cited = it.Parts(l)
		if l.Kind == ibid.SupportLabel {
			q.Choices = supportScale
		}
		out.Questions = append(out.Questions, q)
	}
	return out
}

// A Server serves the page of one person. It is safe for concurrent use.
type Server struct {
	setup setup
	round *round.Round
	marks *round.Marks
	asked map[string]round.Asked // of those between whom somebody decides
	mux   *http.ServeMux
}

// setup is what a page needs first.
type setup struct {
	Round     string        `json:"round"`
	Annotator string        `json:"annotator"`
	Mode      string        `json:"mode"` // annotate or decide
	Command   string        `json:"command"`
	Places    []place       `json:"places"`
	States    []round.State `json:"states"`
}

// NewServer makes the pages of somebody who annotates, or who decides between annotators.
// Command starts the program again; marks stay the caller's.
func NewServer(r *round.Round, marks *round.Marks, name, command string, decides bool) (*Server, error) {
	s := &Server{round: r, marks: marks, mux: http.NewServeMux()}
	s.setup = setup{Round: r.Header.Round, Annotator: name, Mode: "annotate", Command: command, Places: []place{}}
	for i := range r.Items {
		if !decides && r.Items[i].IsFor(name) {
			s.setup.Places = append(s.setup.Places, placeOf(&r.Items[i]))
		}
	}
	if decides {
		s.setup.Mode = "decide"
		if err := s.differing(); err != nil {
			return nil, err
		}
	}
	text := func(path, kind, content string) {
		s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind+"; charset=utf-8")
			io.WriteString(w, content)
		})
	}
	text("/{$}", "text/html", servedPage())
	text("/page.css", "text/css", style())
	text("/page.js", "text/javascript", script("server.js"))
	s.mux.HandleFunc("GET /open", func(w http.ResponseWriter, _ *http.Request) {
		now := s.setup
		now.States = append([]round.State{}, s.marks.States()...)
		answer(w, http.StatusOK, now)
	})
	s.mux.HandleFunc("GET /item", s.item)
	s.mux.HandleFunc("GET /exercise", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, exercise()) })
	s.mux.HandleFunc("POST /state", s.state)
	return s, nil
}

// differing finds the items on which those who are done differ: of truth, then of labels,
// since who has seen an answer does not mark freely; the least agreement first.
func (s *Server) differing() error {
	s.asked = make(map[string]round.Asked)
	agreement := make(map[string]float64)
	several := false
	for _, a := range s.round.Asked() {
		if len(a.Said) < 2 {
			continue
		}
		several = true
		it := &s.round.Items[a.Item]
		if agreement[it.ID] = round.Agreement(a.Said); agreement[it.ID] < 1 {
			s.asked[it.ID] = a
			s.setup.Places = append(s.setup.Places, placeOf(it))
		}
	}
	slices.SortStableFunc(s.setup.Places, func(x, y place) int {
		return cmp.Or(strings.Compare(y.Part, x.Part), cmp.Compare(agreement[x.Item], agreement[y.Item]))
	})
	if !several {
		return errors.New("no item was finished by two annotators")
	}
	return nil
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// answer writes a value as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // the page that asked may be gone
}

// numbered is what somebody is called between whom somebody decides.
func numbered(i int) string {
	if names := []string{"one", "two", "three", "four", "five", "six"}; i < len(names) {
		return names[i]
	}
	return fmt.Sprint("number ", i+1)
}

func (s *Server) item(w http.ResponseWriter, r *http.Request) {
	it := s.round.Item(r.FormValue("id"))
	if it == nil {
		http.Error(w, "there is no such item", http.StatusNotFound)
		return
	}
	out := shown(it)
	said := s.asked[it.ID].Said
	for i, o := range said {
		if it.Purpose == round.Truth {
			out.Others = append(out.Others, others{numbered(i), append([]round.Mark{}, o.Marks...)})
			continue
		}
		for k := range out.Questions {
			q := &out.Questions[k]
			if v, ok := o.Answer(q.Label); ok {
				q.Said = append(q.Said, saidValue{numbered(i), v})
			}
		}
	}
	if it.Purpose == round.Truth && said != nil {
		out.Union, out.Common = round.Combine(ibid.PolicyUnion, said), round.Combine(ibid.PolicyIntersection, said)
	}
	for k := range out.Questions {
		q := &out.Questions[k]
		q.Settled = len(q.Said) > 1 && !slices.ContainsFunc(q.Said, func(v saidValue) bool { return v.Value != q.Said[0].Value })
	}
	answer(w, http.StatusOK, out)
}

// state keeps a state. What a page shows as saved is on disk then. If the item was changed by
// another window, the page gets what it has become.
func (s *Server) state(w http.ResponseWriter, r *http.Request) {
	var sent struct {
		State round.State `json:"state"`
		After int         `json:"after"` // states of the item before this one
	}
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !slices.ContainsFunc(s.setup.Places, func(p place) bool { return p.Item == sent.State.ID }) {
		http.Error(w, fmt.Sprintf("there is no item %q here", sent.State.ID), http.StatusBadRequest)
		return
	}
	for i, name := range sent.State.From {
		for k, o := range s.asked[sent.State.ID].Said {
			if name == numbered(k) {
				sent.State.From[i] = o.Annotator
			}
		}
	}
	switch err := s.marks.Append(sent.State, sent.After); {
	case errors.Is(err, round.ErrChanged):
		answer(w, http.StatusConflict, s.marks.Of(sent.State.ID))
	case errors.Is(err, round.ErrWrong):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// Left is how many items are open.
func (s *Server) Left() int {
	done := make(map[string]bool)
	for _, state := range s.marks.States() {
		done[state.ID] = state.Done
	}
	n := 0
	for _, p := range s.setup.Places {
		if !done[p.Item] {
			n++
		}
	}
	return n
}

// Places is how many items the person has.
func (s *Server) Places() int { return len(s.setup.Places) }
