package cli

import (
	"bytes"
	"strings"
	"testing"
)

// What is gone is refused with exit code 2 and one sentence that says what to do instead.
func TestGone(t *testing.T) {
	check := func(args []string, message, instead string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), Process{Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		want := "ibid: " + message + "\nhint: " + instead + "\n"
		if code != ExitUsage || stderr.String() != want || stdout.Len() > 0 {
			t.Errorf("ibid %s: exit %d, got:\n%s%swant exit %d:\n%s", strings.Join(args, " "), code, stdout.String(), stderr.String(), ExitUsage, want)
		}
		if strings.Contains(strings.TrimSuffix(instead, "."), ". ") {
			t.Errorf("ibid %s: more than one sentence: %s", strings.Join(args, " "), instead)
		}
	}
	for name, instead := range goneCommands {
		words := strings.Fields(name)
		check(words, "the command ibid "+name+" is gone", instead)
		check(append(words, "runs/a", "--no-flag", "3"), "the command ibid "+name+" is gone", instead)
	}
	for name, instead := range goneFormats {
		command, format, _ := strings.Cut(name, " ")
		check([]string{command, "runs/a", "--format", format}, "the format "+format+" is gone", instead)
	}
	for name, instead := range goneFlags {
		words := strings.Fields(name)
		flag := words[len(words)-1]
		if len(words) == 1 {
			words = []string{"run", flag}
		}
		check(append(words, "value"), "the flag "+flag+" is gone", instead)
	}
}
