package convert

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unsafe"
)

// tree is the value at a byte of a JSON text that has been checked, as values of jq:
// map[string]any, []any, string, int, json.Number, bool and nil. Strings without escapes are
// parts of text. Beyond mostValues, values are null and the error says so.
func (r *jsonText) tree(text string, at int) any {
	r.values = mostValues * max(r.limits, 1)
	v, _ := r.treeOf(text, at)
	return v
}

func (r *jsonText) treeOf(text string, at int) (v any, end int) {
	if r.values == 0 {
		if r.err == nil {
			r.err = &jsonError{at, fmt.Sprintf("limits: more than %d values in one record", mostValues*max(r.limits, 1))}
		}
		return nil, len(text)
	}
	r.values--
	switch text[at] {
	case '{':
		m := make(map[string]any, 8)
		for at++; ; {
			if at = spaceEnd(text, at); at == len(text) {
				return m, at // there are too many values
			}
			if text[at] == ',' {
				at = spaceEnd(text, at+1)
			}
			if text[at] == '}' {
				return m, at + 1
			}
			nameEnd := stringEnd(r.data, at) + 1
			name := r.nameOf(r.data[at:nameEnd])
			at = spaceEnd(text, spaceEnd(text, nameEnd)+1) // behind the colon
			m[name], at = r.treeOf(text, at)
		}
	case '[':
		list := []any{}
		for at++; ; {
			if at = spaceEnd(text, at); at == len(text) {
				return list, at // there are too many values
			}
			if text[at] == ',' {
				at = spaceEnd(text, at+1)
			}
			if text[at] == ']' {
				return list, at + 1
			}
			var e any
			e, at = r.treeOf(text, at)
			list = append(list, e)
		}
	case '"':
		end = stringEnd(r.data, at)
		inner := text[at+1 : end]
		for i := range len(inner) {
			if inner[i] == '\\' {
				return unquoted(r.data[at : end+1]), end + 1
			}
		}
		return inner, end + 1
	case 't':
		return true, at + 4
	case 'f':
		return false, at + 5
	case 'n':
		return nil, at + 4
	}
	end = at
	whole := true
	for end < len(text) && text[end] != ',' && text[end] != ']' && text[end] != '}' && !isJSONSpace(text[end]) {
		c := text[end]
		whole = whole && c != '.' && c != 'e' && c != 'E'
		end++
	}
	literal := text[at:end]
	if n, err := strconv.Atoi(literal); whole && err == nil && literal != "-0" {
		return n, end
	}
	return json.Number(literal), end
}

// spaceEnd is [skipSpace] of a string.
func spaceEnd(text string, at int) int {
	for at < len(text) && isJSONSpace(text[at]) {
		at++
	}
	return at
}

// A treePath is where a value is in a tree: names of members and indices of elements.
type treePath []any

// String is a path such as content[2].citations[0].type.
func (p treePath) String() string {
	s := ""
	for _, step := range p {
		if i, ok := step.(int); ok {
			s = indexed(s, i)
		} else {
			s = memberPath(s, step.(string))
		}
	}
	return s
}

// identity tells an object or a list of a tree from all others, 0 for other values and for
// empty lists.
func identity(v any) uintptr {
	switch v := v.(type) {
	case map[string]any:
		return reflect.ValueOf(v).Pointer()
	case []any:
		if len(v) > 0 {
			return uintptr(unsafe.Pointer(unsafe.SliceData(v)))
		}
	}
	return 0
}

// A treePlace is where an object or a list is: in the JSON text, and in what holds it.
type treePlace struct {
	start int
	in    uintptr // 0 for the whole tree
	step  any
}

// placesIn notes the places of v, which begins at a byte of the JSON text, and of what is in
// it. It returns where v ends.
func placesIn(all map[uintptr]treePlace, data []byte, start int, v any, in uintptr, step any) (end int) {
	id := identity(v)
	if id == 0 {
		return valueEnd(data, start)
	}
	all[id] = treePlace{start, in, step}
	object, _ := v.(map[string]any)
	list, _ := v.([]any)
	end = start + 1
	for i := 0; ; i++ {
		name, at := childAt(data, end)
		switch {
		case at == 0:
			return skipSpace(data, end) + 1
		case object == nil:
			end = placesIn(all, data, at, list[i], id, i)
		default:
			member := unquoted(name)
			end = placesIn(all, data, at, object[member], id, member)
		}
	}
}

// childAt is the member or element that follows a byte of an object or a list, and the literal
// of its name; at is 0 behind the last one.
func childAt(data []byte, from int) (name []byte, at int) {
	if at = skipSpace(data, from); data[at] == ',' {
		at = skipSpace(data, at+1)
	}
	if data[at] == '}' || data[at] == ']' {
		return nil, 0
	}
	if data[at] == '"' {
		if end := stringEnd(data, at) + 1; data[skipSpace(data, end)] == ':' {
			return data[at:end], skipSpace(data, skipSpace(data, end)+1)
		}
	}
	return nil, at
}

// pathIn is the path of an object or a list whose place is known.
func pathIn(all map[uintptr]treePlace, id uintptr) (path treePath) {
	for at := all[id]; at.in != 0; at = all[at.in] {
		path = append(path, at.step)
	}
	slices.Reverse(path)
	return path
}

// eachInTree calls do with every value of a tree and its path, which is valid until do
// returns, while do returns true.
func eachInTree(v any, path treePath, do func(treePath, any) bool) bool {
	if !do(path, v) {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if !eachInTree(e, append(path, name), do) {
				return false
			}
		}
	case []any:
		for i, e := range v {
			if !eachInTree(e, append(path, i), do) {
				return false
			}
		}
	}
	return true
}

// located returns where in the JSON text of a tree the value at a path begins and ends, or
// the last value on the way that is there.
func located(data []byte, path treePath) (start, end int) {
	start = skipSpace(data, 0)
	for _, step := range path {
		next, ok := stepTo(data, start, step)
		if !ok {
			break
		}
		start = next
	}
	return start, valueEnd(data, start)
}

// stepTo returns where a member or an element of the value at start begins.
func stepTo(data []byte, start int, step any) (at int, ok bool) {
	name, isMember := step.(string)
	if isMember != (data[start] == '{') || !isMember && data[start] != '[' {
		return 0, false
	}
	end := start + 1
	for i := 0; ; i++ {
		literal, at := childAt(data, end)
		if at == 0 || !isMember && step == i || isMember && unquoted(literal) == name {
			return at, at > 0
		}
		end = valueEnd(data, at)
	}
}

// membersOf are the names of the members of the object at a byte, in the order of the text.
func membersOf(data []byte, start int) (names []string) {
	for end := start + 1; ; {
		literal, at := childAt(data, end)
		if at == 0 {
			return names
		}
		names = append(names, unquoted(literal))
		end = valueEnd(data, at)
	}
}
