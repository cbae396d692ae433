package harness

import (
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/stats"
)

// signCounts are the counts that signs look at.
var signCounts = []metrics.Count{
	metrics.Citations, metrics.MissingCitations, metrics.CheckedCitations, metrics.Claims, metrics.UnreadMarks, metrics.Abstained,
	metrics.AllQuotations, metrics.FaithfulQuotations, metrics.MisattributedQuotations,
}

// noTextOutcomes are claims of which no cited text is known.
var noTextOutcomes = metrics.OpenOf(metrics.OpenNoText, metrics.OutcomeItems)

// systemSums are what signs look at: sums over the rows of one system that were scored.
type systemSums struct {
	name        string
	number      int   // in the order of their first rows
	rows, nulls int64 // all, and those whose citations are null
	empty       int64 // rows without an answer and a citation
	counts      [metrics.NumCounts]int64
	noText      int64 // claims of which no cited text is known

	tampering, suspected int64 // rows with text that steers the judge, and with text that may do so

	marked, unread int64 // answers whose marks were read, and those of them with some that were not understood
	places         metrics.Places

	like         string // the system with the most identical answers, if that is a sign
	same, shared int64  // answers identical to its own, and questions that both answered

	model string
	mixed bool // there is more than one model, or a row without one
	twins []string

	few []runs.FewDefined
}

// The most that is kept to compare the answers of systems: answers, of a part of the
// questions if there are more, and systems.
const (
	maxSameAnswers = 1 << 18
	maxSameSystems = 100
)

// sameLimit is the share of identical answers from which two systems may be one.
const sameLimit = 0.9

// sumSystems adds up what signs look at, and finds systems that give the same answers, and
// systems of one model.
func sumSystems(dir string) (map[string]*systemSums, error) {
	f, err := runs.OpenRows(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sums := make(map[string]*systemSums)
	var all []*systemSums // by number
	var of []*systemSums  // of each row of the block
	answers := newSameAnswers(maxSameAnswers)
	err = f.Each(func(b *runs.Block) error {
		system, status, model := b.Texts("system"), b.Texts("status"), b.Column("model")
		of = of[:0]
		for i, name := range system {
			s := sums[name]
			if s == nil {
				s = &systemSums{name: strings.Clone(name), number: len(all), model: strings.Clone(model.Strings[i]), mixed: !model.Valid[i]}
				sums[s.name], all = s, append(all, s)
			}
			s.mixed = s.mixed || s.model != model.Strings[i]
			of = append(of, s)
			if status[i] == runs.RowOK {
				s.rows++
			}
		}
		for i, n := range b.Column(noTextOutcomes.String()).Ints {
			of[i].noText += n
		}
		for i, word := range b.Texts("tampering") {
			switch {
			case word == ibid.TamperingSuspected:
				of[i].suspected++
			case ibid.Tampered(word):
				of[i].tampering++
			}
		}
		for _, c := range signCounts {
			counts := b.Column(c.String())
			for i, known := range counts.Valid {
				switch {
				case known:
					of[i].counts[c] += counts.Ints[i]
					if c == metrics.UnreadMarks {
						of[i].marked++
						of[i].unread += min(1, counts.Ints[i])
					}
				case c == metrics.Citations && status[i] == runs.RowOK:
					of[i].nulls++
				}
			}
		}
		chars, citations := b.Column(metrics.AnswerChars.String()), b.Column(metrics.Citations.String())
		for i, n := range chars.Ints {
			if status[i] == runs.RowOK && chars.Valid[i] && n == 0 && citations.Ints[i] == 0 {
				of[i].empty++
			}
		}
		if hash := b.Column("answer_hash"); slices.Contains(hash.Valid, true) { // of several systems
			id := b.Texts("id")
			for i, known := range hash.Valid {
				if known && of[i].number < maxSameSystems {
					answers.add(stats.Key(id[i]), of[i].number, hash.Ints[i])
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	noteTwins(sums)
	for pair, n := range answers.pairs() {
		if !isShare(n.same, n.shared, sameLimit) {
			continue
		}
		for k, i := range pair {
			s, other := all[i], all[pair[1-k]].name
			if s.like == "" || n.same > s.same || n.same == s.same && other < s.like {
				s.like, s.same, s.shared = other, n.same, n.shared
			}
		}
	}
	return sums, nil
}

// sumOf is a count of all systems.
func sumOf(sums map[string]*systemSums, count metrics.Count) (n int64) {
	for _, s := range sums {
		n += s.counts[count]
	}
	return n
}

// noteTwins notes which systems have one and the same model, at the first of them by name.
func noteTwins(sums map[string]*systemSums) {
	of := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if s := sums[name]; !s.mixed {
			of[s.model] = append(of[s.model], name)
		}
	}
	for _, alike := range of {
		sums[alike[0]].twins = alike[1:]
	}
}

// An answerOf is the hash of what one system answered.
type answerOf struct {
	system int
	hash   int64
}

// sameAnswers keeps the hashes of answers by question. Where there are too many, it
// keeps those of the questions whose own hash is below a limit, which is halved until
// they fit: which these are depends on the questions alone.
type sameAnswers struct {
	most, kept int
	limit      uint64
	of         map[uint64][]answerOf
}

func newSameAnswers(most int) *sameAnswers {
	return &sameAnswers{most: most, limit: ^uint64(0), of: make(map[uint64][]answerOf)}
}

func (a *sameAnswers) add(question uint64, system int, hash int64) {
	if question > a.limit {
		return
	}
	a.of[question] = append(a.of[question], answerOf{system, hash})
	for a.kept++; a.kept > a.most; {
		a.limit /= 2
		for q, list := range a.of {
			if q > a.limit {
				a.kept -= len(list)
				delete(a.of, q)
			}
		}
	}
}

// A sameCount counts questions that two systems answered, and those that they answered
// alike.
type sameCount struct{ same, shared int64 }

// pairs counts for every two systems, the first of which has the lower number.
func (a *sameAnswers) pairs() map[[2]int]sameCount {
	out := make(map[[2]int]sameCount)
	for _, list := range a.of {
		for i := range list {
			for j := range i {
				x, y := list[j], list[i]
				if x.system > y.system {
					x, y = y, x
				}
				n := out[[2]int{x.system, y.system}]
				n.shared++
				if x.hash == y.hash {
					n.same++
				}
				out[[2]int{x.system, y.system}] = n
			}
		}
	}
	return out
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// answerHash is the same for answers with the same text that cite the same places.
func answerHash(a *ibid.Answer) int64 {
	var scratch [64]byte
	h := crc32.Update(0, castagnoli, []byte(a.Answer))
	for i := range a.Citations {
		c := &a.Citations[i]
		h = crc32.Update(h, castagnoli, []byte(c.Doc))
		b := append(scratch[:0], 0)
		for _, n := range []ibid.Integer{c.Page, c.Start, c.End} {
			if n.Known() {
				b = strconv.AppendInt(b, n.Value, 10)
			}
			b = append(b, ' ')
		}
		h = crc32.Update(h, castagnoli, b)
	}
	return int64(h)
}
