package harness

import (
	"fmt"
	"testing"
)

// TestShardParts: shares of any number have every part exactly once, in order, and differ
// by one part at most.
func TestShardParts(t *testing.T) {
	for _, all := range []int64{0, 1, 2, 3, 63, 64, 65, 1000, 1 << 40} {
		for of := 1; of <= 64; of++ {
			var next int64
			for number := 1; number <= of; number++ {
				from, to := Shard{number, of}.parts(all)
				if n := to - from; from != next || n < all/int64(of) || n > all/int64(of)+1 {
					t.Fatalf("shard %d/%d of %d parts: [%d, %d), after %d", number, of, all, from, to, next)
				}
				next = to
			}
			if next != all {
				t.Fatalf("%d shards have %d of %d parts", of, next, all)
			}
		}
	}
}

func TestParseShard(t *testing.T) {
	for text, want := range map[string]Shard{"1/1": {1, 1}, "3/16": {3, 16}, "64/64": {64, 64}} {
		if got, err := ParseShard(text); got != want || err != nil {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "3", "0/4", "5/4", "-1/4", "1/0", "a/b", "1/2/3", "1/99999999"} {
		if got, err := ParseShard(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int64{"": nil, "4": {4}, "3,7-9": {3, 7, 8, 9}, "1-2,4-5": {1, 2, 4, 5}} {
		if got := ranges(numbers); got != want {
			t.Errorf("%s: %q, want %q", fmt.Sprint(numbers), got, want)
		}
	}
}
