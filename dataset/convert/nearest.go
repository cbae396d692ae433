package convert

import (
	"strconv"
	"unicode/utf8"
)

// quoted is s in double quotes, shortened where it is long.
func quoted(s string) string { return strconv.Quote(shorten(s, 60)) }

// clipped is a path into a record, shortened where it is long: a report keeps
// many of them, and a record can hold any name.
func clipped(path string) string { return shorten(path, 1000) }

// shorten cuts s after most bytes, between code points.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// nearest returns the name at the smallest edit distance from s, at most a
// third of its length away, or "".
func nearest(s string, names []string) string {
	best, bestAt := "", max(1, len(s)/3)+1
	if len(s) > 100 {
		return ""
	}
	for _, name := range names {
		if d := editDistance(s, name); d < bestAt {
			best, bestAt = name, d
		}
	}
	return best
}

// editDistance is the Levenshtein distance of two short names, in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
