package openrouter

import (
	"encoding/base64"
	"encoding/hex"
	"os"
	"slices"
	"strings"
)

// A scrubber masks secrets in texts: whole, cut to as few as 12 of their characters, in
// hex and in base64. The zero scrubber masks nothing.
type scrubber struct {
	whole  []string
	pieces []piecewise
}

// A piecewise secret is masked where at least so many of its characters stand together.
type piecewise struct {
	text  string
	least int
}

const (
	leastSecret = 6  // a shorter value stands in texts by chance
	leastShared = 12 // characters of a secret that give it away

	leastOfEnvironment = 16 // a shorter value of the environment may be a word

	scrubbed = "[key]"
)

// keyPrefixes begin the keys of many services and say nothing of one. Longer ones come
// first.
var keyPrefixes = []string{"sk-or-v1-", "sk-proj-", "sk-ant-api03-", "sk-ant-", "sk-or-", "sk-", "AIza", "hf_", "gsk_", "xai-", "r8_", "github_pat_", "ghp_", "gho_", "ghs_", "glpat-", "xoxb-", "xoxp-", "AKIA"}

// newScrubber masks a key, the values of headers and the secrets of the environment: a
// service, or what stands between, may repeat what it was never sent by us. Of headers, only
// those that carry secrets are looked for in pieces.
func newScrubber(key string, headers map[string]string) *scrubber {
	s := new(scrubber)
	s.add(key, true)
	for _, secret := range secretsOf(os.Environ()) {
		s.add(secret, true)
	}
	for name, value := range headers {
		name = strings.ToLower(name)
		secret := slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie"}, func(word string) bool { return strings.Contains(name, word) })
		s.add(strings.TrimPrefix(value, "Bearer "), secret)
	}
	// What contains another comes first.
	slices.SortFunc(s.whole, func(a, b string) int { return len(b) - len(a) })
	return s
}

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

func (s *scrubber) add(secret string, pieces bool) {
	if len(secret) < leastSecret {
		return
	}
	s.whole = append(s.whole, secret)
	if i := slices.IndexFunc(keyPrefixes, func(prefix string) bool { return strings.HasPrefix(secret, prefix) }); i >= 0 {
		secret = secret[len(keyPrefixes[i]):]
	}
	if !pieces || len(secret) < leastShared {
		return
	}
	digits := hex.EncodeToString([]byte(secret))
	s.pieces = append(s.pieces, piecewise{secret, leastShared}, piecewise{digits, 2 * leastShared}, piecewise{strings.ToUpper(digits), 2 * leastShared})
	// The characters of base64 that 12 bytes settle, whatever comes before them: those at
	// the ends share bits with their neighbours.
	const settled = leastShared*8/6 - 1
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := encoding.EncodeToString(append(make([]byte, before), secret...))
			s.pieces = append(s.pieces, piecewise{text[(before*8+5)/6 : len(text)-1], settled})
		}
	}
}

// text masks the secrets in a message.
func (s *scrubber) text(text string) string {
	for _, secret := range s.whole {
		text = strings.ReplaceAll(text, secret, scrubbed)
	}
	for _, p := range s.pieces {
		text = p.mask(text)
	}
	return text
}

// mask masks the pieces of p that are long enough. Each has a whole block of p in it, if p is
// cut into blocks of half that length.
func (p *piecewise) mask(text string) string {
	size := p.least / 2
	for block := 0; block+size <= len(p.text); block += size {
		for from := 0; ; {
			i := strings.Index(text[from:], p.text[block:block+size])
			if i < 0 {
				break
			}
			start, first := from+i, block
			for start > 0 && first > 0 && text[start-1] == p.text[first-1] {
				start, first = start-1, first-1
			}
			end, last := from+i+size, block+size
			for end < len(text) && last < len(p.text) && text[end] == p.text[last] {
				end, last = end+1, last+1
			}
			if from += i + 1; end-start >= p.least {
				text = text[:start] + scrubbed + text[end:]
				from = start + len(scrubbed)
			}
		}
	}
	return text
}
