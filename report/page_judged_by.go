package report

import "slices"

// judgeName is what verdicts of a run are called.
func judgeName(r *results) string {
	switch kind := r.judgeKind(); kind {
	case "lexical":
		return "Lexical baseline"
	case "human":
		return "Human label"
	}
	return "Judge"
}

// judgeName is what verdicts are called in all runs that have some.
func (b *pageBuilder) judgeName() string {
	name := ""
	for _, r := range b.results {
		switch own := judgeName(r); {
		case !r.judged:
		case name == "":
			name = own
		case name != own:
			return "Judge"
		}
	}
	if name == "" {
		return "Judge"
	}
	return name
}

// judgedBy names the kinds of judges whose verdicts are counted together.
func (b *pageBuilder) judgedBy() string {
	var names []string
	for _, r := range b.results {
		name := "the judge"
		switch r.judgeKind() {
		case "none":
			continue
		case "lexical":
			name = "the lexical baseline"
		case "human":
			name = "people"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return list(names)
}

// baselineIn names the runs that the lexical baseline judged, "" if it judged all
// that have verdicts.
func (b *pageBuilder) baselineIn() string {
	var names []string
	others := false
	for _, r := range b.results {
		switch r.judgeKind() {
		case "none":
		case "lexical":
			names = append(names, line(r.run.Manifest.ID, 80))
		default:
			others = true
		}
	}
	if !others || len(names) == 0 {
		return ""
	}
	return " in " + list(names)
}
