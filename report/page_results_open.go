package report

import (
	"path/filepath"
	"strings"

	"ibid/dataset"
	"ibid/dataset/runs"
)

// open reads the details of the citations and claims of the rows that look
// chooses. A large run has far more than a page shows, and they take most of the
// memory that it would take.
func (r *results) open(look func(i int) bool) error {
	for i := range r.row {
		if !look(i) {
			continue
		}
		for k := r.firstCite[i]; k < r.firstCite[i+1]; k++ {
			r.citations[k].citationDetail = new(citationDetail)
		}
		for k := r.firstClm[i]; k < r.firstClm[i+1]; k++ {
			r.claims[k].claimDetail = new(claimDetail)
		}
	}
	if err := r.openCitations(); err != nil || !r.judged {
		return err
	}
	return r.openClaims()
}

func (r *results) openCitations() error {
	var closed citationDetail // takes what is not looked at
	at := func(i int) *citationDetail {
		if d := r.citations[i].citationDetail; d != nil {
			return d
		}
		return &closed
	}
	open := func(i int) bool { return r.citations[i].citationDetail != nil }
	text := func(field func(d *citationDetail) *string) columnReader {
		return textsWhere(open, func(i int) *string { return field(at(i)) })
	}
	number := func(field func(d *citationDetail) *dataset.NullInt) columnReader {
		return ints(func(i int) *dataset.NullInt { return field(at(i)) })
	}
	return readTable(filepath.Join(r.run.Dir, runs.CitationsFile), map[string]columnReader{
		"citation_id":    text(func(d *citationDetail) *string { return &d.citationID }),
		"unit":           text(func(d *citationDetail) *string { return &d.unit }),
		"precheck":       text(func(d *citationDetail) *string { return &d.precheck }),
		"reason":         text(func(d *citationDetail) *string { return &d.reason }),
		"quote":          text(func(d *citationDetail) *string { return &d.quote }),
		"cited_text":     text(func(d *citationDetail) *string { return &d.citedText }),
		"page":           number(func(d *citationDetail) *dataset.NullInt { return &d.page }),
		"start":          number(func(d *citationDetail) *dataset.NullInt { return &d.start }),
		"end":            number(func(d *citationDetail) *dataset.NullInt { return &d.end }),
		"answer_end":     number(func(d *citationDetail) *dataset.NullInt { return &d.answerEnd }),
		"repaired_start": number(func(d *citationDetail) *dataset.NullInt { return &d.repairedStart }),
		"repaired_end":   number(func(d *citationDetail) *dataset.NullInt { return &d.repairedEnd }),
		"best_truth":     number(func(d *citationDetail) *dataset.NullInt { return &d.bestTruth }),
		"quote_start":    number(func(d *citationDetail) *dataset.NullInt { return &d.quoteStart }),
		"quote_end":      number(func(d *citationDetail) *dataset.NullInt { return &d.quoteEnd }),
		"relevant":       number(func(d *citationDetail) *dataset.NullInt { return &d.relevant }),
		"necessary":      number(func(d *citationDetail) *dataset.NullInt { return &d.necessary }),
	}, func(int) {})
}

func (r *results) openClaims() error {
	var closed claimDetail // takes what is not looked at
	at := func(i int) *claimDetail {
		if d := r.claims[i].claimDetail; d != nil {
			return d
		}
		return &closed
	}
	open := func(i int) bool { return r.claims[i].claimDetail != nil }
	text := func(field func(d *claimDetail) *string) columnReader {
		return textsWhere(open, func(i int) *string { return field(at(i)) })
	}
	number := func(field func(d *claimDetail) *dataset.NullInt) columnReader {
		return ints(func(i int) *dataset.NullInt { return field(at(i)) })
	}
	return readTable(filepath.Join(r.run.Dir, runs.ClaimsFile), map[string]columnReader{
		"claim_id":          text(func(d *claimDetail) *string { return &d.claimID }),
		"text":              text(func(d *claimDetail) *string { return &d.text }),
		"reason":            text(func(d *claimDetail) *string { return &d.reason }),
		"elsewhere_doc":     text(func(d *claimDetail) *string { return &d.elsewhereDoc }),
		"start":             number(func(d *claimDetail) *dataset.NullInt { return &d.start }),
		"end":               number(func(d *claimDetail) *dataset.NullInt { return &d.end }),
		"elsewhere_page":    number(func(d *claimDetail) *dataset.NullInt { return &d.elsewherePage }),
		"elsewhere_start":   number(func(d *claimDetail) *dataset.NullInt { return &d.elsewhereStart }),
		"elsewhere_end":     number(func(d *claimDetail) *dataset.NullInt { return &d.elsewhereEnd }),
		"votes":             number(func(d *claimDetail) *dataset.NullInt { return &d.votes }),
		"support":           doubles(func(i int) *dataset.NullFloat { return &at(i).support }),
		"elsewhere_support": doubles(func(i int) *dataset.NullFloat { return &at(i).elsewhere }),
	}, func(int) {})
}

// textsWhere is texts for some of the items. It copies them: one string would keep
// the text of all others of its part of the file in memory.
func textsWhere(open func(i int) bool, field func(i int) *string) columnReader {
	return func(i int, v *dataset.ColumnValues, k int) {
		if open(i) {
			*field(i) = strings.Clone(v.Strings[k])
		}
	}
}
