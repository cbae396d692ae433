package report

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/report/doc"
)

// originOf is where a citation comes from in the words of its provider, as far as the display
// wants it, such as "Session Policy (v3, active), relevance 0.920"; nil if nothing is known.
// Ages are counted back from the time of the run, so that a page says the same whenever it is
// made.
func originOf(c *ibid.Citation, show *configs.CitationDisplay, run time.Time) doc.Text {
	name, link := "", ""
	var details, all []string
	if show.ShowProvenance {
		name = c.Title
		var r struct { // providers may put anything else beside it
			AssetTitle    string `json:"asset_title"`
			WorkspaceName string `json:"workspace_name"`
			FilePath      string `json:"file_path"`
			Symbol        string `json:"symbol"`
			CommitSHA     string `json:"commit_sha"`
			LastIndexedAt string `json:"last_indexed_at"`
		}
		if json.Unmarshal([]byte(c.SourceReference), &r) == nil {
			source, version, indexed, page := runs.SourceOf(c), "", "", ""
			if strings.HasPrefix(source.URL, "http") {
				link = source.URL
			} else {
				page = source.URL // of a site that nobody names
			}
			if name = cmp.Or(r.FilePath, r.AssetTitle, name); r.FilePath != "" && r.Symbol != "" {
				name += " → " + r.Symbol
			}
			if source.Version != "" {
				version = "v" + source.Version
			}
			if at, err := time.Parse(time.RFC3339, r.LastIndexedAt); err == nil {
				indexed = "indexed " + age(run.Sub(at)) + " the run"
			}
			for _, text := range []string{version, source.Status, r.WorkspaceName, clip(r.CommitSHA, 12), indexed, page} {
				if text != "" {
					details = append(details, clip(text, 80))
				}
			}
		}
	}
	if name = clip(name, 300); len(details) > 0 {
		name = strings.TrimSpace(name + " (" + strings.Join(details, ", ") + ")")
	}
	if name != "" {
		all = append(all, name)
	}
	if show.ShowRelevanceScores && c.Relevance.Known() {
		all = append(all, "relevance "+number(c.Relevance.Value))
	}
	if show.ShowTokenContribution && c.TokenContribution.Known() {
		all = append(all, Plural(c.TokenContribution.Value, "token", "tokens"))
	}
	if len(all) == 0 {
		return nil
	}
	return doc.Text{{Text: strings.Join(all, ", "), Link: link}}
}

// age is a duration in words, to be followed by a point in time.
func age(d time.Duration) string {
	side := "before"
	if d < 0 {
		side, d = "after", -d
	}
	switch {
	case d < time.Minute:
		return "at the time of"
	case d < time.Hour:
		return Plural(int64(d/time.Minute), "minute", "minutes") + " " + side
	case d < 48*time.Hour:
		return Plural(int64(d/time.Hour), "hour", "hours") + " " + side
	}
	return Plural(int64(d/(24*time.Hour)), "day", "days") + " " + side
}
