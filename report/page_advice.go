package report

import (
	"cmp"
	"slices"
	"strings"

	"ibid/metrics"
)

// adviceOn says what to look at where a problem is common. %s is the number of
// rows in which it is the worst.
var adviceOn = map[metrics.Problem]string{
	metrics.ProblemContradicted: "Read these first: in %s the cited text says the opposite of the answer.",
	metrics.ProblemNoDocument:   "Let answers name only documents they were given: in %s a cited document does not exist.",
	metrics.ProblemNoPage:       "Check how pages are numbered: in %s the cited page does not exist.",
	metrics.ProblemOutOfBounds:  "Check how offsets are counted (code points, UTF-16 units or bytes; from the document or from the page): in %s a span ends after its text.",
	metrics.ProblemMalformed:    "Check how spans are written: in %s the offsets make no span.",
	metrics.ProblemMisquoted:    "Have quotes copied, not retold: in %s the quoted text is not in the document.",
	metrics.ProblemTooLong:      "Ask for the passage, not for the page: in %s the cited span is too long to point at anything.",
	metrics.ProblemUnsupported:  "Check what the answers were given to read: in %s neither what is cited nor any other document supports a claim.",
	metrics.ProblemElsewhere:    "Check how passages are chosen: in %s the evidence for a claim is there, and something else is cited.",
	metrics.ProblemWrongPlace:   "Compare the cited passage with the marked one: in %s citations touch nothing that was marked.",
	metrics.ProblemUncited:      "Ask for a citation for every statement: in %s something should be cited and nothing is.",
	metrics.ProblemError:        "Repair the input: %s could not be scored.",
}

// shownAdvice is how many recommendations are made.
const shownAdvice = 3

// advice recommends what to do about the commonest problems, each with the rows
// that it rests on.
func advice(data *pageData) []finding {
	counts := &data.totals.problems
	var order []metrics.Problem
	for p := range metrics.Problem(metrics.NumProblems) {
		if adviceOn[p] != "" && counts[p] > 0 {
			order = append(order, p)
		}
	}
	slices.SortStableFunc(order, func(x, y metrics.Problem) int { return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(y, x)) })
	var out []finding
	for _, p := range order[:min(len(order), shownAdvice)] {
		before, after, _ := strings.Cut(adviceOn[p], "%s")
		var f finding
		f.say("%s", before)
		f.link(Plural(counts[p], "row", "rows"), "problem:"+problemWords[p].Code)
		f.say("%s", after)
		out = append(out, f)
	}
	return out
}
