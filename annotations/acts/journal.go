package acts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"ibid/annotations"
	"ibid/dataset"
	"ibid/dataset/disk"
)

// suffix ends the names of journals.
const suffix = annotations.ActsSuffix

// JournalPath and FilledPath are the files of an annotator in a folder.
func JournalPath(dir, annotator string) string { return filepath.Join(dir, annotator+suffix) }

func FilledPath(dir, annotator string) string { return filepath.Join(dir, annotator+".jsonl") }

// A Journal is the file of acts of one annotator, open for writing and locked. It is safe
// for concurrent use.
type Journal struct {
	mu      sync.Mutex
	path    string
	filled  string // the file that is made from it, "" for none
	file    *disk.File
	size    int64 // of the whole lines
	acts    []Act
	byItem  map[string][]Act
	byID    map[string]int // positions in acts
	decides bool           // the acts are an adjudicator's
	broken  error          // why nothing can be appended any more
}

// Open opens the journal of an annotator, makes it if need be, and locks it. [disk.ErrHeld]
// means that another process writes it. A last line without an end was never promised to
// anybody: it is cut off. A line that is no act is an error.
func Open(dir, annotator string) (*Journal, error) {
	j := &Journal{path: JournalPath(dir, annotator), filled: FilledPath(dir, annotator)}
	f, err := disk.Open(j.path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	j.file = f
	if err := j.load(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	// Renaming the other file in the folder makes the name of this one last, too.
	if err := j.writeFilled(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

func (j *Journal) load() error {
	if err := disk.TryLock(j.file); err != nil {
		return fmt.Errorf("%s: %w", j.path, err)
	}
	data, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	j.size = int64(bytes.LastIndexByte(data, '\n') + 1)
	if j.size < int64(len(data)) {
		if err := errors.Join(j.file.Truncate(j.size), j.file.Sync()); err != nil {
			return err
		}
	}
	all, err := readActs(data[:j.size], j.path)
	if err != nil {
		return err
	}
	j.byItem, j.byID = make(map[string][]Act), make(map[string]int)
	for _, a := range all {
		j.add(a)
	}
	return nil
}

// readActs reads acts, each once, from whole lines.
func readActs(data []byte, path string) ([]Act, error) {
	var all []Act
	seen := make(map[string]bool)
	n := 0
	for line := range bytes.Lines(data) {
		n++
		var a Act
		err := json.Unmarshal(line, &a)
		if err == nil {
			err = a.check()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		if !seen[a.ID] {
			all = append(all, a)
		}
		seen[a.ID] = true
	}
	return all, nil
}

func (j *Journal) add(a Act) {
	j.byID[a.ID] = len(j.acts)
	j.acts = append(j.acts, a)
	j.byItem[a.Item] = append(j.byItem[a.Item], a)
}

// Append writes an act, and returns when a loss of power would not lose it. An act whose
// id the journal has already is returned as it is there, and not written again.
func (j *Journal) Append(a Act) (Act, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if i, again := j.byID[a.ID]; again {
		return j.acts[i], nil
	}
	if j.broken != nil {
		return a, j.broken
	}
	if err := a.check(); err != nil {
		return a, err
	}
	if i, ok := j.byID[a.Of]; a.Op == OpUndo && (!ok || j.acts[i].Item != a.Item) {
		return a, fmt.Errorf("undo: the item has no act %q", a.Of)
	}
	a.Seq, a.At = int64(len(j.acts))+1, time.Now().UTC().Truncate(time.Millisecond)
	var line bytes.Buffer
	if err := WriteLines(&line, []Act{a}); err != nil {
		return a, err
	}
	_, err := j.file.WriteAt(line.Bytes(), j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		// Nobody knows how much of it is there.
		if cut := errors.Join(j.file.Truncate(j.size), j.file.Sync()); cut != nil {
			j.broken = fmt.Errorf("%s cannot be written: %w", j.path, errors.Join(err, cut))
		}
		return a, err
	}
	j.size += int64(line.Len())
	before := Fold(j.byItem[a.Item])
	j.add(a)
	after := Fold(j.byItem[a.Item])
	_, was := before.Filled(a.Item)
	_, is := after.Filled(a.Item)
	if was || is { // else the file of filled items is as it was
		err = j.writeFilled()
	}
	return a, err
}

// Acts are those of the journal so far, in their order.
func (j *Journal) Acts() []Act {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.acts)
}

// Decides says that the acts are those of an adjudicator: the items that they finish say
// how they were decided, and are nobody's opinion.
func (j *Journal) Decides() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.decides = true
	return j.writeFilled()
}

// writeFilled makes the file of filled items from the acts.
func (j *Journal) writeFilled() error {
	items := FilledItems(j.acts)
	if j.decides {
		for i := range items {
			state := Fold(j.byItem[items[i].ID])
			d := state.Decides("")
			items[i].How, items[i].From = d.How, d.From
		}
	}
	return dataset.WriteFile(j.filled, func(w io.Writer) error { return WriteLines(w, items) })
}

// FilledItems are the items that the acts finish, in the order of their first acts.
func FilledItems(all []Act) []annotations.BlindItem {
	var order []string
	byItem := make(map[string][]Act)
	for _, a := range all {
		if byItem[a.Item] == nil {
			order = append(order, a.Item)
		}
		byItem[a.Item] = append(byItem[a.Item], a)
	}
	var items []annotations.BlindItem
	for _, item := range order {
		s := Fold(byItem[item])
		if it, ok := s.Filled(item); ok {
			items = append(items, it)
		}
	}
	return items
}

// WriteLines writes JSON Lines: filled items as agree reads them, or a merged table.
func WriteLines[T any](w io.Writer, items []T) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range items {
		if err := e.Encode(&items[i]); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Close ends the lock. What was appended is on disk already.
func (j *Journal) Close() error { return j.file.Close() }
