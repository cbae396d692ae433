package round

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"ibid"
	"ibid/dataset/disk"
)

// Roles of people in a round.
const (
	Annotator = "annotator"
	Decider   = "decider" // decides between annotators, and is none
)

// A marksHeader is the first line of a person's file.
type marksHeader struct {
	Schema    string `json:"schema"`
	Round     string `json:"round"`
	Annotator string `json:"annotator"`
	Role      string `json:"role"`
}

// A State is everything that a person says of an item. The last one in a file counts.
type State struct {
	ID     string   `json:"id"`
	Truth  []Mark   `json:"truth"` // null: did not look; []: nothing to mark
	Labels []Label  `json:"labels,omitempty"`
	Done   bool     `json:"done,omitempty"`
	Skip   bool     `json:"skip,omitempty"`
	Flag   bool     `json:"flag,omitempty"`
	Note   string   `json:"note,omitempty"`
	At     string   `json:"at,omitempty"`
	How    string   `json:"how,omitempty"`  // of a decider's marks: one of hows
	From   []string `json:"from,omitempty"` // of a decider's marks: whose they were
}

// How marks and labels that stand for several opinions came about.
const (
	howEqual        = "equal"        // all said the same
	howAlone        = "alone"        // one person alone looked
	howTake         = "take"         // one annotator's
	howUnion        = "union"        // what anybody marked
	howIntersection = "intersection" // what everybody marked
	howMajority     = "majority"     // what more than half said
	howNew          = "new"          // a decider's own
)

// check refuses what the item does not ask for, and marks that are not in its texts.
func (s *State) check(it *Item) error {
	if it.Purpose == Labels && s.Truth != nil {
		return fmt.Errorf("%s asks for labels, and not for places", it.ID)
	}
	for i := range s.Truth {
		if err := it.checkMark(&s.Truth[i]); err != nil {
			return err
		}
	}
	for _, l := range s.Labels {
		if !slices.ContainsFunc(it.Labels, func(q Label) bool { return q.question() == l.question() }) {
			return fmt.Errorf("%s does not ask for %s of claim %q, citation %q", it.ID, l.Kind, l.ClaimID, l.CitationID)
		}
		if l.Value != nil && !(*l.Value >= 0 && *l.Value <= 1) {
			return fmt.Errorf("%s: the value %g is not from 0 to 1", it.ID, *l.Value)
		}
	}
	if s.How != "" && !slices.Contains([]string{howTake, howUnion, howIntersection, howNew}, s.How) {
		return fmt.Errorf("%s: unknown how %q", it.ID, s.How)
	}
	return nil
}

// A Person is what one person says in a round.
type Person struct {
	Name   string
	Role   string
	States map[string]State // by item: the last of each

	file  string            // the first of the files
	files map[string]string // of each item
}

// A Count says how far a person has come.
type Count struct {
	Annotator string `json:"annotator"`
	Role      string `json:"role"`
	Done      int    `json:"done"`
	Skipped   int    `json:"skipped"`
	Flagged   int    `json:"flagged"`
	Of        int    `json:"of"`
}

// Counts say how far everybody has come, by name.
func (r *Round) Counts() []Count {
	out := []Count{}
	for _, p := range r.People {
		c := Count{Annotator: p.Name, Role: p.Role}
		for i := range r.Items {
			s := p.States[r.Items[i].ID]
			if p.Role == Annotator && r.Items[i].IsFor(p.Name) || s.Done {
				c.Of++
			}
			for n, is := range map[*int]bool{&c.Done: s.Done, &c.Skipped: s.Skip, &c.Flagged: s.Flag} {
				if is {
					*n++
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// Text is the count in words.
func (c Count) Text() string {
	text := fmt.Sprintf("%s %d of %d done", c.Annotator, c.Done, c.Of)
	if c.Role == Decider {
		text = fmt.Sprintf("%s decided %d", c.Annotator, c.Done)
	}
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	if c.Flagged > 0 {
		text += fmt.Sprintf(", %d flagged", c.Flagged)
	}
	return text
}

// readPeople reads every file of the folder that is a person's.
func (r *Round) readPeople() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".jsonl" || e.Name() == ItemsFile {
			continue
		}
		if err := r.readPerson(filepath.Join(r.dir, e.Name())); err != nil {
			return err
		}
	}
	slices.SortFunc(r.People, func(a, b *Person) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// readPerson reads a person's file: their marks, or a copy of the items that is filled in.
func (r *Round) readPerson(path string) error {
	lines, err := readLines(path)
	if err != nil {
		return err
	}
	var h marksHeader
	if len(lines) == 0 {
		return nil // of somebody who has begun
	}
	if json.Unmarshal(lines[0], &h) != nil || h.Schema != marksSchema && h.Schema != itemsSchema {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s is not read: its first line is not that of a person's marks", path))
		return nil
	}
	if h.Round != r.Header.Round {
		return ibid.Usagef("%s: line 1: of another round than %s", path, filepath.Join(r.dir, ItemsFile))
	}
	var states []State
	if h.Schema == itemsSchema {
		h.Role = Annotator
		if h.Annotator == "" {
			h.Annotator = strings.TrimSuffix(filepath.Base(path), ".jsonl")
		}
		states, err = r.filledIn(lines[1:])
	} else {
		states, err = r.readStates(path, lines[1:])
	}
	if err != nil {
		return ibid.Usagef("%s: %w", path, err)
	}
	if h.Role != Annotator && h.Role != Decider {
		return ibid.Usagef("%s: line 1: unknown role %q", path, h.Role)
	}
	if err := r.Header.CheckAnnotator(h.Annotator, h.Role == Decider); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return r.add(path, &h, states)
}

// filledIn reads a copy of the items in which somebody filled in truth and values.
func (r *Round) filledIn(lines [][]byte) ([]State, error) {
	items, err := parseItems(lines)
	var out []State
	for i := range items {
		it := &items[i]
		s := State{ID: it.ID, Truth: it.Truth, Labels: it.Labels}
		s.Done = it.Truth != nil || slices.ContainsFunc(it.Labels, func(l Label) bool { return l.Value != nil })
		asked := r.Item(it.ID)
		if asked == nil {
			return nil, fmt.Errorf("%q is no item of the round", it.ID)
		}
		if err := s.check(asked); err != nil {
			return nil, err
		}
		if s.Done {
			out = append(out, s)
		}
	}
	return out, err
}

// readStates reads the lines behind the first of a person's marks. A last line without its
// end was never said to be saved: it is dropped with a warning.
func (r *Round) readStates(path string, lines [][]byte) ([]State, error) {
	var out []State
	for n, line := range lines {
		if n == len(lines)-1 && !bytes.HasSuffix(line, []byte("\n")) {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: line %d is cut off, and left out", path, n+2))
			break
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var s State
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		err := d.Decode(&s)
		if err == nil {
			if it := r.Item(s.ID); it == nil {
				err = fmt.Errorf("%q is no item of the round", s.ID)
			} else {
				err = s.check(it)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+2, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// add adds what a file says. Two files of one person are united; what they say otherwise of
// one item is an error.
func (r *Round) add(path string, h *marksHeader, states []State) error {
	i := slices.IndexFunc(r.People, func(p *Person) bool { return strings.EqualFold(p.Name, h.Annotator) })
	if i < 0 {
		i = len(r.People)
		r.People = append(r.People, &Person{Name: h.Annotator, Role: h.Role, States: make(map[string]State), file: path, files: make(map[string]string)})
	}
	p := r.People[i]
	if p.Role != h.Role {
		return ibid.Usagef("%s is %s in %s and %s in %s", p.Name, p.Role, p.file, h.Role, path)
	}
	last := make(map[string]State)
	for _, s := range states {
		last[s.ID] = s
	}
	for id, s := range last {
		if before, there := p.States[id]; there && !sameState(before, s) {
			return ibid.Usagef("%s and %s differ in %s", p.files[id], path, id).With("keep the file that is right, and give the other one another ending")
		}
		p.States[id], p.files[id] = s, path
	}
	return nil
}

// sameState reports whether two states say the same, whenever that was.
func sameState(a, b State) bool {
	a.At, b.At = "", ""
	for _, s := range []*State{&a, &b} {
		if len(s.Labels) == 0 {
			s.Labels = nil
		}
		s.Truth = slices.Clone(s.Truth)
		for i := range s.Truth {
			s.Truth[i].Text = ""
		}
	}
	return reflect.DeepEqual(a, b)
}

// ErrChanged says that a state was to follow another one than the last of its item.
var ErrChanged = errors.New("the item was changed elsewhere")

// ErrWrong says that a state is none of the round.
var ErrWrong = errors.New("not of this round")

// Marks is the file of one person, open for writing and locked. It is safe for concurrent
// use.
type Marks struct {
	mu     sync.Mutex
	round  *Round
	file   *disk.File
	path   string
	header marksHeader
	size   int64 // of the whole lines
	states []State
	count  map[string]int // of states of each item
	broken error          // why nothing can be appended any more
}

// OpenMarks opens the file of a person of the round, makes it if need be, and locks it.
// [disk.ErrHeld] means that another process writes it. A last line without its end is cut
// off.
func (r *Round) OpenMarks(name, role string) (*Marks, error) {
	m := &Marks{round: r, path: filepath.Join(r.dir, name+".jsonl"), count: make(map[string]int)}
	f, err := disk.Open(m.path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	m.file = f
	if err := m.load(name, role); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return m, nil
}

func (m *Marks) load(name, role string) error {
	if err := disk.TryLock(m.file); err != nil {
		return fmt.Errorf("%s: %w", m.path, err)
	}
	data, err := io.ReadAll(m.file)
	if err != nil {
		return err
	}
	m.size = int64(bytes.LastIndexByte(data, '\n') + 1)
	if m.size < int64(len(data)) {
		if err := errors.Join(m.file.Truncate(m.size), m.file.Sync()); err != nil {
			return err
		}
	}
	m.header = marksHeader{marksSchema, m.round.Header.Round, name, role}
	if m.size == 0 {
		return nil // the first state brings the first line along
	}
	lines := slices.Collect(bytes.Lines(data[:m.size]))
	var h marksHeader
	if json.Unmarshal(lines[0], &h) != nil || h.Schema != marksSchema || h.Round != m.round.Header.Round || h.Role != role || !strings.EqualFold(h.Annotator, name) {
		return ibid.Usagef("%s is not what %s %s has marked in this round", m.path, role, name)
	}
	if m.states, err = m.round.readStates(m.path, lines[1:]); err != nil {
		return ibid.Usagef("%s: %w", m.path, err)
	}
	for _, s := range m.states {
		m.count[s.ID]++
	}
	return nil
}

// write appends lines, and returns when a loss of power would not lose them.
func (m *Marks) write(lines []any) error {
	if m.broken != nil {
		return m.broken
	}
	var text bytes.Buffer
	for _, line := range lines {
		if err := encoder(&text).Encode(line); err != nil {
			return err
		}
	}
	_, err := m.file.WriteAt(text.Bytes(), m.size)
	if err == nil {
		err = m.file.Sync()
	}
	if err != nil {
		// Nobody knows how much of it is there.
		if undone := errors.Join(m.file.Truncate(m.size), m.file.Sync()); undone != nil {
			m.broken = fmt.Errorf("%s cannot be written: %w", m.path, errors.Join(err, undone))
		}
		return err
	}
	m.size += int64(text.Len())
	return nil
}

// Append writes a state that follows the first `after` states of its item. If there are more,
// it returns [ErrChanged], unless the last of them is this one: it was sent twice.
func (m *Marks) Append(s State, after int) error {
	it := m.round.Item(s.ID)
	if it == nil {
		return fmt.Errorf("%w: there is no item %q", ErrWrong, s.ID)
	}
	if err := s.check(it); err != nil {
		return fmt.Errorf("%w: %w", ErrWrong, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.count[s.ID]; n != after {
		if last := m.last(s.ID); n == after+1 && s.At == last.At && sameState(s, last) {
			return nil
		}
		return ErrChanged
	}
	lines := []any{s}
	if m.size == 0 {
		lines = []any{m.header, s}
	}
	if err := m.write(lines); err != nil {
		return err
	}
	m.states = append(m.states, s)
	m.count[s.ID]++
	return nil
}

// last is the last state of an item.
func (m *Marks) last(id string) State {
	for _, s := range slices.Backward(m.states) {
		if s.ID == id {
			return s
		}
	}
	return State{ID: id}
}

// States are all states so far, in the order of the file.
func (m *Marks) States() []State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.states)
}

// Of are the states of one item.
func (m *Marks) Of(id string) []State {
	return slices.DeleteFunc(m.States(), func(s State) bool { return s.ID != id })
}

// Path is the file.
func (m *Marks) Path() string { return m.path }

// Close ends the lock. What was appended is on disk already; a file without anything is removed.
func (m *Marks) Close() error {
	var err error
	if m.size == 0 {
		err = disk.Remove(m.path)
	}
	return errors.Join(err, m.file.Close())
}
