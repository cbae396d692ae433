package report

import "ibid/report/doc"

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
