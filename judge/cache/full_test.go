package cache

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ibid"
)

// TestDiskFull: a write for which there is no room fails whole and says so, and
// the store goes on working.
func TestDiskFull(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "judge.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	limit := func(pages int) {
		t.Helper()
		if _, err := s.exec(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	entry := func(n byte, size int) *Entry {
		return &Entry{Key: Key{n}, Status: StatusOK, Verdict: []byte(strings.Repeat("v", size)), Created: time.Now()}
	}
	limit(20)
	var file *ibid.Error
	err = s.Put(t.Context(), entry(1, 1<<20))
	if !errors.As(err, &file) || !strings.Contains(err.Error(), "has no room left on its disk") || file.Hint == "" {
		t.Errorf("Put of more than there is room for = %v, want that it has no room, with a hint", err)
	}
	if err := s.Put(t.Context(), entry(2, 100)); err != nil {
		t.Errorf("Put of what there is room for: %v", err)
	}
	limit(1 << 20)
	if err := s.Put(t.Context(), entry(1, 1<<20)); err != nil {
		t.Errorf("Put once there is room: %v", err)
	}
	for n := range byte(2) {
		if e, err := s.Get(t.Context(), Key{n + 1}); e == nil || err != nil {
			t.Errorf("Get of entry %d = %v, %v", n+1, e, err)
		}
	}
}
