package harness_test

import (
	"cmp"
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ibid"
	"ibid/annotations"
	"ibid/dataset/runs"
)

// TestAgreementFromTheRun: what a run says of annotators is what is there when the dataset is
// read for it alone: also of rows that cannot be scored, and with labels, which a run without a
// judge does not read.
func TestAgreementFromTheRun(t *testing.T) {
	rows := func() []*ibid.Answer {
		var rows []*ibid.Answer
		for i := range 40 {
			for _, r := range annotatedRows() {
				r.ID = fmt.Sprintf("%s-%d", r.ID, i)
				r.Truth[1].End.Value += int64(i % 5)
				rows = append(rows, r)
			}
		}
		rows[4].Truth = rows[4].Truth[:1]
		rows[7].HasCitations, rows[7].Citations = false, nil
		return rows
	}
	tests := []struct {
		name   string
		change func(rows []*ibid.Answer)
		judge  string // reads labels; "" is none
	}{
		{"marks", func([]*ibid.Answer) {}, ""},
		{"an answer that is null", func(rows []*ibid.Answer) { rows[9].AnswerNull, rows[9].Answer = true, "" }, ""},
		{"a citation without an end", func(rows []*ibid.Answer) { rows[9].Citations[0].End = ibid.Integer{} }, ""},
		{"a mark without an end", func(rows []*ibid.Answer) { rows[9].Truth[0].End = ibid.Integer{} }, ""},
		{"a value that scoring alone reads", func(rows []*ibid.Answer) {
			rows[9].Citations[0].AnswerStart, rows[9].Citations[0].AnswerEnd = ibid.Some[int64](4), ibid.Some[int64](2)
		}, ""},
		{"labels", func(rows []*ibid.Answer) {
			rows[9].HasLabels = true
			for i, who := range []string{"ada", "bob"} {
				rows[9].Labels = append(rows[9].Labels, ibid.Label{Annotator: who, Kind: ibid.SupportLabel, ClaimID: "c", Value: ibid.Some(float64(i))})
			}
		}, ""},
		{"two labels that nobody signed", func(rows []*ibid.Answer) {
			for _, r := range rows {
				r.Truth = r.Truth[:1]
			}
			rows[9].HasLabels = true
			for i := range 2 {
				rows[9].Labels = append(rows[9].Labels, ibid.Label{Kind: ibid.SupportLabel, ClaimID: "c", Value: ibid.Some(float64(i))})
			}
		}, "lexical"},
		{"labels of one annotator", func(rows []*ibid.Answer) {
			rows[9].HasLabels = true
			rows[9].Labels = []ibid.Label{{Annotator: "ada", Kind: ibid.SupportLabel, ClaimID: "c", Value: ibid.Some(1.0)}}
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := rows()
			tt.change(data)
			path, documents := "dataset="+writeRows(t, data), "documents="+documentsOf(t, "coffee")
			plan := planOf(t, path, documents, "judge="+cmp.Or(tt.judge, "none"))
			a, err := plan.Annotated(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			out, err := plan.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got, err := runs.Agreement.ReadIfAny(out.Dir)
			if err != nil {
				t.Fatal(err)
			}
			want := annotations.Measure(a.Spans, a.Labels).Statistics
			if len(want) == 0 || gocmp.Diff(want, got, cmpopts.EquateEmpty()) != "" {
				t.Errorf("the run says another (-want +got):\n%s", gocmp.Diff(want, got, cmpopts.EquateEmpty()))
			}
		})
	}
}
