package judge

import "math"

// A term is one thing that a statement of the answer says: a word, a number or
// a date. Equal ones are one term.
type term struct {
	kind   featureKind
	number number
	date   date
	next   int32 // next number of the same value, -1 if none
	df     int32 // passages that have it
	last   int32 // the passage that counted it last
	weight float64
}

// A statement is a claim, or the question.
type statement struct {
	from, to int32 // its terms in terms.members, each once
	exact    int32 // how many of them are numbers and dates
	negated  bool
	weight   float64 // of all its terms
	loose    float64 // of those that are words
}

// terms is what the statements of a request say, and where its texts say it.
type terms struct {
	list       []term
	dates      []int32 // terms that are dates
	ambiguous  []int32 // terms that are numbers with two readings
	words      table   // stem, or value of a number -> term
	members    []int32
	statements []statement
	owner      []int32 // per term: the statement that was looked at last and has it, from 1
}

func (t *terms) reset(size int) {
	t.list, t.dates, t.ambiguous = t.list[:0], t.dates[:0], t.ambiguous[:0]
	t.members, t.statements, t.owner = t.members[:0], t.statements[:0], t.owner[:0]
	t.words.reset(size)
}

// add makes a statement of features. language is the bit of the language whose
// stop words carry no content.
func (t *terms) add(features []feature, language uint16) {
	s := statement{from: int32(len(t.members))}
	number := int32(len(t.statements) + 1)
	for i := range features {
		f := &features[i]
		if f.dropped {
			continue
		}
		s.negated = s.negated || f.kind == featureWord && f.word.negates
		if f.kind == featureWord && (f.weak || f.word.negates || f.word.stop&language != 0) {
			continue
		}
		id := t.intern(f)
		if t.owner[id] == number {
			continue
		}
		t.owner[id] = number
		t.members = append(t.members, id)
		if f.kind != featureWord {
			s.exact++
		}
	}
	s.to = int32(len(t.members))
	t.statements = append(t.statements, s)
}

// intern returns the term of a feature.
func (t *terms) intern(f *feature) int32 {
	switch f.kind {
	case featureDate:
		for _, id := range t.dates {
			if t.list[id].date == f.date {
				return id
			}
		}
		id := t.append(term{kind: featureDate, date: f.date, next: -1})
		t.dates = append(t.dates, id)
		return id
	case featureNumber:
		h := valueHash(f.number.value())
		first := t.words.get(h)
		for id := first; id >= 0; id = t.list[id].next {
			if t.list[id].number == f.number {
				return id
			}
		}
		id := t.append(term{kind: featureNumber, number: f.number, next: -1})
		if f.number.hasOther {
			t.ambiguous = append(t.ambiguous, id)
		}
		if first < 0 {
			t.words.put(h, id)
			return id
		}
		t.list[id].next, t.list[first].next = t.list[first].next, id
		return id
	}
	id := t.words.get(f.stem)
	if id < 0 {
		id = t.append(term{next: -1})
		t.words.put(f.stem, id)
	}
	return id
}

func (t *terms) append(x term) int32 {
	x.last = -1
	t.list = append(t.list, x)
	t.owner = append(t.owner, 0)
	return int32(len(t.list) - 1)
}

// valueHash is the hash of a number, apart from those of words.
func valueHash(v value) uint64 {
	h := hashRune(hashSeed, -1)
	h = (h ^ v.digits) * hashPrime
	h = hashRune(h, rune(v.exp))
	if v.negative {
		h = hashRune(h, '-')
	}
	return mix(h)
}

// readings are the values that number n may have in a statement: its own, and
// that of its other reading.
func (n *number) readings() (values [2]value, count int) {
	values[0], count = n.value(), 1
	if n.hasOther {
		values[1], count = value{n.other, n.otherExp, n.negative}, 2
	}
	return values, count
}

// unit is what the term counts.
func (x *term) unit() unit {
	if x.kind == featureDate {
		return dateUnit
	}
	return x.number.unit
}

// weigh gives every term its inverse document frequency over n passages, and
// every statement the sum of its terms. The form is that of scikit-learn's
// smooth_idf, ln((1+n)/(1+df)) + 1: a term that every passage has still weighs
// 1, and one that none has does not outweigh all others.
func (t *terms) weigh(n int) {
	for i := range t.list {
		t.list[i].weight = math.Log(float64(1+n)/float64(1+t.list[i].df)) + 1
	}
	for i := range t.statements {
		s := &t.statements[i]
		for _, id := range t.members[s.from:s.to] {
			s.weight += t.list[id].weight
			if t.list[id].kind == featureWord {
				s.loose += t.list[id].weight
			}
		}
	}
}
