package runs

import (
	"context"
	"math/bits"
	"strings"

	"ibid/metrics/stats"
)

// RowDocuments are the documents that the rows of rows.parquet touch: those of the column
// documents, or the value of the tag that statistics.cluster names, which is in the column
// cluster. Documents that one row alone touches are not told apart.
type RowDocuments struct {
	*stats.Documents          // of each row of the file; nil if no two rows share one
	Names            []string // of the documents, by number
}

// ReadDocuments reads the documents of an open file, in two passes: names that occur once get
// no place in memory, however many there are.
func ReadDocuments(ctx context.Context, f *Frame) (*RowDocuments, error) {
	out := &RowDocuments{}
	// 16 bits a row: where every row has a document of its own, one in sixteen of them looks as
	// if it were met before and gets a number for nothing.
	mask := uint64(1)<<max(16, bits.Len64(16*uint64(f.Len()))) - 1
	met, again := make([]uint64, mask/64+1), make([]uint64, mask/64+1)
	some := false
	err := EachDocuments(ctx, f, func(names []string) {
		for _, name := range names {
			key := stats.Key(name)
			word, bit := key&mask/64, uint64(1)<<(key&63)
			again[word] |= met[word] & bit
			some = some || met[word]&bit != 0
			met[word] |= bit
		}
	})
	if err != nil || !some {
		return out, err
	}
	numbers := make(map[uint64]int32)
	out.Documents = new(stats.Documents)
	err = EachDocuments(ctx, f, func(names []string) {
		for _, name := range names {
			key := stats.Key(name)
			if again[key&mask/64]&(1<<(key&63)) == 0 {
				out.Touch(stats.Lone)
				continue
			}
			n, known := numbers[key]
			if !known {
				n = int32(len(numbers))
				numbers[key] = n
				out.Names = append(out.Names, strings.Clone(name))
			}
			out.Touch(n)
		}
		out.Add()
	})
	if !out.Shared() {
		out.Documents = nil
	}
	return out, err
}

// EachDocuments calls do with the names of the documents of each row, in the order of the file.
func EachDocuments(ctx context.Context, f *Frame, do func(names []string)) error {
	return f.Each(func(b *Block) error {
		documents, cluster := b.Column("documents"), b.Column("cluster")
		if b.Err() != nil {
			return b.Err()
		}
		for row := range b.Len() {
			if cluster.Valid[row] {
				do(cluster.Strings[row : row+1])
			} else {
				do(documents.Strings[documents.Offsets[row]:documents.Offsets[row+1]])
			}
		}
		return ctx.Err()
	})
}
