package metrics

import (
	"cmp"
	"slices"
	"strings"

	"ibid"
)

// Quotations are the quotations of an answer that count: it is known where they stand or do
// not, and they have a citation, or nothing says what the answer cites.
type Quotations struct {
	Known         bool  // some text is known in which they can stand
	All           int64 // that count
	Faithful      int64 // a cited document has them
	Misattributed int64 // only a document has them that is not cited
	Fabricated    int64 // they stand nowhere, or are made of pieces of several places
}

var quoteDefinitions = map[Metric]Definition{
	QuoteFidelity:        quoteShare("quote_fidelity", HigherIsBetter, FaithfulQuotations, "share of quotations that a cited document has", "quotations that a cited document has to the letter, but for typography, or with the gaps that they show / quotations that count"),
	MisattributedRate:    quoteShare("misattributed_quote_rate", LowerIsBetter, MisattributedQuotations, "share of quotations that only a document has that is not cited", "quotations that a document has that is not cited, and no cited one / quotations that count"),
	QuoteFabricationRate: quoteShare("quote_fabrication_rate", LowerIsBetter, FabricatedQuotations, "share of quotations that stand in no source", "quotations that stand nowhere, or are made of pieces of several places / quotations that count", "quote_fabrication"),
	FabricatedCitationRate: {
		Name: "fabricated_citation_rate", Group: "citations", Kind: Ratio, Direction: LowerIsBetter, Min: 0, Max: 1,
		Summary:       "share of citations of documents that do not exist",
		Formula:       "missing_citations / checked_citations: citations of documents that are not among those given / citations of which it is known whether their document exists. A mark without a source is one of a document that is not given; identical ones count once",
		UndefinedWhen: "nothing is cited (no_citations), or no documents are known (no_documents)",
		Source:        "this project",
		Num:           term(MissingCitations), Den: term(CheckedCitations), Derived: true,
	},
}

func quoteShare(name string, dir Direction, of Count, summary, formula string, aliases ...string) Definition {
	return Definition{
		Name: name, Aliases: aliases, Group: "quotations", Kind: Ratio, Direction: dir, Min: 0, Max: 1, Summary: summary, Formula: formula,
		UndefinedWhen: "no text of a source is known (no_documents), or the answer has no quotation that counts (no_quotations)",
		Source:        "this project", Num: term(of), Den: term(AllQuotations), Derived: true,
	}
}

// scoreQuotations sets what is known of the quotations of a row.
func scoreQuotations(q *Quotations, out *Scores) {
	if !q.Known {
		return
	}
	out.count(AllQuotations, q.All)
	out.count(FaithfulQuotations, q.Faithful)
	out.count(MisattributedQuotations, q.Misattributed)
	out.count(FabricatedQuotations, q.Fabricated)
	out.ratio(QuoteFidelity, q.Faithful, q.All, ibid.NoQuotations)
	out.ratio(MisattributedRate, q.Misattributed, q.All, ibid.NoQuotations)
	out.ratio(QuoteFabricationRate, q.Fabricated, q.All, ibid.NoQuotations)
}

// countMissing counts the citations whose document is known to exist or not, and of these the
// ones whose document does not, identical ones once.
func (s *Scorer) countMissing(citations []ibid.Citation, out *Scores) {
	order := s.component.order[:0]
	for _, i := range s.counted {
		if citations[i].Place.Status != ibid.StatusUnchecked {
			order = append(order, i)
		}
	}
	s.component.order = order
	compare := func(a, b int32) int {
		c, d := &citations[a], &citations[b]
		if n := cmp.Or(cmp.Compare(c.Place.Start, d.Place.Start), cmp.Compare(c.Place.End, d.Place.End), strings.Compare(c.Place.Doc, d.Place.Doc)); n != 0 {
			return n
		}
		mark := 0 // of those that name no document
		if c.DocNull && d.DocNull {
			mark = strings.Compare(c.CitedText, d.CitedText)
		}
		return cmp.Or(mark, cmp.Compare(c.Place.Page, d.Place.Page), cmp.Compare(c.Place.FirstPage, d.Place.FirstPage), cmp.Compare(c.Place.Level, d.Place.Level))
	}
	slices.SortFunc(order, compare)
	var checked, missing int64
	for k, i := range order {
		if k > 0 && compare(order[k-1], i) == 0 {
			continue
		}
		checked++
		if citations[i].Place.Status == ibid.StatusDocumentNotFound {
			missing++
		}
	}
	out.count(MissingCitations, missing)
	if checked > 0 || len(s.counted) == 0 {
		out.count(CheckedCitations, checked)
		out.ratio(FabricatedCitationRate, missing, checked, ibid.NoCitations)
	} else {
		out.undefined(FabricatedCitationRate, ibid.NoDocuments)
	}
}
