package acts

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"ibid/annotations"
)

// A Sample is a file of items to annotate, such as ibid sample writes. Only where its
// lines are is kept in memory. It is safe for concurrent use.
type Sample struct {
	Items []SampleItem // in the order of the file
	file  *os.File
	path  string
	at    map[string]int // positions in Items
}

// A SampleItem says what is asked of an item.
type SampleItem struct {
	ID      string
	Purpose string // of [annotations.BlindItem]
	Labels  int    // questions about its answer
	Doc     string // its first document, "" for none
	begin   int64
	length  int
}

// OpenSample opens a file of items. A line that is none, and two items of one name, are
// errors.
func OpenSample(path string) (*Sample, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &Sample{file: f, path: path, at: make(map[string]int)}
	if err := s.index(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

func (s *Sample) index() error {
	lines := bufio.NewReaderSize(s.file, 1<<20)
	var at int64
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			var it annotations.BlindItem
			d := json.NewDecoder(bytes.NewReader(line))
			d.DisallowUnknownFields() // another file would lose what it says
			if err := d.Decode(&it); err != nil {
				return fmt.Errorf("%s: line %d: %w", s.path, n, err)
			}
			if it.ID == "" {
				return fmt.Errorf("%s: line %d: an item without an id", s.path, n)
			}
			if _, twice := s.at[it.ID]; twice {
				return fmt.Errorf("%s: line %d: %q is there twice", s.path, n, it.ID)
			}
			s.at[it.ID] = len(s.Items)
			item := SampleItem{ID: it.ID, Purpose: it.Purpose, Labels: len(it.Labels), begin: at, length: len(line)}
			if len(it.Documents) > 0 {
				item.Doc = it.Documents[0].Doc
			}
			s.Items = append(s.Items, item)
		}
		at += int64(len(line))
		if err != nil {
			return nil
		}
	}
}

// Find is what is asked of an item; ok is false if there is none of that name.
func (s *Sample) Find(id string) (it SampleItem, ok bool) {
	i, ok := s.at[id]
	if !ok {
		return it, false
	}
	return s.Items[i], true
}

// Item reads an item; ok is false if there is none of that name.
func (s *Sample) Item(id string) (it annotations.BlindItem, ok bool, err error) {
	i, ok := s.at[id]
	if !ok {
		return it, false, nil
	}
	line := make([]byte, s.Items[i].length)
	if _, err := s.file.ReadAt(line, s.Items[i].begin); err != nil {
		return it, true, fmt.Errorf("%s: %w", s.path, err)
	}
	if err := json.Unmarshal(line, &it); err != nil || it.ID != id {
		return it, true, fmt.Errorf("%s has changed", s.path)
	}
	return it, true, nil
}

// Close closes the file.
func (s *Sample) Close() error { return s.file.Close() }
