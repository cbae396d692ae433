package judge

import "ibid"

// A Passage is up to three sentences of a text that a claim does not cite.
type Passage struct {
	Text string
	// Place is where it is in [Request.Sources], nil if it is in the evidence; Evidence is
	// the element of [Request.Evidence] that it is in, -1 if none, and At where in its text.
	Place    *Place
	Evidence int
	At       Interval
}

// Factual says of each claim of r whether it can be checked, by the rule of this judge: a
// question and a claim without a content word cannot.
func (l *Lexical) Factual(r *Request) []ibid.Tri {
	w := l.work()
	defer l.keep(w)
	w.read(r)
	out := make([]ibid.Tri, len(r.Claims))
	for c := range r.Claims {
		out[c] = ibid.TriOf(len(w.statements[c].terms) > 0 && !isQuestion(r.Claims[c].Text))
	}
	return out
}

// Uncited returns, for each of some claims of r, up to so many passages that it does not
// cite and that have the largest shares of it, the best first; none of them overlap.
func (l *Lexical) Uncited(r *Request, claims []int, most int) [][]Passage {
	out := make([][]Passage, len(claims))
	if len(claims) == 0 {
		return out
	}
	w := l.work()
	defer l.keep(w)
	w.read(r)
	for i, c := range claims {
		w.cited = r.Cited(c, w.cited[:0])
		w.look(c, w.cited)
		if w.now.weight == 0 {
			continue
		}
		var taken []found
		for len(taken) < most {
			best := w.best(r, &r.Claims[c], taken, func(x comparison) float64 { return x.share })
			if best.score == 0 {
				break
			}
			taken = append(taken, best)
		}
		for _, f := range taken {
			p := Passage{Evidence: -1}
			p.Text, p.Place, p.At = f.where(r)
			if p.Place == nil {
				p.Evidence = f.in
			}
			out[i] = append(out[i], p)
		}
	}
	return out
}

// A found is a passage of a text: of the evidence, then of the sources.
type found struct {
	in      int
	passage []sentence
	score   float64
}

func (f found) ends() (first, last *sentence) { return &f.passage[0], &f.passage[len(f.passage)-1] }

func (f found) overlaps(g found) bool {
	first, last := f.ends()
	gFirst, gLast := g.ends()
	return f.in == g.in && first.start < gLast.end && gFirst.start < last.end
}

// where is the text of f and its place: in the sources, or else in the text of the evidence.
func (f found) where(r *Request) (text string, place *Place, at Interval) {
	first, last := f.ends()
	at = Interval{Start: first.at.Start, End: last.at.End}
	if f.in < len(r.Evidence) {
		return r.Evidence[f.in].Text[first.start:last.end], nil, at
	}
	source := &r.Sources[f.in-len(r.Evidence)]
	return source.Text[first.start:last.end], &Place{Doc: source.Doc, Page: source.Page, Start: at.Start, End: at.End}, Interval{}
}
