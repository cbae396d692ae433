package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// metricsVersion changes whenever the same data and settings would give another
// number than before. The changelog says which and why.
const metricsVersion = "2"

// fingerprintOf hashes the ingredients: each name and value with its length, in
// the order of the names, so that no two different maps give the same bytes.
func fingerprintOf(ingredients map[string]string) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(ingredients)) {
		for _, s := range []string{name, ingredients[name]} {
			h.Write([]byte(strconv.Itoa(len(s))))
			h.Write([]byte{':'})
			h.Write([]byte(s))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// changes says how the ingredients of two fingerprints differ, one line each,
// in the order of their names.
func changes(old, now map[string]string) []string {
	names := maps.Clone(old)
	maps.Copy(names, now)
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, had := old[name]
		is, has := now[name]
		switch {
		case had && has && was != is:
			lines = append(lines, fmt.Sprintf("%s: %s -> %s", name, shorten(was), shorten(is)))
		case had && !has:
			lines = append(lines, fmt.Sprintf("%s: %s -> not there", name, shorten(was)))
		case !had && has:
			lines = append(lines, fmt.Sprintf("%s: not there -> %s", name, shorten(is)))
		}
	}
	return lines
}

// shorten cuts digests and long values to what a person compares.
func shorten(value string) string {
	const limit = 40
	if value == "" {
		return `""`
	}
	if len(value) <= limit {
		return value
	}
	return value[:limit] + "…"
}
