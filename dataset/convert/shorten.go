package convert

import (
	"strconv"
	"unicode/utf8"
)

// quoted is s in double quotes, shortened where it is long.
func quoted(s string) string { return strconv.Quote(shorten(s, 60)) }

// clipped is a path into a record, shortened where it is long: a report keeps
// many of them, and a record can hold any name.
func clipped(path string) string { return shorten(path, 1000) }

// shorten cuts s after most bytes, between code points.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
