package harness

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ibid/annotations/compare"
	"ibid/dataset"
	"ibid/dataset/runs"
	"ibid/metrics"
)

// signColumnGone is seen in a run as a whole.
var signColumnGone = &Sign{
	Name: "column_gone", Text: "a column has no values any more; the last run of a file of this name had it in at least half of its entries",
	Cause: "an export or an import has lost it, or calls it otherwise",
	Tip:   "ibid run ANSWERS --dry-run names the columns that are ignored; columns: {THEIRS: OURS} says what they are",
	names: func(*metrics.Definition, bool) bool { return true },
	about: "all",
}

// wantScored are the columns that a score can depend on.
const wantScored = dataset.WantSpans | dataset.WantAnswers | dataset.WantQuotes | dataset.WantDocuments | dataset.WantMessages | wantJudged

// oftenFilled is the share of entries with a value from which a column is missed. Others
// may have none by chance.
const oftenFilled = 0.5

// series is what the names of a file have in common from night to night: all but digits.
// Other data in the same folder may have the same ids.
func series(source string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, filepath.Base(source))
}

// columnsGone looks for columns that the last run of the folder had, and this one has
// not: the last of a file of the same name, digits aside, that was begun before and whose
// numbers mean the same, if at least half of its questions are asked again.
func (p *Plan) columnsGone(m *runs.Manifest) (seen, error) {
	folder, _, err := runs.ListReadable(filepath.Dir(p.Dir))
	if err != nil {
		return seen{}, err
	}
	folder = slices.DeleteFunc(folder, func(r runs.Listed) bool { return series(r.Manifest.Source) != series(m.Source) })
	before, found := compare.LastRun(folder, m)
	if !found {
		return seen{}, nil
	}
	var gone []string
	for _, name := range slices.Sorted(maps.Keys(before.Manifest.Columns)) {
		joined := m.Truth != "" && strings.HasPrefix(name, "truth.") || m.Labels != "" && strings.HasPrefix(name, "labels.")
		if before.Manifest.Columns[name] >= oftenFilled && m.Columns[name] == 0 && !joined {
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return seen{}, nil
	}
	then, err := runs.ReadQuestions(before.Dir)
	if err != nil {
		return seen{}, err
	}
	now, err := runs.ReadQuestions(p.Dir)
	if err != nil || 2*then.Shared(now) < len(then) {
		return seen{}, err
	}
	verb := "was"
	if len(gone) > 1 {
		verb = "were"
	}
	text := fmt.Sprintf("%s %s in the data of run %s", listed(gone, maxListedNames), verb, before.Manifest.ID)
	return seen{text: text, cases: int64(len(gone)), of: int64(len(before.Manifest.Columns))}, nil
}
