package report

// changesSection lists the answers that fail newly, no longer and still.
func changesSection(data *pageData) *section {
	r := data.options.Since
	if r == nil || len(r.Failures) == 0 {
		return nil
	}
	links := make(map[string]map[string]string)
	for _, f := range r.Failures {
		links[r.Sides[f.New].Run] = linksOfRun(data, r.Sides[f.New].Run)
	}
	blocks := failureLists(r, func(run, name string) string { return links[run][name] })
	return docSection("changes", "Changes", blocks)
}

// linksOfRun are the links to the rows of a run, by ID/SYSTEM as comparisons name them.
func linksOfRun(data *pageData, run string) map[string]string {
	links := make(map[string]string)
	for n := range data.rows {
		r := data.results[data.rows[n].run]
		if r.run.Manifest.ID == run {
			i := data.rows[n].index
			links[r.id[i]+"/"+r.system[i][len(r.prefix):]] = "#row=" + r.key(i)
		}
	}
	return links
}

// sinceCodes are the ways in which an answer changed since the run that its own is compared
// with, by the number that the index has; 0 is neither fails, or nothing to compare with.
var sinceCodes = []string{"", "new", "fixed", "still"}

// sinceIndex finds for each row that the page lists the row that it is compared with, -1 if
// none, and how it changed. Both lists are empty where runs are not compared.
func sinceIndex(data *pageData, listed []int) (partner []int, since []int8) {
	r := data.options.Comparison
	if r == nil || r.By != "run" {
		return []int{}, []int8{}
	}
	partner, since = make([]int, len(listed)), make([]int8, len(listed))
	place := make(map[int]int, len(listed))
	for k, n := range listed {
		partner[k], place[n] = -1, k
	}
	for _, k := range pagePairs(r) {
		if p := &r.Pairs[k]; p.Paired {
			for other, base := range partners(data, r, p) {
				at, ok := place[other]
				if !ok {
					continue
				}
				if was, ok := place[base]; ok {
					partner[at] = was
				}
				switch was, is := data.rows[base].problem.Fails(), data.rows[other].problem.Fails(); {
				case was && is:
					since[at] = 3
				case was:
					since[at] = 2
				case is:
					since[at] = 1
				}
			}
		}
	}
	return partner, since
}
