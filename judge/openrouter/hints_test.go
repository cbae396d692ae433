package openrouter

import "testing"

func TestHint(t *testing.T) {
	for text, want := range map[string]string{
		"status 404: No endpoints found matching your data policy":                                         "allow its providers in the privacy settings of the account, or name another model",
		"status 404: No endpoints found that can handle the requested parameters.":                         "leave require_parameters out of judge.request, or name another model",
		"status 400: This model's maximum context length is 4096 tokens. However, you requested 5000":      "ask for less at once: performance.batch_size, judge.evidence: span, or a model that reads more",
		`Post "http://127.0.0.1:1/v1/chat/completions": dial tcp 127.0.0.1:1: connect: connection refused`: "start the server, or look at judge.base_url",
		"no answer in time":   "raise judge.timeout, or lower judge.concurrency",
		"claim c2 is missing": "the model does not keep to the shape of replies; name another, or raise judge.retry_attempts",
		"xyz":                 "",
	} {
		if got := Hint(text); got != want {
			t.Errorf("Hint(%q) = %q, want %q", text, got, want)
		}
	}
}
