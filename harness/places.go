package harness

import (
	"strings"

	"ibid/dataset/runs"
	"ibid/metrics"
)

// placesBySystem are what became of cited and marked places, by system.
type placesBySystem map[string]*metrics.Places

// of are the places of a system.
func (p placesBySystem) of(system string) *metrics.Places {
	out := p[system]
	if out == nil {
		out = new(metrics.Places)
		p[strings.Clone(system)] = out
	}
	return out
}

// add adds those of other rows.
func (p placesBySystem) add(other placesBySystem) {
	for system, places := range other {
		p.of(system).Add(places)
	}
}

// keepMarks copies the counts of compareMarks from an earlier run. They cannot be counted again, since
// the documents are gone.
func (p placesBySystem) keepMarks(of placesBySystem) {
	for system, was := range of {
		to := p.of(system)
		to.AsCited, to.AsBefore, to.AsNext = was.AsCited, was.AsBefore, was.AsNext
	}
}

// placesIn adds up what manifests say; nil if one of them says nothing.
func placesIn(manifests []*runs.Manifest) placesBySystem {
	all := make(placesBySystem)
	for _, m := range manifests {
		if m.Places == nil {
			return nil
		}
		all.add(m.Places)
	}
	return all
}
