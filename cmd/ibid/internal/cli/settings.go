package cli

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
)

// A settingFlags collects what a command line says about settings.
type settingFlags struct {
	set   []string
	gates []string
	named []configs.Flag // flags that are another way to write a setting
	fixed []configs.Flag // what the command itself decides
}

// add makes a flag that sets the setting key.
func (s *settingFlags) add(cmd *cobra.Command, name, key, usage string) {
	k := len(s.named)
	s.named = append(s.named, configs.Flag{Name: "--" + name, Key: key})
	cmd.Flags().Func(name, usage, func(text string) (err error) {
		if key == "columns" {
			text, err = mappingText(text)
		}
		s.named[k].Value = text
		return err
	})
}

// addGold adds --truth and --labels.
func (s *settingFlags) addGold(cmd *cobra.Command) {
	s.add(cmd, "truth", "truth", "truth in a table of its own, joined by id: Parquet, JSON Lines or CSV")
	s.add(cmd, "labels", "labels", "labels in a table of their own, joined by id and system: Parquet, JSON Lines or CSV")
}

// mappingText is THEIRS=OURS,… as a run file has it: {THEIRS: OURS, …}.
func mappingText(text string) (string, error) {
	var all []string
	for pair := range strings.SplitSeq(text, ",") {
		theirs, ours, ok := strings.Cut(pair, "=")
		if !ok || theirs == "" {
			return "", ibid.Usagef("%q is not THEIRS=OURS", pair)
		}
		all = append(all, strconv.Quote(theirs)+": "+strconv.Quote(ours))
	}
	return "{" + strings.Join(all, ", ") + "}", nil
}

// register adds --set.
func (s *settingFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.set, "set", nil, "a setting as KEY=VALUE, such as mark_scope=paragraph (may be repeated)")
}

// load reads the settings for an argument that is a run file or a dataset.
func (s *settingFlags) load(a *app, cmd *cobra.Command, argument string) (*configs.Config, error) {
	if err := notRun(argument); err != nil {
		return nil, err
	}
	o := configs.Options{Environ: a.Environ, Set: s.set, Gates: s.gates}
	if isRunFile(argument) {
		o.File = argument
	} else {
		o.Flags = append(o.Flags, configs.Flag{Name: "DATASET", Key: "dataset", Value: argument})
	}
	c, err := s.read(a, cmd, o)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ibid.Usagef("%s: no such file or directory", argument)
	}
	return c, err
}

// notRun refuses a run directory where a dataset is wanted.
func notRun(argument string) error {
	if !exists(filepath.Join(argument, runs.ManifestFile)) {
		return nil
	}
	m, err := runs.ReadManifest(argument)
	if other, ok := errors.AsType[*runs.SchemaError](err); ok && !other.OfRun() {
		return nil // the manifest of another program
	}
	if err != nil {
		return err
	}
	return ibid.Usagef("%s is a run, not a dataset", argument).With("it was made of " + m.Source + ": name that")
}

// without reads the settings of a command that has no dataset.
func (s *settingFlags) without(a *app, cmd *cobra.Command) (*configs.Config, error) {
	return s.read(a, cmd, configs.Options{Environ: a.Environ, Set: s.set, Gates: s.gates})
}

func (s *settingFlags) read(a *app, cmd *cobra.Command, o configs.Options) (*configs.Config, error) {
	for _, f := range s.named {
		if cmd.Flags().Changed(strings.TrimPrefix(f.Name, "--")) {
			o.Flags = append(o.Flags, f)
		}
	}
	o.Flags = append(o.Flags, s.fixed...)
	c, err := configs.Load(o)
	if err == nil {
		err = onlyHere(c.Out)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range c.Warnings {
		a.warn("%s", w)
	}
	return c, nil
}

func isRunFile(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".yaml" || ext == ".yml"
}

// parseTags reads TAG=VALUE arguments of --only.
func parseTags(args []string) (map[string]string, error) {
	tags := make(map[string]string)
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok || key == "" {
			return nil, ibid.Usagef("--only: %s is not TAG=VALUE", arg).With("write --only TAG=VALUE, such as --only lang=de")
		}
		if other, given := tags[key]; given && other != value {
			return nil, ibid.Usagef("--only %s=%s and --only %s=%s leave no row", key, other, key, value)
		}
		tags[key] = value
	}
	return tags, nil
}
