package metrics

// How many metrics and sums every run has; custom ones follow.
const (
	NumBuiltin     = int(numBuiltin)
	NumBuiltinSums = int(numBuiltinSums)
)
