package cache

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// A Memory is a store that lives as long as the process. Nothing in it is
// durable; it is what a run without a cache on disk joins equal requests with.
type Memory struct {
	mu       sync.Mutex
	closed   bool
	entries  map[Key]*Entry
	attempts []Attempt
	leases   map[Key]lease
}

type lease struct {
	owner string
	until time.Time
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{entries: make(map[Key]*Entry), leases: make(map[Key]lease)}
}

// Get returns the entry of a key, nil if there is none.
func (m *Memory) Get(ctx context.Context, key Key) (*Entry, error) {
	unlock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	e := m.entries[key]
	if e == nil {
		return nil, nil
	}
	return e.clone(), nil
}

// Put keeps an entry unless one stands.
func (m *Memory) Put(ctx context.Context, e *Entry) error {
	if err := e.check(); err != nil {
		return err
	}
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if first := m.entries[e.Key]; first != nil {
		*e = *first.clone()
		return nil
	}
	kept := e.clone()
	kept.Created = stored(e.Created)
	m.entries[e.Key] = kept
	return nil
}

// Record adds a call to the audit.
func (m *Memory) Record(ctx context.Context, a Attempt) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	a.At = stored(a.At)
	m.attempts = append(m.attempts, a)
	return nil
}

// Acquire takes the right to ask for a key.
func (m *Memory) Acquire(ctx context.Context, key Key, owner string, ttl time.Duration) (bool, error) {
	if err := checkTTL(ttl); err != nil {
		return false, err
	}
	unlock, err := m.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	now := time.Now()
	if l, ok := m.leases[key]; ok && l.owner != owner && now.Before(l.until) {
		return false, nil
	}
	m.leases[key] = lease{owner: owner, until: now.Add(ttl)}
	return true, nil
}

// Release gives the right back.
func (m *Memory) Release(ctx context.Context, key Key, owner string) error {
	unlock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if m.leases[key].owner == owner {
		delete(m.leases, key)
	}
	return nil
}

// Close ends the use of the store.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

// lock takes the store for one operation.
func (m *Memory) lock(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, ErrClosed
	}
	return m.mu.Unlock, nil
}

func (e *Entry) clone() *Entry {
	c := *e
	c.Verdict, c.Raw = bytes.Clone(e.Verdict), bytes.Clone(e.Raw)
	return &c
}

// stored is a time as stores keep it.
func stored(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }
