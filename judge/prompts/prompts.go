// Package prompts holds the texts that live judges send, as files with fields
// in double braces: {{claim}}.
//
// The built-in files can be replaced by a user's own, file by file, as long as
// the reply keeps to the schema of package judge. What is under review enters
// through fields that are filled by the judge, fences included, so no file can
// leave it unfenced by mistake.
package prompts

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed *.tmpl
var builtin embed.FS

// A Name is that of a prompt; its file is the name with .tmpl.
type Name string

// The prompts, and the fields that each has.
const (
	MatrixSystem  Name = "matrix-system"       // none: it is the same for every request, so that providers can cache it
	MatrixUser    Name = "matrix-user"         // check (a word to be repeated), code, exhibits, claims (how many), necessity
	Necessity     Name = "necessity"           // none; it fills the field of that name where it is asked for
	Repair        Name = "repair"              // attempt ("2 of 3"), defect (in one line), claims (which)
	Support       Name = "score-support"       // claim, text
	Hallucination Name = "score-hallucination" // claim, sources

	ClaimsSystem Name = "claims-system" // none
	ClaimsUser   Name = "claims-user"   // code, exhibits, sentences (how many)
	ClaimsRepair Name = "claims-repair" // attempt ("2 of 3"), defect (in one line)
)

// Names are all prompts.
func Names() []Name {
	return []Name{MatrixSystem, MatrixUser, Necessity, Repair, Support, Hallucination, ClaimsSystem, ClaimsUser, ClaimsRepair}
}

// known says what each prompt is for, in a few words, and which fields it must have, and may have
// besides.
var known = map[Name]struct {
	about     string
	must, may string // with blanks between
}{
	MatrixSystem:  {"the instructions, the same for every row", "", ""},
	MatrixUser:    {"a row: question, claims and passages", "code exhibits", "check claims necessity"},
	Necessity:     {"added to a row where judge.necessity asks which citations suffice", "", ""},
	Repair:        {"sent once after a reply that could not be used", "defect", "attempt claims"},
	Support:       {"judge.protocol: score, a claim and one passage", "claim text", ""},
	Hallucination: {"judge.protocol: score, a claim and the passages that it does not cite", "claim sources", ""},
	ClaimsSystem:  {"claims: model, the instructions", "", ""},
	ClaimsUser:    {"claims: model, a row: question, answer and sentences", "code exhibits", "sentences"},
	ClaimsRepair:  {"claims: model, sent once after a reply that could not be used", "defect", "attempt"},
}

// A Set is one text for each name. It does not change.
type Set struct {
	texts   map[Name]string
	parts   map[Name][]part
	version string // of the prompts that ask for verdicts
	claims  string // of those that ask for claims
}

// A part of a prompt is a text and the field after it, "" at the end.
type part struct{ text, field string }

// Builtin returns the prompts of this version.
func Builtin() *Set {
	s, err := load(builtin, ".", builtin)
	if err != nil {
		panic(err) // a test reads them
	}
	return s
}

// Load returns the built-in prompts with those replaced that dir has files
// for. A file that is no prompt, an empty one, and one with fields that the
// prompt does not have are errors: my/repair.tmpl:3: unknown field {{claim}}.
func Load(dir string) (*Set, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, isPrompt := strings.CutSuffix(e.Name(), ".tmpl")
		if _, ok := known[Name(name)]; isPrompt && !ok {
			return nil, fmt.Errorf("%s: no prompt of that name; there are %s", filepath.Join(dir, e.Name()), list())
		}
	}
	return load(os.DirFS(dir), dir, builtin)
}

func list() string {
	var names []string
	for _, n := range Names() {
		names = append(names, n.File())
	}
	return strings.Join(names, ", ")
}

// load reads each prompt from own, else from fallback. dir stands for own in
// errors.
func load(own fs.FS, dir string, fallback fs.FS) (*Set, error) {
	s := &Set{texts: make(map[Name]string), parts: make(map[Name][]part)}
	verdicts, claims := sha256.New(), sha256.New()
	for _, name := range Names() {
		file := name.File()
		b, err := fs.ReadFile(own, file)
		if errors.Is(err, fs.ErrNotExist) {
			b, err = fs.ReadFile(fallback, file)
		}
		if err != nil {
			return nil, err
		}
		// One line end at the end is the file's, not the prompt's.
		text := strings.TrimSuffix(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
		if err := s.add(name, text, filepath.Join(dir, file)); err != nil {
			return nil, err
		}
		h := verdicts
		if name == ClaimsSystem || name == ClaimsUser || name == ClaimsRepair {
			h = claims
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text) // a hash takes everything
	}
	s.version, s.claims = hex.EncodeToString(verdicts.Sum(nil))[:12], hex.EncodeToString(claims.Sum(nil))[:12]
	return s, nil
}

// add adds the text of a file.
func (s *Set) add(name Name, text, file string) error {
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("%s: is empty", file)
	}
	parts, err := cut(text, name, file)
	if err != nil {
		return err
	}
	for must := range strings.FieldsSeq(known[name].must) {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.field == must }) {
			return fmt.Errorf("%s: has no field {{%s}}", file, must)
		}
	}
	s.texts[name], s.parts[name] = text, parts
	return nil
}

// cut finds the fields of the text of a file.
func cut(text string, name Name, file string) ([]part, error) {
	var parts []part
	line := 1
	for {
		before, rest, ok := strings.Cut(text, "{{")
		line += strings.Count(before, "\n")
		if !ok {
			return append(parts, part{text: before}), nil
		}
		field, rest, ok := strings.Cut(rest, "}}")
		if !ok {
			return nil, fmt.Errorf("%s:%d: {{ without }}", file, line)
		}
		field = strings.TrimSpace(field)
		must, may := name.Fields()
		if all := append(must, may...); !slices.Contains(all, field) {
			return nil, fmt.Errorf("%s:%d: unknown field {{%s}}; this prompt has %s", file, line, field, described(all))
		}
		parts = append(parts, part{before, field})
		text = rest
	}
}

func described(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return "{{" + strings.Join(all, "}}, {{") + "}}"
}

// Version identifies the texts of the set that ask for verdicts: twelve
// hexadecimal digits of their SHA-256.
func (s *Set) Version() string { return s.version }

// ClaimsVersion is that of the texts that ask for claims.
func (s *Set) ClaimsVersion() string { return s.claims }

// Has reports whether the text of a prompt has a field.
func (s *Set) Has(name Name, field string) bool {
	return slices.ContainsFunc(s.parts[name], func(p part) bool { return p.field == field })
}

// Text is a prompt as its file has it, without the last line end.
func (s *Set) Text(name Name) string { return s.texts[name] }

// Fill appends a prompt to b, with value called for the text of each field.
// What a field holds is not looked at again for fields.
func (s *Set) Fill(b []byte, name Name, value func(b []byte, field string) []byte) []byte {
	for _, p := range s.parts[name] {
		b = append(b, p.text...)
		if p.field != "" {
			b = value(b, p.field)
		}
	}
	return b
}

// About says what the prompt is for, in a few words.
func (n Name) About() string { return known[n].about }

// File is the name of the prompt's file.
func (n Name) File() string { return string(n) + ".tmpl" }

// Fields are what the prompt can have in double braces: those that it must have,
// and those that it may have besides.
func (n Name) Fields() (must, may []string) {
	return strings.Fields(known[n].must), strings.Fields(known[n].may)
}
