package configs

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// typeName is the type of a setting in words.
func (s *setting) typeName() string {
	switch s.field(new(Settings)).(type) {
	case *string:
		return "text"
	case *int64, **int64:
		return "integer"
	case *float64, **float64:
		return "number"
	case *bool:
		return "boolean"
	case *time.Duration:
		return "duration"
	case *[]string:
		return "list of text"
	case *map[string]string:
		return "mapping of text"
	case *map[string]any:
		return "mapping"
	}
	panic("configs: " + s.name + " has a field of no known type")
}

// put stores a decoded value in its field; nil empties the field.
func (s *setting) put(to *Settings, v any) {
	switch p := s.field(to).(type) {
	case *string:
		*p, _ = v.(string)
	case *int64:
		*p, _ = v.(int64)
	case **int64:
		*p = pointer[int64](v)
	case *float64:
		*p, _ = v.(float64)
	case **float64:
		*p = pointer[float64](v)
	case *bool:
		*p, _ = v.(bool)
	case *time.Duration:
		*p, _ = v.(time.Duration)
	case *[]string:
		list, _ := v.([]string)
		*p = append([]string{}, list...)
	case *map[string]string:
		*p, _ = v.(map[string]string)
	case *map[string]any:
		*p, _ = v.(map[string]any)
	}
}

func pointer[T any](v any) *T {
	if x, ok := v.(T); ok {
		return &x
	}
	return nil
}

// A typeError is a value of the wrong type, at the node where it stands.
type typeError struct {
	at        node
	msg, hint string
}

// decode reads a node as the setting's type. Null is the default.
func (s *setting) decode(n node) (any, *typeError) {
	if n.kind == nullNode {
		return s.def, nil
	}
	switch s.typeName() {
	case "list of text":
		return decodeList(n)
	case "mapping of text":
		return decodeTexts(n)
	case "mapping":
		if n.kind != mappingNode {
			return nil, wrong("a mapping", n, "")
		}
		return decodeFree(n)
	case "text":
		return decodeText(n)
	case "integer":
		return decodeInteger(n)
	case "number":
		return decodeNumber(n)
	case "duration":
		return decodeDuration(n)
	}
	if n.kind == scalarNode && !n.quoted {
		switch n.text {
		case "true", "True", "TRUE":
			return true, nil
		case "false", "False", "FALSE":
			return false, nil
		}
	}
	return nil, wrong("true or false", n, "")
}

func wrong(want string, n node, hint string) *typeError {
	return &typeError{n, "want " + want + ", got " + n.describe(), hint}
}

func decodeList(n node) (any, *typeError) {
	if n.kind != listNode {
		hint := ""
		if n.kind == scalarNode {
			hint = "write a list: " + flowText([]string{n.text})
		}
		return nil, wrong("a list", n, hint)
	}
	list := make([]string, len(n.items))
	for i, item := range n.items {
		v, bad := decodeText(item)
		if bad != nil {
			return nil, bad
		}
		list[i] = v.(string)
	}
	return list, nil
}

func decodeTexts(n node) (any, *typeError) {
	if n.kind != mappingNode {
		return nil, wrong("a mapping", n, "such as {question: query}")
	}
	m := make(map[string]string, len(n.entries))
	lines := make(map[string]int, len(n.entries))
	for _, e := range n.entries {
		if bad := repeated(lines, e); bad != nil {
			return nil, bad
		}
		v, bad := decodeText(e.value)
		if bad != nil {
			return nil, bad
		}
		m[e.key] = v.(string)
	}
	return m, nil
}

// decodeFree reads a value whose shape is not ours to know.
func decodeFree(n node) (any, *typeError) {
	switch n.kind {
	case nullNode:
		return nil, nil
	case listNode:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			v, bad := decodeFree(item)
			if bad != nil {
				return nil, bad
			}
			list[i] = v
		}
		return list, nil
	case mappingNode:
		m := make(map[string]any, len(n.entries))
		lines := make(map[string]int, len(n.entries))
		for _, e := range n.entries {
			if bad := repeated(lines, e); bad != nil {
				return nil, bad
			}
			v, bad := decodeFree(e.value)
			if bad != nil {
				return nil, bad
			}
			m[e.key] = v
		}
		return m, nil
	}
	if n.quoted {
		return n.text, nil
	}
	v := plain(n.text)
	if f, ok := v.(float64); ok && math.IsNaN(f) {
		return nil, wrong("a decimal number or a text", n, "quote it: "+strconv.Quote(n.text))
	}
	return v, nil
}

// repeated refuses e if its key is among those seen, with their lines, and
// adds it to them if not.
func repeated(seen map[string]int, e entry) *typeError {
	if line, ok := seen[e.key]; ok {
		return &typeError{node{line: e.line, column: e.column}, fmt.Sprintf("key %s is already set on line %d", strconv.Quote(e.key), line), "remove one of the two"}
	}
	seen[e.key] = e.line
	return nil
}
