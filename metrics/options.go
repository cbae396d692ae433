package metrics

import (
	"fmt"
	"strings"

	"ibid/metrics/span"
)

// Options are the settings that change scores.
type Options struct {
	// Tolerance is how far, in code points, an end may be off: predicted spans
	// are widened by it, and snapping and boundary hits use it. 0 to 2^31-1.
	Tolerance int64

	// MinOverlap is the least Jaccard of a matched pair, in (0, 1].
	MinOverlap float64

	// GoodMatch is the least tolerance Jaccard of a good match, in [0, 1].
	GoodMatch float64

	// TruthPolicy says how several annotators of one row are used: "best",
	// "union", "majority", "intersection", "mean" or "annotator:NAME".
	TruthPolicy string
}

// DefaultOptions returns the settings used when nothing is said: tolerance 10,
// minimal overlap 0.5, good match 0.8, policy "best".
func DefaultOptions() Options {
	return Options{Tolerance: 10, MinOverlap: 0.5, GoodMatch: 0.8, TruthPolicy: "best"}
}

// Validate returns an error that names the first setting out of its range.
func (o Options) Validate() error {
	switch {
	case o.Tolerance < 0 || o.Tolerance > span.MaxEnd:
		return fmt.Errorf("tolerance %d is not in [0, %d]", o.Tolerance, int64(span.MaxEnd))
	case !(o.MinOverlap > 0 && o.MinOverlap <= 1):
		return fmt.Errorf("minimal overlap %v is not in (0, 1]", o.MinOverlap)
	case !(o.GoodMatch >= 0 && o.GoodMatch <= 1):
		return fmt.Errorf("good match %v is not in [0, 1]", o.GoodMatch)
	}
	_, _, err := parsePolicy(o.TruthPolicy)
	return err
}

// A policy says which truth a row is scored against.
type policy uint8

const (
	bestAnnotator policy = iota
	unionOfAll
	majorityOfAll
	intersectionOfAll
	meanOfAll
	oneAnnotator
)

var policyNames = map[string]policy{
	"best": bestAnnotator, "union": unionOfAll, "majority": majorityOfAll,
	"intersection": intersectionOfAll, "mean": meanOfAll,
}

// parsePolicy reads a truth policy; name is the annotator of "annotator:NAME".
func parsePolicy(s string) (p policy, name string, err error) {
	if p, ok := policyNames[s]; ok {
		return p, "", nil
	}
	if name, ok := strings.CutPrefix(s, "annotator:"); ok && name != "" {
		return oneAnnotator, name, nil
	}
	return 0, "", fmt.Errorf("truth policy %q is not best, union, majority, intersection, mean or annotator:NAME", s)
}
