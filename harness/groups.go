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
	slices    []string // configs' slices, without "system", which every summary has
	clustered bool     // clusters are not the ids
	all       []group
	byName    map[[2]string]int
	members   [][]int // signature -> groups
	signature map[string]int
	perPart   []signatures // of each row group
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

// findGroups reads what decides about groups from rows.parquet.
func findGroups(f *dataset.ResultFile, sliceKeys []string, clustered bool) (*groups, error) {
	g := &groups{
		clustered: clustered,
		byName:    make(map[[2]string]int),
		signature: make(map[string]int),
		systems:   make(map[string]struct{}),
	}
	for _, key := range sliceKeys {
		if key != "system" {
			g.slices = append(g.slices, key)
		}
	}
	g.group("", "")
	for part := range f.RowGroups() {
		if err := g.read(f, part); err != nil {
			return nil, err
		}
	}
	g.settle()
	return g, nil
}

// read adds the rows of one row group.
func (g *groups) read(f *dataset.ResultFile, part int) error {
	var system, status, tags, provider dataset.ColumnValues
	columns := map[string]*dataset.ColumnValues{"system": &system, "status": &status}
	if len(g.slices) > 0 {
		columns["tags"], columns["provider"] = &tags, &provider
	}
	for name, into := range columns {
		if err := f.ReadColumn(part, name, into); err != nil {
			return err
		}
	}
	var s signatures
	var key []byte
	values := make([]sliced, len(g.slices))
	for i := range f.GroupRows(part) {
		if status.Strings[i] == runs.RowError {
			g.errors++
		}
		key = append(key[:0], system.Strings[i]...)
		for k := range values {
			values[k] = sliceValue(g.slices[k], &tags, &provider, i)
			key = values[k].append(key)
		}
		sig, ok := g.signature[string(key)]
		if !ok {
			sig = g.define(system.Strings[i], values)
			g.signature[string(key)] = sig
		}
		for _, k := range g.members[sig] {
			g.all[k].rows++
		}
		s.add(sig, i)
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

func sliceValue(key string, tags, provider *dataset.ColumnValues, i int) sliced {
	if key == "provider" {
		return sliced{provider.Strings[i], provider.Valid[i]}
	}
	for k := tags.Offsets[i]; k < tags.Offsets[i+1]; k++ {
		if tags.Keys[k] == key {
			return sliced{tags.Strings[k], true}
		}
	}
	return sliced{}
}

// define makes the groups of a new signature.
func (g *groups) define(system string, values []sliced) int {
	g.systems[system] = struct{}{}
	members := []int{g.group("", ""), g.group(system, "")}
	for i, v := range values {
		if v.has {
			slice := g.slices[i] + "=" + v.value
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
