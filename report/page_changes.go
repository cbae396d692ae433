package report

import (
	"fmt"

	"ibid/annotations/compare"
	"ibid/report/doc"
)

// changesSection lists the answers that fail newly, no longer and still.
func changesSection(data *pageData) *doc.Section {
	r := data.options.Since
	if r == nil || len(r.Failures) == 0 {
		return nil
	}
	links := make(map[[2]string]string)
	for _, x := range data.answers {
		if x.place >= 0 {
			links[[2]string{data.results[x.run].run.Manifest.ID, x.id + "/" + x.name}] = "#row=" + data.key(x)
		}
	}
	blocks := failureLists(r, func(run, name string) string { return links[[2]string{run, name}] })
	if !data.several() { // the list of answers does not know what changed
		for _, b := range blocks {
			b.(doc.Para).Text[0].Link = ""
		}
	}
	return docSection("changes", "Changes", blocks)
}

// namedFailures is how many rows are named that fail anew or were fixed.
const namedFailures = 10

// failureLists are the rows that fail in one run and not in another. Link finds a row of a
// run on the page, "" where there is none; nil links nothing.
func failureLists(r *compare.Result, link func(run, name string) string) []doc.Block {
	var out []doc.Block
	for i := range r.Failures {
		f := &r.Failures[i]
		of := ""
		if len(r.Failures) > 1 {
			of = r.Sides[f.New].Name + ": "
		}
		for _, list := range []struct {
			what, code string
			rows       compare.Named
			n          int // that are named
		}{{"new failures", "new", f.Newly, namedFailures}, {"fixed", "fixed", f.Fixed, namedFailures}, {"still failing", "still", f.Still, namedIDs}} {
			head := doc.Span{Text: fmt.Sprintf("%s%s: %s", of, list.what, Thousands(list.rows.Rows))}
			if link != nil && list.rows.Rows > 0 {
				head.Link = rowsLink("since:" + list.code)
			}
			text := doc.Text{head}
			for k, id := range list.rows.IDs[:min(len(list.rows.IDs), list.n)] {
				before, span := ", ", doc.Span{Text: id}
				if k == 0 {
					before = " ("
				}
				if link != nil {
					span.Link = link(r.Sides[f.New].Run, id)
				}
				text = append(text, doc.Span{Text: before}, span)
			}
			switch n := int64(min(len(list.rows.IDs), list.n)); {
			case n > 0 && n < list.rows.Rows:
				text = append(text, doc.Span{Text: ", …)"})
			case n > 0:
				text = append(text, doc.Span{Text: ")"})
			}
			out = append(out, doc.Para{Kind: doc.Item, Text: text})
		}
	}
	return out
}
