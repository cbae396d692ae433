package configs

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

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

func decodeText(n node) (any, *typeError) {
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

func decodeInteger(n node) (any, *typeError) {
	if n.kind == scalarNode && !n.quoted && integerText.MatchString(n.text) {
		i, err := strconv.ParseInt(n.text, 10, 64)
		if err == nil {
			return i, nil
		}
		return nil, &typeError{n, n.text + " does not fit into 64 bits", ""}
	}
	return nil, wrong("an integer", n, numberHint(n))
}

func decodeNumber(n node) (any, *typeError) {
	if n.kind == scalarNode && !n.quoted && numberText.MatchString(n.text) {
		f, err := strconv.ParseFloat(n.text, 64)
		if err == nil {
			return f + 0, nil // -0 becomes 0, so that equal settings print alike
		}
		if errors.Is(err, strconv.ErrRange) {
			return nil, &typeError{n, n.text + " is too large", ""}
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

func decodeDuration(n node) (any, *typeError) {
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
