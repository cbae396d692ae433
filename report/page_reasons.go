package report

import (
	"strings"
)

// reasons are the ways in which metrics of rows are undefined. Rows are alike in
// that, so the page holds each way once.
type reasons struct {
	number map[string]int
	lists  [][]reasonText
}

// A reasonText is a reason with the metrics that it leaves undefined.
type reasonText struct {
	Reason  string   `json:"reason"`
	Metrics []string `json:"metrics"`
}

// of numbers what a row's map of undefined metrics says: metric and reason in
// turn.
func (r *reasons) of(pairs []string) int {
	key := strings.Join(pairs, "\x00")
	if n, ok := r.number[key]; ok {
		return n
	}
	byReason := make(map[string][]string)
	for k := 0; k+1 < len(pairs); k += 2 {
		byReason[pairs[k+1]] = append(byReason[pairs[k+1]], pairs[k])
	}
	list := []reasonText{}
	for _, reason := range sortedKeys(byReason) {
		list = append(list, reasonText{reason, byReason[reason]})
	}
	if r.number == nil {
		r.number = make(map[string]int)
	}
	r.number[key] = len(r.lists)
	r.lists = append(r.lists, list)
	return len(r.lists) - 1
}
