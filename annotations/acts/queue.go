package acts

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// A Share is part Index of Of parts, from 1.
type Share struct{ Index, Of int }

// ParseShare reads a share such as 2/3.
func ParseShare(s string) (Share, error) {
	var h Share
	if n, err := fmt.Sscanf(s, "%d/%d", &h.Index, &h.Of); err != nil || n != 2 || fmt.Sprintf("%d/%d", h.Index, h.Of) != s {
		return h, errors.New("a share is I/N, such as 1/3")
	}
	if h.Index < 1 || h.Index > h.Of {
		return h, fmt.Errorf("there is no part %d of %d", h.Index, h.Of)
	}
	return h, nil
}

// Queue is the order in which one of several people gets items: a function of the seed,
// the names and the share, whatever the order of the names. Overlap is the part of the
// items, from 0 to 1, that everybody gets, all in one order; with 0.2 they are every fifth
// place while both kinds last. Of the others each goes to one share. shared says of each
// place whether everybody gets it.
func Queue(items []string, seed string, share Share, overlap float64) (queue []string, shared []bool) {
	byHash := func(purpose string) func(a, b string) int {
		return func(a, b string) int {
			x, y := hash(seed, purpose, a), hash(seed, purpose, b)
			return slices.Compare(x[:], y[:])
		}
	}
	all := slices.SortedFunc(slices.Values(items), byHash("overlap"))
	n := min(len(all), int(math.Ceil(overlap*float64(len(all))-1e-9)))
	common, rest := all[:n], all[n:]
	slices.SortFunc(rest, byHash("order"))
	var own []string
	for _, item := range rest {
		h := hash(seed, "share", item)
		if binary.BigEndian.Uint64(h[:8])%uint64(share.Of) == uint64(share.Index-1) {
			own = append(own, item)
		}
	}
	every := 1.0
	if overlap > 0 {
		every = 1 / overlap
	}
	given := 0
	for len(queue) < len(common)+len(own) {
		place := float64(len(queue) + 1)
		turn := given < len(common) && math.Floor(place/every+1e-9) > float64(given)
		if turn || len(queue)-given == len(own) {
			queue, shared = append(queue, common[given]), append(shared, true)
			given++
		} else {
			queue, shared = append(queue, own[len(queue)-given]), append(shared, false)
		}
	}
	return queue, shared
}

// leastWithheld is how many items get no proposals at least, so that something can be said.
const leastWithheld = 20

// Withheld are the items whose proposals nobody sees: those of documents drawn by the hash
// of their names until a share of the items has none, and at least 20. It depends on
// the items alone, so that it is the same for all. Items is what proposals are known of.
func Withheld(items []SampleItem, share float64) map[string]bool {
	byDoc := make(map[string][]string)
	for _, it := range items {
		byDoc[it.Doc] = append(byDoc[it.Doc], it.ID)
	}
	docs := slices.SortedFunc(maps.Keys(byDoc), func(a, b string) int {
		x, y := hash("", "withhold", a), hash("", "withhold", b)
		return slices.Compare(x[:], y[:])
	})
	least := max(leastWithheld, int(math.Ceil(share*float64(len(items))-1e-9)))
	out := make(map[string]bool)
	for _, doc := range docs {
		if len(out) >= least {
			break
		}
		for _, id := range byDoc[doc] {
			out[id] = true
		}
	}
	return out
}

func hash(seed, purpose, item string) [sha256.Size]byte {
	return sha256.Sum256([]byte(seed + "\x00" + purpose + "\x00" + item))
}
