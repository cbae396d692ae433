package harness

import (
	"slices"

	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
)

// maxRemembered bounds the signatures whose sums a remembering keeps; each takes
// about 100 kB. Parts of further ones are read back.
const maxRemembered = 64

// A memory is what this process knows of the parts it has made, by part number.
// The summary takes it from there instead of reading the parts back: sums are
// exact, so that they are the same.
type memory map[int64]rememberedPart

// A rememberedPart is what is known of one part.
type rememberedPart struct {
	tally *tally          // nil if nothing is known
	sums  *rememberedSums // nil if rows of several signatures are in the part
}

// rememberedSums are the states of all items over rows of one signature.
type rememberedSums struct {
	system string
	values []sliced
	states []state
}

// A remembering adds up parts while they are in memory. Each worker has its own.
type remembering struct {
	items  []item
	slices []string // as from sliceKeys
	off    bool     // clusters are spread over parts, so that sums are of no use

	byKey map[string]*rememberedSums

	// The open part.
	system string
	values []sliced
	rows   int
	mixed  bool

	columns tableColumns
	item    itemValues
	key     []byte
}

func newRemembering(layout *runs.RowsLayout, s *configs.Settings) *remembering {
	keys := sliceKeys(s.Slices)
	return &remembering{
		items: summaryItems(layout.Fields), slices: keys, values: make([]sliced, len(keys)),
		off: s.Statistics.Cluster != "id", byKey: make(map[string]*rememberedSums),
	}
}

// begin begins a part.
func (r *remembering) begin() { r.rows, r.mixed = 0, r.off }

// note notes the signature of a row.
func (r *remembering) note(in *dataset.Row) {
	if r.mixed {
		return
	}
	if r.rows == 0 {
		r.system = in.System
	}
	r.mixed = r.system != in.System
	for i, key := range r.slices {
		v := rowSlice(key, in)
		if r.rows == 0 {
			r.values[i] = v
		}
		r.mixed = r.mixed || r.values[i] != v
	}
	r.rows++
}

// rowSlice is the value of a row of the input under a slice key.
func rowSlice(key string, in *dataset.Row) sliced {
	switch key {
	case "provider":
		return sliced{in.Provider, in.Provider != ""}
	case sourceTypeSlice:
		return slicedTypes(appendSourceTypes(nil, in))
	}
	for _, tag := range in.Tags {
		if tag.Key == key {
			return sliced{tag.Value, true}
		}
	}
	return sliced{}
}

// end adds the part that has been made, with its table of rows.
func (r *remembering) end(t *dataset.Table, tally *tally) (rememberedPart, error) {
	p := rememberedPart{tally: tally}
	if !r.mixed && r.rows > 0 {
		p.sums = r.sums()
	}
	if p.sums != nil {
		r.columns.load(t)
		for i := range r.items {
			if err := r.item.gather(&r.columns, &r.items[i]); err != nil {
				return p, err
			}
			n := r.item.defined.Len()
			p.sums.states[i].count(n)
			p.sums.states[i].add(&r.item, 0, n)
		}
	}
	return p, nil
}

// sums returns the sums of the part's signature, nil if there are too many.
func (r *remembering) sums() *rememberedSums {
	r.key = signatureKey(r.key[:0], r.system, r.values)
	s := r.byKey[string(r.key)]
	if s == nil && len(r.byKey) < maxRemembered {
		// The strings of a row are good only as long as its part.
		s = &rememberedSums{system: string([]byte(r.system)), values: slices.Clone(r.values), states: make([]state, len(r.items))}
		for i, v := range s.values {
			s.values[i].value = string([]byte(v.value))
		}
		r.byKey[string(r.key)] = s
	}
	return s
}
