package runs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
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

var (
	pairEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`)
	pairNames   = regexp.MustCompile(`(?s)^((?:[^\\|]|\\.)*)\|((?:[^\\|]|\\.)*)$`)
	pairEscaped = regexp.MustCompile(`(?s)\\(.)`)
)

// CutPair returns the names of a [Pair]; ok is false if annotators is none.
func CutPair(annotators string) (first, second string, ok bool) {
	names := pairNames.FindStringSubmatch(annotators)
	if names == nil {
		return "", "", false
	}
	return pairEscaped.ReplaceAllString(names[1], "$1"), pairEscaped.ReplaceAllString(names[2], "$1"), true
}

// An AgreementRow is one statistic of agreement between annotators. Fields that
// are not defined are nil.
type AgreementRow struct {
	Statistic  string `json:"statistic" doc:"name of the statistic, such as char_jaccard"`
	Kind       string `json:"kind" doc:"span: on the places that annotators marked; label: on what they said of claims and citations"`
	Annotators string `json:"annotators" doc:"all, or two of them as a|b"`
	Slice      string `json:"slice" doc:"key=value of the items, after kind=… for labels of a dataset; empty for all"`
	Items      int64  `json:"items" unit:"items" doc:"items that at least two of the annotators saw"`
	Documents  int64  `json:"documents" unit:"clusters" doc:"clusters that the items came from"`

	Estimate *float64       `json:"estimate" doc:"the value" null:"undefined"`
	Low      *float64       `json:"ci_low" doc:"lower end of the interval, over clusters" null:"no interval"`
	High     *float64       `json:"ci_high" doc:"upper end of the interval, over clusters" null:"no interval"`
	Level    float64        `json:"level" range:"(0, 1)" doc:"confidence level of the interval" null:"never"`
	Method   string         `json:"method" doc:"how the interval was computed" null:"no interval"`
	Target   *float64       `json:"target" doc:"what the interval is compared with; of char_jaccard that of quality control" null:"the statistic does not decide"`
	Verdict  string         `json:"verdict" doc:"reliable, unreliable or undecided, of the statistic that decides about its kind of data" null:"the statistic does not decide"`
	Warnings ListOf[string] `json:"warnings" doc:"what a reader of the number must know"`
	Need     *int64         `json:"need" unit:"items" doc:"items that would decide, if the estimate stays" null:"it is decided, or no number is known"`
}

// Agreement is the table of agreement.parquet.
var Agreement = NewTable[AgreementRow](AgreementFile, "one statistic of agreement, of all annotators or of two, in one slice")

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
