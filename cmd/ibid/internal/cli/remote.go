package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ibid"
	"ibid/cmd/ibid/internal/term"
	"ibid/dataset/objects"
	"ibid/harness"
)

// placeFor makes a temporary folder of this machine that stands for one at a store; from
// then on what is said names the store. [Main] removes it.
func (a *app) placeFor(address string) (string, error) {
	if a.scratch == "" {
		var err error
		if a.scratch, err = os.MkdirTemp("", "ibid-objects-"); err != nil {
			return "", err
		}
		if term.Colour(a.colour, a.Stdout, a.Getenv) {
			a.colour = "always" // what stands before a terminal is none
		}
	}
	a.places++
	dir := filepath.Join(a.scratch, strconv.Itoa(a.places))
	a.Stdout, a.Stderr = renamed{a.Stdout, dir, address}, renamed{a.Stderr, dir, address}
	return dir, os.Mkdir(dir, 0o777)
}

// renamed writes what is said of a folder of this machine as said of one at a store.
type renamed struct {
	w       io.Writer
	old, to string
}

func (r renamed) Write(p []byte) (int, error) {
	if _, err := r.w.Write(bytes.ReplaceAll(p, []byte(r.old), []byte(r.to))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// here is the folder of a run directory, or of a folder of them: the argument itself, or
// where what it names at a store was fetched to.
func (a *app) here(ctx context.Context, argument string) (string, error) {
	if !objects.Is(argument) {
		return argument, nil
	}
	parent, name := splitRun(argument)
	dir, err := a.placeFor(parent)
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, name)
	return dir, asUsage(objects.Fetch(ctx, argument, dir))
}

// splitRun cuts the directory of a run into its folder and its name.
func splitRun(dir string) (parent, name string) {
	if objects.Is(dir) {
		dir = strings.TrimRight(dir, "/")
		return strings.TrimSuffix(dir, "/"+path.Base(dir)), path.Base(dir)
	}
	dir = filepath.Clean(dir)
	return filepath.Dir(dir), filepath.Base(dir)
}

// withRuns lets the arguments of a command be runs at a store.
func (a *app) withRuns(cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		local := make([]string, len(args))
		for i, argument := range args {
			var err error
			if local[i], err = a.here(cmd.Context(), argument); err != nil {
				return err
			}
		}
		return run(cmd, local)
	}
	return cmd
}

// withPage lets a command write its file to a store.
func (a *app) withPage(cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !objects.Is(a.output) {
			return run(cmd, args)
		}
		parent, name := splitRun(a.output)
		dir, err := a.placeFor(parent)
		if err != nil {
			return err
		}
		to := a.output
		a.output = filepath.Join(dir, name)
		if err := run(cmd, args); err != nil {
			return err
		}
		return asUsage(objects.Send(cmd.Context(), filepath.Join(dir, name), to))
	}
	return cmd
}

// A storedRun is a run whose directory is at a store.
type storedRun struct {
	mirror *objects.Mirror
	stop   context.CancelCauseFunc
	wake   chan struct{} // there is something to push
	ended  chan struct{} // nothing is pushed any more
}

// newStoredRun prepares a job whose settings name a folder at a store; nil for one of this
// machine.
func (a *app) newStoredRun(job *harness.Job) (*storedRun, error) {
	if objects.Slip(job.Config.Out) {
		return nil, ibid.Usagef("%s is neither a folder nor an address", job.Config.Out).With(objects.AddressHint)
	}
	if !objects.Is(job.Config.Out) {
		return nil, nil
	}
	var err error
	if job.Local, err = a.placeFor(job.Config.Out); err != nil {
		return nil, err
	}
	s := &storedRun{wake: make(chan struct{}, 1), ended: make(chan struct{})}
	job.Saved = func() {
		select {
		case s.wake <- struct{}{}:
		default: // the next push has it, too
		}
	}
	return s, nil
}

// begin takes the lease and fetches what is there. The context ends when the run cannot be
// kept at the store any more.
func (s *storedRun) begin(ctx context.Context, a *app, out, dir string) (context.Context, error) {
	ctx, s.stop = context.WithCancelCause(ctx)
	var err error
	s.mirror, err = objects.Take(ctx, objects.Join(out, filepath.Base(dir)), dir, func(holder string) {
		a.warn("the run is being worked on, or was when its process was killed (%s): waiting for 20 s", holder)
	}, func(err error) { s.stop(err) })
	if err != nil {
		s.stop(err)
		return nil, asUsage(err)
	}
	go func() {
		defer close(s.ended)
		for range s.wake {
			if err := s.mirror.Push(ctx); err != nil {
				s.stop(err)
				return
			}
		}
	}()
	return ctx, nil
}

// end sends what is left, whatever became of the run, and gives the lease back.
func (s *storedRun) end(ctx context.Context, err error) error {
	close(s.wake)
	<-s.ended
	if e, ok := errors.AsType[*ibid.Error](context.Cause(ctx)); ok {
		err = asUsage(e)
	} else if e := s.mirror.Push(context.WithoutCancel(ctx)); e != nil {
		err = cmp.Or(err, asUsage(e))
	}
	s.stop(nil)
	return cmp.Or(err, asUsage(s.mirror.Close()))
}
