package runs

import (
	"context"

	"ibid/dataset/parquet"
	"ibid/metrics/stats"
)

// ReadTouching reads which documents the rows of rows.parquet touch, and the keys of
// their questions. Rows of a run whose statistics.cluster is not auto touch none.
func ReadTouching(ctx context.Context, f *parquet.ResultFile) (*stats.Touching, []uint64, error) {
	t := new(stats.Touching)
	questions := make([]uint64, 0, f.Rows())
	var ids, documents parquet.ColumnValues
	for part := range f.RowGroups() {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if err := f.ReadColumn(part, "id", &ids); err != nil {
			return nil, nil, err
		}
		if f.Has("documents") {
			if err := f.ReadColumn(part, "documents", &documents); err != nil {
				return nil, nil, err
			}
		}
		for i, id := range ids.Strings {
			questions = append(questions, stats.Key(id))
			if documents.Rows == 0 || !documents.Valid[i] {
				t.Add()
				continue
			}
			t.Add(documents.Strings[documents.Offsets[i]:documents.Offsets[i+1]]...)
		}
	}
	return t, questions, nil
}
