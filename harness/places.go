package harness

import (
	"context"
	"strings"

	"ibid"
	"ibid/dataset"
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

// places adds up the parts from first to before last. Rows of parts that another process has
// scored are resolved again.
func (p *Plan) places(ctx context.Context, first, last, perPart int64, known tallies, docs *dataset.Documents) (placesBySystem, error) {
	all := make(placesBySystem)
	resolver := p.resolver(docs)
	for k := first; k < last; k++ {
		if t := known[k]; t != nil {
			all.add(t.Places)
			continue
		}
		from := k * perPart
		left := min(perPart, p.Rows-from)
		var row ibid.Answer
		err := p.source.Read(ctx, from, int(perPart), func(b *dataset.Batch) error {
			defer b.Release()
			for i := range int(min(left, int64(b.Len()))) {
				if b.Row(i, &row); !p.job.wants(&row) || badRow(&row) != nil {
					continue
				}
				if resolver.Resolve(&row) == nil {
					all.of(row.System).AddRow(&row)
				}
			}
			return errEnough
		})
		if err := ignoreEnough(err); err != nil {
			return nil, err
		}
		if err := resolver.Err(); err != nil {
			return nil, err
		}
	}
	return all, nil
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
