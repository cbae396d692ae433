package configs

// maxWord is longer than any name there is.
const maxWord = 100

// nearest is the candidate with the smallest edit distance to s, if it is near
// enough to be what was meant: at most a third of s, and at least two edits
// for words of four letters or more. Ties go to the earlier candidate.
func nearest(s string, candidates []string) (string, bool) {
	if len(s) > maxWord {
		return "", false
	}
	limit := max(len(s)/3, min(len(s)/2, 2))
	best, found := "", false
	for _, c := range candidates {
		if d := editDistance(s, c); d <= limit {
			best, limit, found = c, d-1, true
		}
	}
	return best, found
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

// Nearest is the candidate that s was probably meant to be, or "": what error
// hints suggest for a misspelt key, metric or flag value.
func Nearest(s string, candidates []string) string {
	best, _ := nearest(s, candidates)
	return best
}
