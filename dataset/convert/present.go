package convert

import (
	"slices"
	"strconv"
)

// present are the names of an object's members that have been read.
type present struct{ names []string }

func (p *present) add(name string) { p.names = append(p.names, name) }

// require fails at an offset unless every name was read.
func (p *present) require(j *jsonReader, at int, all ...string) {
	for _, name := range all {
		if !slices.Contains(p.names, name) {
			j.fail(at, "%s is missing", name)
			return
		}
	}
}

// indexed is the path of a list's element, such as claims[3].
func indexed(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }
