package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ibid"
	"ibid/annotations"
	"ibid/configs"
	"ibid/dataset/objects"
	"ibid/harness"
	"ibid/report"
)

// Exit codes. They are part of the contract with scripts and CI systems.
const (
	ExitOK          = 0   // done, gates passed
	ExitFailure     = 1   // could not: I/O, network, a bug
	ExitUsage       = 2   // wrong use: flags, run file, schema, fingerprint; nothing was written
	ExitGate        = 3   // done, a gate failed
	ExitNoVerdict   = 4   // no verdict, or done in part; resumable
	ExitInterrupted = 130 // SIGINT; the answers of a model are kept
	ExitTerminated  = 143 // SIGTERM; the answers of a model are kept
)

// An exitError carries the exit code of a command that did its work and printed
// everything already.
type exitError struct{ code int }

func (e exitError) Error() string { return "exit status" }

// asUsage makes wrong use of what is wrong with an input.
func asUsage(err error) error {
	if _, ok := errors.AsType[*ibid.Error](err); ok && !objects.Trouble(err) {
		return &ibid.Error{Usage: true, Err: err}
	}
	return err
}

// flagError adds the flag that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	if gone := goneCommand(cmd, cmd.Flags().Args()); gone != nil {
		return gone
	}
	hint := "see: " + cmd.CommandPath() + " --help"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		if gone := goneFlag(cmd, unknown.GetSpecifiedName()); gone != nil {
			return gone
		}
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := ibid.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			hint = "did you mean --" + near + "?"
		}
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		value := invalid.GetFlag().Value
		if called, ok := value.(calledValue); ok {
			value = called.Value
		}
		if what, ok := flagValues[value.Type()]; ok {
			err = fmt.Errorf("--%s is %s, not %q", invalid.GetFlag().Name, what, invalid.GetValue())
		}
	}
	return &ibid.Error{Usage: true, Err: err, Hint: hint}
}

// flagValues say what a flag of a type takes.
var flagValues = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "float64Slice": "numbers with commas between them",
	"bool": "true or false", "duration": "a time, such as 90s or 1h30m",
}

// unknownName is the error for an argument that names none of the commands or
// topics below cmd.
func unknownName(cmd *cobra.Command, what, name string) error {
	if gone := goneCommand(cmd, []string{name}); gone != nil {
		return gone
	}
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	hint := didYouMean(name, names, "see: "+cmd.CommandPath()+" --help")
	return ibid.Usagef("unknown %s %q", what, name).With(hint)
}

// onlySubcommands refuses arguments of a command that does nothing itself.
func onlySubcommands(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownName(cmd, what, args[0])
		}
		return nil
	}
}

// fail prints an error with its hint and returns the exit code.
func (a *app) fail(err error) int {
	if done, ok := errors.AsType[exitError](err); ok {
		return done.code
	}
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	if many, ok := errors.AsType[configs.Errors](err); ok {
		for _, e := range many {
			a.sayConfigError(e)
		}
		return ExitUsage
	}
	if one, ok := errors.AsType[*configs.Error](err); ok {
		a.sayConfigError(one)
		return ExitUsage
	}
	a.say("%v", err)
	hint, more := ibid.Advice(err)
	for _, line := range more {
		a.say("  %s", line)
	}
	a.hint(hint)
	return codeOf(err)
}

func codeOf(err error) int {
	var stopped *harness.StoppedError
	var scored *harness.ScoredError
	switch {
	case errors.Is(err, harness.ErrTruthOnly):
		return ExitNoVerdict
	case errors.Is(err, ibid.ErrUsage), isCobraUsage(err):
		return ExitUsage
	case errors.As(err, &stopped), errors.As(err, &scored), errors.As(err, new(annotations.NotFittedError)):
		return ExitNoVerdict
	}
	return ExitFailure
}

// isCobraUsage recognises the errors that cobra makes without a type.
func isCobraUsage(err error) bool {
	starts := []string{"unknown command", "accepts ", "requires at least", "requires at most", "required flag"}
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(err.Error(), start) })
}

func (a *app) sayConfigError(e *configs.Error) {
	a.say("%v", e)
	if e.Snippet != "" {
		fmt.Fprintln(a.Stderr, report.Clean(e.Snippet))
	}
	a.hint(e.Hint)
}

func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return ibid.Usagef("%s: %q is not possible", flag, value).With(didYouMean(value, allowed, "it is one of "+strings.Join(allowed, ", ")))
}

// didYouMean is a hint: the candidate that is nearest to a name, or the text
// otherwise if none is near.
func didYouMean(name string, candidates []string, otherwise string) string {
	if near := ibid.Nearest(name, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}
