package report

import (
	"fmt"
	"math"
	"strconv"

	"ibid/dataset/runs"
)

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

// optional is numberOrDash for what most rows of a table may lack: nothing instead of a
// dash, so that an empty column vanishes.
func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return number(*v)
}

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
