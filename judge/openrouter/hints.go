package openrouter

import (
	"regexp"
	"strings"
)

// hints say what to do about a failure, by what its text says. The first that fits
// counts.
var hints = []struct {
	text *regexp.Regexp // of the text in lower case
	hint string
}{
	{regexp.MustCompile(`data policy|privacy|guardrail restrictions`), "allow its providers in the privacy settings of the account, or name another model"},
	{regexp.MustCompile(`requested parameters`), "leave require_parameters out of judge.request, or name another model"},
	{tooLongWords, "ask for less at once: performance.batch_size, judge.evidence: span, or a model that reads more"},
	{regexp.MustCompile(`a redirect to`), "if that is the service that you mean, set judge.base_url to it"},
	{regexp.MustCompile(`no such host|server misbehaving|name resolution`), "look at the host in judge.base_url, and at the network"},
	{regexp.MustCompile(`connection refused`), "start the server, or look at judge.base_url"},
	{regexp.MustCompile(`certificate|tls:`), "look at judge.base_url: its certificate is not one that this machine trusts"},
	{regexp.MustCompile(`no answer in time`), "raise judge.timeout, or lower judge.concurrency"},
	{regexp.MustCompile(`^status 401`), "set the API key of the judge in its environment variable"},
	{regexp.MustCompile(`^status 402|insufficient_quota|exceeded your current quota`), "add credit, or use another key; answers so far are kept"},
	{regexp.MustCompile(`^status 403`), "look at what the key and the account may use, or name another model"},
	{regexp.MustCompile(`^status 404`), "look up the name of the model, and judge.base_url"},
	{regexp.MustCompile(`^status 429`), "lower judge.rpm or judge.concurrency, or go on later"},
	{regexp.MustCompile(`^status 4`), "the service does not take the request: look at judge.model, judge.base_url and judge.request"},
	{regexp.MustCompile(`^status 5|reset by peer|broken pipe|eof`), "the service is in trouble: go on later"},
	{regexp.MustCompile(`refuses|filter`), "the model will not judge this material; another may"},
	{regexp.MustCompile(`limit of \d+ tokens`), "lower performance.batch_size, or name a model that may write more"},
	{regexp.MustCompile(`response is not json|goes on after|no choices|more than \d+ bytes`), "look at judge.base_url: something else than a model answers"},
	{regexp.MustCompile(`reply|claim|json|sentence|member|label`), "the model does not keep to the shape of replies; name another, or raise judge.retry_attempts"},
}

// Hint is what to do about a failure of which that is the text; "" if nobody knows.
func Hint(failure string) string {
	text := strings.ToLower(failure)
	for i := range hints {
		if hints[i].text.MatchString(text) {
			return hints[i].hint
		}
	}
	return ""
}

// tooLongWords are how services say that a prompt is longer than the model reads.
var tooLongWords = regexp.MustCompile(`context[ _](length|size|window)|exceed_context_size|maximum (model|input) length|prompt is too long|input is too long|reduce the length of|too many input tokens`)
