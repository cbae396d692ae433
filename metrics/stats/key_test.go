package stats

import "testing"

func TestKeysOfManyNamesDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for a := range 300 {
		for b := range 300 {
			seen[Key(string([]byte{byte(a), byte(a >> 8), byte(b), byte(b >> 8)}))] = true
		}
	}
	if len(seen) != 300*300 {
		t.Errorf("%d keys of %d names", len(seen), 300*300)
	}
}
