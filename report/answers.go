package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// mostAnswers is how many answers a page lists, the worst first.
const mostAnswers = 20_000

// A found is a row of a run: where it stands, and what became of it.
type found struct {
	run, system int   // of the page
	row         int64 // position in the input
	at          int64 // position in the file
	problem     metrics.Problem
	state       *word
	lead        float64 // the metric that orders, turned so that less is worse
	hasLead     bool    // else lead is 0
	size        int64   // citations
	id, name    string  // name is the system as the run has it
}

// An answer is a row of a run that a page lists.
type answer struct {
	found
	question string
	since    string         // how it changed since the run that it is compared with, as filters have it; "" if that is not known
	before   *answer        // in that run
	later    bool           // a later run is compared with it
	earlier  *earlierAnswer // what the row of a later run shows of it
	find     string         // what the script of the page finds it by
	place    int            // of those that can be opened; -1 if it cannot
}

// worse orders rows: those that fail first, of these those with the lowest first metric, then
// those with the gravest problem, then in the order of the input. A row without the metric
// follows those that have it.
func (x *found) worse(y *found) int {
	return cmp.Or(trueFirst(x.problem.Fails(), y.problem.Fails()), trueFirst(x.hasLead, y.hasLead),
		cmp.Compare(x.lead, y.lead), cmp.Compare(y.problem, x.problem), x.first(y))
}

func trueFirst(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

func (x *found) first(y *found) int {
	return cmp.Or(cmp.Compare(x.run, y.run), cmp.Compare(x.row, y.row))
}

// worseAnswer is the order of [found.worse].
func worseAnswer(x, y *answer) int { return x.worse(&y.found) }

// worst keeps the worst of any number of rows.
type worst struct {
	most int
	list []found // up to twice as many
	full bool    // the first most of list are in order, and what follows the last of them is of no use
}

// keeps reports whether a row may be among them.
func (f *worst) keeps(x *found) bool { return !f.full || x.worse(&f.list[f.most-1]) <= 0 }

func (f *worst) add(x found) {
	if f.list = append(f.list, x); len(f.list) > 2*f.most {
		f.sorted()
		f.full = true
	}
}

func (f *worst) sorted() []found {
	slices.SortFunc(f.list, func(x, y found) int { return x.worse(&y) })
	f.list = f.list[:min(len(f.list), f.most)]
	return f.list
}

// counts count by state and system.
type counts map[string]map[int]int64

func (c counts) add(state string, system int) {
	if c[state] == nil {
		c[strings.Clone(state)] = make(map[int]int64)
	}
	c[state][system]++
}

// of counts what a system has in some state; all systems have [counts.sum].
func (c counts) of(system int) (n int64) {
	for _, bySystem := range c {
		n += bySystem[system]
	}
	return n
}

// sum counts all in some states, in every state if none is named.
func (c counts) sum(states ...string) (n int64) {
	for state, bySystem := range c {
		for _, k := range bySystem {
			if len(states) == 0 || slices.Contains(states, state) {
				n += k
			}
		}
	}
	return n
}

// A survey counts what all rows of the runs hold, and finds the worst.
type survey struct {
	data    *pageData
	number  map[string]int // of systems
	worst   worst
	fits    func(run *runs.Block, i int) bool // what is listed; nil is all
	fitting int64
}

// system is the number of a system; one that has no defined number follows those of the
// summary.
func (s *survey) system(prefix, bare string) int {
	n, ok := s.number[prefix+bare]
	if !ok {
		n = len(s.data.systems)
		s.data.systems = append(s.data.systems, prefix+strings.Clone(bare))
		s.number[s.data.systems[n]] = n
	}
	return n
}

// rows counts the rows of a run.
func (s *survey) rows(run int, f *runs.Frame) error {
	data, prefix := s.data, s.data.results[run].prefix
	lead, sign := "", 1.0
	if len(data.lead) > 0 {
		lead = data.lead[0]
		if d, _ := metrics.Lookup(lead); d.Direction == metrics.LowerIsBetter {
			sign = -1
		}
	}
	return f.Each(func(b *runs.Block) error {
		system, because := b.Texts("system"), b.Texts("fails_because")
		row, citations := b.Column("row").Ints, b.Column("citations")
		undecided, unjudged, noText := b.Column("undecided_outcomes").Ints, b.Column("unscored_factual").Ints, b.Column("no_text_factual").Ints
		abstained := b.Column("abstained").Ints
		values, known := b.Numbers(lead)
		if b.Err() != nil {
			return b.Err()
		}
		for i := range row {
			x := found{run: run, row: row[i], at: b.First + int64(i), system: s.system(prefix, system[i]), size: citations.Ints[i]}
			x.problem, _ = metrics.ParseProblem(because[i])
			x.state = answerWord(x.problem, undecided[i], unjudged[i], noText[i], abstained[i] > 0, citations.Valid[i])
			if known[i] {
				x.lead, x.hasLead = sign*values[i], true
			}
			data.states.add(x.state.Code, x.system)
			if s.fits != nil && !s.fits(b, i) {
				continue
			}
			if s.fitting++; s.worst.keeps(&x) {
				x.id, x.name = strings.Clone(b.Texts("id")[i]), strings.Clone(system[i])
				s.worst.add(x)
			}
		}
		return b.Err()
	})
}

// addLow keeps a citation if it is among those of the least relevance.
func (s *survey) addLow(l lowSource) {
	at, _ := slices.BinarySearchFunc(s.data.low, l, func(a, b lowSource) int {
		return cmp.Or(cmp.Compare(a.relevance, b.relevance), -1) // behind those that are alike
	})
	if at < lowSources {
		l.id, l.doc = strings.Clone(l.id), strings.Clone(l.doc)
		s.data.low = slices.Insert(s.data.low, at, l)
		s.data.low = s.data.low[:min(len(s.data.low), lowSources)]
	}
}

// items counts the citations and claims of a run by what is known of them.
func (s *survey) items(run int) error {
	r := s.data.results[run]
	supported := limitsOf(r.run.Manifest).Supported
	_, err := eachBlock(r.run.Dir, runs.CitationsFile, func(b *runs.Block) {
		system, status, kind, source := b.Texts("system"), b.Texts("status"), b.Texts("source_type"), b.Texts("source_ref")
		support, exact, row := b.Column("support"), b.Column("exact_jaccard"), b.Column("row")
		id, docs := b.Texts("id"), b.Texts("doc")
		for i := range status {
			s.data.statuses.add(status[i], s.system(r.prefix, system[i]))
			if kind[i] == "" {
				continue
			}
			k := s.data.kinds[kind[i]]
			if k == nil {
				k = new(kindCount)
				s.data.kinds[strings.Clone(kind[i])] = k
			}
			k.cited++
			if relevance := k.tell(source[i]); relevance != nil && *relevance < lowRelevance {
				s.data.lows++
				s.addLow(lowSource{run, row.Ints[i], id[i], docs[i], *relevance})
			}
			valid, wrong := validStatus(status[i]), exact.Valid[i] && exact.Doubles[i] == 0
			if valid {
				k.valid++
			}
			if support.Valid[i] {
				wrong = wrong || support.Doubles[i] < supported
				if support.Doubles[i] >= supported {
					k.supported++
				}
			}
			if wrong || !valid {
				k.wrong++
			}
		}
	})
	if err != nil {
		return err
	}
	r.judged, err = eachBlock(r.run.Dir, runs.ClaimsFile, func(b *runs.Block) {
		system, outcome := b.Texts("system"), b.Texts("outcome")
		for i := range outcome {
			s.data.outcomes.add(outcome[i], s.system(r.prefix, system[i]))
		}
	})
	return err
}

// eachBlock calls do with the blocks of a table, if the run has it: a summary of rows may not.
func eachBlock(dir, file string, do func(b *runs.Block)) (there bool, err error) {
	f, err := runs.OpenFrame(filepath.Join(dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	defer f.Close()
	return true, f.Each(func(b *runs.Block) error {
		do(b)
		return b.Err()
	})
}

// newSurvey begins to count what runs hold; it finds at most so many rows.
func newSurvey(data *pageData, most int) *survey {
	s := &survey{data: data, number: make(map[string]int), worst: worst{most: most}}
	data.states, data.statuses, data.outcomes = make(counts), make(counts), make(counts)
	for n, name := range data.systems {
		s.number[name] = n
	}
	return s
}

// read counts the rows of a run.
func (s *survey) read(run int) error {
	dir := s.data.results[run].run.Dir
	f, err := runs.OpenRows(dir)
	if err == nil {
		err = errors.Join(s.rows(run, f), f.Close())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// readAnswers counts what all runs hold, and finds the answers that the page lists.
func readAnswers(data *pageData, most int, fits func(b *runs.Block, i int) bool) (*survey, error) {
	s := newSurvey(data, most)
	s.fits = fits
	for run := range data.results {
		if err := s.read(run); err != nil {
			return nil, err
		}
	}
	for _, r := range data.results {
		r.summary.Failing = data.failing(r)
	}
	list := s.worst.sorted()
	slices.SortFunc(list, func(x, y found) int { return x.first(&y) })
	for _, x := range list {
		data.answers = append(data.answers, &answer{found: x, place: -1})
	}
	return s, nil
}

// ofRun are the answers of a run, in the order of its input.
func (data *pageData) ofRun(run int) []*answer {
	from, _ := slices.BinarySearchFunc(data.answers, run, func(x *answer, run int) int { return cmp.Compare(x.run, run) })
	to, _ := slices.BinarySearchFunc(data.answers, run+1, func(x *answer, run int) int { return cmp.Compare(x.run, run) })
	return data.answers[from:to]
}

// find is the answer at a position of the input of a run; nil if it is not listed.
func (data *pageData) find(run int, row int64) *answer {
	of := data.ofRun(run)
	k, ok := slices.BinarySearchFunc(of, row, func(x *answer, row int64) int { return cmp.Compare(x.row, row) })
	if !ok {
		return nil
	}
	return of[k]
}

// key names an answer in links: id/system, each escaped. What is too long for a link is cut
// and told apart by its position.
func (data *pageData) key(x *answer) string {
	id, system := x.id, data.systems[x.system]
	if len(id)+len(system) > maxKey {
		return escapeLink(clip(id, maxKey/4)) + "/" + escapeLink(clip(system, maxKey/4)+"#"+count(x.row))
	}
	return escapeLink(id) + "/" + escapeLink(system)
}

const maxKey = 400 // bytes of id and system in a link

// An answerName is an answer as comparisons name it.
type answerName struct{ run, id, system string }

// compareAnswers finds for each answer of later runs how it changed since the run that its own
// is compared with.
func compareAnswers(data *pageData) {
	r := data.options.Comparison
	if r == nil || r.By != "run" {
		return
	}
	byName := make(map[answerName]*answer, len(data.answers))
	for _, x := range data.answers {
		byName[answerName{data.results[x.run].run.Manifest.ID, x.id, x.name}] = x
	}
	base := &r.Sides[0]
	for i := range r.Sides[1:] {
		other := &r.Sides[1+i]
		for _, x := range data.answers {
			if data.results[x.run].run.Manifest.ID != other.Run || other.System != "" && other.System != x.name {
				continue
			}
			x.before = byName[answerName{base.Run, x.id, cmp.Or(base.System, x.name)}]
			if x.before == nil {
				continue
			}
			x.before.later = true
			switch was, is := x.before.problem.Fails(), x.problem.Fails(); {
			case was && is:
				x.since = "still"
			case was:
				x.since = "fixed"
			case is:
				x.since = "new"
			}
		}
	}
}

// A searcher yields the rows of a run with question and answer, without their documents.
// A row is valid until yield returns.
type searcher interface {
	EachAnswer(ctx context.Context, yield func(pos int64, query, answer string) error) error
}

// fits finds the answers of a run of which each word of a query is in id, system, question or
// answer: a function that knows them in a block.
func fits(ctx context.Context, query string, run *RunData) (func(b *runs.Block, i int) bool, error) {
	words := strings.Fields(strings.ToLower(query))
	words = words[:min(len(words), 64)]
	said := make(map[int64]uint64) // of each row, the words that question and answer have
	if texts, ok := run.Texts.(searcher); ok && len(words) > 0 {
		err := texts.EachAnswer(ctx, func(pos int64, query, answer string) error {
			query, answer = strings.ToLower(query), strings.ToLower(answer)
			for k, w := range words {
				if strings.Contains(query, w) || strings.Contains(answer, w) {
					said[pos] |= 1 << k
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return func(b *runs.Block, i int) bool {
		id, system, row := b.Texts("id")[i], b.Texts("system")[i], b.Column("row").Ints[i]
		for k, w := range words {
			if said[row]>>k&1 == 0 && !strings.Contains(strings.ToLower(id), w) && !strings.Contains(strings.ToLower(system), w) {
				return false
			}
		}
		return true
	}, nil
}

// facets are what a row is found by in lists, such as system:careful.
func facets(row *runs.Row, citations []runs.Citation, claims []runs.Claim, x *answer, system string) (out []string) {
	add := func(facet, value string) {
		if value != "" {
			if f := facet + ":" + clip(value, 120); !slices.Contains(out, f) && len(out) < mostFacets {
				out = append(out, f)
			}
		}
	}
	add("system", system)
	add("problem", x.state.Code)
	if x.problem.Fails() {
		add("is", "failing")
	}
	if x.problem == metrics.ProblemError {
		add("is", "error")
	}
	add("since", x.since)
	add("provider", row.Provider)
	add("model", row.Model)
	add("annotator", row.Annotator)
	for _, key := range sortedKeys(row.Tags) {
		add("tag", clip(key, 60)+"="+clip(row.Tags[key], 60))
	}
	for k := range citations {
		add("status", citations[k].Status)
		add("type", citations[k].SourceType)
		if e := citations[k].SourceStatus; e != "" {
			add("state", e)
		}
	}
	for k := range claims {
		add("outcome", claims[k].Outcome)
	}
	for k := range citations {
		add("doc", citations[k].Doc)
	}
	return out
}

// mostFacets is how many facets an answer has.
const mostFacets = 40

// failed is how many answers fail.
func (data *pageData) failed() int64 {
	return data.states.answers(func(int) bool { return true }).fails
}
