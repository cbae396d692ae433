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
		end = eachChild(r.data, at, func(_ int, name []byte, at int) (end int) {
			m[r.nameOf(name)], end = r.treeOf(text, at)
			return end
		})
		return m, end
	case '[':
		list := []any{}
		end = eachChild(r.data, at, func(_ int, _ []byte, at int) (end int) {
			v, end := r.treeOf(text, at)
			list = append(list, v)
			return end
		})
		return list, end
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
	piece *recordPiece
	start int
	in    uintptr // 0 for the whole tree
	step  any
}

// placesIn notes the places of v, which begins at a byte of the JSON text, and of what is in
// it. It returns where v ends.
func placesIn(all map[uintptr]treePlace, piece *recordPiece, start int, v any, in uintptr, step any) (end int) {
	id := identity(v)
	if id == 0 {
		return valueEnd(piece.data, start)
	}
	all[id] = treePlace{piece, start, in, step}
	object, _ := v.(map[string]any)
	list, _ := v.([]any)
	return eachChild(piece.data, start, func(i int, name []byte, at int) int {
		if object == nil {
			return placesIn(all, piece, at, list[i], id, i)
		}
		member := unquoted(name)
		return placesIn(all, piece, at, object[member], id, member)
	})
}

// eachChild calls do with the members or elements of the object or list at a byte of checked JSON:
// its number, the literal of its name, and where its value begins. do returns where that ends, or
// -1 to stop. eachChild returns where the whole ends, or -1.
func eachChild(data []byte, start int, do func(i int, name []byte, at int) (end int)) (end int) {
	end = start + 1
	for i := 0; end >= 0; i++ {
		at := skipSpace(data, end)
		if at < len(data) && data[at] == ',' {
			at = skipSpace(data, at+1)
		}
		if at == len(data) { // do has seen enough
			return at
		}
		if data[at] == '}' || data[at] == ']' {
			return at + 1
		}
		var name []byte
		if data[start] == '{' {
			colon := stringEnd(data, at) + 1
			name, at = data[at:colon], skipSpace(data, skipSpace(data, colon)+1)
		}
		end = do(i, name, at)
	}
	return end
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

// located returns where in the JSON text of a tree the value at a path begins, or the last value
// on the way that is there.
func located(data []byte, path treePath) int {
	start := skipSpace(data, 0)
	for _, step := range path {
		next, ok := stepTo(data, start, step)
		if !ok {
			break
		}
		start = next
	}
	return start
}

// stepTo returns where a member or an element of the value at start begins.
func stepTo(data []byte, start int, step any) (at int, ok bool) {
	name, isMember := step.(string)
	if isMember != (data[start] == '{') || !isMember && data[start] != '[' {
		return 0, false
	}
	end := eachChild(data, start, func(i int, literal []byte, from int) int {
		if at = from; step == i || isMember && unquoted(literal) == name {
			return -1
		}
		return valueEnd(data, from)
	})
	return at, end < 0
}
