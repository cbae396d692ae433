package claims

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// An abstention finds sentences that abstain: they say that the answerer cannot, does not
// know or did not find, or that the given material does not say.
type abstention struct {
	openers, patterns, but *regexp.Regexp
}

// newAbstention compiles a list of patterns: openers behind "> ", words such as "but"
// behind "& ", and patterns, in which {name} stands for what a line "name = …" before
// says. Lines that begin with # and empty ones say nothing.
func newAbstention(list []string) (*abstention, error) {
	names := map[string]string{}
	var openers, patterns, but []string
	for _, line := range list {
		name, pattern, named := strings.Cut(line, " = ")
		named = named && patternName.MatchString(name)
		if !named {
			pattern = strings.TrimLeft(line, ">& ")
		}
		if line == "" || line[0] == '#' {
			continue
		}
		pattern = patternUse.ReplaceAllStringFunc(pattern, func(use string) string {
			if known, ok := names[use[1:len(use)-1]]; ok {
				return known
			}
			return use
		})
		if _, err := regexp.Compile(pattern); err != nil {
			return nil, fmt.Errorf("pattern %q: %w", line, err)
		}
		switch {
		case named:
			names[name] = "(?:" + pattern + ")"
		case strings.HasPrefix(line, "> "):
			openers = append(openers, pattern)
		case strings.HasPrefix(line, "& "):
			but = append(but, pattern)
		default:
			patterns = append(patterns, pattern)
		}
	}
	a := &abstention{}
	for _, part := range []struct {
		to   **regexp.Regexp
		form string
		list []string
	}{
		{&a.openers, `^(?:%s)(?:[\s,:;.，：。、—–-]+|$)`, openers},
		{&a.patterns, `^(?:%s)`, patterns},
		{&a.but, `(?:^|[\s,;，；、.])(?:%s)(?:[\s,，、]+|$)`, but},
	} {
		any := `[^\s\S]` // nothing
		if len(part.list) > 0 {
			any = "(?i)" + fmt.Sprintf(part.form, strings.Join(part.list, "|"))
		}
		re, err := regexp.Compile(any)
		if err != nil {
			return nil, fmt.Errorf("patterns %q: %w", part.list, err)
		}
		*part.to = re
	}
	return a, nil
}

var (
	patternName = regexp.MustCompile(`^[a-z_]+$`)
	patternUse  = regexp.MustCompile(`\{[a-z_]+\}`)
)

// CheckPatterns says what is wrong with patterns of abstaining sentences. One is matched,
// case aside, at the beginning of a sentence behind openers such as "Sorry, but". A
// pattern behind "> " is such an opener, one behind "& " a word such as "but".
func CheckPatterns(list []string) error {
	_, err := newAbstention(list)
	return err
}

// compiled are the lists of patterns that were compiled: workers have the same.
var compiled sync.Map

func abstentionOf(list []string) *abstention {
	key := strings.Join(list, "\n")
	if a, ok := compiled.Load(key); ok {
		return a.(*abstention)
	}
	a, err := newAbstention(list)
	if err != nil {
		panic("claims: " + err.Error()) // settings are checked before
	}
	compiled.Store(key, a)
	return a
}

const (
	maxOpeners = 4
	maxAbstain = 600 // bytes of a sentence that abstains
	butWords   = 4   // words behind "but" that make it a claim
)

// abstains reports whether a sentence without marks abstains: it does not begin with a
// quotation mark, and matches behind its openers; what stands behind a "but" is short,
// offers something, or abstains itself.
func (a *abstention) abstains(sentence string, offers *phraseList) bool {
	if len(sentence) > maxAbstain {
		return false
	}
	text := folded(strings.TrimLeft(sentence, " \t\n*_#>-•"))
	if first, _ := utf8.DecodeRuneInString(text); strings.ContainsRune("\"“”„«»‘'「『", first) {
		return false
	}
	text = strings.TrimRightFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".!。！…*_", r) })
	for range maxOpeners {
		at := a.openers.FindStringIndex(text)
		if at == nil || at[1] == len(text) {
			break
		}
		if a.matches(text, offers) {
			return true
		}
		text = text[at[1]:]
	}
	return a.matches(text, offers)
}

func (a *abstention) matches(text string, offers *phraseList) bool {
	whole := text
	if at := a.but.FindStringIndex(text); at != nil && at[0] > 0 {
		behind := text[at[1]:]
		if a.patterns.MatchString(strings.TrimRight(text[:at[0]], " ,;，")) {
			return wordCount(behind) < butWords || offers.begins(behind) || a.abstains(behind, offers)
		}
	}
	return a.patterns.MatchString(whole)
}

// wordCount counts words; in scripts without spaces two characters count as one.
func wordCount(s string) (n int) {
	for f := range strings.FieldsSeq(s) {
		if strings.IndexFunc(f, isUnspaced) >= 0 {
			n += (utf8.RuneCountInString(f) + 1) / 2
		} else if strings.IndexFunc(f, isWordRune) >= 0 {
			n++
		}
	}
	return n
}
