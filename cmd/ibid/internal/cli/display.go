package cli

import (
	"fmt"
	"strings"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
)

// displayKeys is what the settings begin with that a finished run can be shown
// under without being scored again.
const displayKeys = "report."

// shownAs are the settings of a finished run, with those of --set that are about
// looking at it.
func shownAs(m *runs.Manifest, set []string) (*configs.Config, error) {
	for _, s := range set {
		if key, _, _ := strings.Cut(s, "="); !strings.HasPrefix(key, displayKeys) {
			return nil, &usageError{
				err:  fmt.Errorf("--set %s does not change how a finished run is shown", key),
				hint: "report.citation_display.* do; ibid rescore changes what a run says",
			}
		}
	}
	return harness.SettingsOf(m, set, nil)
}

// displayOf is what the view of a row shows of its citations.
func displayOf(c *configs.Config) report.Display {
	d := &c.Report.CitationDisplay
	return report.Display{
		Provenance: d.ShowProvenance, Relevance: d.ShowRelevanceScores, Tokens: d.ShowTokenContribution,
		BySourceType: d.GroupBySourceType, MaxCitations: int(d.MaxCitationsDisplayed), Markers: d.InlineMarkers,
	}
}
