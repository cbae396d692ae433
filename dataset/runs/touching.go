package runs

import (
	"context"
	"slices"

	"ibid/dataset/parquet"
	"ibid/metrics/stats"
)

// ReadTouching reads which documents the rows of rows.parquet touch, and the keys of
// their questions. Rows of a run whose statistics.cluster is not auto touch none.
func ReadTouching(ctx context.Context, f *parquet.ResultFile) (*stats.Touching, []uint64, error) {
	t, err := stats.Gather(NewTouchingRows(ctx, f), int(f.Rows()))
	if err != nil {
		return nil, nil, err
	}
	var ids parquet.ColumnValues
	questions := make([]uint64, 0, f.Rows())
	for part := range f.RowGroups() {
		if err := f.ReadColumn(part, "id", &ids); err != nil {
			return nil, nil, err
		}
		for _, id := range ids.Strings {
			questions = append(questions, stats.Key(id))
		}
	}
	return t, questions, ctx.Err()
}

// TouchingRows are the rows of rows.parquet as units, which they are where a system answers
// each question once. They are read row group by row group.
type TouchingRows struct {
	ctx   context.Context
	file  *parquet.ResultFile
	codes stats.Codes
	keys  []uint64

	ids, documents parquet.ColumnValues
	known          []int32 // of the dictionary of a row group: numbers of documents + 1
}

// NewTouchingRows returns those of an open file.
func NewTouchingRows(ctx context.Context, f *parquet.ResultFile) *TouchingRows {
	t := &TouchingRows{ctx: ctx, file: f}
	t.documents.Coded = true
	return t
}

// Keys are those of the documents that were met.
func (t *TouchingRows) Keys() []uint64 { return t.keys }

// Each is that of [stats.Touches]: a unit is a row, its key that of the question.
func (t *TouchingRows) Each(keys bool, f func(key uint64, rows int, documents []int32)) error {
	var numbers []int32
	for part := range t.file.RowGroups() {
		if err := t.read(part, keys); err != nil {
			return err
		}
		v := &t.documents
		for row := range t.file.GroupRows(part) {
			numbers = numbers[:0]
			if v.Rows > 0 {
				for _, code := range v.Codes[v.Offsets[row]:v.Offsets[row+1]] {
					if n := t.number(code); !slices.Contains(numbers, n) {
						numbers = append(numbers, n)
					}
				}
			}
			key := uint64(0)
			if t.ids.Rows > 0 && (keys || len(numbers) == 0) {
				key = stats.Key(t.ids.Strings[row])
			}
			f(key, 1, numbers)
		}
	}
	return nil
}

// read reads a row group: its ids only if there are rows whose keys are asked for.
func (t *TouchingRows) read(part int, keys bool) error {
	if err := t.ctx.Err(); err != nil {
		return err
	}
	v, rows := &t.documents, t.file.GroupRows(part)
	v.Rows, t.ids.Rows = 0, 0
	if t.file.Has("documents") {
		if err := t.file.ReadColumn(part, "documents", v); err != nil {
			return err
		}
	}
	t.known = append(t.known[:0], make([]int32, len(v.Dictionary))...)
	for row := 0; !keys && row < rows; row++ {
		keys = v.Rows == 0 || v.Offsets[row] == v.Offsets[row+1]
	}
	if !keys {
		return nil
	}
	return t.file.ReadColumn(part, "id", &t.ids)
}

// number is the number of a document of the open row group.
func (t *TouchingRows) number(code int32) int32 {
	if code < 0 {
		return t.find(t.documents.Strings[^code])
	}
	n := &t.known[code]
	if *n == 0 {
		*n = t.find(t.documents.Dictionary[code]) + 1
	}
	return *n - 1
}

func (t *TouchingRows) find(name string) int32 {
	key := stats.Key(name)
	number := t.codes.Code(key)
	if number == len(t.keys) {
		t.keys = append(t.keys, key)
	}
	return int32(number)
}
