package configs

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ibid"
)

// number gives an integer, a number or a duration in nanoseconds as a float64.
// Integers beyond 2^53 lose digits, which no range here can tell.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case time.Duration:
		return float64(v), true
	}
	return 0, false
}

// An interval is the values that a number may have. Infinity is no bound.
type interval struct {
	low, high    float64
	above, below bool // low, high itself is not in it
}

// parseInterval parses a range tag such as (0,1] or [0,). It returns nil if text has no comma.
func parseInterval(text string) *interval {
	low, high, found := strings.Cut(text, ",")
	if !found {
		return nil
	}
	r := &interval{high: math.Inf(1), above: low[0] == '(', below: strings.HasSuffix(high, ")")}
	r.low, _ = strconv.ParseFloat(low[1:], 64)
	if high = high[:len(high)-1]; high != "" {
		r.high, _ = strconv.ParseFloat(high, 64)
	}
	return r
}

func (r *interval) holds(x float64) bool {
	return (x > r.low || x == r.low && !r.above) && (x < r.high || x == r.high && !r.below)
}

// text is the interval in words that follow "a value".
func (r *interval) text(number func(float64) string) string {
	switch {
	case math.IsInf(r.high, 1):
		return "of at least " + number(r.low)
	case r.above && r.below:
		return "between " + number(r.low) + " and " + number(r.high)
	case r.above:
		return "above " + number(r.low) + ", up to " + number(r.high)
	}
	return "from " + number(r.low) + " to " + number(r.high)
}

// checks are what values of the right type must be besides, by setting.
var checks = map[string]func(any) string{
	"truth": of(notBlank), "labels": of(notBlank), "out": of(notBlank), "judge.prompts": of(notBlank), "judge.file": of(notBlank), "presence.embed_model": of(notBlank),
	"judge.model": of(noRepeats), "accept": of(noRepeats), "slices": of(noRepeats),
	"columns": of(columnNames), "values": of(labelValues), "statistics.cluster": of(clusterName),
	"judge.base_url": of(httpURL), "judge.api_key_env": of(variableName), "judge.headers": of(headerValues),
	"judge.request": of(requestMembers), "judge.prices": of(tokenPrices), "judge.cache": of(AnswerFile),
}

// of makes a check of values of one type one of any value: those of other types pass.
func of[T any](check func(T) string) func(any) string {
	return func(v any) string {
		if x, ok := v.(T); ok {
			return check(x)
		}
		return ""
	}
}

func notBlank(s string) string {
	if strings.TrimSpace(s) == "" {
		return "want a text that is not empty"
	}
	return ""
}

// clusterName refuses what statistics.cluster was in the version before.
func clusterName(s string) string {
	if s == "doc" {
		return "doc is gone: auto counts every document that rows share"
	}
	return notBlank(s)
}

func httpURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "want a URL that begins with http:// or https://"
	case u.User != nil:
		return "a URL here must not hold a name or password"
	}
	return ""
}

// AnswerFile says what is wrong with the name of a cache of answers, "" if nothing is.
func AnswerFile(s string) string {
	switch {
	case strings.HasPrefix(s, "redis://") || strings.HasPrefix(s, "rediss://"):
		return "answers are no longer kept in a Redis server: name a file here, and share a run among machines with ibid score and ibid summary"
	case strings.Contains(s, "://"):
		return "want a file, not a URL"
	}
	return notBlank(s)
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func variableName(s string) string {
	if !variable.MatchString(s) {
		return "want the name of an environment variable, not the key itself"
	}
	return ""
}

// headerName is a token of RFC 9110.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// credentialName finds headers whose values nobody else must see.
var credentialName = regexp.MustCompile(`(?i)auth|key|token|secret|cookie|password|credential|signature`)

// fromEnvironment begins the value of a header that stands in the environment.
const fromEnvironment = "env:"

func headerValues(m map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		value := m[name]
		env, isEnv := strings.CutPrefix(value, fromEnvironment)
		switch {
		case !headerName.MatchString(name):
			return flowString(name) + " is no name of a header"
		case isEnv && !variable.MatchString(env):
			return flowString(name) + ": want the name of an environment variable after env:"
		case !isEnv && credentialName.MatchString(name):
			return flowString(name) + " looks like a credential; want env:VARIABLE, not the value itself"
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return flowString(name) + ": want a value in one line"
		}
	}
	return ""
}

// reservedMembers are the members of a request that ibid writes and reads itself.
var reservedMembers = []string{"model", "messages", "stream", "n", "response_format"}

func requestMembers(m map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if slices.Contains(reservedMembers, name) {
			return flowString(name) + " cannot be set here; ibid needs it for itself"
		}
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if n, ok := m[name].(int64); m[name] != nil && (!ok || n < 0) {
			return flowString(name) + ": want a count of tokens"
		}
	}
	return ""
}

// tokenPrices wants the prices of both directions, each from 0.
func tokenPrices(m map[string]float64) string {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains([]string{"prompt", "completion", "cached"}, name) {
			return flowString(name) + " is no price; want prompt, completion and perhaps cached"
		}
		if !(m[name] >= 0) {
			return flowString(name) + ": want a value of at least 0, got " + flowNumber(m[name])
		}
	}
	for _, name := range []string{"prompt", "completion"} {
		if _, given := m[name]; !given {
			return name + " is missing: want prompt and completion"
		}
	}
	return ""
}

func columnNames(m map[string]string) string {
	ours := make(map[string]string)
	for _, foreign := range slices.Sorted(maps.Keys(m)) {
		name := m[foreign]
		if strings.TrimSpace(foreign) == "" || name != "" && strings.TrimSpace(name) == "" {
			return "want column names that are not empty"
		}
		if first, ok := ours[name]; ok && name != "" {
			return fmt.Sprintf("%s and %s both become %s", flowString(first), flowString(foreign), flowString(name))
		}
		ours[name] = foreign
	}
	return ""
}

// labelValues wants words and numbers in [0, 1].
func labelValues(m map[string]float64) string {
	for _, word := range slices.Sorted(maps.Keys(m)) {
		if n := m[word]; strings.TrimSpace(word) == "" {
			return "want words that are not empty"
		} else if !(n >= 0 && n <= 1) {
			return flowString(word) + ": want a number from 0 to 1, got " + flowNumber(n)
		}
	}
	return ""
}

func noRepeats(list []string) string {
	for i, s := range list {
		if slices.Contains(list[:i], s) {
			return flowString(s) + " is listed twice"
		}
	}
	return ""
}

// notAllowed checks a text against the setting's list.
func (s *setting) notAllowed(v any) (msg, hint string) {
	text, ok := v.(string)
	if !ok || s.allowed == nil || slices.Contains(s.allowed, text) {
		return "", ""
	}
	if s.prefix != "" && strings.HasPrefix(text, s.prefix) {
		if len(text) > len(s.prefix) {
			return "", ""
		}
		return "want a name after " + s.prefix, ""
	}
	if near := ibid.Nearest(text, s.allowed); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fmt.Sprintf("want one of %s, got %q", strings.Join(s.choices(), ", "), text), hint
}
