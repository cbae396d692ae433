package judge

import "testing"

func TestFamily(t *testing.T) {
	for model, want := range map[string]string{
		"":                                   "",
		"some-model":                         "",
		"gpt-5":                              "openai",
		"GPT-4o-mini":                        "openai",
		"openai/gpt-5":                       "openai",
		"azure/gpt-5":                        "openai", // who hosts it did not make it
		"openai/gpt-oss-120b:free":           "openai",
		"o1":                                 "openai",
		"o3-mini":                            "openai",
		"o10-x":                              "",
		"openai/something-new":               "openai",
		"claude3":                            "anthropic",
		"bedrock/anthropic/claude-sonnet-4":  "anthropic",
		"phi-4":                              "microsoft",
		"phi":                                "microsoft",
		"philosopher":                        "",
		"philosopher/one":                    "philosopher",
		"meta-llama/llama-3.3-70b-instruct":  "meta",
		"mistralai/something":                "mistral",
		"deepseek/deepseek-r1-distill-llama": "deepseek",
		"x-ai/grok-4":                        "xai",
		"acme/model":                         "acme",
		" qwen/qwen3-235b ":                  "qwen",
	} {
		if got := Family(model); got != want {
			t.Errorf("Family(%q) = %q, want %q", model, got, want)
		}
	}
}

func TestSameFamily(t *testing.T) {
	for _, tt := range []struct {
		judge, model, provider string
		want                   bool
	}{
		{"openai/gpt-5", "gpt-4o", "", true},
		{"openai/gpt-5", "", "OpenAI", true},
		{"openai/gpt-5", "claude-sonnet-4", "openai", false}, // the model is known
		{"openai/gpt-5", "my-model", "azure", false},
		{"acme/one", "acme/two", "", true},
		{"acme/one", "two", "acme", false}, // nobody says that acme makes it
		{"", "", "", false},
		{"local", "local", "", false}, // neither is known
	} {
		if got := SameFamily(tt.judge, tt.model, tt.provider); got != tt.want {
			t.Errorf("SameFamily(%q, %q, %q) = %v, want %v", tt.judge, tt.model, tt.provider, got, tt.want)
		}
	}
}
