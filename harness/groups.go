package harness

import (
	"encoding/binary"
	"slices"

	"ibid/dataset"
	"ibid/dataset/runs"
)

// A group is the rows of one system and slice, which the summary describes.
type group struct {
	system, slice string
	rows          int64
	spread        bool // rows of one cluster may stand anywhere, so clusters must be collected
	same          int  // the group that has the same rows and stands for this one; itself if none does
}

// groups assigns the rows of a run to groups. Rows with the same system and
// slice values have the same signature, and a signature is in a fixed list of
// groups; nothing is kept for rows one by one as long as all of a row group have
// one signature.
type groups struct {
	slices    []string // as from sliceKeys
	clustered bool     // clusters are not the ids
	all       []group
	byName    map[[2]string]int
	members   [][]int // signature -> groups
	signature map[string]int
	perPart   []signatures // of each row group
	key       []byte       // scratch
	errors    int64
	rows      int64
	systems   map[string]struct{}
}

// signatures are those of the rows of one row group.
type signatures struct {
	same int   // of all rows, if each is nil
	each []int // of each row
}

func (s *signatures) at(i int) int {
	if s.each == nil {
		return s.same
	}
	return s.each[i]
}

// findGroups finds the groups of a run: by what is remembered of its parts, and
// by rows.parquet for the others.
func findGroups(f *dataset.ResultFile, keys []string, clustered bool, known memory) (*groups, error) {
	g := &groups{
		slices:    keys,
		clustered: clustered,
		byName:    make(map[[2]string]int),
		signature: make(map[string]int),
		systems:   make(map[string]struct{}),
	}
	g.group("", "")
	for part := range f.RowGroups() {
		if p := known[int64(part)]; p.sums != nil {
			g.remember(&p)
		} else if err := g.read(f, part); err != nil {
			return nil, err
		}
	}
	g.settle()
	return g, nil
}

// sliceKeys are the slices that a summary has beside those by system, which
// every summary has.
func sliceKeys(settings []string) []string {
	var keys []string
	for _, key := range settings {
		if key != "system" {
			keys = append(keys, key)
		}
	}
	return keys
}

// remember adds a part whose rows have one signature.
func (g *groups) remember(p *rememberedPart) {
	g.errors += p.tally.Errors
	g.rows += p.tally.Rows
	g.perPart = append(g.perPart, signatures{same: g.count(p.sums.system, p.sums.values, p.tally.Rows)})
}

// count adds rows of one signature and returns its number.
func (g *groups) count(system string, values []sliced, rows int64) int {
	g.key = signatureKey(g.key[:0], system, values)
	sig, ok := g.signature[string(g.key)]
	if !ok {
		sig = g.define(system, values)
		g.signature[string(g.key)] = sig
	}
	for _, k := range g.members[sig] {
		g.all[k].rows += rows
	}
	return sig
}

// read adds the rows of one row group.
func (g *groups) read(f *dataset.ResultFile, part int) error {
	var system, status dataset.ColumnValues
	var in sliceColumns
	columns := map[string]*dataset.ColumnValues{"system": &system, "status": &status}
	if len(g.slices) > 0 {
		columns["tags"], columns["provider"] = &in.tags, &in.provider
	}
	if slices.Contains(g.slices, sourceTypeSlice) {
		columns["source_types"] = &in.sourceTypes
	}
	for name, into := range columns {
		if err := f.ReadColumn(part, name, into); err != nil {
			return err
		}
	}
	var s signatures
	values := make([]sliced, len(g.slices))
	for i := range f.GroupRows(part) {
		if status.Strings[i] == runs.RowError {
			g.errors++
		}
		for k := range values {
			values[k] = in.value(g.slices[k], i)
		}
		s.add(g.count(system.Strings[i], values, 1), i)
	}
	g.rows += int64(f.GroupRows(part))
	g.perPart = append(g.perPart, s)
	return nil
}

// add records the signature of row i, the rows before it being known.
func (s *signatures) add(sig, i int) {
	switch {
	case s.each != nil:
		s.each = append(s.each, sig)
	case i == 0:
		s.same = sig
	case sig != s.same:
		s.each = slices.Repeat([]int{s.same}, i)
		s.each = append(s.each, sig)
	}
}

// A sliced is the value of a row under one slice key; without has it has none
// and is in no slice of that key.
type sliced struct {
	value string
	has   bool
}

// append makes s part of a key that no other values share.
func (s sliced) append(key []byte) []byte {
	if !s.has {
		return append(key, 0)
	}
	key = append(key, 1)
	key = append(key, s.value...)
	return binary.BigEndian.AppendUint64(key, uint64(len(s.value)))
}

// signatureKey appends what tells a signature from all others.
func signatureKey(key []byte, system string, values []sliced) []byte {
	key = append(key, system...)
	for _, v := range values {
		key = v.append(key)
	}
	return key
}

// sliceColumns are the columns of rows.parquet that slices are made from.
type sliceColumns struct{ tags, provider, sourceTypes dataset.ColumnValues }

// value is that of row i under a slice key.
func (c *sliceColumns) value(key string, i int) sliced {
	switch key {
	case "provider":
		return sliced{c.provider.Strings[i], c.provider.Valid[i]}
	case sourceTypeSlice:
		return slicedTypes(c.sourceTypes.Strings[c.sourceTypes.Offsets[i]:c.sourceTypes.Offsets[i+1]])
	}
	for k := c.tags.Offsets[i]; k < c.tags.Offsets[i+1]; k++ {
		if c.tags.Keys[k] == key {
			return sliced{c.tags.Strings[k], true}
		}
	}
	return sliced{}
}

// define makes the groups of a new signature.
func (g *groups) define(system string, values []sliced) int {
	g.systems[system] = struct{}{}
	members := []int{g.group("", ""), g.group(system, "")}
	for i, v := range values {
		for _, value := range v.values(g.slices[i]) {
			slice := g.slices[i] + "=" + value
			members = append(members, g.group("", slice), g.group(system, slice))
		}
	}
	g.members = append(g.members, members)
	return len(g.members) - 1
}

func (g *groups) group(system, slice string) int {
	name := [2]string{system, slice}
	k, ok := g.byName[name]
	if !ok {
		k = len(g.all)
		g.all = append(g.all, group{system: system, slice: slice, same: k})
		g.byName[name] = k
	}
	return k
}

// settle decides which groups have clusters of more than one row (within one
// system an id occurs once, so its rows are clusters of their own), and lets the
// only system stand for all of them.
func (g *groups) settle() {
	for k := range g.all {
		all := &g.all[k]
		all.spread = g.clustered || all.system == "" && len(g.systems) > 1
		if all.system == "" && len(g.systems) == 1 {
			for system := range g.systems {
				all.same = g.byName[[2]string{system, all.slice}]
			}
		}
	}
	for i, members := range g.members {
		g.members[i] = slices.DeleteFunc(members, func(k int) bool { return g.all[k].same != k })
	}
}

// spread reports whether some group needs its clusters collected.
func (g *groups) spread() bool {
	return slices.ContainsFunc(g.all, func(k group) bool { return k.spread && k.rows > 0 })
}
