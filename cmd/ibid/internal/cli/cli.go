// Package cli is the command line of ibid: flags to options to a call, results
// to standard output, everything else to standard error, errors to exit codes.
package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/harness"
	"ibid/judge"
	"ibid/report"
)

// A Process is what a command knows of the process it runs in.
type Process struct {
	Args           []string // without the program's name
	Environ        []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Version        string
}

// Getenv returns the value of an environment variable, or "".
func (p *Process) Getenv(name string) string {
	for i := len(p.Environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(p.Environ[i], "="); ok && key == name {
			return value
		}
	}
	return ""
}

// An app is one invocation: the process and the flags that every command takes.
type app struct {
	Process
	format string
	csv    string
	asJSON bool
	output string
	quiet  bool
	detail bool // -v
	colour string
}

// How long calls that are under way, and paid for, are waited for: as long as they take
// after an interrupt, for whoever sits there can interrupt again; less than service
// managers wait after a termination.
const (
	interruptGrace = time.Duration(1<<63 - 1)
	terminateGrace = 25 * time.Second
)

// Interrupted is the cause for which the context of [Main] ends when its user interrupts
// it, Terminated when its machine does.
func Interrupted() error { return &judge.Interrupt{Grace: interruptGrace} }

// Terminated is as [Interrupted], for a shorter time.
func Terminated() error { return &judge.Interrupt{Grace: terminateGrace} }

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, p Process) int {
	a := &app{Process: p}
	root := a.root()
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	endProfile, err := profile(p.Getenv(profileVariable))
	if err != nil {
		return a.fail(&ibid.Error{Usage: true, Err: err})
	}
	err = root.ExecuteContext(ctx)
	if failed := endProfile(); err == nil {
		err = failed
	}
	if err == nil {
		return ExitOK
	}
	return a.fail(err)
}

// Root is the command line without anything to run it on, for manual pages.
func Root() *cobra.Command {
	root := new(app).root()
	explain(root)
	return root
}

func (a *app) root() *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:               "ibid",
		Short:             "evaluate citation accuracy",
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              onlySubcommands("command"),
		RunE: func(*cobra.Command, []string) error {
			if version {
				return a.writeVersion()
			}
			_, err := io.WriteString(a.Stdout, helpText("start"))
			return err
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return a.checkFlags(cmd)
		},
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.format, "format", "text", "shape of the output: text, json, csv or markdown")
	flags.StringVar(&a.csv, "csv", "spreadsheet", "cells that a spreadsheet would run as formulas: spreadsheet puts an apostrophe before them, raw leaves them")
	flags.BoolVar(&a.asJSON, "json", false, "short for --format json")
	flags.StringVarP(&a.output, "output", "o", "-", "where the output goes; - is standard output")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "no progress, no warnings")
	flags.BoolVarP(&a.detail, "verbose", "v", false, "more detail")
	flags.StringVar(&a.colour, "color", "auto", "colour: auto, always or never")
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		a.initCommand(), a.importCommand(), a.runCommand(), ofRuns(a.summaryCommand()), a.scoreCommand(), ofRuns(a.rescoreCommand()), ofRuns(a.showCommand()),
		a.completionCommand(), ofRuns(a.reportCommand()), ofRuns(a.gateCommand()), a.cacheCommand(), ofRuns(a.compareCommand()),
		a.agreeCommand(), a.sampleCommand(), a.annotateCommand(), a.calibrateCommand(), ofRuns(a.historyCommand()), a.fetchCommand(),
	)
	a.addHelp(root)
	a.addCompletion(root)
	inPlainWords(root)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		explain(cmd)
		help(cmd, args)
	})
	root.CompletionOptions.DisableDefaultCmd = true // completionCommand knows -o and wrong names
	return root
}

// writeVersion prints the version of the program, of Go and the platform.
func (a *app) writeVersion() error {
	if err := a.formats("text", "json"); err != nil {
		return err
	}
	return a.write(func(w io.Writer) error {
		if a.format == "json" {
			return report.WriteJSON(w, map[string]string{
				"schema": "ibid.version/v1", "version": a.Version, "go": runtime.Version(),
				"platform": runtime.GOOS + "/" + runtime.GOARCH,
			})
		}
		_, err := fmt.Fprintf(w, "ibid %s (%s, %s/%s)\n", a.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	})
}

// checkFlags checks the flags that every command takes.
func (a *app) checkFlags(cmd *cobra.Command) error {
	if err := onlyHere(a.output); err != nil {
		return err
	}
	if a.asJSON {
		a.format = "json"
	}
	if instead := insteadOf("format " + cmd.Name() + " " + a.format); instead != "" {
		return ibid.Usagef("the format %s is gone", a.format).With(instead)
	}
	formats := tableFormats
	if cmd.Name() == "score" {
		formats = slices.Concat(formats, harness.FilterFormats) // of what comes in
	}
	if err := oneOf("--format", a.format, formats...); err != nil {
		return err
	}
	if have, some := formatsOf[cmd.Name()]; some {
		if err := a.formats(have...); err != nil {
			return err
		}
	}
	if err := oneOf("--csv", a.csv, "spreadsheet", "raw"); err != nil {
		return err
	}
	return oneOf("--color", a.colour, "auto", "always", "never")
}

var tableFormats = []string{"text", "json", "csv", "markdown"}

// formatsOf are the formats of commands that do not have all of tableFormats.
var formatsOf = map[string][]string{
	"annotate": {"text"}, "completion": {"text"}, "init": {"text"}, "report": {"text"},
	"fetch": {"text", "json"}, "import": {"text", "json"}, "sample": {"text", "json"}, "stat": {"text", "json"}, "prune": {"text", "json"}, "clear": {"text", "json"},
}

// formats refuses a --format that the command at hand does not have.
func (a *app) formats(have ...string) error {
	if slices.Contains(have, a.format) {
		return nil
	}
	return ibid.Usagef("--format: no %s for this output", a.format).With("it can be " + strings.Join(have, " or "))
}
