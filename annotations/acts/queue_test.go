package acts

import (
	"fmt"
	"slices"
	"testing"
)

// TestQueue: every fifth place is one that all get, in one order; the others are divided;
// the order of the names says nothing; another seed is another order.
func TestQueue(t *testing.T) {
	var items []string
	for i := range 300 {
		items = append(items, fmt.Sprintf("item-%04d", i))
	}
	var common [][]string
	got := make(map[string]int)
	const people = 3
	for i := range people {
		share := Share{i + 1, people}
		queue, shared := Queue(items, "1", share, 0.2)
		backwards := slices.Clone(items)
		slices.Reverse(backwards)
		again, _ := Queue(backwards, "1", share, 0.2)
		other, _ := Queue(items, "2", share, 0.2)
		if !slices.Equal(queue, again) || slices.Equal(queue, other) {
			t.Error("the order is no function of seed, items and share")
		}
		var all []string
		own := 0
		for k, item := range queue {
			got[item]++
			if shared[k] {
				all = append(all, item)
			} else {
				own++
			}
			if own < len(queue)-60 && shared[k] != ((k+1)%5 == 0) {
				t.Errorf("share %d: place %d", i+1, k+1)
			}
		}
		if own < 60 || own > 100 {
			t.Errorf("share %d has %d items of 240", i+1, own)
		}
		common = append(common, all)
	}
	if len(common[0]) != 60 || !slices.Equal(common[0], common[1]) || !slices.Equal(common[0], common[2]) {
		t.Errorf("what all get: %d, %d, %d", len(common[0]), len(common[1]), len(common[2]))
	}
	for _, item := range items {
		if want := map[bool]int{true: people, false: 1}[slices.Contains(common[0], item)]; got[item] != want {
			t.Errorf("%s is given to %d, want %d", item, got[item], want)
		}
	}
	for overlap, want := range map[float64]int{0: 0, 0.001: 1, 1: 300} {
		queue, shared := Queue(items, "1", Share{1, 1}, overlap)
		n := 0
		for _, s := range shared {
			if s {
				n++
			}
		}
		if len(queue) != 300 || n != want {
			t.Errorf("overlap %g: %d of %d are shared, want %d of 300", overlap, n, len(queue), want)
		}
	}
	if queue, _ := Queue(nil, "1", Share{1, 2}, 0.2); len(queue) != 0 {
		t.Errorf("of nothing: %q", queue)
	}
}

func TestParseShare(t *testing.T) {
	if got, err := ParseShare("2/3"); err != nil || got != (Share{2, 3}) {
		t.Errorf("2/3 is %v, %v", got, err)
	}
	for _, bad := range []string{"", "1", "0/3", "4/3", "1/3x", "-1/3", "1/0", " 1/2"} {
		if h, err := ParseShare(bad); err == nil {
			t.Errorf("%q is %v", bad, h)
		}
	}
}

// TestWithheld: whole documents, at least 20 items, a tenth of many, and the same for all.
func TestWithheld(t *testing.T) {
	items := func(n int) (out []SampleItem) {
		for i := range n {
			out = append(out, SampleItem{ID: fmt.Sprint("i", i), Doc: fmt.Sprint("d", i/3)})
		}
		return out
	}
	for _, c := range []struct{ n, least, most int }{{12, 12, 12}, {60, 20, 22}, {600, 60, 62}} {
		all := items(c.n)
		got := Withheld(all, 0.1)
		if len(got) < c.least || len(got) > c.most {
			t.Errorf("%d of %d are withheld, want %d to %d", len(got), c.n, c.least, c.most)
		}
		slices.Reverse(all)
		again := Withheld(all, 0.1)
		docs := make(map[string]int)
		for _, it := range all {
			if got[it.ID] != again[it.ID] {
				t.Errorf("%s: the order of the items decides", it.ID)
			}
			if got[it.ID] {
				docs[it.Doc]++
			}
		}
		for doc, n := range docs {
			if n != 3 {
				t.Errorf("%s: %d items of 3 are withheld", doc, n)
			}
		}
	}
}
