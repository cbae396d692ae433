package harness

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"ibid/dataset"
)

// maxShared bounds the documents that a sharing remembers.
const maxShared = 1 << 16

// A sharing finds out whether questions share documents. Then they are not
// independent of each other, and intervals over questions are too narrow. It
// looks at the documents of truth and citations until it finds one that two
// questions have, and remembers no more than 65,536 of them.
type sharing struct {
	found atomic.Bool
	full  atomic.Bool
	seed  maphash.Seed
	mu    sync.Mutex
	id    map[uint64]uint64 // document -> a question that has it
}

func newSharing() *sharing {
	return &sharing{seed: maphash.MakeSeed(), id: make(map[uint64]uint64)}
}

func (s *sharing) note(r *dataset.Row) {
	if s.found.Load() || s.full.Load() {
		return
	}
	id := maphash.String(s.seed, r.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range r.Truth {
		s.document(r.Truth[i].Doc, r.Truth[i].DocNull, id)
	}
	for i := range r.Citations {
		s.document(r.Citations[i].Doc, r.Citations[i].DocNull, id)
	}
	if len(s.id) >= maxShared {
		s.full.Store(true)
	}
}

func (s *sharing) document(doc string, null bool, id uint64) {
	if null {
		return
	}
	hash := maphash.String(s.seed, doc)
	other, ok := s.id[hash]
	switch {
	case !ok:
		s.id[hash] = id
	case other != id:
		s.found.Store(true)
	}
}
