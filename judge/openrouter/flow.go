package openrouter

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// delayOf is how long a response asks to wait, in the order in which the forms
// are trusted: the header Retry-After (seconds, whole or not, or a date);
// error.availability.retry_after; metadata.retry_after_seconds; Retry-After
// among metadata.headers; X-RateLimit-Reset there or in the header, in
// milliseconds since 1970.
func delayOf(header http.Header, e *wireError, now time.Time) (d time.Duration, ok bool) {
	if d, ok := retryAfter(header.Get("Retry-After"), now); ok {
		return d, true
	}
	if a := e.Availability; a != nil && a.RetryAfter != nil {
		return seconds(*a.RetryAfter), true
	}
	if s := e.Metadata.RetryAfterSeconds; s != nil {
		return seconds(*s), true
	}
	if d, ok := retryAfter(e.nested("Retry-After"), now); ok {
		return d, true
	}
	for _, reset := range []string{e.nested("X-RateLimit-Reset"), header.Get("X-RateLimit-Reset")} {
		if ms, err := strconv.ParseInt(reset, 10, 64); err == nil && ms > 0 {
			return max(0, time.UnixMilli(ms).Sub(now)), true
		}
	}
	return 0, false
}

// nested is a header that stands in the metadata of an error, "" if it does
// not; its value may be a number.
func (e *wireError) nested(name string) string {
	for key, value := range e.Metadata.Headers {
		if !strings.EqualFold(key, name) {
			continue
		}
		var s string
		if json.Unmarshal(value, &s) == nil {
			return s
		}
		return string(value)
	}
	return ""
}

// retryAfter reads the value of a Retry-After header.
func retryAfter(s string, now time.Time) (d time.Duration, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false
	}
	if v, err := strconv.ParseFloat(s, 64); err == nil && v >= 0 {
		return seconds(v), true
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}

// maxDelay bounds a delay, so that a date in the far future stays a number.
const maxDelay = 24 * time.Hour

func seconds(v float64) time.Duration {
	if !(v > 0) {
		return 0
	}
	return time.Duration(math.Ceil(min(v, maxDelay.Seconds()) * float64(time.Second)))
}
