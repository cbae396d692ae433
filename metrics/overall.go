package metrics

// list returns the weights in the order of the components.
func (w Weights) list() [4]float64 {
	return [4]float64{w.Span, w.Quality, w.Consistency, w.Hallucination}
}
