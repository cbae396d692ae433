package openrouter

import (
	"encoding/base64"
	"encoding/hex"
	"os"
	"slices"
	"strings"
)

// A scrubber takes secrets out of texts: whole, cut to as few as 12 of their characters,
// split by white space and quotes, or written in hex, base64 or the encoding of URLs. The
// zero scrubber takes nothing out.
type scrubber struct {
	whole []string            // also short ones and values of headers that are no secrets
	grams map[string]struct{} // pieces of long secrets and of their encodings
	sizes []int               // lengths of the pieces
	begin [1 << 15]bool       // by startOf: some piece begins so
}

// startOf is a number of the first three characters of a text, below 1<<15.
func startOf(c []byte) int { return (int(c[0])<<10 ^ int(c[1])<<5 ^ int(c[2])) & (1<<15 - 1) }

const (
	leastSecret = 6  // a shorter value stands in texts by chance
	leastShared = 12 // characters of a secret that give it away

	leastOfEnvironment = 16 // a shorter value of the environment may be a word

	scrubbed = "[key]"
)

// keyPrefixes begin the keys of many services and say nothing of one. Longer ones come
// first.
var keyPrefixes = []string{"sk-or-v1-", "sk-proj-", "sk-ant-api03-", "sk-ant-", "sk-or-", "sk-", "AIza", "hf_", "gsk_", "xai-", "r8_", "github_pat_", "ghp_", "gho_", "ghs_", "glpat-", "xoxb-", "xoxp-", "AKIA"}

// newScrubber scrubs a key, the values of headers and the secrets of the environment: a
// service, or what stands between, may repeat what it was never sent by us. Of headers,
// only those that carry secrets are looked for in pieces.
func newScrubber(key string, headers map[string]string) *scrubber {
	s := &scrubber{grams: make(map[string]struct{})}
	s.add(key, true)
	for _, secret := range secretsOf(os.Environ()) {
		s.add(secret, true)
	}
	for name, value := range headers {
		value = strings.TrimPrefix(value, "Bearer ")
		name = strings.ToLower(name)
		s.add(value, slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie"}, func(word string) bool { return strings.Contains(name, word) }))
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
	for _, prefix := range keyPrefixes {
		if rest, ok := strings.CutPrefix(secret, prefix); ok {
			secret = rest
			break
		}
	}
	if !pieces || len(secret) < leastShared {
		return
	}
	s.cut(secret, leastShared)
	digits := hex.EncodeToString([]byte(secret))
	s.cut(digits, 2*leastShared)
	s.cut(strings.ToUpper(digits), 2*leastShared)
	// The characters of base64 that 12 bytes settle, whatever comes before them: those at
	// the ends share bits with their neighbours.
	const settled = leastShared*8/6 - 1
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := encoding.EncodeToString(append(make([]byte, before), secret...))
			s.cut(text[(before*8+5)/6:len(text)-1], settled)
		}
	}
}

// cut adds the pieces of a text.
func (s *scrubber) cut(text string, size int) {
	for i := 0; i+size <= len(text); i++ {
		s.grams[text[i:i+size]] = struct{}{}
		s.begin[startOf([]byte(text[i:i+size]))] = true
	}
	if !slices.Contains(s.sizes, size) {
		s.sizes = append(s.sizes, size)
	}
}

// text takes the secrets out of a message.
func (s *scrubber) text(text string) string {
	for _, secret := range s.whole {
		text = strings.ReplaceAll(text, secret, scrubbed)
	}
	return s.pieces(text)
}

// pieces takes out what is a piece of a secret, and leaves alone what splits it: JSON
// stays JSON.
func (s *scrubber) pieces(text string) string {
	if len(s.grams) == 0 || len(text) < leastShared {
		return text
	}
	plain, at := letters(text)
	var secret []bool // by byte of text
	for i := 0; i+leastShared <= len(plain); i++ {
		if !s.begin[startOf(plain[i:])] {
			continue
		}
		for _, size := range s.sizes {
			if i+size > len(plain) {
				continue
			}
			if _, ok := s.grams[string(plain[i:i+size])]; !ok {
				continue
			}
			if secret == nil {
				secret = make([]bool, len(text))
			}
			for k := i; k < i+size; k++ {
				from := int(at[k])
				secret[from] = true
				if text[from] == '%' {
					secret[from+1], secret[from+2] = true, true
				}
			}
		}
	}
	if secret == nil {
		return text
	}
	for i := range secret {
		if secret[i] && (i == 0 || !secret[i-1]) { // the prefix goes with the key
			for _, prefix := range keyPrefixes {
				if strings.HasSuffix(text[:i], prefix) {
					for k := i - len(prefix); k < i; k++ {
						secret[k] = true
					}
					break
				}
			}
		}
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !secret[i]:
			b.WriteByte(text[i])
		case i == 0 || !secret[i-1]:
			b.WriteString(scrubbed)
		}
	}
	return b.String()
}

// letters are the characters of a text that keys and their encodings consist of, and
// where they stand. Three bytes of the encoding of URLs are one, and escapes of white
// space are white space.
func letters(text string) (plain []byte, at []int32) {
	plain, at = make([]byte, 0, len(text)), make([]int32, 0, len(text))
	for i := 0; i < len(text); i++ {
		c, to := text[i], i+1
		switch {
		case c == '\\' && to < len(text) && strings.IndexByte("nrtbf", text[to]) >= 0:
			i++
			continue
		case c == '%' && i+3 <= len(text):
			var b [1]byte
			if _, err := hex.Decode(b[:], []byte(text[i+1:i+3])); err == nil {
				c, to = b[0], i+3
			}
		}
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_./+=", c) >= 0 {
			plain, at = append(plain, c), append(at, int32(i))
		}
		i = to - 1
	}
	return plain, at
}
