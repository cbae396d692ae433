package openrouter

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestScrubber(t *testing.T) {
	const rest = "3fA9xQ7LmZ0pVw2KsB8nTd5R"
	const key = "sk-or-v1-" + rest
	s := newScrubber(key, map[string]string{"X-Api-Token": "Bearer gsk_tokenOfAHeader77", "X-Title": "citations of answers"})
	tests := []struct{ name, text string }{
		{"whole", "Incorrect API key provided: " + key + "."},
		{"cut at the end", "key " + key[:len(key)-9] + "…"},
		{"cut at the begin", "key …" + key[len(key)-12:]},
		{"from the middle", "key …" + rest[5:17] + "…"},
		{"split over lines", "key " + key[:21] + "\n    " + key[21:]},
		{"split over lines of JSON", `{"error":{"message":"key ` + key[:21] + `\n  ` + key[21:] + `"}}`},
		{"split over strings", `["` + key[:21] + `", "` + key[21:] + `"]`},
		{"hex", hex.EncodeToString([]byte(key))},
		{"hex in capitals, cut", strings.ToUpper(hex.EncodeToString([]byte(rest[4:18])))},
		{"base64", base64.StdEncoding.EncodeToString([]byte(key))},
		{"base64 of a header", base64.StdEncoding.EncodeToString([]byte("Bearer " + key))},
		{"base64 at another place", base64.URLEncoding.EncodeToString([]byte("k=" + rest[3:]))},
		{"URL", url.QueryEscape(key)},
		{"a secret header", "tokenOfAHeader77"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := s.text(tt.text)
			if !strings.Contains(got, scrubbed) {
				t.Fatalf("text(%q) = %q, want the key out of it", tt.text, got)
			}
			for _, form := range []string{rest, hex.EncodeToString([]byte(rest)), strings.ToUpper(hex.EncodeToString([]byte(rest)))} {
				n := leastShared * len(form) / len(rest)
				for i := 0; i+n <= len(form); i++ {
					if strings.Contains(got, form[i:i+n]) {
						t.Errorf("text(%q) = %q, which still has %q", tt.text, got, form[i:i+n])
					}
				}
			}
			if json.Valid([]byte(tt.text)) && !json.Valid([]byte(got)) {
				t.Errorf("text(%q) = %q, which is no JSON", tt.text, got)
			}
		})
	}
	for _, text := range []string{"", "the claims of answers are supported", "sk-or-v1-", "3fA9xQ7LmZ0", strings.Repeat("abc", 1000)} {
		if got := s.text(text); got != text {
			t.Errorf("text(%q) = %q, want it as it is", text, got)
		}
	}
}

// A key that a test or a local server has is short: it is looked for as it is.
func TestScrubberOfShortKeys(t *testing.T) {
	s := newScrubber("a-key", nil)
	if got := s.text("a-key"); got != "a-key" {
		t.Errorf("five letters: %q", got)
	}
	s = newScrubber("fake-key", nil)
	if got := s.text("no fake-key here"); got != "no [key] here" {
		t.Errorf("eight letters: %q", got)
	}
}

func BenchmarkScrubber(b *testing.B) {
	s := newScrubber("sk-or-v1-"+strings.Repeat("0123456789abcdef", 4), nil)
	text := strings.Repeat(`{"claim":"The bridge opened in 1932.","label":"supported","reason":"It says so."},`, 120)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s.text(text)
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
	if text := newScrubber("", nil).text("the proxy says zQ81mNvU42xTke and no more"); strings.Contains(text, "zQ81mNvU42xT") {
		t.Errorf("a secret of the environment stays: %q", text)
	}
}
