package metrics

// A share counts the items that a metric is a share of. Unscored items are
// open: least and most say how many of them count, however they turn out.
type share struct {
	yes, scored       int64
	least, most, open int64
}

// add adds a scored item.
func (h *share) add(yes bool) {
	h.scored++
	if yes {
		h.yes++
	}
}

// addOpen adds an unscored item: whether it counts whatever the verdict, and
// whether it can count.
func (h *share) addOpen(surely, possibly bool) {
	h.open++
	if surely {
		h.least++
	}
	if possibly {
		h.most++
	}
}

// A mean adds up scores in [0, 1] of items, of which some are unscored.
type mean struct {
	sum          float64
	scored, open int64
}

func (a *mean) add(s Support) {
	if !s.Known {
		a.open++
		return
	}
	a.scored++
	a.sum += s.Value
}

// A lack says why metrics of judged items have no value.
type lack struct {
	items  Reason // there is none
	scored Reason // none is scored
	failed bool   // the row has no verdict: what is scored was not asked about, and alone says nothing
}

// share sets m to the share of the scored items, and its bounds.
func (s *Scores) share(m Metric, h share, why lack) {
	s.settle(m, float64(h.yes), h.scored, h.open, why)
	if h.open > 0 {
		n := float64(h.scored + h.open)
		s.bound(m, float64(h.yes+h.least)/n, float64(h.yes+h.most)/n)
	}
}

// mean sets m to the mean over the scored items, and its bounds.
func (s *Scores) mean(m Metric, a mean, why lack) {
	s.settle(m, a.sum, a.scored, a.open, why)
	if a.open > 0 {
		n := float64(a.scored + a.open)
		s.bound(m, a.sum/n, (a.sum+float64(a.open))/n)
	}
}

func (s *Scores) settle(m Metric, num float64, scored, open int64, why lack) {
	switch {
	case scored+open == 0:
		s.undefined(m, why.items)
	case scored == 0, why.failed && open > 0:
		s.undefined(m, why.scored)
	default:
		s.quotient(m, num, float64(scored), Defined)
	}
}

// bound sets the bounds of m.
func (s *Scores) bound(m Metric, low, high float64) {
	s.Low[m], s.High[m], s.HasBounds[m] = low, high, true
	s.bounded = true
}
