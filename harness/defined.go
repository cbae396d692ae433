package harness

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// Metrics that are often undefined by their definition, so that it says nothing of the
// data.
var oftenUndefined = []string{"boundary_error_start", "boundary_error_end", "consistency_variance", "alce_precision"}

// tooFewDefined says why the metric of a row of the summary of the run in dir is known of
// too few rows to be judged by, "" if it is not. Rows are only read again where the
// summary alone cannot tell.
func tooFewDefined(dir string, row *runs.SummaryRow, minDefined float64) (string, error) {
	if row.DefinedShare == nil || *row.DefinedShare >= minDefined || slices.Contains(oftenUndefined, row.Metric) {
		return "", nil
	}
	in, err := rowsOfSlice(dir, row.Slice)
	if err != nil {
		return "", err
	}
	reasons := make(map[string]int64)
	var counted int64
	err = runs.Rows().Scan(dir, []string{"system", "undefined"}, func(at int64, r *runs.Row) error {
		why := r.Undefined[row.Metric]
		if row.System != "" && r.System != row.System || in != nil && !in[at] || metrics.Excuses(why) {
			return nil
		}
		counted++
		if why != "" {
			reasons[strings.Clone(why)]++
		}
		return nil
	})
	if err != nil || counted == 0 || float64(row.N) >= minDefined*float64(counted) {
		return "", err
	}
	most := ""
	for why, n := range reasons {
		if most == "" || n > reasons[most] || n == reasons[most] && why < most {
			most = why
		}
	}
	return fmt.Sprintf("defined for %d of %d rows, below min_defined %v: %d have %s", row.N, counted, minDefined, reasons[most], most), nil
}

// rowsOfSlice says which rows are in a slice KEY=VALUE; nil is all of them.
func rowsOfSlice(dir, slice string) ([]bool, error) {
	key, value, ok := strings.Cut(slice, "=")
	if !ok {
		return nil, nil
	}
	f, err := parquet.OpenResult(filepath.Join(dir, runs.RowsFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	values, err := runs.ReadSlices(dir, f, key)
	in := make([]bool, len(values))
	for i := range values {
		in[i] = slices.Contains(values[i], value)
	}
	return in, err
}
