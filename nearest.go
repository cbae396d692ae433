package ibid

import "strings"

// maxWord is longer than any name there is.
const maxWord = 100

// Nearest is the candidate that s was probably meant to be: what error hints
// suggest for a misspelt column, key, metric or flag value. It is the one with the smallest
// edit distance to s, of those that are at most a third of the length of s away; for
// words of four letters or more, two edits are always near enough. Case
// does not count. Ties go to the earlier candidate. It is "" if no candidate is near,
// or if s is longer than 100 bytes.
func Nearest(s string, candidates []string) string {
	if len(s) > maxWord {
		return ""
	}
	limit := max(len(s)/3, min(len(s)/2, 2))
	best, s := "", strings.ToLower(s)
	for _, c := range candidates {
		if d := editDistance(s, strings.ToLower(c)); d <= limit {
			best, limit = c, d-1
		}
	}
	return best
}

// Slip is the candidate that s very probably was meant to be: one of five letters or
// more that is a single edit away, case aside. It is "" if there is none.
func Slip(s string, candidates []string) string {
	const fewest = 5
	if len(s) > maxWord {
		return ""
	}
	s = strings.ToLower(s)
	for _, c := range candidates {
		if len(c) >= fewest && editDistance(s, strings.ToLower(c)) <= 1 {
			return c
		}
	}
	return ""
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours (optimal string alignment), in bytes.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
