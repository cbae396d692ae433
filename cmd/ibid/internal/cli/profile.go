package cli

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"

	"github.com/spf13/cobra"

	"ibid"
)

// profileFlags say where a command writes what it spent its time and memory on, for
// go tool pprof and go tool trace.
type profileFlags struct {
	cpu, memory, trace string
	ends               []func() error
}

func (p *profileFlags) register(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile to this file (go tool pprof)")
	flags.StringVar(&p.memory, "memprofile", "", "write a profile of allocations to this file (go tool pprof)")
	flags.StringVar(&p.trace, "trace", "", "write an execution trace to this file (go tool trace)")
}

// start begins what is asked for.
func (p *profileFlags) start() error {
	for _, kind := range []struct {
		path  string
		begin func(*os.File) error
		end   func(*os.File) error
	}{
		{p.cpu, func(f *os.File) error { return pprof.StartCPUProfile(f) }, func(*os.File) error { pprof.StopCPUProfile(); return nil }},
		{p.trace, func(f *os.File) error { return trace.Start(f) }, func(*os.File) error { trace.Stop(); return nil }},
		{p.memory, func(*os.File) error { return nil }, func(f *os.File) error {
			runtime.GC() // so that what is in use is exact
			return pprof.Lookup("allocs").WriteTo(f, 0)
		}},
	} {
		if kind.path == "" {
			continue
		}
		f, err := os.Create(kind.path)
		if err != nil {
			return &ibid.Error{Usage: true, Err: err}
		}
		if err := kind.begin(f); err != nil {
			return errors.Join(err, f.Close())
		}
		p.ends = append(p.ends, func() error { return errors.Join(kind.end(f), f.Close()) })
	}
	return nil
}

// end writes what was begun.
func (p *profileFlags) end() error {
	var errs []error
	for _, end := range p.ends {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}
