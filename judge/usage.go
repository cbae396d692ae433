package judge

// A Usage says what a judge that asks models has done so far. It counts over the
// life of the judge, which is one process.
type Usage struct {
	Asked       int64 // calls that were sent, retries among them
	Cached      int64 // calls that the cache answered
	Retries     int64 // calls that were sent again
	Failed      int64 // requests that ended without a verdict
	InFlight    int64 // calls under way
	Limit       int64 // calls that may be under way at present
	CostNanoUSD int64 // of all calls, also of those without use

	// What pre-checks saved: citations that no model was asked about, calls that
	// were not made for that, and an estimate of their cost.
	Prechecked       int64
	CallsSaved       int64
	SavedNanoUSD     int64
	PromptTokens     int64
	CompletionTokens int64
}
