package metrics

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ibid"
)

// A Value is what a custom metric says of one row.
type Value struct {
	Value    float64     // of a Mean, Binary or Score metric
	Num, Den float64     // of a Ratio metric; Den must be positive where the metric is defined
	Reason   ibid.Reason // Defined, or why there is no value; the numbers then mean nothing
}

// ErrSealed is returned by [Register] once a [Scorer] has been made.
var ErrSealed = errors.New("metrics are registered before the first scorer is made")

// A registry holds the definitions of all metrics in column order.
type registry struct {
	mu      sync.RWMutex
	sealed  bool
	metrics []Definition
	sums    []Definition
	custom  []customMetric
	names   map[string]bool // every column name and alias taken
}

// A customMetric computes a registered metric.
type customMetric struct {
	metric   Metric
	kind     Kind
	min, max float64
	sum      Sum // of a Ratio: the numerator's, the denominator's is the next
	f        func(*Row, *Scores) Value
}

// An addedMetric is a built-in metric without a constant: its definition and its
// function stand in one file, see [addedMetrics].
type addedMetric struct {
	definition Definition
	f          func(*Row, *Scores) Value
}

// addedMetrics are the built-in metrics without a constant. The file of each appends
// to them in an init function. Their columns and all else are as [Register] says; their
// functions also see the counts of the row, and the values of metrics that have a
// constant. They follow those with a constant in the order of their names.
var addedMetrics []addedMetric

// defaultRegistry is made at its first use, after all init functions of the package.
var defaultRegistry = sync.OnceValue(func() *registry { return newRegistry(addedMetrics...) })

// comparisons are the metrics that compare citations with truth.
var comparisons = slices.Sorted(maps.Keys(merged(charDefinitions, tokenDefinitions, pageDefinitions, docDefinitions, matchDefinitions)))

// builtinDefinitions define the metrics that have a constant. Each stands in the file
// that computes it. A definition is found by its constant, never by its place.
var builtinDefinitions = merged(
	charDefinitions, tokenDefinitions, pageDefinitions, docDefinitions, matchDefinitions,
	citationDefinitions, claimDefinitions, answerDefinitions, overallDefinitions, componentDefinitions, dialectDefinitions(),
)

// merged puts tables of definitions together. No metric may be defined twice.
func merged(tables ...map[Metric]Definition) map[Metric]Definition {
	all := make(map[Metric]Definition)
	for _, table := range tables {
		for m, d := range table {
			if before, ok := all[m]; ok {
				panic(fmt.Sprintf("metric %d is defined twice, as %s and %s", int(m), before.Name, d.Name))
			}
			all[m] = d
		}
	}
	return all
}

func newRegistry(added ...addedMetric) *registry {
	r := &registry{
		metrics: make([]Definition, numBuiltin),
		sums:    slices.Clone(sumDefinitions),
		names:   map[string]bool{},
	}
	for m, d := range builtinDefinitions {
		r.metrics[m] = d
	}
	for _, list := range [][]Definition{r.metrics, r.sums, countDefinitions[:]} {
		for _, d := range list {
			r.names[d.Name] = true
			for _, a := range d.Aliases {
				r.names[a] = true
			}
		}
	}
	added = slices.SortedFunc(slices.Values(added), func(a, b addedMetric) int { return strings.Compare(a.definition.Name, b.definition.Name) })
	for _, m := range added {
		if err := r.add(m.definition, m.f); err != nil {
			panic(err) // a mistake in this package
		}
	}
	return r
}

// Definitions returns all metrics in column order, custom ones last: the
// element with index m defines [Metric] m. The elements are shared: they are not to be
// changed or moved.
func Definitions() []Definition {
	defaultRegistry().mu.RLock()
	defer defaultRegistry().mu.RUnlock()
	return slices.Clip(defaultRegistry().metrics)
}

// CountDefinitions returns all counts in column order: the element with index
// c defines [Count] c. Counts have only a macro value.
func CountDefinitions() []Definition { return slices.Clone(countDefinitions[:]) }

// SumDefinitions returns all pooled sums in column order: the element with
// index s defines [Sum] s. They are parts of micro values, not metrics.
func SumDefinitions() []Definition {
	defaultRegistry().mu.RLock()
	defer defaultRegistry().mu.RUnlock()
	return slices.Clone(defaultRegistry().sums)
}

// NumMetrics is the number of metrics, custom ones included.
func NumMetrics() int {
	r := defaultRegistry()
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.metrics)
}

// NumSums is the number of pooled sums, those of custom metrics included.
func NumSums() int {
	r := defaultRegistry()
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.sums)
}

// Lookup returns the definition of the metric or count with the given name or
// alias.
func Lookup(name string) (Definition, bool) {
	r := defaultRegistry()
	r.mu.RLock()
	defer r.mu.RUnlock()
	if i := named(r.metrics, name); i >= 0 {
		return r.metrics[i], true
	}
	if c, ok := CountByName(name); ok {
		return countDefinitions[c], true
	}
	return Definition{}, false
}

// ByName returns the metric with the given name or alias.
func ByName(name string) (Metric, bool) {
	r := defaultRegistry()
	r.mu.RLock()
	defer r.mu.RUnlock()
	i := named(r.metrics, name)
	return Metric(i), i >= 0
}

// named is the index of the definition with a name or alias, -1 if there is none.
func named(all []Definition, name string) int {
	for i := range all {
		if all[i].Name == name || slices.Contains(all[i].Aliases, name) {
			return i
		}
	}
	return -1
}

// CountByName returns the count with the given name.
func CountByName(name string) (Count, bool) {
	i := named(countDefinitions[:], name)
	return Count(i), i >= 0
}

// String returns the column name, such as "char_f1".
func (m Metric) String() string { return Definitions()[m].Name }

// Register adds a custom metric. It then appears in results, summaries, gates
// and reports as the built-in ones do; f must depend on nothing but the row,
// be safe for concurrent use, and keep nothing of it.
//
// A Ratio metric also gets the sum columns NAME_num and NAME_den, which are
// set as its Num and Den; a Mean, Binary or Score metric has none. A value that
// is not finite, outside the bounds, or not 0 or 1 for a Binary metric is
// recorded as undefined with [RowError].
//
// Register fails if a name is malformed or taken, if the bounds or the kind
// make no sense, and with [ErrSealed] after the first [NewScorer].
func Register(d Definition, f func(*Row) Value) error {
	return defaultRegistry().register(d, f)
}

func (r *registry) register(d Definition, f func(*Row) Value) error {
	if f == nil {
		return r.add(d, nil)
	}
	return r.add(d, func(row *Row, _ *Scores) Value { return f(row) })
}

var columnName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func (r *registry) add(d Definition, f func(*Row, *Scores) Value) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sealed {
		return fmt.Errorf("metric %s: %w", d.Name, ErrSealed)
	}
	if f == nil {
		return fmt.Errorf("metric %s: no function", d.Name)
	}
	if d.Kind > Score {
		return fmt.Errorf("metric %s: kind is not ratio, mean, binary or score", d.Name)
	}
	if !(d.Min < d.Max) {
		return fmt.Errorf("metric %s: bounds [%v, %v] hold no interval", d.Name, d.Min, d.Max)
	}
	if d.Kind == Binary && (d.Min != 0 || d.Max != 1) {
		return fmt.Errorf("metric %s: bounds [%v, %v] of a binary metric are not [0, 1]", d.Name, d.Min, d.Max)
	}
	num, den := d.Name+"_num", d.Name+"_den"
	names := append([]string{d.Name}, d.Aliases...)
	if d.Kind == Ratio {
		names = append(names, num, den)
	}
	for i, name := range names {
		if !columnName.MatchString(name) {
			return fmt.Errorf("metric %s: name %q is not lower case letters, digits and underscores", d.Name, name)
		}
		if r.names[name] || reservedColumns[name] || slices.Contains(names[:i], name) {
			return fmt.Errorf("metric %s: name %q is taken", d.Name, name)
		}
	}
	d.Aliases = slices.Clone(d.Aliases)
	d.Num, d.Den, d.Unscored, d.Scorable, d.Judged = nil, nil, nil, nil, false
	c := customMetric{metric: Metric(len(r.metrics)), kind: d.Kind, min: d.Min, max: d.Max, sum: Sum(len(r.sums)), f: f}
	if d.Kind == Ratio {
		d.Num, d.Den = []Term{{num, 1}}, []Term{{den, 1}}
		for _, part := range []Definition{
			{Name: num, Summary: "numerator of " + d.Name},
			{Name: den, Summary: "denominator of " + d.Name},
		} {
			r.sums = append(r.sums, sumDefinition(part.Name, part.Summary))
		}
	}
	r.metrics = append(r.metrics, d)
	r.custom = append(r.custom, c)
	for _, name := range names {
		r.names[name] = true
	}
	return nil
}

// reservedColumns are the other columns of a results file.
var reservedColumns = map[string]bool{
	"id": true, "system": true, "row": true, "status": true, "error": true, "truth_annotator": true,
	"overall_components": true, "provider": true, "model": true, "tags": true, "undefined": true,
	"answer_cost_usd": true, "answer_tokens": true, "answer_latency_ms": true,
}
