package runs

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ibid/dataset"
)

// AgreementFile is the file of a run that says how far its annotators agree. A
// run has it if some item has two of them.
const AgreementFile = "agreement.parquet"

// The kinds of agreement.
const (
	SpanAgreement  = "span"  // on the places that annotators marked
	LabelAgreement = "label" // on what they said of claims and citations
)

// AllAnnotators is what the column annotators says of a statistic over all of
// them; one over two has their names, see [Pair].
const AllAnnotators = "all"

// Pair is what the column annotators says of two of them: a|b. A backslash stands
// before a | or a backslash of a name, so that no two pairs are written alike.
func Pair(first, second string) string {
	return pairEscapes.Replace(first) + "|" + pairEscapes.Replace(second)
}

var pairEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`)

// CutPair returns the names of a [Pair]; ok is false if annotators is none.
func CutPair(annotators string) (first, second string, ok bool) {
	var names [2]strings.Builder
	at := 0
	for rest := annotators; rest != ""; rest = rest[1:] {
		switch {
		case rest[0] == '|':
			if at++; at > 1 {
				return "", "", false
			}
			continue
		case rest[0] == '\\' && len(rest) > 1:
			rest = rest[1:]
		}
		names[at].WriteByte(rest[0])
	}
	return names[0].String(), names[1].String(), at == 1
}

// An AgreementRow is one statistic of agreement between annotators. Fields that
// are not defined are nil.
type AgreementRow struct {
	Statistic  string // such as char_jaccard
	Kind       string // SpanAgreement or LabelAgreement
	Annotators string
	Slice      string // "" = everything; key=value; for labels of a dataset kind=… comes first
	Items      int64  // that two of the annotators saw
	Documents  int64  // clusters those items came from

	Estimate  *float64
	Low, High *float64 // interval at Level, by resampling documents
	Level     float64
	Method    string
	Target    *float64 // that Verdict compares with, nil if there is none
	Verdict   string   // "" if there is no target
	Warnings  []string
}

// agreementFields are the columns of agreement.parquet.
var agreementFields = []dataset.Field{
	{Name: "statistic", Kind: dataset.String, Required: true},
	{Name: "kind", Kind: dataset.String, Required: true},
	{Name: "annotators", Kind: dataset.String, Required: true},
	{Name: "slice", Kind: dataset.String, Required: true},
	{Name: "items", Kind: dataset.Int64, Required: true},
	{Name: "documents", Kind: dataset.Int64, Required: true},
	{Name: "estimate", Kind: dataset.Double},
	{Name: "ci_low", Kind: dataset.Double},
	{Name: "ci_high", Kind: dataset.Double},
	{Name: "level", Kind: dataset.Double},
	{Name: "method", Kind: dataset.String},
	{Name: "target", Kind: dataset.Double},
	{Name: "verdict", Kind: dataset.String},
	{Name: "warnings", Kind: dataset.ListString, Required: true},
}

// SortAgreement orders rows as the file does: by kind, slice and annotators, all
// of them first, then by statistic.
func SortAgreement(rows []AgreementRow) {
	pair := func(r AgreementRow) int {
		if r.Annotators == AllAnnotators {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(rows, func(a, b AgreementRow) int {
		return cmp.Or(-cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Slice, b.Slice), cmp.Compare(pair(a), pair(b)),
			cmp.Compare(a.Annotators, b.Annotators), cmp.Compare(a.Statistic, b.Statistic))
	})
}

// WriteAgreement writes rows, sorted, as agreement.parquet.
func WriteAgreement(dir string, rows []AgreementRow) error {
	SortAgreement(rows)
	t, err := dataset.NewTable(agreementFields)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].append(t)
	}
	return dataset.WriteFile(filepath.Join(dir, AgreementFile), func(w io.Writer) error {
		var e dataset.Encoder
		return e.EncodePart(w, t)
	})
}

func (r *AgreementRow) append(t *dataset.Table) {
	for c, s := range []string{r.Statistic, r.Kind, r.Annotators, r.Slice} {
		t.AppendString(c, s)
	}
	t.AppendInt(4, r.Items)
	t.AppendInt(5, r.Documents)
	number := func(c int, v *float64) {
		if v == nil {
			t.AppendNull(c)
		} else {
			t.AppendDouble(c, *v)
		}
	}
	number(6, r.Estimate)
	number(7, r.Low)
	number(8, r.High)
	number(9, &r.Level)
	appendText(t, 10, r.Method)
	number(11, r.Target)
	appendText(t, 12, r.Verdict)
	t.AppendStrings(13, r.Warnings)
	t.EndRow()
}

// ReadAgreement reads the agreement of the finished run in dir, in file order;
// none if the run has no two annotators of one item.
func ReadAgreement(dir string) ([]AgreementRow, error) {
	return readRecords(filepath.Join(dir, AgreementFile), agreementFields, (*AgreementRow).set)
}

// readRecords reads columns of a small result file, nil for all that it has, in file
// order, cell by cell; none if there is no such file.
func readRecords[T any](path string, columns []dataset.Field, set func(r *T, column string, cell dataset.Cell)) ([]T, error) {
	f, err := dataset.OpenResult(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if columns == nil {
		columns = f.Fields()
	}
	rows := make([]T, 0, f.Rows())
	for g := range f.RowGroups() {
		group := make([]T, f.GroupRows(g))
		for _, field := range columns {
			var column dataset.ColumnValues
			if err := f.ReadColumn(g, field.Name, &column); err != nil {
				return nil, err
			}
			for i := range group {
				set(&group[i], field.Name, column.Cell(i))
			}
		}
		rows = append(rows, group...)
	}
	return rows, nil
}

func (r *AgreementRow) set(name string, cell dataset.Cell) {
	texts := map[string]*string{
		"statistic": &r.Statistic, "kind": &r.Kind, "annotators": &r.Annotators, "slice": &r.Slice,
		"method": &r.Method, "verdict": &r.Verdict,
	}
	numbers := map[string]**float64{"estimate": &r.Estimate, "ci_low": &r.Low, "ci_high": &r.High, "target": &r.Target}
	switch {
	case cell.Null:
	case texts[name] != nil:
		*texts[name] = cell.Text
	case numbers[name] != nil:
		*numbers[name] = &cell.Double
	case name == "items":
		r.Items = cell.Int
	case name == "documents":
		r.Documents = cell.Int
	case name == "level":
		r.Level = cell.Double
	case name == "warnings":
		r.Warnings = cell.Texts
	}
}
