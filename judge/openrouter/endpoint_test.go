package openrouter

import "testing"

func TestEndpoint(t *testing.T) {
	for _, tt := range []struct {
		base         string
		azure        bool
		chat, models string
		hint         bool
	}{
		{"http://localhost:8000/v1", false, "http://localhost:8000/v1/chat/completions", "http://localhost:8000/v1/models", false},
		{"http://localhost:8000/", false, "http://localhost:8000/chat/completions", "http://localhost:8000/models", true},
		{"https://gate.example/v1?tenant=7", false, "https://gate.example/v1/chat/completions?tenant=7", "https://gate.example/v1/models?tenant=7", false},
		{"https://x.openai.azure.com", true, "https://x.openai.azure.com/openai/v1/chat/completions", "https://x.openai.azure.com/openai/v1/models", false},
		{"https://x.openai.azure.com?api-version=2024-10-21", true, "https://x.openai.azure.com/openai/deployments/m/chat/completions?api-version=2024-10-21", "https://x.openai.azure.com/openai/models?api-version=2024-10-21", false},
	} {
		e := newEndpoint(tt.base, tt.azure)
		if chat := e.url("/chat/completions", "m"); chat != tt.chat || e.url("/models", "") != tt.models || (e.hint() != "") != tt.hint {
			t.Errorf("%s: %s, %s, %q", tt.base, chat, e.url("/models", ""), e.hint())
		}
	}
	e := newEndpoint("https://x.openai.azure.com/?api-version=1", true)
	if got := e.url("/embeddings", "text embed"); got != "https://x.openai.azure.com/openai/deployments/text%20embed/embeddings?api-version=1" {
		t.Error(got)
	}
}
