package harness

import (
	"fmt"
	"hash/maphash"
	"testing"
)

func TestRepeatedKeys(t *testing.T) {
	tests := []struct {
		name string
		keys [][2]string
		want int
	}{
		{"none", nil, 0},
		{"one", [][2]string{{"a", "x"}}, 0},
		{"twice", [][2]string{{"a", "x"}, {"b", "x"}, {"a", "x"}}, 1},
		{"another system", [][2]string{{"a", "x"}, {"a", "y"}}, 0},
		{"two keys, three times", [][2]string{{"a", "x"}, {"b", "y"}, {"a", "x"}, {"b", "y"}, {"a", "x"}, {"b", "y"}}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := keyHashes{seed: maphash.MakeSeed()}
			for _, k := range tt.keys {
				h.add(k[0], k[1])
			}
			suspects := h.repeated()
			if len(suspects) != tt.want {
				t.Errorf("%d repeated hashes, want %d", len(suspects), tt.want)
			}
			for hash := range suspects {
				found := false
				for _, k := range tt.keys {
					found = found || h.of(k[0], k[1]) == hash
				}
				if !found {
					t.Errorf("%x is the hash of no key", hash)
				}
			}
		})
	}
}

func TestRepeatedAmongMany(t *testing.T) {
	h := keyHashes{seed: maphash.MakeSeed()}
	for i := range 100_000 {
		h.add(fmt.Sprint("q-", i), []string{"a", "b"}[i%2])
	}
	h.add("q-77", "b")
	if got := h.repeated(); len(got) != 1 {
		t.Errorf("%d repeated hashes, want 1", len(got))
	}
}
