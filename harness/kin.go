package harness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ibid/dataset"
	"ibid/judge"
)

// maxKin is how many answering models a warning about them names.
const maxKin = 5

// kin collects the answering models that are of the family of a model that judges
// them: such a judge may favour them.
type kin struct {
	judges []string
	answer map[answerer]bool // who answered -> is of the family
}

// An answerer is who answered a row.
type answerer struct{ model, provider string }

func newKin(judges []string) *kin {
	return &kin{judges: judges, answer: make(map[answerer]bool)}
}

// add looks at who answered a row.
func (k *kin) add(r *dataset.Row) {
	who := answerer{r.Model, r.Provider}
	if _, known := k.answer[who]; known || len(k.judges) == 0 {
		return
	}
	// The row's strings belong to its batch.
	who = answerer{strings.Clone(r.Model), strings.Clone(r.Provider)}
	k.answer[who] = slices.ContainsFunc(k.judges, func(j string) bool { return judge.SameFamily(j, who.model, who.provider) })
}

// warning says which answering models are of the family, "" if none is.
func (k *kin) warning() string {
	names := make(map[string]bool)
	for who, same := range k.answer {
		if !same {
			continue
		}
		name := who.model
		if name == "" {
			name = who.provider
		}
		names[name] = true
	}
	if len(names) == 0 {
		return ""
	}
	list := slices.Sorted(maps.Keys(names))
	text := strings.Join(list[:min(len(list), maxKin)], ", ")
	if more := len(list) - maxKin; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("the judge (%s) is of the family of what it judges (%s) and may favour it; take one of another family",
		strings.Join(k.judges, ", "), text)
}
