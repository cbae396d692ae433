package convert

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
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
		if inner := text[at+1 : end]; strings.IndexByte(inner, '\\') < 0 {
			return inner, end + 1
		}
		return unquoted(r.data[at : end+1]), end + 1
	case 't':
		return true, at + 4
	case 'f':
		return false, at + 5
	case 'n':
		return nil, at + 4
	}
	end = valueEnd(r.data, at)
	literal := text[at:end]
	if !strings.ContainsAny(literal, ".eE") && literal != "-0" {
		if n, err := strconv.Atoi(literal); err == nil {
			return n, end
		}
	}
	return json.Number(literal), end
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

// eachPlaced calls do with the value v, which begins at offset start of data, and with every value inside
// it, each with its own offset. It returns the offset of the end of v, or -1 as soon as do returns false.
func eachPlaced(data []byte, start int, v any, do func(start int, v any) bool) (end int) {
	if !do(start, v) {
		return -1
	}
	object, _ := v.(map[string]any)
	list, _ := v.([]any)
	if object == nil && list == nil {
		return valueEnd(data, start)
	}
	return eachChild(data, start, func(i int, name []byte, at int) int {
		if object == nil {
			return eachPlaced(data, at, list[i], do)
		}
		return eachPlaced(data, at, object[unquoted(name)], do)
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

// pathTo is the path of the value that begins at a byte of checked JSON, such as
// content[2].citations[0].type.
func pathTo(data []byte, at int) (path string) {
	for start := skipSpace(data, 0); start < at; {
		eachChild(data, start, func(i int, name []byte, from int) int {
			if end := valueEnd(data, from); end <= at {
				return end
			}
			if start = from; name == nil {
				path = indexed(path, i)
			} else {
				path = memberPath(path, unquoted(name))
			}
			return -1
		})
	}
	return path
}

// stepTo returns where a member or an element of the value at start begins.
func stepTo(data []byte, start int, step any) (at int, ok bool) {
	name, isMember := step.(string)
	if isMember != (data[start] == '{') || !isMember && data[start] != '[' {
		return start, false
	}
	end := eachChild(data, start, func(i int, literal []byte, from int) int {
		if at = from; step == i || isMember && unquoted(literal) == name {
			return -1
		}
		return valueEnd(data, from)
	})
	if end >= 0 {
		return start, false
	}
	return at, true
}
