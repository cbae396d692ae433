package configs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseAge reads an age, which is 0 or more: whole days, a duration such as 90m, or
// both, as in 30d, 12h and 2d12h.
func ParseAge(text string) (time.Duration, error) {
	if text == "" {
		return 0, errors.New("an age is needed")
	}
	var age time.Duration
	rest := text
	if days, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is not an age", text)
		}
		age, rest = time.Duration(n)*24*time.Hour, after
	}
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || age+d < 0 {
			return 0, fmt.Errorf("%q is not an age", text)
		}
		age += d
	}
	return age, nil
}
