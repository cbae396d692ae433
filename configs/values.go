package configs

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A kind is how the values of a type of field are called and read.
type kind struct {
	name   string // in words
	decode func(n node) (any, *fault)
}

// kinds are those of the types that fields have.
var kinds = map[reflect.Type]kind{
	reflect.TypeFor[string]():        {"text", decodeText},
	reflect.TypeFor[int64]():         {"integer", decodeInteger},
	reflect.TypeFor[*int64]():        {"integer", decodeInteger},
	reflect.TypeFor[float64]():       {"number", decodeNumber},
	reflect.TypeFor[*float64]():      {"number", decodeNumber},
	reflect.TypeFor[bool]():          {"boolean", decodeBoolean},
	reflect.TypeFor[time.Duration](): {"duration", decodeDuration},
	reflect.TypeFor[[]string]():      {"list of text", decodeList},
	reflect.TypeFor[map[string]string](): {"mapping of text", func(n node) (any, *fault) {
		return decodeMapping[string](n, "such as {question: query}", decodeText)
	}},
	reflect.TypeFor[map[string]float64](): {"mapping of numbers", func(n node) (any, *fault) {
		return decodeMapping[float64](n, "such as {supported: 1, unsupported: 0}", decodeNumber)
	}},
	reflect.TypeFor[map[string]any](): {"mapping", func(n node) (any, *fault) {
		return decodeMapping[any](n, "such as {reasoning: {effort: low}}", decodeFree)
	}},
}

// typeName is the type of a setting in words.
func (s *setting) typeName() string {
	if s.single {
		return "text or list of text"
	}
	return kinds[s.field.Type].name
}

// put stores a decoded value in its field; nil empties the field.
func (s *setting) put(to *Settings, v any) {
	field := reflect.ValueOf(to).Elem().FieldByIndex(s.field.Index)
	switch list, _ := v.([]string); {
	case field.Kind() == reflect.Slice:
		field.Set(reflect.ValueOf(append([]string{}, list...)))
	case v == nil:
		field.SetZero()
	case field.Kind() == reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		field.Elem().Set(reflect.ValueOf(v))
	default:
		field.Set(reflect.ValueOf(v))
	}
}

// decode reads a node as the setting's type. Null is the default.
func (s *setting) decode(n node) (any, *fault) {
	if n.kind == nullNode {
		return s.def, nil
	}
	if b, ok := plain(n.text).(bool); ok && n.kind == scalarNode && slices.Contains(s.allowed, strconv.FormatBool(b)) {
		return strconv.FormatBool(b), nil // a word that YAML takes for a boolean
	}
	if s.single && n.kind != listNode {
		text, bad := decodeText(n)
		if bad != nil {
			return nil, bad
		}
		return []string{text.(string)}, nil
	}
	return kinds[s.field.Type].decode(n)
}

func decodeBoolean(n node) (any, *fault) {
	if b, ok := plain(n.text).(bool); ok && n.kind == scalarNode && !n.quoted {
		return b, nil
	}
	return nil, wrong("true or false", n, "")
}

func wrong(want string, n node, hint string) *fault {
	return &fault{n.line, n.column, "want " + want + ", got " + n.describe(), hint}
}

func decodeList(n node) (any, *fault) {
	if n.kind != listNode {
		hint := ""
		if n.kind == scalarNode {
			hint = "write a list: " + flowText([]string{n.text})
		}
		return nil, wrong("a list", n, hint)
	}
	return decodeItems[string](n, decodeText)
}

// decodeItems reads the items of a list, which are all of one type.
func decodeItems[T any](n node, decode func(node) (any, *fault)) (any, *fault) {
	list := make([]T, len(n.items))
	for i, item := range n.items {
		v, bad := decode(item)
		if bad != nil {
			return nil, bad
		}
		list[i], _ = v.(T)
	}
	return list, nil
}

// decodeMapping reads a mapping whose values are all of one type.
func decodeMapping[T any](n node, hint string, decode func(node) (any, *fault)) (any, *fault) {
	if n.kind != mappingNode {
		return nil, wrong("a mapping", n, hint)
	}
	m := make(map[string]T, len(n.entries))
	lines := make(map[string]int, len(n.entries))
	for _, e := range n.entries {
		if bad := repeated(lines, e); bad != nil {
			return nil, bad
		}
		v, bad := decode(e.value)
		if bad != nil {
			return nil, bad
		}
		m[e.key], _ = v.(T)
	}
	return m, nil
}

// decodeFree reads a value whose shape is not ours to know.
func decodeFree(n node) (any, *fault) {
	switch n.kind {
	case nullNode:
		return nil, nil
	case listNode:
		return decodeItems[any](n, decodeFree)
	case mappingNode:
		return decodeMapping[any](n, "", decodeFree)
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
func repeated(seen map[string]int, e entry) *fault {
	if line, ok := seen[e.key]; ok {
		return &fault{e.line, e.column, fmt.Sprintf("key %s is already set on line %d", strconv.Quote(e.key), line), "remove one of the two"}
	}
	seen[e.key] = e.line
	return nil
}

// describe says what a node is, in the words of typeName.
func (n node) describe() string {
	switch n.kind {
	case nullNode:
		return "nothing"
	case listNode:
		return "a list"
	case mappingNode:
		return "a mapping"
	}
	text := n.text
	if len(text) > 40 {
		text = string([]rune(text)[:min(len([]rune(text)), 40)]) + "…"
	}
	if n.quoted {
		return "the text " + strconv.Quote(text)
	}
	switch plain(n.text).(type) {
	case bool:
		return "the boolean " + text
	case int64:
		return "the number " + text
	case float64:
		if numberText.MatchString(n.text) {
			return "the number " + text
		}
		return text
	}
	return "the text " + strconv.Quote(text)
}

var (
	integerText = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	numberText  = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	// otherText is what YAML readers take for a number or a boolean that is
	// none here, so that it is not silently a text.
	otherText = regexp.MustCompile(`^([-+]?(\.(inf|Inf|INF)|0[xob][0-9a-fA-F_]+|[0-9][0-9_]*)|\.(nan|NaN|NAN))$`)
)

// plain resolves an unquoted scalar: bool, int64, float64, or string.
func plain(text string) any {
	switch text {
	case "true", "True", "TRUE":
		return true
	case "false", "False", "FALSE":
		return false
	}
	if integerText.MatchString(text) {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i
		}
	}
	if numberText.MatchString(text) {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	}
	if otherText.MatchString(text) {
		return math.NaN()
	}
	return text
}

func decodeText(n node) (any, *fault) {
	if n.kind != scalarNode {
		return nil, wrong("text", n, "")
	}
	if !n.quoted {
		if _, ok := plain(n.text).(string); !ok {
			return nil, wrong("text", n, "quote it: "+strconv.Quote(n.text))
		}
	}
	return n.text, nil
}

func decodeInteger(n node) (any, *fault) {
	if n.kind == scalarNode && !n.quoted && integerText.MatchString(n.text) {
		i, err := strconv.ParseInt(n.text, 10, 64)
		if err == nil {
			return i, nil
		}
		return nil, &fault{n.line, n.column, n.text + " does not fit into 64 bits", ""}
	}
	return nil, wrong("an integer", n, numberHint(n))
}

func decodeNumber(n node) (any, *fault) {
	if n.kind == scalarNode && !n.quoted && numberText.MatchString(n.text) {
		f, err := strconv.ParseFloat(n.text, 64)
		if err == nil {
			return f + 0, nil // -0 becomes 0, so that equal settings print alike
		}
		if errors.Is(err, strconv.ErrRange) {
			return nil, &fault{n.line, n.column, n.text + " is too large", ""}
		}
	}
	return nil, wrong("a number", n, numberHint(n))
}

func numberHint(n node) string {
	switch {
	case n.kind != scalarNode:
		return ""
	case n.quoted && numberText.MatchString(n.text):
		return "remove the quotes"
	case !n.quoted && otherText.MatchString(n.text) && !numberText.MatchString(n.text):
		return "write it in plain decimal digits"
	}
	return ""
}

func decodeDuration(n node) (any, *fault) {
	if n.kind != scalarNode {
		return nil, wrong("a duration", n, "such as 90s, 10m or 1h30m")
	}
	d, err := time.ParseDuration(n.text)
	if err != nil {
		hint := "such as 90s, 10m or 1h30m"
		if numberText.MatchString(n.text) {
			hint = fmt.Sprintf("add the unit: %ss", n.text)
		}
		return nil, wrong("a duration", n, hint)
	}
	return d, nil
}

// text prints a value of the setting as YAML in one line.
func (s *setting) text(v any) string {
	if list, ok := v.([]string); ok && s.single && len(list) == 1 {
		return flowString(list[0])
	}
	return flowText(v)
}

// flowText prints a decoded value as YAML in one line; parseYAML and decode
// read the same value back.
func flowText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return flowString(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return flowNumber(v)
	case time.Duration:
		return flowDuration(v)
	case []string:
		return flowList(v, flowString)
	case []any:
		return flowList(v, flowFree)
	case map[string]string:
		return flowMapping(v, flowString)
	case map[string]float64:
		return flowMapping(v, flowNumber)
	case map[string]any:
		return flowMapping(v, flowFree)
	}
	panic(fmt.Sprintf("configs: no text for a %T", v))
}

// flowFree prints a value of unknown shape, where a float must not come back
// as an integer.
func flowFree(v any) string {
	text := flowText(v)
	if f, ok := v.(float64); ok && f == math.Trunc(f) && integerText.MatchString(text) {
		return text + ".0"
	}
	return text
}

func flowNumber(f float64) string {
	if abs := math.Abs(f); f == 0 || abs >= 1e-6 && abs < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'e', -1, 64)
}

// flowDuration is d without the zero units that time.Duration prints.
func flowDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func flowList[T any](list []T, text func(T) string) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = text(v)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func flowMapping[T any](m map[string]T, text func(T) string) string {
	keys := slices.Sorted(maps.Keys(m))
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = flowString(k) + ": " + text(m[k])
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// plainText is what needs no quotes anywhere in YAML.
var plainText = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*$`)

func flowString(s string) string {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(s)
	}
	if plainText.MatchString(s) {
		if _, ok := plain(s).(string); ok {
			return s
		}
	}
	return quoted(s)
}

// quoted is a double-quoted YAML scalar of valid UTF-8.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
