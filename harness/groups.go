package harness

import (
	"cmp"
	"slices"
	"strings"

	"ibid/dataset/runs"
)

// A group is the rows of one system and slice, which the summary describes.
type group struct {
	system, slice string
	rows          int64
	pooled        bool // rows of several systems, so that a question may have several
}

// groups assigns the rows of a run to groups. Rows with the same system and
// slice values have the same signature, and a signature is in a fixed list of
// groups.
type groups struct {
	slices    []string // as from sliceKeys
	systems   map[string]struct{}
	all       []group
	sorted    []int // all, in the order of the summary
	byName    map[[2]string]int
	members   [][]int // signature -> groups
	signature map[string]int
	perPart   []signatures // of each row group
	errors    int64
	rows      int64

	key    []byte // scratch
	values []string
	part   signatures
}

// signatures are those of rows: one number where all have the same, as most rows of a system do.
type signatures []int32

func (s signatures) of(row int) int32 {
	if len(s) == 1 {
		return s[0]
	}
	return s[row]
}

// findGroups finds the groups of a run.
func findGroups(f *runs.Frame, keys []string) (*groups, error) {
	g := &groups{
		slices:    keys,
		byName:    make(map[[2]string]int),
		signature: make(map[string]int),
		systems:   make(map[string]struct{}),
	}
	if err := f.Each(g.read); err != nil {
		return nil, err
	}
	g.finish()
	return g, nil
}

// sliceKeys are the slices that a summary has beside those by system, which
// every summary has.
func sliceKeys(settings []string) []string {
	return slices.DeleteFunc(slices.Clone(settings), func(key string) bool { return key == "system" })
}

// sliceSeparator is between the parts of the key of a signature. It is no valid UTF-8, so that
// no part holds it.
const sliceSeparator = "\xff"

// read adds the rows of one row group.
func (g *groups) read(b *runs.Block) error {
	system, status := b.Texts("system"), b.Texts("status")
	g.part = slices.Grow(g.part[:0], b.Len())[:b.Len()]
	for i := range g.part {
		if status[i] == runs.RowError {
			g.errors++
		}
		g.key = append(g.key[:0], system[i]...)
		for _, key := range g.slices {
			g.values = b.AppendSlices(g.values[:0], key, i)
			for _, value := range g.values {
				g.key = append(append(append(append(g.key, sliceSeparator...), key...), '='), value...)
			}
		}
		sig, ok := g.signature[string(g.key)]
		if !ok {
			sig = g.define(string(g.key))
		}
		for _, k := range g.members[sig] {
			g.all[k].rows++
		}
		g.part[i] = int32(sig)
	}
	g.rows += int64(b.Len())
	part := g.part
	if !slices.ContainsFunc(part, func(s int32) bool { return s != part[0] }) {
		part = part[:min(len(part), 1)]
	}
	g.perPart = append(g.perPart, slices.Clone(part))
	return nil
}

// define makes the groups of a new signature: those of its system, and of each slice.
func (g *groups) define(key string) int {
	parts := strings.Split(key, sliceSeparator)
	system := parts[0]
	g.systems[system] = struct{}{}
	members := []int{g.group(system, "")}
	for _, slice := range parts[1:] {
		members = append(members, g.group(system, slice))
	}
	g.signature[key] = len(g.members)
	g.members = append(g.members, members)
	return g.signature[key]
}

func (g *groups) group(system, slice string) int {
	name := [2]string{system, slice}
	k, ok := g.byName[name]
	if !ok {
		k = len(g.all)
		g.all = append(g.all, group{system: system, slice: slice})
		g.byName[name] = k
	}
	return k
}

// single reports whether there is one system, whose groups are those of all systems, too.
func (g *groups) single() bool { return len(g.systems) == 1 }

// finish adds the groups over several systems, which may have several rows of one question:
// within one system an id occurs once.
func (g *groups) finish() {
	if !g.single() {
		g.group("", "") // of a run without rows, too
		for i, members := range g.members {
			for _, k := range members {
				g.members[i] = append(g.members[i], g.group("", g.all[k].slice))
			}
		}
		for k := range g.all {
			if of := &g.all[k]; of.system != "" {
				all := &g.all[g.byName[[2]string{"", of.slice}]]
				all.pooled, all.rows = true, all.rows+of.rows
			}
		}
	}
	for k := range g.all {
		g.sorted = append(g.sorted, k)
	}
	slices.SortFunc(g.sorted, func(a, b int) int {
		return cmp.Or(cmp.Compare(g.all[a].system, g.all[b].system), cmp.Compare(g.all[a].slice, g.all[b].slice))
	})
}
