package configs

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Size is a number of bytes.
type Size int64

// sizeUnits are the units of a [Size], the largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"B", 1},
}

// ParseSize reads a whole number of bytes, 0 or more, with or without a unit: 1GiB, 64MB,
// 1000.
func ParseSize(text string) (Size, error) {
	number, unit := text, int64(1)
	for _, u := range sizeUnits {
		if before, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = strings.TrimSpace(before), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is not a size, such as 1GiB, 64MB or 1000", text)
	}
	return Size(n * unit), nil
}

// String is s in the largest unit of which it is a whole number: [ParseSize] reads the
// same size back.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if s > 0 && int64(s)%u.bytes == 0 && (u.bytes&(u.bytes-1) == 0 || int64(s)/u.bytes < 1000) && u.bytes > 1 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

func decodeSize(n node) (any, *typeError) {
	const hint = "such as 1GiB, 64MB or 1000"
	if n.kind != scalarNode {
		return nil, wrong("a size", n, hint)
	}
	size, err := ParseSize(n.text)
	if err != nil {
		return nil, wrong("a size", n, hint)
	}
	return size, nil
}
