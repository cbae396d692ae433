package openrouter

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

func TestScrubber(t *testing.T) {
	const key = "sk-or-v1-3fA9xQ7LmZ0pVw2KsB8nTd5R"
	s := newScrubber(key, map[string]string{"X-Api-Token": "Bearer gsk_tokenOfAHeader77", "X-Title": "citations of answers"})
	for _, text := range []string{
		"Incorrect API key provided: " + key + ".",
		"twice " + key + key,
		base64.StdEncoding.EncodeToString([]byte(key)),
		base64.StdEncoding.EncodeToString([]byte("Bearer " + key)),
		base64.URLEncoding.EncodeToString([]byte("k=" + key)),
		"gsk_tokenOfAHeader77",
	} {
		if got := s.Replace(text); !strings.Contains(got, scrubbed) || strings.Contains(got, key[9:]) || len(got) > len(text) {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"", "the citations of answers are supported", "sk-or-v1-"} {
		if got := s.Replace(text); got != text {
			t.Errorf("%q became %q, want it as it is", text, got)
		}
	}
	if got := newScrubber("local-key", nil).Replace("bad local-key"); got != "bad "+scrubbed {
		t.Errorf("a short key: %q", got)
	}
}

// Secrets of the environment are found by their names or by how they begin; what else is
// there stays in texts.
func TestSecretsOfEnvironment(t *testing.T) {
	got := secretsOf([]string{
		"DB_PASSWORD=correct-horse-battery", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCY", "anything=ghp_0123456789abcdefghij",
		"SSH_KEY=/home/somebody/.ssh/id_ed25519", "KEYBOARD_LAYOUT=some-long-layout-name", "API_TOKEN=short", "HOME_TOKEN=a sentence of several words", "PATH=/usr/bin:/bin",
	})
	want := []string{"correct-horse-battery", "wJalrXUtnFEMIK7MDENGbPxRfiCY", "ghp_0123456789abcdefghij"}
	if !slices.Equal(got, want) {
		t.Errorf("secrets %q, want %q", got, want)
	}
	t.Setenv("CI_JOB_TOKEN", "zQ81mNvU42xTkeW9Yc3R")
	if text := newScrubber("", nil).Replace("the proxy says zQ81mNvU42xTkeW9Yc3R and no more"); strings.Contains(text, "zQ81mNvU42xT") {
		t.Errorf("a secret of the environment stays: %q", text)
	}
}
