package browsertest

import (
	"io"
	"path/filepath"
	"testing"

	"ibid/dataset"
	"ibid/dataset/runs"
)

// judge gives a run without a judge the verdicts of one, so that every outcome
// occurs: each row gets one claim, its whole answer, linked to all its citations.
func judge(t testing.TB, dir, kind string) {
	t.Helper()
	outcomes := []string{"supported_by_cited", "contradicted", "supported_elsewhere", "unsupported", "unscored", "not_factual"}
	labels := map[string]string{"supported_by_cited": "full", "contradicted": "contradicts", "supported_elsewhere": "partial", "unsupported": "none"}
	claims, err := dataset.NewTable(runs.ClaimFields)
	if err != nil {
		t.Fatal(err)
	}
	citations, err := dataset.NewTable(runs.CitationFields)
	if err != nil {
		t.Fatal(err)
	}
	byRow := make(map[int64][]int32)
	each(t, filepath.Join(dir, runs.CitationsFile), func(cell func(string) dataset.Cell) {
		row := cell("row").Int
		byRow[row] = append(byRow[row], int32(cell("citation").Int))
		outcome := outcomes[row%6]
		for c, f := range runs.CitationFields {
			switch value := cell(f.Name); {
			case f.Name == "claims":
				citations.AppendInts(c, []int32{0})
			case f.Name == "support" && labels[outcome] != "":
				citations.AppendDouble(c, map[string]float64{"full": 1, "partial": 0.5}[labels[outcome]])
			case f.Name == "label" && labels[outcome] != "":
				citations.AppendString(c, labels[outcome])
			case f.Name == "reason" && outcome == "contradicted":
				citations.AppendString(c, "the source gives another number")
			case f.Name == "quote_start" && outcome == "supported_by_cited" && !cell("start").Null && cell("start").Int >= 0:
				citations.AppendInt(c, cell("start").Int+4)
			case f.Name == "quote_end" && outcome == "supported_by_cited" && !cell("end").Null && cell("start").Int >= 0:
				citations.AppendInt(c, cell("end").Int)
			default:
				put(citations, c, f, value)
			}
		}
		citations.EndRow()
	})
	each(t, filepath.Join(dir, runs.RowsFile), func(cell func(string) dataset.Cell) {
		row := cell("row").Int
		for c, f := range runs.ClaimFields {
			switch f.Name {
			case "id", "system", "row":
				put(claims, c, f, cell(f.Name))
			case "claim", "start":
				claims.AppendInt(c, 0)
			case "end":
				claims.AppendInt(c, 30)
			case "text":
				claims.AppendString(c, "the first thirty characters of the answer")
			case "citations":
				claims.AppendInts(c, byRow[row])
			case "outcome":
				claims.AppendString(c, outcomes[row%6])
			case "elsewhere_doc":
				if outcomes[row%6] == "supported_elsewhere" {
					claims.AppendString(c, "tea.txt")
				} else {
					claims.AppendNull(c)
				}
			case "elsewhere_start", "elsewhere_end":
				if outcomes[row%6] == "supported_elsewhere" {
					claims.AppendInt(c, map[string]int64{"elsewhere_start": 5, "elsewhere_end": 25}[f.Name])
				} else {
					claims.AppendNull(c)
				}
			default:
				claims.AppendNull(c)
			}
		}
		claims.EndRow()
	})
	write(t, filepath.Join(dir, runs.CitationsFile), citations)
	write(t, filepath.Join(dir, runs.ClaimsFile), claims)
	write(t, filepath.Join(dir, runs.CallsFile), calls(t))
	setJudge(t, dir, kind)
}

// calls are what the judge of the first two rows was asked: the second answer was
// there already.
func calls(t testing.TB) *dataset.Table {
	t.Helper()
	table, err := dataset.NewTable(runs.CallFields)
	if err != nil {
		t.Fatal(err)
	}
	for row := range int64(2) {
		for c, f := range runs.CallFields {
			switch {
			case c == runs.CallRow:
				table.AppendInt(c, row)
			case c == runs.CallModel:
				table.AppendString(c, "some/model")
			case c == runs.CallStatus:
				table.AppendString(c, "ok")
			case c == runs.CallCached:
				table.AppendBool(c, row == 1)
			case c == runs.CallCostUSD:
				table.AppendDouble(c, []float64{0.0012, 0}[row])
			case f.Kind == dataset.String:
				table.AppendString(c, "")
			case f.Kind == dataset.Bool:
				table.AppendBool(c, false)
			default:
				table.AppendInt(c, 1200)
			}
		}
		table.EndRow()
	}
	return table
}

// setJudge puts a judge into the manifest of a run.
func setJudge(t testing.TB, dir, kind string) {
	t.Helper()
	changeManifest(t, dir, func(m *runs.Manifest) { m.Judge.Kind = kind })
}

// each calls f with every row of a result file.
func each(t testing.TB, path string, f func(cell func(name string) dataset.Cell)) {
	t.Helper()
	file, err := dataset.OpenResult(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for n := range file.Rows() {
		row, err := file.ReadRow(n)
		if err != nil {
			t.Fatal(err)
		}
		f(func(name string) dataset.Cell {
			for c, field := range file.Fields() {
				if field.Name == name {
					return row[c]
				}
			}
			return dataset.Cell{Null: true}
		})
	}
}

func put(table *dataset.Table, c int, f dataset.Field, v dataset.Cell) {
	switch {
	case v.Null:
		table.AppendNull(c)
	case f.Kind == dataset.String:
		table.AppendString(c, v.Text)
	case f.Kind == dataset.Double:
		table.AppendDouble(c, v.Double)
	case f.Kind == dataset.Bool:
		table.AppendBool(c, v.Int != 0)
	default:
		table.AppendInt(c, v.Int)
	}
}

func write(t testing.TB, path string, table *dataset.Table) {
	t.Helper()
	err := dataset.WriteFile(path, func(w io.Writer) error {
		var e dataset.Encoder
		return e.EncodePart(w, table)
	})
	if err != nil {
		t.Fatal(err)
	}
}
