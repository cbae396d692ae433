package openrouter

import (
	"cmp"
	"encoding/base64"
	"os"
	"slices"
	"strings"
)

const (
	leastSecret        = 6  // bytes; a shorter value stands in texts by chance
	leastEncoded       = 12 // bytes of a secret that is looked for in base64
	leastOfEnvironment = 16 // a shorter value of the environment may be a word
	scrubbed           = "[key]"
)

// newScrubber takes secrets out of texts, whole and in base64: a key, the values of headers
// that carry one, and the secrets of the environment, for a service, or what stands between,
// may repeat what it was never sent by us.
func newScrubber(key string, headers map[string]string) *strings.Replacer {
	secrets := append(secretsOf(os.Environ()), key)
	for name, value := range headers {
		name = strings.ToLower(name)
		if slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie"}, func(word string) bool { return strings.Contains(name, word) }) {
			secrets = append(secrets, strings.TrimPrefix(value, "Bearer "))
		}
	}
	var forms []string
	for _, secret := range secrets {
		if len(secret) < leastSecret {
			continue
		}
		forms = append(forms, secret)
		if len(secret) < leastEncoded {
			continue
		}
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for before := range 3 { // the characters that the secret settles, whatever comes before it
				text := encoding.EncodeToString(append(make([]byte, before), secret...))
				forms = append(forms, text[(before*8+5)/6:len(text)-1])
			}
		}
	}
	// What contains another comes first.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, form := range forms {
		pairs = append(pairs, form, scrubbed)
	}
	return strings.NewReplacer(pairs...)
}

// keyPrefixes begin the keys of many services.
var keyPrefixes = []string{"sk-", "AIza", "hf_", "gsk_", "xai-", "r8_", "github_pat_", "ghp_", "gho_", "ghs_", "glpat-", "xoxb-", "xoxp-", "AKIA"}

// secretsOf are the values of an environment that are secrets by their names or by how
// they begin. A short value, a path and what has white space is none.
func secretsOf(environ []string) (secrets []string) {
	words := []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASS", "CREDENTIAL", "CREDENTIALS"}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		named := slices.ContainsFunc(strings.Split(strings.ToUpper(name), "_"), func(word string) bool { return slices.Contains(words, word) })
		begins := slices.ContainsFunc(keyPrefixes, func(prefix string) bool { return strings.HasPrefix(value, prefix) })
		if (named || begins) && len(value) >= leastOfEnvironment && !strings.HasPrefix(value, "/") && !strings.ContainsAny(value, " \t\n") {
			secrets = append(secrets, value)
		}
	}
	return secrets
}
