package claims

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"ibid/metrics/token"
)

// An abstention finds sentences that abstain: they say that the answerer cannot, does not
// know or did not find, or that the given material does not say.
type abstention struct {
	openers, patterns, but *regexp.Regexp
}

// readPatterns reads a list of patterns: openers behind "> ", words such as "but" behind
// "& ", and others, in which {name} stands for what a line "name = …" before says. They are
// under these signs, the definitions under "=". Lines that begin with # and empty ones say
// nothing.
func readPatterns(list []string) map[string][]string {
	all, names := map[string][]string{}, []string{}
	for _, line := range list {
		name, pattern, named := strings.Cut(line, " = ")
		sign := ""
		switch {
		case line == "" || line[0] == '#':
			continue
		case named && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") == "":
			sign = "="
		default:
			pattern = strings.TrimLeft(line, ">& ")
			if strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "& ") {
				sign = line[:1]
			}
		}
		for i, name := range slices.Backward(names) {
			pattern = strings.ReplaceAll(pattern, name, "(?:"+all["="][i]+")")
		}
		// Sentences are matched in small letters: patterns of these find them as they are.
		if plain := strings.ReplaceAll(pattern, `\pL`, ""); plain != strings.ToLower(plain) {
			pattern = "(?i:" + pattern + ")"
		}
		if all[sign] = append(all[sign], pattern); sign == "=" {
			names = append(names, "{"+name+"}")
		}
	}
	return all
}

// newAbstention compiles a list of patterns.
func newAbstention(list []string) (a *abstention, err error) {
	all := readPatterns(list)
	compile := func(form, sign string) (re *regexp.Regexp) {
		any := `[^\s\S]` // nothing
		if len(all[sign]) > 0 {
			any = fmt.Sprintf(form, strings.Join(all[sign], "|"))
		}
		if err == nil {
			re, err = regexp.Compile(any)
		}
		return re
	}
	for i, but := range all["&"] { // of scripts with spaces, it is a word of its own
		if last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(but, "?")); !token.Unspaced(last) {
			all["&"][i] = "(?:" + but + `)(?:[\s,，、]+|$)`
		}
	}
	a = &abstention{
		openers:  compile(`^(?:%s)(?:[\s,:;.，：。、—–-]+|$)`, ">"),
		patterns: compile(`^(?:%s)`, ""),
		but:      compile(`(?:^|[\s,，、.])(?:%s)|[;；][\s,，、]*`, "&"),
	}
	return a, err
}

// CheckPatterns says what is wrong with patterns of abstaining sentences. One is matched,
// case aside, at the beginning of a sentence behind openers such as "Sorry, but". A
// pattern behind "> " is such an opener, one behind "& " a word such as "but".
func CheckPatterns(list []string) error {
	for _, patterns := range readPatterns(list) {
		for _, pattern := range patterns {
			if _, err := regexp.Compile(pattern); err != nil {
				return fmt.Errorf("pattern %q: %w", pattern, err)
			}
		}
	}
	_, err := newAbstention(list)
	return err
}

// compiled are the lists of patterns that were compiled, by their text: workers have the same.
var compiled sync.Map

// abstentionOf returns a function that compiles a list when it is first called.
func abstentionOf(list []string) func() *abstention {
	f, _ := compiled.LoadOrStore(strings.Join(list, "\n"), sync.OnceValue(func() *abstention {
		a, err := newAbstention(list)
		if err != nil {
			panic("claims: " + err.Error()) // settings are checked before
		}
		return a
	}))
	return f.(func() *abstention)
}

const (
	maxOpeners = 4
	maxAbstain = 600 // bytes of a sentence that abstains
	butWords   = 4   // words behind "but" that make it a claim
)

// abstains reports whether a sentence without marks abstains: it does not begin with a
// quotation mark, and matches behind its openers; what stands behind a "but" or a semicolon is short,
// offers something, or abstains itself.
func (a *abstention) abstains(sentence string, offers *phraseList) bool {
	if len(sentence) > maxAbstain {
		return false
	}
	text := folded(strings.TrimLeft(strings.ReplaceAll(sentence, "**", ""), " \t\n*_#>-•"))
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
		if strings.IndexFunc(f, token.Unspaced) >= 0 {
			n += (utf8.RuneCountInString(f) + 1) / 2
		} else if strings.IndexFunc(f, isWordRune) >= 0 {
			n++
		}
	}
	return n
}
