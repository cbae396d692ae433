package runs

import (
	"context"
	"math/bits"
	"strings"

	"ibid/metrics/stats"
)

// RowDocuments are the documents that the rows of rows.parquet touch: those of the column
// documents, or the value of the tag that statistics.cluster names. Documents that one row
// alone touches are not told apart.
type RowDocuments struct {
	*stats.Documents          // of each row of the file; nil if no two rows share one
	Names            []string // of the documents, by number
}

// AutoCluster is the value of statistics.cluster with which rows depend on each other by all
// documents that they touch.
const AutoCluster = "auto"

// ClusterTag is the tag that a value of statistics.cluster names, "" if it names none: then
// rows depend on each other by documents, or only by their question.
func ClusterTag(cluster string) string {
	if cluster == AutoCluster || cluster == "question" || cluster == "id" {
		return ""
	}
	return cluster
}

// ReadDocuments reads the documents of an open file, in two passes: names that occur once get
// no place in memory, however many there are.
func ReadDocuments(ctx context.Context, f *Frame, cluster string) (*RowDocuments, error) {
	out := &RowDocuments{}
	// 16 bits a row: where every row has a document of its own, one in sixteen of them looks as
	// if it were met before and gets a number for nothing.
	mask := uint64(1)<<max(16, bits.Len64(16*uint64(f.Len()))) - 1
	met, again := make([]uint64, mask/64+1), make([]uint64, mask/64+1)
	some, touched := false, 0
	err := EachDocuments(ctx, f, cluster, func(names []string) {
		touched += len(names)
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
	met = nil
	numbers := make(map[uint64]int32)
	out.Documents = stats.MakeDocuments(int(f.Len()), touched)
	err = EachDocuments(ctx, f, cluster, func(names []string) {
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
// The setting statistics.cluster says what they are.
func EachDocuments(ctx context.Context, f *Frame, cluster string, do func(names []string)) error {
	tag := ClusterTag(cluster)
	var values []string
	return f.Each(func(b *Block) error {
		documents := b.Column("documents")
		if b.Err() != nil {
			return b.Err()
		}
		for row := range b.Len() {
			if tag != "" {
				values = b.AppendSlices(values[:0], tag, row)
			} else {
				values = documents.Strings[documents.Offsets[row]:documents.Offsets[row+1]]
			}
			do(values)
		}
		return ctx.Err()
	})
}
