package cli

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"

	"ibid/dataset/runs"
	"ibid/harness"
)

// errInterrupted is said of work that was stopped before it left anything.
var errInterrupted = errors.New("interrupted")

// An interruptedError is a stop and the command that goes on.
type interruptedError struct {
	err     error
	command string
}

func (e *interruptedError) Error() string { return e.err.Error() }
func (e *interruptedError) Unwrap() error { return e.err }

// Hint is what has to be done first, if anything, and the command.
func (e *interruptedError) Hint() string {
	again := "go on with: " + e.command
	var stopped *harness.StoppedError
	if errors.As(e.err, &stopped) && stopped.Hint() != "" {
		return stopped.Hint() + "; then " + again
	}
	return again
}

// interrupted gives a run that was stopped, on purpose or by its judge, the command
// that goes on; other errors stay as they are. The id may be "" if the run has none yet.
func (a *app) interrupted(err error, id string) error {
	var interrupted *harness.InterruptedError
	var stopped *harness.StoppedError
	switch {
	case errors.As(err, &interrupted):
		return &interruptedError{err, commandAgain(a.Args, id)}
	case errors.As(err, &stopped):
		return &interruptedError{err, commandAgain(a.Args, id)}
	case errors.Is(err, context.Canceled):
		return &interruptedError{errInterrupted, commandAgain(a.Args, id)}
	}
	return err
}

// commandAgain is the command line that was given, so that a run goes on with the
// same settings. What --fresh started has an id of its own by now.
func commandAgain(args []string, id string) string {
	words := []string{"ibid"}
	for _, arg := range args {
		switch {
		case id != "" && (arg == "--fresh" || arg == "--fresh=true"):
			words = append(words, "--id", quote(id))
		default:
			words = append(words, quote(arg))
		}
	}
	return strings.Join(words, " ")
}

// commandOf is a command that goes on with the run of a manifest: what the run
// file says is there already, the rest is spelled out.
func commandOf(dir string, m *runs.Manifest) string {
	words := []string{"ibid", "run", quote(m.Source), "--out", quote(filepath.Dir(dir)), "--id", quote(m.ID)}
	for _, s := range m.Settings {
		given := strings.HasPrefix(s.Source, "--") || strings.HasPrefix(s.Source, "environment ")
		if given && s.Key != "out" && s.Key != "id" {
			words = append(words, "--set", quote(s.Key+"="+s.Value))
		}
	}
	for _, name := range sortedKeys(m.Ingredients) {
		if tag, ok := strings.CutPrefix(name, "--only "); ok {
			words = append(words, "--only", quote(tag+"="+m.Ingredients[name]))
		} else if name == "--limit" {
			words = append(words, name, quote(m.Ingredients[name]))
		}
	}
	return strings.Join(words, " ")
}

var needsNoQuotes = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

// quote writes a word for a POSIX shell.
func quote(word string) string {
	if needsNoQuotes.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
