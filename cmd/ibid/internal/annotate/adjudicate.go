package annotate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ibid"
	"ibid/annotations"
	"ibid/annotations/acts"
	"ibid/dataset"
)

// adjudicated are the items of a sample that several annotators finished, for somebody
// who decides between them.
type adjudicated struct {
	sample   *acts.Sample
	opinions map[acts.Question][]acts.Opinion
	queue    []place // those on which they differ: marks, then labels, the least agreement first
	by       string
	key      *annotations.Key // nil: the names of the sample stay
	path     string           // of the merged file
	journal  *acts.Journal
	writing  sync.Mutex
}

// NewAdjudication makes the pages for somebody who decides between annotators whose
// files are in a folder, and writes the merged file there. With a key the merged file
// has the ids of the dataset.
func NewAdjudication(sample *acts.Sample, dir string, key *annotations.Key, journal *acts.Journal, o Options) (*Server, error) {
	template := ""
	if key != nil {
		template = strings.TrimSuffix(key.Template, ".jsonl")
	}
	opinions, err := acts.Opinions(dir, o.Annotator, template, "template", strings.TrimSuffix(annotations.MergedFile, ".jsonl"))
	if err != nil {
		return nil, err
	}
	a := &adjudicated{sample: sample, opinions: opinions, by: o.Annotator, key: key, path: filepath.Join(dir, annotations.MergedFile), journal: journal}
	agreement := make(map[acts.Question]float64)
	for q, said := range opinions {
		if len(said) < 2 {
			continue
		}
		if _, ok := sample.Find(q.Item); !ok {
			return nil, fmt.Errorf("%q of %s is no item of the sample", q.Item, said[0].Annotator)
		}
		if agreement[q] = acts.Agreement(said); agreement[q] < 1 {
			a.queue = append(a.queue, place{Item: q.Item, Part: q.Part})
		}
	}
	slices.SortFunc(a.queue, func(x, y place) int {
		return cmp.Or(
			strings.Compare(y.Part, x.Part), // who has seen an answer does not mark freely
			cmp.Compare(agreement[acts.Question{Item: x.Item, Part: x.Part}], agreement[acts.Question{Item: y.Item, Part: y.Part}]),
			strings.Compare(x.Item, y.Item),
		)
	})
	if len(agreement) == 0 {
		return nil, errors.New("no item was finished by two annotators")
	}
	return newServer(a, journal, o), a.write()
}

func (a *adjudicated) places() []place { return a.queue }

func (a *adjudicated) item(id, part string) (*item, bool, error) {
	it, ok, err := a.sample.Item(id)
	if !ok || err != nil {
		return nil, ok, err
	}
	out := shown(it, part)
	said := a.opinions[acts.Question{Item: id, Part: part}]
	if part == acts.Truth {
		out.Others = said
		return out, true, nil
	}
	for i := range out.Questions {
		q := &out.Questions[i]
		for _, o := range said {
			if v, ok := acts.Answer(q.BlindLabel, o.Labels); ok {
				q.Said = append(q.Said, saidValue{o.Annotator, v})
			}
		}
		q.Settled = settled(q.Said)
	}
	return out, true, nil
}

// A saidValue is what one annotator answered.
type saidValue struct {
	Annotator string  `json:"annotator"`
	Value     float64 `json:"value"`
}

// settled reports whether several annotators gave one answer.
func settled(said []saidValue) bool {
	return len(said) > 1 && !slices.ContainsFunc(said, func(s saidValue) bool { return s.Value != said[0].Value })
}

// take gives an act the marks that it takes over.
func (it *item) take(args *acts.Args) error {
	if args == nil {
		return errors.New("take: needs how, and from whom")
	}
	var from []acts.Opinion
	for _, name := range args.From {
		i := slices.IndexFunc(it.Others, func(o acts.Opinion) bool { return o.Annotator == name })
		if i < 0 {
			return fmt.Errorf("%q said nothing of this item", name)
		}
		from = append(from, it.Others[i])
	}
	switch {
	case args.How == acts.HowTake && len(from) == 1:
		args.Marks = from[0].Marks
	case args.How == acts.HowUnion && len(from) > 1:
		args.Marks = acts.Combine(ibid.PolicyUnion, from)
	case args.How == acts.HowIntersection && len(from) > 1:
		args.Marks = acts.Combine(ibid.PolicyIntersection, from)
	default:
		return fmt.Errorf("%q of %d annotators", args.How, len(from))
	}
	return nil
}

// write writes the merged file: what all said alike, and what was decided.
func (a *adjudicated) write() error {
	a.writing.Lock()
	defer a.writing.Unlock()
	byItem := make(map[string][]acts.Act)
	for _, act := range a.journal.Acts() {
		byItem[act.Item] = append(byItem[act.Item], act)
	}
	var merged []acts.MergedItem
	for _, it := range a.sample.Items {
		state := acts.Fold(byItem[it.ID])
		d := state.Decides(a.by)
		m := acts.MergedItem{ID: it.ID}
		if a.key != nil {
			if i := slices.IndexFunc(a.key.Items, func(k annotations.KeyItem) bool { return k.Blind == it.ID }); i >= 0 {
				m.ID, m.System = a.key.Items[i].ID, a.key.Items[i].System
			}
		}
		m.Truth = acts.Merging{}.Truth(a.opinions[acts.Question{Item: it.ID, Part: acts.Truth}], d)
		m.Labels, _ = acts.Merging{}.Labels(a.opinions[acts.Question{Item: it.ID, Part: acts.Labels}], d)
		if m.Truth != nil || m.Labels != nil {
			merged = append(merged, m)
		}
	}
	return dataset.WriteFile(a.path, func(w io.Writer) error { return acts.WriteLines(w, merged) })
}

// Counts say how far adjudication has come, in questions: parts of items.
type Counts struct{ Several, Equal, Decided, Left int }

// Counts of an adjudication so far.
func (s *Server) Counts() Counts {
	a := s.source.(*adjudicated)
	var c Counts
	for _, said := range a.opinions {
		if len(said) > 1 {
			c.Several++
		}
	}
	c.Equal = c.Several - len(a.queue)
	byItem := make(map[string][]acts.Act)
	for _, act := range a.journal.Acts() {
		byItem[act.Item] = append(byItem[act.Item], act)
	}
	for _, p := range a.queue {
		if state := acts.Fold(byItem[p.Item]); state.Done[p.Part] {
			c.Decided++
		}
	}
	c.Left = len(a.queue) - c.Decided
	return c
}
