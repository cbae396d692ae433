package annotations

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ibid/dataset"
)

// filledBatch is how many rows are read at a time.
const filledBatch = 512

// readAnnotated reads a dataset that holds what annotators said of a blind sample: its
// ids are the items' names, and truth and labels are what was said of them.
func readAnnotated(ctx context.Context, path string, k *Key) (map[int64][]BlindItem, error) {
	source, err := dataset.Open(path, dataset.ReadOptions{Want: dataset.WantKeys | dataset.WantSpans | dataset.WantLabels})
	if err != nil {
		return nil, err
	}
	c := source.Conventions()
	if c.OffsetUnit != "" && c.OffsetUnit != "codepoint" || c.SpanEnd != "" && c.SpanEnd != "exclusive" || c.OffsetBase != "" && c.OffsetBase != "document" {
		return nil, fmt.Errorf("%s: offsets must be code points of the document, the end exclusive", path)
	}
	filled := make(map[int64][]BlindItem)
	err = source.Read(ctx, 0, filledBatch, func(b *dataset.Batch) error {
		defer b.Release()
		for i := range b.Len() {
			var row dataset.Row
			b.Row(i, &row)
			at, ok := k.row(row.ID)
			switch {
			case row.Err != nil:
				return fmt.Errorf("%s: row %d: %w", path, row.Pos, row.Err)
			case !ok:
				return fmt.Errorf("%s: row %d: %q is no item of the sample", path, row.Pos, row.ID)
			case filled[at] != nil:
				return fmt.Errorf("%s: row %d: %q is there twice", path, row.Pos, row.ID)
			}
			items, err := annotatedItems(&row)
			if err != nil {
				return fmt.Errorf("%s: row %d: %w", path, row.Pos, err)
			}
			if len(items) > 0 {
				filled[at] = items
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	nameBlind(filled)
	return filled, nil
}

// annotatedItems is a row as what each of its annotators said.
func annotatedItems(row *dataset.Row) ([]BlindItem, error) {
	var items []BlindItem
	of := func(annotator string) *BlindItem {
		i := slices.IndexFunc(items, func(it BlindItem) bool { return it.Annotator == annotator })
		if i < 0 {
			i = len(items)
			items = append(items, BlindItem{Annotator: strings.Clone(annotator), ID: strings.Clone(row.ID)})
		}
		return &items[i]
	}
	for _, t := range row.Truth {
		it := of(t.Annotator)
		if it.Truth == nil {
			it.Truth = []BlindPlace{}
		}
		if t.DocNull {
			continue
		}
		if !t.Start.Valid || !t.End.Valid || t.Unit != "" && t.Unit != "codepoint" {
			return nil, fmt.Errorf("a mark of %q has no offsets in code points", t.Annotator)
		}
		it.Truth = append(it.Truth, BlindPlace{Doc: strings.Clone(t.Doc), Start: new(t.Start.Value), End: new(t.End.Value)})
	}
	for _, l := range row.Labels {
		if !l.Value.Valid {
			continue
		}
		it := of(l.Annotator)
		it.Labels = append(it.Labels, BlindLabel{
			ClaimID: strings.Clone(l.ClaimID), CitationID: strings.Clone(l.CitationID), Kind: strings.Clone(l.Kind), Value: new(l.Value.Value),
		})
	}
	return items, nil
}

// nameBlind tells blind annotators from those of the dataset, who may be the same
// people.
func nameBlind(filled map[int64][]BlindItem) {
	known := map[string]bool{}
	for _, items := range filled {
		for i := range items {
			known[items[i].Annotator] = true
		}
	}
	for _, items := range filled {
		for i := range items {
			if items[i].Annotator = BlindAnnotator + ":" + items[i].Annotator; len(known) == 1 {
				items[i].Annotator = BlindAnnotator
			}
		}
	}
}
