package annotations

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sort"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics/stats"
)

// Thresholds say from which number on a judge's answer is a yes. [Fit] chooses them on labels,
// and judge.file names a file of them.
type Thresholds struct {
	Schema string `json:"schema"`
	Judge  string `json:"judge"` // name of the judge that gave the answers
	Of     string `json:"of"`    // SupportScore or OverlapScore
	Limits        // chosen on all labels; they decide about documents that no fold has
	Folds  []Fold `json:"folds"`
}

// thresholdsSchema names the form of [Thresholds] in a file.
const thresholdsSchema = "ibid.thresholds/v1"

// What thresholds are compared with.
const (
	SupportScore = "support" // a judge's degree of support
	OverlapScore = "overlap" // of the judge that compares wording; see [Limits.Decide]
)

// Limits are one choice of thresholds.
type Limits struct {
	Supported   *float64 `json:"supported"`             // yes from here on; nil: never
	Unsupported *float64 `json:"unsupported,omitempty"` // of overlap: no up to here; nil: never
}

// A Fold is a part of the documents that were labelled, with limits that were chosen on the
// other parts.
type Fold struct {
	Limits
	Documents []string `json:"documents"`
}

// folds is the number of folds.
const folds = 5

// fewestFitted is the least number of labels of each side, and of documents, that thresholds
// are chosen on.
const fewestFitted = 10

// For returns the limits that decide about a document: of the fold that it is in, so that its
// own labels had no part in them, else those of all labels.
func (t *Thresholds) For(document string) Limits {
	for i := range t.Folds {
		if _, in := slices.BinarySearch(t.Folds[i].Documents, document); in {
			return t.Folds[i].Limits
		}
	}
	return t.Limits
}

// Decide says yes or no of a score. A degree of support that is not enough is a no; an overlap
// between the limits is Unset: neither.
func (t *Thresholds) Decide(document string, score float64) ibid.Tri {
	l := t.For(document)
	switch {
	case l.Supported != nil && score >= *l.Supported:
		return ibid.Yes
	case t.Of == SupportScore || l.Unsupported != nil && score <= *l.Unsupported:
		return ibid.No
	}
	return ibid.Unset
}

// Abstains reports whether the answer is never no.
func (t *Thresholds) Abstains() bool {
	says := func(l Limits) bool { return t.Of == SupportScore || l.Unsupported != nil }
	return !says(t.Limits) && !slices.ContainsFunc(t.Folds, func(f Fold) bool { return says(f.Limits) })
}

// Write writes thresholds as the file that judge.file names.
func (t *Thresholds) Write(path string) error { return runs.WriteJSON(path, t) }

// ReadThresholds reads what [Thresholds.Write] wrote.
func ReadThresholds(path string) (*Thresholds, error) {
	t := new(Thresholds)
	_, err := runs.ReadJSON(path, t)
	if err == nil {
		err = t.check()
	}
	if err != nil {
		return nil, ibid.Usagef("%s is no file of thresholds: %w", path, err).With("make one: ibid calibrate RUN --fit FILE")
	}
	for i := range t.Folds {
		slices.Sort(t.Folds[i].Documents)
	}
	return t, nil
}

// check reports what [Fit] would not have chosen.
func (t *Thresholds) check() error {
	switch {
	case t.Schema != thresholdsSchema:
		return fmt.Errorf("schema is %q, this ibid reads %q", t.Schema, thresholdsSchema)
	case t.Of != SupportScore && t.Of != OverlapScore:
		return fmt.Errorf("of is %q, not %q or %q", t.Of, SupportScore, OverlapScore)
	}
	all := []Limits{t.Limits}
	for _, f := range t.Folds {
		all = append(all, f.Limits)
	}
	for _, l := range all {
		switch up, down := l.Supported, l.Unsupported; {
		case t.Of == SupportScore && (up == nil || down != nil):
			return errors.New("thresholds of support have supported, and no unsupported")
		case up != nil && down != nil && *down >= *up:
			return fmt.Errorf("unsupported, %v, is not below supported, %v", *down, *up)
		}
		for _, v := range []*float64{l.Supported, l.Unsupported} {
			if v != nil && !(*v >= 0 && *v <= 1) {
				return fmt.Errorf("%v is not in [0, 1]", *v)
			}
		}
	}
	return nil
}

// A NotFittedError says why labels give no thresholds.
type NotFittedError string

func (e NotFittedError) Error() string { return "no thresholds are fitted: " + string(e) }

// Fit chooses thresholds on items, of which people's value is a yes from threshold on. The
// documents are dealt to five folds in the order of their names' SHA-256, and each fold has
// limits that the other four choose. The error is a [NotFittedError].
func Fit(of string, items []Verdict, threshold float64) (*Thresholds, error) {
	yes := 0
	documents := make(map[string]bool)
	for i := range items {
		documents[items[i].document()] = true
		if items[i].Human >= threshold {
			yes++
		}
	}
	if no := len(items) - yes; min(yes, no, len(documents)) < fewestFitted {
		return nil, NotFittedError(fmt.Sprintf("%d labels yes, %d no, %d documents; %d of each are needed", yes, no, len(documents), fewestFitted))
	}
	t := &Thresholds{Schema: thresholdsSchema, Of: of, Folds: make([]Fold, folds)}
	fold := dealt(documents)
	for part := range t.Folds {
		var others []Verdict
		for i := range items {
			if fold[items[i].document()] != part {
				others = append(others, items[i])
			}
		}
		t.Folds[part].Limits = chooseLimits(of, others, threshold)
	}
	for document, part := range fold {
		t.Folds[part].Documents = append(t.Folds[part].Documents, document)
	}
	for part := range t.Folds {
		slices.Sort(t.Folds[part].Documents)
	}
	t.Limits = chooseLimits(of, items, threshold)
	switch {
	case of == OverlapScore && t.Supported == nil && t.Unsupported == nil:
		return nil, NotFittedError(fmt.Sprintf("no threshold is right in %g %% of cases", 100*surePrecision))
	case of == SupportScore && slices.ContainsFunc(t.Folds, func(f Fold) bool { return f.Supported == nil }):
		return nil, NotFittedError("four fifths of the documents have one answer, or one score")
	}
	return t, nil
}

// dealt deals documents to folds.
func dealt(documents map[string]bool) map[string]int {
	type hashed struct {
		name string
		hash [sha256.Size]byte
	}
	var order []hashed
	for name := range documents {
		order = append(order, hashed{name, sha256.Sum256([]byte(name))})
	}
	slices.SortFunc(order, func(a, b hashed) int { return slices.Compare(a.hash[:], b.hash[:]) })
	out := make(map[string]int, len(order))
	for i, h := range order {
		out[h.name] = i % folds
	}
	return out
}

// chooseLimits chooses limits on some items.
func chooseLimits(of string, items []Verdict, threshold float64) Limits {
	order := slices.Clone(items)
	slices.SortStableFunc(order, func(a, b Verdict) int { return cmp.Compare(a.Judge, b.Judge) })
	if of == OverlapScore {
		return sureLimits(order, threshold)
	}
	var c stats.Confusion
	for i := range order {
		c.Add(order[i].Human >= threshold, true)
	}
	var l Limits
	most := 0.0
	for i := range len(order) - 1 {
		if order[i].Human >= threshold {
			c.TP, c.FN = c.TP-1, c.FN+1
		} else {
			c.FP, c.TN = c.FP-1, c.TN+1
		}
		here, next := order[i].Judge, order[i+1].Judge
		// A sum of two quotients is rounded: what is greater by less is equal.
		if v := c.BalancedAccuracy(); here < next && v.Known() && (l.Supported == nil || v.Value > most+1e-12) {
			most, l.Supported = v.Value, new((here+next)/2)
		}
	}
	return l
}

// Of limits on overlap: the precision that they have, at least, with the confidence of
// sureLevel, and the labels that this takes.
const (
	surePrecision = 0.9
	sureLevel     = 0.95
	sureLabels    = 30
)

// sureLimits returns the loosest limit for supported and the loosest for unsupported at which the
// lower 95 % limit of precision is at least surePrecision. Each search begins at the strict end
// (1 and 0) and moves by 1/20. It stops at the first step that has sureLabels labels and a lower
// precision. items are sorted by score.
func sureLimits(items []Verdict, threshold float64) (l Limits) {
	const steps = 20
	sure := func(beyond []Verdict, yes bool) (enough, ok bool) {
		right := 0
		for i := range beyond {
			if beyond[i].Human >= threshold == yes {
				right++
			}
		}
		n := len(beyond)
		return n >= sureLabels, n >= sureLabels && stats.LowestShare(float64(right), float64(n), sureLevel) >= surePrecision
	}
	for step := steps; step >= 0; step-- {
		limit := float64(step) / steps
		from := sort.Search(len(items), func(i int) bool { return items[i].Judge >= limit })
		enough, ok := sure(items[from:], true)
		if ok {
			l.Supported = new(limit)
		} else if enough {
			break
		}
	}
	for step := range steps {
		limit := float64(step) / steps
		if l.Supported != nil && limit >= *l.Supported {
			break
		}
		to := sort.Search(len(items), func(i int) bool { return items[i].Judge > limit })
		enough, ok := sure(items[:to], false)
		if ok {
			l.Unsupported = new(limit)
		} else if enough {
			break
		}
	}
	return l
}
