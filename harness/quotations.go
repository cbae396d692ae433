package harness

import (
	"cmp"
	"encoding/json"
	"slices"

	"ibid"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/metrics"
	"ibid/metrics/claims"
	"ibid/metrics/quote"
)

// A quotation is one of an answer, and what is true of it.
type quotation struct {
	claims.Quotation
	quote.Result
	cites      []string
	counts     bool
	difference string
}

// keptQuotations are what a run found of which the documents are gone: what it kept of them
// does not say that a quotation stands nowhere.
type keptQuotations struct {
	known map[int64]bool // rows with a text in which quotations can stand
	of    map[int64][]quotation
}

// readQuotations reads what the run in dir found. It is empty if the run kept nothing of that.
func readQuotations(dir string) (*keptQuotations, error) {
	k := &keptQuotations{make(map[int64]bool), make(map[int64][]quotation)}
	err := runs.Rows().Scan(dir, []string{"row", metrics.AllQuotations.String()}, func(_ int64, r *runs.Row) error {
		if r.Number(metrics.AllQuotations.String()) != nil {
			k.known[r.Row] = true
		}
		return nil
	})
	if err != nil || len(k.known) == 0 {
		return k, err
	}
	return k, runs.Quotations.Scan(dir, nil, func(_ int64, r *runs.Quotation) error {
		q := quotation{cites: r.Cites, counts: r.Counts, difference: r.Difference}
		q.Quotation = claims.Quotation{Start: int(r.Start), End: int(r.End), Kind: r.Kind, Text: r.Text, Citations: r.Citations}
		q.Outcome, _ = quote.ParseOutcome(r.Outcome)
		q.Result.Kind, q.Note = r.DifferenceKind, r.Note
		if r.ChangedWords != nil {
			q.Changed = int(*r.ChangedWords)
		}
		k.of[r.Row] = append(k.of[r.Row], q)
		if r.Places == "" {
			return nil
		}
		return json.Unmarshal([]byte(r.Places), &k.of[r.Row][len(k.of[r.Row])-1].Places)
	})
}

// checkQuotations finds the quotations of the row, if some text is known, and where they stand.
func (s *scorer) checkQuotations(in *ibid.Answer) {
	s.quotations, s.row.Quotations = s.quotations[:0], metrics.Quotations{}
	if k := s.keptQuotations; k != nil {
		s.row.Quotations.Known = k.known[in.Pos]
		s.quotations = append(s.quotations, k.of[in.Pos]...)
		s.sumQuotations()
		return
	}
	if s.texts == nil || !s.resolver.KnowsText() {
		return
	}
	if s.row.Quotations.Known = true; !claims.MayQuote(in.Answer) {
		return
	}
	if s.judging == nil {
		s.cutter.Cut(in)
	}
	var at *searchedTexts // once a quotation is long enough
	searched := int64(0)
	for _, q := range s.cutter.Quotations(in) {
		if !q.Short {
			if at == nil {
				at = s.searched(in)
			}
			if searched += at.size; searched > mostSearched {
				break
			}
		}
		s.quotations = append(s.quotations, checkQuotation(in, &q, at))
	}
	s.sumQuotations()
}

// mostSearched is how many bytes of text the quotations of a row are looked for in, each time
// counted; what would go beyond it is not looked at.
const mostSearched = 4 << 30

// searchedTexts are those in which the quotations of a row may stand.
type searchedTexts struct {
	sources []quote.Source
	said    []*quote.Text // by the user
	size    int64         // bytes of the sources
}

func (s *scorer) searched(in *ibid.Answer) *searchedTexts {
	out, seen := &searchedTexts{said: []*quote.Text{quote.NewText(in.Query)}}, make(map[string]bool)
	add := func(name string, missing bool) {
		if seen[name] {
			return
		}
		seen[name] = true
		text, exists := s.resolver.Quotable(name)
		if text != nil {
			out.size += int64(text.Len())
		}
		out.sources = append(out.sources, quote.Source{Doc: name, Text: text, Missing: !exists && missing, Partial: s.resolver.Partial(name)})
	}
	for _, name := range s.resolver.Searchable() {
		add(name, false)
	}
	for i := range in.Citations {
		status := in.Citations[i].Place.Status
		add(citedName(in, i), status == ibid.StatusDocumentNotFound || in.Citations[i].DocNull && status != ibid.StatusUnchecked)
	}
	for _, m := range in.Messages {
		if m.Role == "user" {
			out.said = append(out.said, quote.NewText(m.Content))
		}
	}
	return out
}

// citedName is the name of the document that citation i names; a mark without a source as it
// is written.
func citedName(in *ibid.Answer, i int) string {
	c := &in.Citations[i]
	if c.DocNull {
		return c.CitedText
	}
	return cmp.Or(c.Place.Doc, c.Doc)
}

// checkQuotation says what is true of a quotation; at is nil for one that is too short.
func checkQuotation(in *ibid.Answer, q *claims.Quotation, at *searchedTexts) quotation {
	out := quotation{Quotation: *q}
	for _, i := range q.Citations {
		if name := citedName(in, int(i)); !slices.Contains(out.cites, name) {
			out.cites = append(out.cites, name)
		}
	}
	if q.Short {
		return out // its outcome is TooShort
	}
	search := quote.Search{Said: at.said}
	for _, from := range at.sources {
		if len(q.Citations) == 0 || slices.Contains(out.cites, from.Doc) {
			search.Cited = append(search.Cited, from)
		} else {
			search.Others = append(search.Others, from)
		}
	}
	out.Result = quote.Check(q.Text, &search)
	out.difference = out.Difference()
	if q.Marked && out.Outcome == quote.Verbatim { // not to the letter
		out.Outcome = quote.Normalised
	}
	out.counts = out.Outcome.Decided() && (len(q.Citations) > 0 || len(in.Citations) == 0) && q.Kind != claims.TitleQuotation && q.Kind != claims.QuestionQuotation
	return out
}

// sumQuotations counts the quotations of the row.
func (s *scorer) sumQuotations() {
	sum := &s.row.Quotations
	for i := range s.quotations {
		q := &s.quotations[i]
		if !q.counts {
			continue
		}
		sum.All++
		switch {
		case q.Outcome.Faithful():
			sum.Faithful++
		case q.Outcome == quote.Elsewhere:
			sum.Misattributed++
		case q.Outcome != quote.Altered:
			sum.Fabricated++
		}
	}
}

// worstQuotation is the worst about quotations that count.
func worstQuotation(all []quotation) (worst metrics.Problem) {
	for i := range all {
		q := &all[i]
		switch {
		case !q.counts || q.Outcome.Faithful():
		case q.Outcome == quote.Elsewhere:
			worst = max(worst, metrics.ProblemQuoteMisattributed)
		case q.Outcome != quote.Altered:
			worst = max(worst, metrics.ProblemQuoteFabricated)
		case q.Result.Kind == quote.WordsDiffer:
			worst = max(worst, metrics.ProblemQuoteReworded)
		default:
			worst = max(worst, metrics.ProblemQuoteChanged)
		}
	}
	return worst
}

// quotationColumns are the columns of quotes.parquet, by the fields of [runs.Quotation].
type quotationColumns struct {
	ID, System, Row, Number, Start, End, Kind, Text, Counts, Citations, Cites, Outcome, Doc, Places *parquet.Column
	ChangedWords, Difference, DifferenceKind, Note                                                  *parquet.Column
}

// addQuotations records the quotations of one row.
func (r *recorder) addQuotations(in *ibid.Answer, all []quotation) {
	to := &r.quote
	for i := range all {
		q := &all[i]
		to.ID.AppendText(in.ID)
		to.System.AppendText(in.System)
		to.Row.AppendInt(in.Pos)
		to.Number.AppendInt(int64(i))
		to.Start.AppendInt(int64(q.Start))
		to.End.AppendInt(int64(q.End))
		to.Kind.AppendText(q.Quotation.Kind)
		to.Text.AppendText(q.Text)
		to.Counts.AppendBool(q.counts)
		to.Citations.AppendInts(q.Citations)
		to.Cites.AppendStrings(q.cites)
		to.Outcome.AppendText(q.Outcome.String())
		if len(q.Places) > 0 {
			to.Doc.AppendText(q.Places[0].Doc)
			b, _ := json.Marshal(q.Places) // of strings and numbers
			to.Places.AppendText(string(b))
		}
		if q.Outcome == quote.Altered {
			to.ChangedWords.AppendInt(int64(q.Changed))
			to.Difference.AppendString(q.difference)
			to.DifferenceKind.AppendText(q.Result.Kind)
		}
		to.Note.AppendKnownText(q.Note)
		r.tables[partQuotes].EndRow()
	}
}
