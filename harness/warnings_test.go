package harness

import (
	"fmt"
	"testing"

	"ibid"
)

func TestKin(t *testing.T) {
	rows := []ibid.Answer{
		{Model: "gpt-4o"}, {Model: "claude-sonnet-4"}, {Provider: "OpenAI"}, {Model: "gpt-4o"}, {}, {Model: "mine", Provider: "openrouter"},
	}
	for _, tt := range []struct {
		judges []string
		want   string
	}{
		{nil, ""},
		{[]string{"google/gemini-3-pro"}, ""},
		{[]string{"openai/gpt-5"}, "the judge (openai/gpt-5) is of the family of what it judges (OpenAI, gpt-4o) and may favour it; take one of another family"},
		{
			[]string{"google/gemini-3-pro", "anthropic/claude-opus-4"},
			"the judge (google/gemini-3-pro, anthropic/claude-opus-4) is of the family of what it judges (claude-sonnet-4) and may favour it; take one of another family",
		},
	} {
		k := newModelFamilies(tt.judges)
		for i := range rows {
			k.add(&rows[i])
		}
		if got := k.warning(); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.judges, got, tt.want)
		}
	}

	k := newModelFamilies([]string{"openai/gpt-5"})
	for i := range 9 {
		k.add(&ibid.Answer{Model: fmt.Sprint("gpt-", i)})
	}
	if got, want := k.warning(), "the judge (openai/gpt-5) is of the family of what it judges (gpt-0, gpt-1, gpt-2, gpt-3, gpt-4 and 4 more) and may favour it; take one of another family"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
