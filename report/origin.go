package report

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"ibid"
	"ibid/dataset/runs"
)

// An origin is where a citation comes from, in the words of its provider.
type origin struct {
	Type      string   `json:"type,omitempty"`      // kind of source, "" if it is not known
	Name      string   `json:"name,omitempty"`      // title or file
	URL       string   `json:"url,omitempty"`       // a page about the source
	Details   []string `json:"details,omitempty"`   // version, state, workspace, age …
	Relevance string   `json:"relevance,omitempty"` //
	Tokens    string   `json:"tokens,omitempty"`    //
}

// A reference is what is understood of a source_reference; providers may put
// anything else beside it.
type reference struct {
	AssetTitle      string `json:"asset_title"`
	AssetVersion    any    `json:"asset_version"`
	PromotionStatus string `json:"promotion_status"`
	WorkspaceName   string `json:"workspace_name"`
	FilePath        string `json:"file_path"`
	Symbol          string `json:"symbol"`
	CommitSHA       string `json:"commit_sha"`
	LastIndexedAt   string `json:"last_indexed_at"`
}

// originOf tells the origin of a citation as far as the display wants it. Ages
// are counted back from the time of the run, so that a page says the same
// whenever it is made.
func originOf(c *ibid.Citation, sourceType string, show *Display, run time.Time) origin {
	var o origin
	if sourceType == "" {
		sourceType = c.SourceType
	}
	if show.Provenance || show.BySourceType {
		o.Type = line(sourceType, 80)
	}
	if show.Provenance {
		o.Name = line(c.Title, 200)
		var r reference
		if json.Unmarshal([]byte(c.SourceReference), &r) == nil {
			o.refer(&r, run)
			o.URL = link(runs.SourceOf(c).URL)
		}
	}
	if show.Relevance && c.Relevance.Known() {
		o.Relevance = "relevance " + number(c.Relevance.Value)
	}
	if show.Tokens && c.TokenContribution.Known() {
		o.Tokens = Plural(c.TokenContribution.Value, "token", "tokens")
	}
	return o
}

func (o *origin) refer(r *reference, run time.Time) {
	switch {
	case r.FilePath != "":
		o.Name = line(r.FilePath, 200)
		if r.Symbol != "" {
			o.Name += " → " + line(r.Symbol, 100)
		}
	case r.AssetTitle != "":
		o.Name = line(r.AssetTitle, 200)
	}
	add := func(text string) {
		if text != "" {
			o.Details = append(o.Details, line(text, 80))
		}
	}
	if r.AssetVersion != nil {
		add(fmt.Sprintf("v%v", r.AssetVersion))
	}
	add(r.PromotionStatus)
	add(r.WorkspaceName)
	add(clip(r.CommitSHA, 12))
	if at, err := time.Parse(time.RFC3339, r.LastIndexedAt); err == nil {
		add("indexed " + age(run.Sub(at)) + " the run")
	}
}

// link is a URL that a page may link to: of http or https, or a path on the same site; ""
// for any other.
func link(target string) string {
	u, err := url.Parse(target)
	switch {
	case err != nil || target == "":
		return ""
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		return u.String()
	case u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/") && !strings.HasPrefix(u.Path, "//"):
		return u.String()
	}
	return ""
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

// text is the origin on one line, such as "Session Policy (v3, active)"; "" if
// nothing is known.
func (o *origin) text() string {
	s := o.Name
	if len(o.Details) > 0 {
		if s != "" {
			s += " "
		}
		s += "(" + strings.Join(o.Details, ", ") + ")"
	}
	for _, more := range []string{o.Relevance, o.Tokens} {
		switch {
		case more == "":
		case s == "":
			s = more
		default:
			s += ", " + more
		}
	}
	return s
}
