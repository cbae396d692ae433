package report

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"ibid/dataset/runs"
	"ibid/report/doc"
)

// Clean makes a user's text safe for a terminal, line by line, as [doc.Clean] does.
func Clean(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = doc.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// clip cuts a text to n code points and says so by an ellipsis.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i] + "…"
		}
		n--
	}
	return text
}

// escapeLink escapes a text for the state in a link, as encodeURIComponent does.
func escapeLink(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// Plural is a count with its noun.
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// percent is a share in words: never 0 % or 100 % of what is not nothing or all.
func percent(n, of int64) string {
	switch {
	case of == 0:
		return "–"
	case n > 0 && n*200 < of:
		return "< 1 %"
	case n < of && (of-n)*200 < of:
		return "> 99 %"
	}
	return count((n*200+of)/(2*of)) + " %"
}

// list joins words: a, b and c.
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// bytesBefore turns ascending code point positions of text into byte positions.
// Positions past the end are the end.
func bytesBefore(text string, at []int64) []int {
	out := make([]int, 0, len(at))
	from, points := 0, int64(0)
	for _, to := range at {
		for ; points < to && from < len(text); points++ {
			if text[from] < utf8.RuneSelf {
				from++
				continue
			}
			_, size := utf8.DecodeRuneInString(text[from:])
			from += size
		}
		out = append(out, from)
	}
	return out
}

var needsNoQuotes = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

// ShellWord quotes a word for a POSIX shell where that is needed.
func ShellWord(word string) string {
	if needsNoQuotes.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// numberOrDash prints a value for people: three decimals for what lies in [-1, 1], as
// most metrics do, else four significant digits, or more before the point. A
// value that is not defined is a dash.
func numberOrDash(v *float64) string {
	if v == nil {
		return "–"
	}
	return number(*v)
}

// estimateText prints the estimate of a number of a summary; where that is withheld, the range
// that it is in.
func estimateText(r *runs.SummaryRow) string {
	if r.Estimate == nil && r.Reason != "" && r.BoundLow != nil {
		return rangeText(*r.BoundLow, *r.BoundHigh)
	}
	return numberOrDash(r.Estimate)
}

// rangeText prints the least and the greatest value that a number can have.
func rangeText(low, high float64) string { return fmt.Sprintf("%.2f–%.2f", low, high) }

func number(v float64) string {
	switch {
	case v == math.Trunc(v) && math.Abs(v) > 1 && math.Abs(v) < 1e15, math.Abs(v) >= 1000 && math.Abs(v) < 1e15:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case math.Abs(v) < 0.0005:
		return "0.000" // without the sign of what is not shown
	case math.Abs(v) <= 1:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Thousands prints a count with a comma between groups of three digits.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(digits) - 3; i > start; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// interval prints an interval, or nothing if there is none.
func interval(low, high *float64) string {
	if low == nil || high == nil {
		return ""
	}
	return "[" + number(*low) + ", " + number(*high) + "]"
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

// exact prints a number so that it reads back as the same.
func exact(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
