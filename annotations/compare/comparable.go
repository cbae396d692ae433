package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// A RefusedError says why runs must not be compared.
type RefusedError struct {
	Base, New string // run ids
	Reasons   []string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s and %s cannot be compared: %s", e.Base, e.New, strings.Join(e.Reasons, "; "))
}

// free are settings that two runs may differ in: what rows say is not changed by
// them, or is changed on purpose, as by naming columns that are named otherwise.
var free = []string{
	"columns", "offset_unit", "span_end", "slices", "documents", "dataset", "rows", "truth", "labels",
	"judge", "judge.base_url", "judge.kind", "judge.file", "judge.model", "performance.batch_size",
}

// freeGroups are prefixes of more of them.
var freeGroups = []string{"statistics.", "reporting.", "quality_control.inter_annotator_agreement.", "--limit", "--only "}

func appendDifferent(why []string, what, a, b string) []string {
	if a == b {
		return why
	}
	return append(why, fmt.Sprintf("%s differ: %s and %s", what, orNone(a), orNone(b)))
}

// Reasons are why the numbers of two runs do not mean the same, as far as their manifests say;
// the second run need not have been made yet. Different judges are no such reason: then only
// metrics that rest on verdicts are not compared, see [Lookup.Difference].
func Reasons(a, b *runs.Manifest) []string {
	var why []string
	differ := func(what, a, b string) { why = appendDifferent(why, what, a, b) }
	differ("versions of the metrics", a.Ingredients["metrics"], b.Ingredients["metrics"])
	if a.Ingredients["documents"] != b.Ingredients["documents"] {
		why = append(why, "they cite documents of other content: the digests of "+orNone(a.Documents)+" and "+orNone(b.Documents)+" differ")
	}
	names := maps.Clone(a.Ingredients)
	maps.Copy(names, b.Ingredients)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !isFree(name) && name != "metrics" && !ofVerdicts(name) {
			differ("values of "+name, a.Ingredients[name], b.Ingredients[name])
		}
	}
	return why
}

// ofVerdicts reports whether a setting changes nothing but what rests on verdicts.
func ofVerdicts(name string) bool { return name == "min_coverage" || strings.HasPrefix(name, "judge.") }

// barred are why a metric of two runs does not mean the same: it rests on verdicts, and other
// judges gave them, or on other components.
func barred(a, b *Run, m *metrics.Definition) (why []string) {
	if !m.Judged && m.Group != "overall" || m.Name == metrics.SpanAccuracyScore.String() {
		return nil
	}
	why = OtherJudge(a.Manifest, b.Manifest)
	if m.Name == overall {
		why = appendDifferent(why, "components of the overall score", strings.Join(a.components, ", "), strings.Join(b.components, ", "))
	}
	return why
}

// OtherJudge says why what rests on verdicts does not mean the same in two runs: other judges
// gave them, or by other settings.
func OtherJudge(a, b *runs.Manifest) (why []string) {
	differ := func(what, a, b string) { why = appendDifferent(why, what, a, b) }
	differ("judges", strings.TrimSpace(a.Judge.Kind+" "+a.Judge.Model), strings.TrimSpace(b.Judge.Kind+" "+b.Judge.Model))
	differ("prompts of the judge", a.Ingredients["judge.prompt"], b.Ingredients["judge.prompt"])
	if a.Judge.Kind != b.Judge.Kind { // then its settings say nothing more
		return why
	}
	names := maps.Clone(a.Ingredients)
	maps.Copy(names, b.Ingredients)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if ofVerdicts(name) && name != "judge.prompt" && !isFree(name) {
			differ("values of "+name, a.Ingredients[name], b.Ingredients[name])
		}
	}
	return why
}

func isFree(name string) bool {
	return slices.Contains(free, name) || slices.ContainsFunc(freeGroups, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// truthColumns are the same in two rows that have the same truth, whatever was
// cited.
var truthColumns = []string{"truth_chars", "truth_spans"}

// otherTruth is why pairs must not be compared if their truth differs. The dataset
// of another night has other answers, and so another digest; but what it takes for
// true must be the same. Rows that are scored against different annotators are not
// looked at: the policy may choose another one for another answer.
func (p *pairing) otherTruth() (string, error) {
	if p.base.run == p.other.run {
		return "", nil
	}
	// A name has the same code in both runs, and null is a name like any other.
	var annotators column
	first, err := p.base.run.annotators(&annotators)
	if err != nil {
		return "", err
	}
	second, err := p.other.run.annotators(&annotators)
	if err != nil {
		return "", err
	}
	changed := make([]bool, len(p.second))
	for _, column := range truthColumns {
		a, hasA, err := p.base.run.numbers(column)
		if err != nil {
			return "", err
		}
		b, hasB, err := p.other.run.numbers(column)
		if err != nil {
			return "", err
		}
		for at, i := range p.first.rows {
			if j := p.second[at]; hasA[i] && hasB[j] && first[i] == second[j] && a[i] != b[j] {
				changed[at] = true
			}
		}
	}
	var rows []int32
	questions := make(map[uint64]struct{})
	for at, row := range p.first.rows {
		if changed[at] {
			rows = append(rows, row)
			questions[p.base.run.questions[row]] = struct{}{}
		}
	}
	if len(rows) == 0 {
		return "", nil
	}
	least := ""
	err = p.base.run.eachID(rows, func(row int32, id string) {
		if row == rows[0] || id < least {
			least = strings.Clone(id)
		}
	})
	return fmt.Sprintf("the truth of %d questions differs, such as that of %s", len(questions), least), err
}

// annotators reads whose truth rows were compared with, as codes of names.
func (r *Run) annotators(names *column) ([]int32, error) {
	names.codes = make([]int32, 0, len(r.questions))
	err := r.file.Each(func(b *runs.Block) error {
		for _, name := range b.Texts("truth_annotator") {
			names.add(name)
		}
		return nil
	})
	return names.codes, err
}
