package report

import (
	"context"
	"fmt"
	"io"

	"ibid/report/doc"
)

// mostAsked is how many answers a page of those that are asked for has at most.
const mostAsked = 500

// WriteAnswers writes a page of the answers of a run that have all words of a query, at most
// [mostAsked] of them, those that fail first, in full: somebody must serve it.
func WriteAnswers(ctx context.Context, w io.Writer, o PageOptions, query string, run RunData) error {
	data := newPageData(o, []RunData{run})
	fits, err := fits(ctx, query, &run)
	if err != nil {
		return err
	}
	survey, err := readAnswers(data, mostAsked, fits)
	if err == nil {
		err = packAnswers(ctx, data)
	}
	if err != nil {
		return err
	}
	found := survey.fitting
	if n := int64(len(data.answers)); n < found {
		data.left = fmt.Sprintf("The first %s of %s answers, those that fail first: search for the others.", Thousands(n), Thousands(found))
	}
	s := answersSection(data)
	s.Top, s.Name, s.Title = true, "Answers", Plural(found, "answer", "answers")+" of "+clip(run.Manifest.ID, 80)
	s.Blocks = append([]doc.Block{doc.Form{Action: "rows", Button: "search", Fields: []doc.Field{{Label: "search all answers of the run", Name: "q", Value: query}}}}, s.Blocks...)
	p := doc.Page{Title: clip(run.Manifest.ID, 80), Version: o.Version, Served: true, Links: o.Links, Sections: []doc.Section{*s}, Packs: data.packs}
	return p.Write(w)
}
