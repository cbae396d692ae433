package runs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"ibid/metrics/stats"
)

// A Sketch tells which runs ask the same questions. It has the sketchSize smallest hashes of
// the questions of a run (id and text), in ascending order: all of them, if there are no
// more. Source: Broder, On the resemblance and containment of documents, 1997.
type Sketch []uint64

const sketchSize = 64

// Add adds a question, which may be there already.
func (s *Sketch) Add(id, query string) {
	key := stats.Key(id, "\x00", query)
	if n := len(*s); n == sketchSize && key >= (*s)[n-1] {
		return
	}
	at, found := slices.BinarySearch(*s, key)
	if !found {
		*s = slices.Insert(*s, at, key)
		*s = (*s)[:min(len(*s), sketchSize)]
	}
}

// Likeness estimates how many of the questions that either of two runs asks both ask, in
// [0, 1]: exactly, where both ask at most sketchSize. It is 0 if one is of no questions, or
// of a run that says nothing of its questions.
func (s Sketch) Likeness(other Sketch) float64 {
	either, both := 0, 0
	for i, k := 0, 0; either < sketchSize && (i < len(s) || k < len(other)); either++ {
		switch {
		case k == len(other) || i < len(s) && s[i] < other[k]:
			i++
		case i == len(s) || other[k] < s[i]:
			k++
		default:
			i, k, both = i+1, k+1, both+1
		}
	}
	return float64(both) / float64(max(either, 1))
}

// MarshalJSON writes the hashes in hexadecimal.
func (s Sketch) MarshalJSON() ([]byte, error) {
	hashes := make([]string, len(s))
	for i, key := range s {
		hashes[i] = fmt.Sprintf("%016x", key)
	}
	return json.Marshal(hashes)
}

// UnmarshalJSON reads what MarshalJSON writes. Manifests of before have an object in this
// place: such a run says nothing of its questions.
func (s *Sketch) UnmarshalJSON(data []byte) error {
	*s = nil
	if len(data) > 0 && data[0] == '{' {
		return nil
	}
	var hashes []string
	if err := json.Unmarshal(data, &hashes); err != nil {
		return err
	}
	for _, text := range hashes {
		key, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			return err
		}
		*s = append(*s, key)
	}
	if len(*s) > sketchSize || !slices.IsSorted(*s) {
		return fmt.Errorf("questions: %d hashes that are no sketch", len(*s))
	}
	return nil
}
