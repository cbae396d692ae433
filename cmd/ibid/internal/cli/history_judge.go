package cli

import (
	"strconv"

	"ibid/annotations"
	"ibid/annotations/compare"
	"ibid/dataset/runs"
)

// chartLevel is how sure a history is that the judge moved. Charts ask every night:
// at this level a judge that did not move begins a new baseline about as seldom as a
// chart gives a false alarm.
const chartLevel = 0.9975

// judgeBasis is what nights before and after the judge moved do not share.
const judgeBasis = "judge, by its anchors"

// markNights makes a judge that moved on its anchors begin a new baseline: each night,
// in order, gets a count of how often it had moved until then. A night is compared
// with the first since it moved last, so that many small steps are seen, too; what
// cannot be compared begins a count of its own. After an error no night is marked.
func markNights(nights []annotations.RunNight) error {
	var first *runs.Listed
	n := 0
	counts := make([]string, len(nights))
	for i := range nights {
		m, err := runs.ReadManifest(nights[i].Dir)
		if err != nil {
			return err
		}
		if m.Anchors != nil {
			run := &runs.Listed{Dir: nights[i].Dir, Manifest: m}
			stays, moved, err := sameJudgeAs(first, run)
			if err != nil {
				return err
			}
			if moved {
				n++
			}
			if !stays {
				first = run
			}
		}
		counts[i] = strconv.Itoa(n)
	}
	for i := range nights {
		nights[i].Basis[judgeBasis] = counts[i]
	}
	return nil
}

// sameJudgeAs says whether a run can still be compared with the first, and if not,
// whether that is because the judge moved.
func sameJudgeAs(first, run *runs.Listed) (stays, moved bool, err error) {
	if first == nil || len(compare.Reasons(first.Manifest, run.Manifest)) > 0 {
		return false, false, nil
	}
	d, err := compare.DriftBetween(*first, *run, compare.Options{Level: chartLevel})
	if err != nil {
		return false, false, err
	}
	return d.Unchecked == "" && !d.Moved, d.Moved, nil
}
