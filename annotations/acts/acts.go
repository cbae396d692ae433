// Package acts keeps what a person does while annotating: one line an act, never changed,
// in a journal that only grows. What the person says of an item follows from the acts by
// one function, [Fold]; the files that agree reads are made from that.
//
// Offsets of acts are code points of a document. Pages count in UTF-16 code units of runs
// of text; [Text] converts.
package acts

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"ibid/annotations"
)

// What a person can do.
const (
	OpMark   = "mark"   // mark a stretch of a document; the act's id names the mark
	OpMove   = "move"   // give the mark Of other edges
	OpRemove = "remove" // take the mark Of away
	OpNone   = "none"   // nothing in the documents answers this; takes all marks away
	OpLabel  = "label"  // answer a question; no value: it cannot be decided
	OpNote   = "note"   // write a note; "" takes it away
	OpFlag   = "flag"   // flag the item, or no longer
	OpSkip   = "skip"   // leave this part of the item for later
	OpDone   = "done"   // this part of the item is finished
	OpTake   = "take"   // these marks instead of all: what an adjudicator takes of others
	OpUndo   = "undo"   // what the act Of did did not happen
)

// Parts of an item: marking what should be cited, and labelling what an answer says.
const (
	Truth  = annotations.AskTruth
	Labels = annotations.AskLabels
)

// How an adjudicator comes to marks or labels.
const (
	HowEqual        = "equal"        // all said the same
	HowTake         = "take"         // one annotator's
	HowUnion        = "union"        // what anybody marked
	HowIntersection = "intersection" // what everybody marked
	HowNew          = "new"          // made anew
)

// An Act is one thing that a person did.
type Act struct {
	ID   string    `json:"id"`  // made by the page: an act that is sent twice happens once
	Seq  int64     `json:"seq"` // its line in the journal, from 1
	At   time.Time `json:"at"`
	Item string    `json:"item"`
	Op   string    `json:"op"`
	Of   string    `json:"of,omitempty"` // undo: an earlier act of the item; move and remove: a mark
	Args *Args     `json:"args,omitempty"`
}

// Args say more of an act; which members they have depends on its op.
type Args struct {
	Doc   string `json:"doc,omitempty"` // mark
	Start *int64 `json:"start,omitempty"`
	End   *int64 `json:"end,omitempty"` // mark and move: code points, the end exclusive

	ClaimID    string   `json:"claim_id,omitempty"` // label: the question
	CitationID string   `json:"citation_id,omitempty"`
	Kind       string   `json:"kind,omitempty"`
	Value      *float64 `json:"value,omitempty"`

	Text string `json:"text,omitempty"` // note
	On   bool   `json:"on,omitempty"`   // flag
	Part string `json:"part,omitempty"` // skip and done

	How   string   `json:"how,omitempty"` // take: how it follows from what From said
	From  []string `json:"from,omitempty"`
	Marks []Mark   `json:"marks,omitempty"`

	// What a judge had found when marking was finished; see [annotations.BlindItem].
	Proposals  []annotations.Proposal `json:"proposals,omitempty"`
	ProposedBy string                 `json:"proposed_by,omitempty"`
	Withheld   bool                   `json:"withheld,omitempty"`
}

// check refuses an act that misses what its op needs.
func (a *Act) check() error {
	args := a.Args
	if args == nil {
		args = &Args{}
	}
	switch {
	case a.ID == "" || a.Item == "":
		return errors.New("an act needs an id and an item")
	case (a.Op == OpMove || a.Op == OpRemove || a.Op == OpUndo) != (a.Of != ""):
		return fmt.Errorf("%s: which act it is about", a.Op)
	case (a.Op == OpMark || a.Op == OpMove) && (args.Start == nil || args.End == nil || *args.Start < 0 || *args.Start >= *args.End):
		return fmt.Errorf("%s: needs start and end", a.Op)
	case a.Op == OpMark && args.Doc == "":
		return errors.New("mark: needs a document")
	case a.Op == OpLabel && args.Kind == "":
		return errors.New("label: needs the kind of the question")
	case (a.Op == OpSkip || a.Op == OpDone) && args.Part != Truth && args.Part != Labels:
		return fmt.Errorf("%s: unknown part %q", a.Op, args.Part)
	case a.Op == OpTake && (!slices.Contains([]string{HowTake, HowUnion, HowIntersection}, args.How) || len(args.From) == 0):
		return errors.New("take: needs how, and from whom")
	case !slices.Contains([]string{OpMark, OpMove, OpRemove, OpNone, OpLabel, OpNote, OpFlag, OpSkip, OpDone, OpTake, OpUndo}, a.Op):
		return fmt.Errorf("unknown op %q", a.Op)
	}
	return nil
}

// A State is what a person says of an item after some acts.
type State struct {
	Marks  []Mark
	None   bool // nothing answers it
	Labels []annotations.BlindLabel
	How    string   // of the marks, if an adjudicator took them over and left them as they were
	From   []string // whose they were
	Note   string
	Flag   bool
	Done   map[string]bool // parts that are finished
	Skip   map[string]bool // parts that were skipped, and not finished since

	proposed *Args // of the act that finished marking, if it had proposals
}

// A Mark is a marked stretch.
type Mark struct {
	ID    string `json:"id,omitempty"` // of the act that made it
	Doc   string `json:"doc"`
	Start int64  `json:"start"` // code points, the end exclusive
	End   int64  `json:"end"`
}

// Fold is what the acts of one item come to, in the order of the journal. An undo that
// was itself undone undoes nothing; what is about a mark that is no longer there does
// nothing.
func Fold(acts []Act) State {
	undone := make(map[string]bool)
	for _, a := range slices.Backward(acts) { // an undo comes after what it undoes
		if a.Op == OpUndo && !undone[a.ID] {
			undone[a.Of] = true
		}
	}
	s := State{Done: make(map[string]bool), Skip: make(map[string]bool)}
	for i := range acts {
		if !undone[acts[i].ID] {
			s.apply(&acts[i])
		}
	}
	// Who took the last mark away has not said that there is nothing to mark.
	if len(s.Marks) == 0 && !s.None {
		delete(s.Done, Truth)
	}
	return s
}

func (s *State) apply(a *Act) {
	args := a.Args
	if args == nil {
		args = &Args{}
	}
	mark := slices.IndexFunc(s.Marks, func(m Mark) bool { return m.ID == a.Of })
	if a.Op == OpMark || mark >= 0 || a.Op == OpNone {
		s.How, s.From = "", nil
	}
	switch a.Op {
	case OpTake:
		s.Marks, s.None, s.How, s.From = slices.Clone(args.Marks), len(args.Marks) == 0, args.How, args.From
		for i := range s.Marks {
			s.Marks[i].ID = fmt.Sprintf("%s.%d", a.ID, i)
		}
	case OpMark:
		s.Marks = append(s.Marks, Mark{ID: a.ID, Doc: args.Doc, Start: *args.Start, End: *args.End})
		s.None = false
	case OpMove:
		if mark >= 0 {
			s.Marks[mark].Start, s.Marks[mark].End = *args.Start, *args.End
		}
	case OpRemove:
		if mark >= 0 {
			s.Marks = slices.Delete(s.Marks, mark, mark+1)
		}
	case OpNone:
		s.Marks, s.None = nil, true
	case OpLabel:
		l := annotations.BlindLabel{ClaimID: args.ClaimID, CitationID: args.CitationID, Kind: args.Kind, Value: args.Value}
		s.Labels = slices.DeleteFunc(s.Labels, func(x annotations.BlindLabel) bool {
			return x.ClaimID == l.ClaimID && x.CitationID == l.CitationID && x.Kind == l.Kind
		})
		s.Labels = append(s.Labels, l)
	case OpNote:
		s.Note = args.Text
	case OpFlag:
		s.Flag = args.On
	case OpSkip:
		s.Skip[args.Part] = true
		delete(s.Done, args.Part)
	case OpDone:
		s.Done[args.Part] = true
		delete(s.Skip, args.Part)
		if args.Part == Truth {
			s.proposed = args
		}
	}
}

// Filled is what agree reads of an item: places if marking is finished, labels if
// labelling is. ok is false if neither is.
func (s *State) Filled(item string) (it annotations.BlindItem, ok bool) {
	it = annotations.BlindItem{ID: item, Labels: []annotations.BlindLabel{}, Note: s.Note, Flag: s.Flag}
	if s.Done[Truth] {
		it.Truth = []annotations.BlindPlace{}
		it.Proposals, it.ProposedBy, it.Withheld = s.proposed.Proposals, s.proposed.ProposedBy, s.proposed.Withheld
		for _, m := range s.Marks {
			it.Truth = append(it.Truth, annotations.BlindPlace{Doc: m.Doc, Start: new(m.Start), End: new(m.End)})
		}
	}
	if s.Done[Labels] {
		it.Labels = append(it.Labels, s.Labels...)
	}
	return it, s.Done[Truth] || s.Done[Labels]
}
