package harness

import (
	"slices"

	"ibid"
	"ibid/configs"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
)

// maxSignatures bounds the signatures that a [partSummer] keeps sums of; each
// takes about 100 kB. Parts of further signatures are read back.
const maxSignatures = 64

// knownParts is what this process knows of the parts it has made, by part number.
// The summary takes it from there instead of reading the parts back: sums are
// exact, so both ways give the same.
type knownParts map[int64]knownPart

// A knownPart is what is known of one part.
type knownPart struct {
	tally *tally         // nil if nothing is known
	sums  *signatureSums // nil if rows of several signatures are in the part
}

// signatureSums are the states of all items over rows of one signature.
type signatureSums struct {
	system string
	values []sliceValue
	states []state
}

// A partSummer adds up parts while they are in memory. Each worker has its own.
type partSummer struct {
	items  []item
	slices []string // as from sliceKeys
	off    bool     // clusters are spread over parts, so that sums are of no use

	byKey map[string]*signatureSums

	// The open part.
	system string
	values []sliceValue
	rows   int
	mixed  bool

	columns tableColumns
	item    itemValues
	key     []byte
	all     []string
}

func newPartSummer(layout *runs.RowsLayout, s *configs.Settings) *partSummer {
	keys := sliceKeys(s.Slices)
	return &partSummer{
		items: summaryItems(layout.Fields()), slices: keys, values: make([]sliceValue, len(keys)),
		off: s.Statistics.Cluster != "id" && s.Statistics.Cluster != autoCluster, byKey: make(map[string]*signatureSums),
	}
}

// begin begins a part.
func (r *partSummer) begin() { r.rows, r.mixed = 0, r.off }

// note notes the signature of a row.
func (r *partSummer) note(in *ibid.Answer) {
	if r.mixed {
		return
	}
	if r.rows == 0 {
		r.system = in.System
	}
	r.mixed = r.system != in.System
	for i, key := range r.slices {
		r.all = runs.AppendSlices(r.all[:0], in, key)
		v := sliceValueOf(r.all)
		if r.rows == 0 {
			r.values[i] = v
		}
		r.mixed = r.mixed || r.values[i] != v
	}
	r.rows++
}

// end adds the part that has been made, with its table of rows.
func (r *partSummer) end(t *parquet.Table, tally *tally) (knownPart, error) {
	p := knownPart{tally: tally}
	if !r.mixed && r.rows > 0 {
		p.sums = r.sums()
	}
	if p.sums != nil {
		r.columns.load(t)
		for i := range r.items {
			if err := r.item.read(&r.columns, &r.items[i]); err != nil {
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
func (r *partSummer) sums() *signatureSums {
	r.key = signatureKey(r.key[:0], r.system, r.values)
	s := r.byKey[string(r.key)]
	if s == nil && len(r.byKey) < maxSignatures {
		// The strings of a row are good only as long as its part.
		s = &signatureSums{system: string([]byte(r.system)), values: slices.Clone(r.values), states: make([]state, len(r.items))}
		for i, v := range s.values {
			s.values[i].value = string([]byte(v.value))
		}
		r.byKey[string(r.key)] = s
	}
	return s
}
