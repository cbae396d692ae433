package report

import "ibid/report/doc"

// compareSection is how runs or systems differ, as package compare found it.
func compareSection(data *pageData) *doc.Section {
	r := data.options.Comparison
	switch {
	case r != nil && len(r.Pairs) > 0:
		return docSection("compare", "Compare", NewComparison(r).blocks(nil))
	case data.options.NotCompared != "":
		return docSection("compare", "Compare", []doc.Block{doc.Para{Kind: doc.Note, Text: doc.T("Not compared: " + data.options.NotCompared)}})
	}
	return nil
}
