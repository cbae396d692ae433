package convert

import (
	"cmp"
	"slices"
	"strings"
)

// A studioLayout is what a file tells of the labeling configuration, which is not
// part of the export.
type studioLayout struct {
	votes map[string]map[string]int // for each object of the configuration, the quotes that a field holds
	field map[string]string         // the field of each object; "" if there is none
	html  map[string]bool           // fields that are HTML
	asked bool                      // people were asked to mark texts

	marks   map[string]int  // in each object
	answers int             // results that are no marks in texts
	inHTML  map[string]bool // objects that are HTML
}

func newStudioLayout() studioLayout {
	return studioLayout{
		votes: map[string]map[string]int{}, field: map[string]string{},
		html: map[string]bool{}, inHTML: map[string]bool{}, marks: map[string]int{},
	}
}

// stated is worth more than any number of quotes.
const stated = 1 << 40

// vote counts, for every mark of a task, the fields in which its quote stands.
func (l *studioLayout) vote(t *studioTask) {
	for i := range t.annotations {
		a := &t.annotations[i]
		l.answers += len(a.choices) + len(a.others)
		for k := range a.marks {
			l.voteFor(t, &a.marks[k])
		}
	}
}

func (l *studioLayout) voteFor(t *studioTask, m *studioMark) {
	if l.votes[m.to] == nil {
		l.votes[m.to] = map[string]int{}
	}
	l.marks[m.to]++
	l.inHTML[m.to] = l.inHTML[m.to] || m.html
	for i := range t.fields {
		f := &t.fields[i]
		votes := 0
		if m.source == f.key {
			votes = stated
		}
		var p proof
		if isQuote(m.quote.text) {
			e := p.examine(f.as(m.html), &m.quote)
			if e.exact&shownReadings != 0 || e.alike>>p.documented&1 == 1 {
				votes++
			}
		}
		l.votes[m.to][f.key] += votes
	}
}

// shownReadings are those that Label Studio has had, code points and UTF-16.
const shownReadings readingSet = 1<<0 | 1<<1

// settle finds the field of every object: the one that holds most quotes; where they
// do not tell, the one of that name, then a name that texts have, then the first by
// name.
func (l *studioLayout) settle() {
	for to, votes := range l.votes {
		var keys []string
		for key := range votes {
			if votes[key] > 0 || !isStudioRole(key) {
				keys = append(keys, key)
			}
		}
		if len(keys) == 0 {
			continue
		}
		best := slices.MinFunc(keys, func(a, b string) int {
			return cmp.Or(-cmp.Compare(votes[a], votes[b]), cmp.Compare(rankField(a, to), rankField(b, to)), strings.Compare(a, b))
		})
		l.field[to] = best
		l.html[best] = l.html[best] || l.inHTML[to]
	}
	l.asked = len(l.marks) == 0 && l.answers == 0
	for to := range l.marks {
		l.asked = l.asked || !isStudioRole(l.field[to])
	}
}

func rankField(key, to string) int {
	if key == to {
		return -1
	}
	if i := slices.Index(studioTexts, key); i >= 0 {
		return i
	}
	return len(studioTexts)
}

// fieldOf is the field of a task that a mark is in, nil if there is none.
func (l *studioLayout) fieldOf(t *studioTask, m *studioMark) *studioField {
	if t.blind != nil {
		return t.field(m.to)
	}
	return t.field(l.field[m.to])
}

// documents are the fields of a task that people could mark.
func (l *studioLayout) documents(t *studioTask) []*studioField {
	marked := map[string]bool{}
	for _, key := range l.field {
		marked[key] = !isStudioRole(key)
	}
	var all, likely []*studioField
	for i := range t.fields {
		f := &t.fields[i]
		switch {
		case t.blind != nil:
			if t.blind.document(f.key) != "" {
				all = append(all, f)
			}
		case marked[f.key]:
			all = append(all, f)
		case slices.Contains(studioTexts, f.key):
			likely = append(likely, f)
		}
	}
	if len(all) == 0 {
		return likely
	}
	return all
}
