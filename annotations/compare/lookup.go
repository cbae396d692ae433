package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ibid"
)

// A Lookup answers questions about the difference of two runs one at a time, as
// gates ask them. It is not safe for concurrent use.
type Lookup struct {
	tester
	base, other *Run
	system      string              // of the base, if other is the same run
	pairings    map[string]*pairing // by system
}

// NewLookup compares other with base or, if system is not "", the systems of one run with this
// system. The error is a [*RefusedError] if the metrics of the runs have other versions or
// settings, and [ibid.ErrUsage] if the run does not have the system.
func NewLookup(base, other *Run, system string) (*Lookup, error) {
	why := Reasons(base.Manifest, other.Manifest)
	switch {
	case len(why) > 0:
		return nil, &RefusedError{Base: base.Manifest.ID, New: other.Manifest.ID, Reasons: why}
	case system != "" && !slices.Contains(base.Systems(), system):
		return nil, noSystem(base, system)
	}
	t := tester{level: base.Manifest.Effective().Statistics.Level}
	return &Lookup{tester: t, base: base, other: other, system: system, pairings: make(map[string]*pairing)}, nil
}

// Difference is that of a quantity over the rows of a system ("" is all that both
// runs have) and a slice KEY=VALUE ("" is all rows). The error is a [*RefusedError]
// if what is taken for true differs, or the metric rests on verdicts of other judges.
func (l *Lookup) Difference(system, slice string, q Quantity) (Difference, error) {
	if why := barred(l.base, l.other, &q.Metric); len(why) > 0 {
		return Difference{}, &RefusedError{Base: l.base.Manifest.ID, New: l.other.Manifest.ID, Reasons: why}
	}
	p, err := l.pairing(system)
	if err != nil {
		return Difference{}, err
	}
	of := p
	if key, value, ok := strings.Cut(slice, "="); ok {
		in, err := l.base.slicesBy(key)
		if err != nil {
			return Difference{}, err
		}
		inOther, err := l.other.slicesBy(key)
		if err != nil {
			return Difference{}, err
		}
		of = p.inSlice(slice, &q.Metric, in[value], inOther[value])
	}
	d, err := l.difference(of, q, nil)
	if err == nil && d.Diff != nil {
		d.Doubt, err = p.doubt(&q.Metric, l.level)
	}
	return d, err
}

// Missing is how many questions of a system's base the other side lacks, of so many: 0 if that
// was made of a part of its dataset on purpose.
func (l *Lookup) Missing(system string) (missing, of int64, err error) {
	p, err := l.pairing(system)
	if err != nil || slices.ContainsFunc(slices.Collect(maps.Keys(l.other.Manifest.Ingredients)), func(key string) bool { return strings.HasPrefix(key, "--") }) {
		return 0, 0, err
	}
	return int64(len(p.onlyBase)), int64(len(p.base.rows)), nil
}

func (l *Lookup) pairing(system string) (*pairing, error) {
	if p, ok := l.pairings[system]; ok {
		return p, nil
	}
	if l.system != "" && (system == "" || system == l.system) {
		return nil, &ibid.Error{Usage: true, Err: fmt.Errorf("say which system to compare with %s", l.system), Hint: "name it: [system=NAME]"}
	}
	base, other := side(l.base, cmp.Or(l.system, system), nil), side(l.other, system, nil)
	if ours, theirs := l.base.Systems(), l.other.Systems(); l.system == "" && system == "" && len(ours) == 1 && len(theirs) == 1 {
		base, other = side(l.base, ours[0], nil), side(l.other, theirs[0], nil)
	}
	p := pair(base, other)
	why, err := p.otherTruth()
	if err != nil {
		return nil, err
	}
	if why != "" {
		return nil, &RefusedError{Base: l.base.Manifest.ID, New: l.other.Manifest.ID, Reasons: []string{why}}
	}
	l.pairings[system] = p
	return p, nil
}

// Describe says in one line what a difference rests on.
func (d *Difference) Describe() string {
	var parts []string
	if d.Low != nil {
		parts = append(parts, fmt.Sprintf("[%.3f, %.3f]", *d.Low, *d.High))
	}
	if d.MDE != nil {
		parts = append(parts, fmt.Sprintf("mde %.3f", *d.MDE))
	}
	return strings.Join(append(parts, fmt.Sprintf("n=%d", d.N)), " ")
}
