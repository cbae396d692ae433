package report

import (
	"math"

	"ibid/dataset"
)

// A rowRecord is the row as data; texts are as the dataset has them, but for
// control characters. Scores have six digits: a page is to be looked at, the
// exact values are in rows.parquet.
type rowRecord struct {
	Row       int64             `json:"row"`
	ID        string            `json:"id"`
	System    string            `json:"system"`
	Error     string            `json:"error,omitempty"`
	Query     string            `json:"query"`
	Answer    string            `json:"answer"`
	Annotator string            `json:"truth_annotator,omitempty"`
	Tags      map[string]string `json:"tags,omitempty"`
	Metrics   []*float64        `json:"metrics"`   // in the order of the page's metric names
	Undefined int               `json:"undefined"` // number of the page's list of reasons
	Citations []citationRecord  `json:"citations"`
	Claims    []claimRecord     `json:"claims,omitempty"`
	Truth     []truthRecord     `json:"truth"`
}

type citationRecord struct {
	Citation  int64    `json:"citation"`
	ID        string   `json:"citation_id,omitempty"`
	Doc       *string  `json:"doc"`
	Page      *int64   `json:"page,omitempty"`
	Start     *int64   `json:"start"`
	End       *int64   `json:"end"`
	Unit      string   `json:"unit,omitempty"`
	Status    string   `json:"status"`
	BestTruth *int64   `json:"best_truth,omitempty"`
	Exact     *float64 `json:"exact_jaccard,omitempty"`
	Snapped   *float64 `json:"snapped_jaccard,omitempty"`
	Support   *float64 `json:"support,omitempty"`
	Label     string   `json:"label,omitempty"`
	Claims    []int64  `json:"claims,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	From      *int64   `json:"quote_start,omitempty"` // of the judge's evidence
	To        *int64   `json:"quote_end,omitempty"`
	Quote     string   `json:"quote,omitempty"` // if it has no place
	CitedText string   `json:"cited_text,omitempty"`
}

type claimRecord struct {
	Claim     int64    `json:"claim"`
	ID        string   `json:"claim_id,omitempty"`
	Text      string   `json:"text"`
	Outcome   string   `json:"outcome"`
	Support   *float64 `json:"support,omitempty"`
	Citations []int64  `json:"citations"`
	Elsewhere string   `json:"elsewhere_doc,omitempty"`
	Start     *int64   `json:"elsewhere_start,omitempty"`
	End       *int64   `json:"elsewhere_end,omitempty"`
	Reason    string   `json:"reason,omitempty"`
}

type truthRecord struct {
	Annotator string `json:"annotator"`
	Doc       string `json:"doc"`
	Page      int32  `json:"page,omitempty"`
	Start     int64  `json:"start"`
	End       int64  `json:"end"`
}

func (d *detailer) record(r *results, i int, undefined []string) rowRecord {
	out := rowRecord{
		Row: r.row[i], ID: shown(r.id[i]), System: shown(r.system[i]), Error: shown(r.failed[i]),
		Annotator: shown(r.annotator[i]), Metrics: make([]*float64, len(d.columns)), Undefined: d.reasons.of(undefined),
		Citations: []citationRecord{}, Truth: []truthRecord{},
	}
	for _, t := range r.tags[i] {
		if out.Tags == nil {
			out.Tags = make(map[string]string)
		}
		out.Tags[shown(t.Key)] = shown(t.Value)
	}
	values := make([]float64, len(d.columns))
	for k, c := range d.columns {
		if x, ok := c.at(i); ok {
			values[k] = sixDigits(x)
			out.Metrics[k] = &values[k]
		}
	}
	for _, c := range r.citationsOf(i) {
		out.Citations = append(out.Citations, c.record())
	}
	for _, c := range r.claimsOf(i) {
		out.Claims = append(out.Claims, c.record())
	}
	return out
}

// longText is how much of a quote or a reason is held, in code points.
const longText = 1500

func (c *citation) record() citationRecord {
	out := citationRecord{
		Citation: c.number, ID: shown(clip(c.citationID, longText)), Page: pointer(c.page), Start: pointer(c.start), End: pointer(c.end), Unit: shown(clip(c.unit, longText)), Status: c.status,
		BestTruth: pointer(c.bestTruth), Exact: floatPointer(c.exact), Snapped: floatPointer(c.snapped), Support: floatPointer(c.support),
		Label: c.label, Claims: c.claims, Reason: shown(clip(c.reason, longText)), From: pointer(c.quoteStart), To: pointer(c.quoteEnd),
		CitedText: shown(clip(c.citedText, longText)),
	}
	if out.From == nil {
		out.Quote = shown(clip(c.quote, longText))
	}
	if !c.docNull {
		doc := shown(clip(c.doc, longText))
		out.Doc = &doc
	}
	return out
}

func (c *claim) record() claimRecord {
	out := claimRecord{
		Claim: c.number, ID: shown(clip(c.claimID, longText)), Text: shown(clip(c.text, longText)), Outcome: c.outcome, Support: floatPointer(c.support),
		Citations: c.citations, Elsewhere: shown(clip(c.elsewhereDoc, longText)), Start: pointer(c.elsewhereStart), End: pointer(c.elsewhereEnd),
		Reason: shown(clip(c.reason, longText)),
	}
	if out.Citations == nil {
		out.Citations = []int64{}
	}
	return out
}

func pointer(n dataset.NullInt) *int64 {
	if !n.Valid {
		return nil
	}
	return &n.Value
}

func floatPointer(n dataset.NullFloat) *float64 {
	if !n.Valid {
		return nil
	}
	return new(sixDigits(n.Value))
}

// sixDigits rounds to six significant digits.
func sixDigits(v float64) float64 {
	if v == 0 || v == math.Trunc(v) {
		return v
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
	if scale > 1e200 {
		return v // a power so large is not exact enough to round by
	}
	return math.Round(v*scale) / scale
}
