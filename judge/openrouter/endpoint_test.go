package openrouter

import "testing"

func TestEndpoint(t *testing.T) {
	for _, tt := range []struct {
		base         string
		azure        bool
		chat, models string // of the library and of our own requests
		hint         bool
	}{
		{"http://localhost:8000/v1", false, "http://localhost:8000/v1", "http://localhost:8000/v1/models", false},
		{"http://localhost:8000/", false, "http://localhost:8000", "http://localhost:8000/models", true},
		{"https://gate.example/v1?tenant=7", false, "https://gate.example/v1", "https://gate.example/v1/models?tenant=7", false},
		{"https://x.openai.azure.com", true, "https://x.openai.azure.com/openai/v1", "https://x.openai.azure.com/openai/v1/models", false},
		{"https://x.openai.azure.com?api-version=2024-10-21", true, "https://x.openai.azure.com", "https://x.openai.azure.com/openai/models?api-version=2024-10-21", false},
	} {
		e := newEndpoint(tt.base, tt.azure)
		c := e.client("key")
		if c.BaseURL != tt.chat || e.url("/models", "") != tt.models || (e.hint() != "") != tt.hint {
			t.Errorf("%s: %s, %s, %q", tt.base, c.BaseURL, e.url("/models", ""), e.hint())
		}
	}
	e := newEndpoint("https://x.openai.azure.com/?api-version=1", true)
	if got := e.url("/embeddings", "text embed"); got != "https://x.openai.azure.com/openai/deployments/text%20embed/embeddings?api-version=1" {
		t.Error(got)
	}
}
