package judge

import "strconv"

// A Roster gives the claims and the evidence of a request the ids that a model
// sees: c1, c2, ... for claims and e1, e2, ... for distinct passages of evidence,
// each in the order of the request. They depend on nothing else, so that equal
// material makes equal prompts.
type Roster struct {
	request *Request
	numbers []int   // per evidence: its number, from 1
	first   []int   // per number - 1: the first evidence of that passage
	cited   [][]int // per claim: the numbers it cites, each once, in order
}

// NewRoster numbers the claims and the evidence of r.
func NewRoster(r *Request) *Roster {
	o := &Roster{request: r, numbers: make([]int, len(r.Evidence)), cited: make([][]int, len(r.Claims))}
	byPassage := make(map[Evidence]int, len(r.Evidence))
	for i := range r.Evidence {
		passage := r.Evidence[i].Passage()
		n, seen := byPassage[passage]
		if !seen {
			o.first = append(o.first, i)
			n = len(o.first)
			byPassage[passage] = n
		}
		o.numbers[i] = n
	}
	var own []int
	stamp := make([]int, len(o.first)) // the claim that last cited the number, from 1
	for c := range r.Claims {
		own = r.Cited(c, own[:0])
		for _, e := range own {
			if n := o.numbers[e]; stamp[n-1] != c+1 {
				stamp[n-1] = c + 1
				o.cited[c] = append(o.cited[c], n)
			}
		}
	}
	return o
}

// ClaimID is the id of claim c.
func (o *Roster) ClaimID(c int) string { return "c" + strconv.Itoa(c+1) }

// Cited returns the ids of the evidence that claim c cites, each once.
func (o *Roster) Cited(c int) []string {
	ids := make([]string, len(o.cited[c]))
	for i, n := range o.cited[c] {
		ids[i] = evidenceID(n)
	}
	return ids
}

// Passages are the distinct passages of evidence, those of e1, e2, ...
func (o *Roster) Passages() []Evidence {
	all := make([]Evidence, len(o.first))
	for i, e := range o.first {
		all[i] = o.request.Evidence[e].Passage()
	}
	return all
}

func evidenceID(number int) string { return "e" + strconv.Itoa(number) }
