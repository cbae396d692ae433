package judge

// A passage is one sentence of a text, or a line without a full stop.
type passage struct {
	hitFrom, hitTo int32 // the terms in it, each once, in passages.hits
	numFrom, numTo int32 // the numbers in it, in passages.numbers
	start, end     int32 // bytes
	cp, cpEnd      int32
	negated        bool
}

// A mention is one number or date of a passage.
type mention struct {
	unit unit  // dateUnit for a date
	term int32 // a term that it agrees with, -1 if none
}

// dateUnit sets dates apart from numbers.
const dateUnit unit = 255

// passages is where the texts of a request say what its statements say.
type passages struct {
	list    []passage
	hits    []int32
	numbers []mention
	texts   []textRange // the evidence, then the sources
}

// A textRange is the passages of one text.
type textRange struct{ from, to int32 }

// maxPassage is the number of features after which a passage ends without a
// full stop.
const maxPassage = 80

func (p *passages) reset() {
	p.list, p.hits, p.numbers, p.texts = p.list[:0], p.hits[:0], p.numbers[:0], p.texts[:0]
}

// add appends the passages of a text that was cut into features.
func (p *passages) add(features []feature, t *terms) {
	from := int32(len(p.list))
	n := 0
	for i := range features {
		f := &features[i]
		if f.dropped {
			continue
		}
		if n == 0 || f.breaks || n == maxPassage {
			p.list = append(p.list, passage{
				hitFrom: int32(len(p.hits)), numFrom: int32(len(p.numbers)), start: f.start, cp: f.cp,
			})
			n = 0
		}
		n++
		at := int32(len(p.list) - 1)
		now := &p.list[at]
		now.end, now.cpEnd = f.end, f.cpEnd
		switch f.kind {
		case featureWord:
			now.negated = now.negated || f.word.negates
			p.hit(t, t.words.get(f.stem), at)
		case featureNumber:
			p.number(t, &f.number, at)
		case featureDate:
			p.date(t, &f.date, at)
		}
		now.hitTo, now.numTo = int32(len(p.hits)), int32(len(p.numbers))
	}
	p.texts = append(p.texts, textRange{from, int32(len(p.list))})
}

// hit notes that the passage has the term; -1 is none.
func (p *passages) hit(t *terms, id, at int32) {
	if id < 0 || t.list[id].last == at {
		return
	}
	t.list[id].last = at
	t.list[id].df++
	p.hits = append(p.hits, id)
}

func (p *passages) number(t *terms, n *number, at int32) {
	m := mention{unit: n.unit, term: -1}
	values, count := n.readings()
	for _, v := range values[:count] {
		for id := t.words.get(valueHash(v)); id >= 0; id = t.list[id].next {
			if t.list[id].kind == featureNumber && t.list[id].number.same(n) {
				p.hit(t, id, at)
				m.term = id
			}
		}
	}
	for _, id := range t.ambiguous {
		if t.list[id].number.same(n) {
			p.hit(t, id, at)
			m.term = id
		}
	}
	p.numbers = append(p.numbers, m)
}

// date notes the dates that d backs, and its year as a number.
func (p *passages) date(t *terms, d *date, at int32) {
	m := mention{unit: dateUnit, term: -1}
	for _, id := range t.dates {
		if t.list[id].date.backedBy(d) {
			p.hit(t, id, at)
			m.term = id
		}
	}
	p.numbers = append(p.numbers, m)
	if d.year != 0 {
		digits, exp := uint64(d.year), int16(0)
		for digits%10 == 0 {
			digits, exp = digits/10, exp+1
		}
		p.number(t, &number{digits: digits, exp: exp}, at)
	}
}
