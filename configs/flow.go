package configs

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

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
