package stats

// Flips counts verdicts of yes and no that were given twice, row by row: those that
// became yes, and those that became no. Verdicts of one row depend on each other,
// rows do not. The zero Flips is empty.
type Flips struct {
	Verdicts     int64 // given twice
	Gained, Lost int64 // that became yes, that became no
	rows         []float64
}

// AddRow counts a row of verdicts, of which some became yes and some became no.
func (f *Flips) AddRow(verdicts, gained, lost int64) {
	f.Verdicts += verdicts
	f.Gained += gained
	f.Lost += lost
	f.rows = append(f.rows, float64(gained-lost))
}

// Rows is the number of rows added.
func (f *Flips) Rows() int64 { return int64(len(f.rows)) }

// Test tests whether verdicts flip one way more than the other: McNemar's mid-p where
// every row has one verdict, else the sign flip over rows, which draws samples where
// it is not exact. Under the hypothesis that both times the same judge answered, the
// two answers to a row could be swapped.
//
// It is undefined without rows, and 1 if nothing flipped.
//
// Source: Fagerland, Lydersen & Laake 2013; Fisher 1935.
func (f *Flips) Test(samples int, seed uint64) Test {
	if f.Verdicts > f.Rows() || f.Rows() == 0 {
		return SignFlip(f.rows, samples, seed)
	}
	return Test{
		Method: McNemarMidP, P: NewMcNemar(f.Gained, f.Lost, f.Verdicts).MidP, Clusters: f.Rows(), MinP: smallestP(f.Rows() + 1),
	}
}
