package metrics

// A Scorer computes the numbers of rows under fixed options. It holds scratch
// memory, so it is not safe for concurrent use; make one per goroutine. Once
// warm it does not allocate.
type Scorer struct {
	opt    Options
	policy policy
	name   string // annotator of policy oneAnnotator
	custom []customMetric
}

// NewScorer returns a scorer, or an error if the options are out of range.
// Metrics cannot be registered afterwards.
func NewScorer(o Options) (*Scorer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p, name, err := parsePolicy(o.TruthPolicy)
	if err != nil {
		return nil, err
	}
	defaultRegistry.seal()
	return &Scorer{opt: o, policy: p, name: name, custom: defaultRegistry.custom}, nil
}

// Score fills out with the numbers of r.
func (s *Scorer) Score(r *Row, out *Scores) {
	out.reset(NoTruth)
}
