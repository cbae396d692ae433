package round

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset"
)

// importBatch is how many rows are read at a time.
const importBatch = 512

// Import adds what annotators say in a dataset whose ids are the names of items, as that of an
// export of Label Studio. It writes the file of each, and returns how many items each of them
// has, by name. What a name cannot have is a dash in it.
func (r *Round) Import(ctx context.Context, path string) (map[string]int, error) {
	source, err := dataset.Open(path, dataset.ReadOptions{Want: dataset.WantAll})
	if err != nil {
		return nil, err
	}
	resolver := dataset.NewResolver(nil, dataset.Conventions{})
	states := make(map[string][]State)
	err = source.Read(ctx, 0, importBatch, func(b *dataset.Batch) error {
		defer b.Release()
		for i := range b.Len() {
			var row ibid.Answer
			b.Row(i, &row)
			it := r.Item(row.ID)
			if row.Err != nil {
				return row.Err
			}
			if it == nil {
				return ibid.Usagef("%q is no item of the round in %s", row.ID, r.dir)
			}
			resolver.Resolve(&row)
			importRow(it, &row, states)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	names := make(map[string]string) // of files, by annotators
	count := make(map[string]int)
	for annotator, all := range states {
		name := foreignName.ReplaceAllString(annotator, "-")
		for other, theirs := range names {
			if strings.EqualFold(theirs, name) {
				return nil, ibid.Usagef("%q and %q would both be called %s", other, annotator, name)
			}
		}
		names[annotator] = name
		if err := r.Header.CheckAnnotator(name, false); err != nil {
			return nil, err
		}
		for i := range all {
			if err := all[i].check(r.Item(all[i].ID)); err != nil {
				return nil, ibid.Usagef("%s: %w", annotator, err)
			}
		}
	}
	for annotator, name := range names {
		if err := r.importPerson(name, states[annotator]); err != nil {
			return nil, err
		}
		count[name] = len(states[annotator])
	}
	return count, nil
}

// foreignName is what a name cannot have.
var foreignName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// importPerson appends the states that say something new.
func (r *Round) importPerson(name string, states []State) error {
	m, err := r.OpenMarks(name, Annotator)
	if err != nil {
		return err
	}
	defer m.Close()
	for _, s := range states {
		if before := m.Of(s.ID); len(before) == 0 || !sameState(before[len(before)-1], s) {
			if err := m.Append(s, len(before)); err != nil {
				return err
			}
		}
	}
	return nil
}

// importRow adds what each annotator of a row, whose places are resolved, says of its item.
// Places in an item of labels are left out: nobody was asked for them.
func importRow(it *Item, row *ibid.Answer, states map[string][]State) {
	for _, o := range OpinionsOf(row) {
		s := State{ID: it.ID, Done: true}
		if it.Purpose == Truth {
			s.Truth = o.Marks
		}
		for _, l := range o.Labels {
			if slices.Contains(it.Labels, l.question()) {
				s.Labels = append(s.Labels, l)
			}
		}
		if s.Truth != nil || s.Labels != nil {
			states[o.Annotator] = append(states[o.Annotator], s)
		}
	}
}
