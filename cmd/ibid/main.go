// Command ibid evaluates the accuracy of citations.
//
// Everything happens in package cli; main joins it to the process.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"syscall"

	"ibid/cmd/ibid/internal/cli"
)

// version is set by the linker; see the Makefile.
var version = "devel"

// gcPercent is how much the heap may grow before it is collected, unless GOGC says
// otherwise. Columns of a part are large and live long, so that less than half the
// default saves a third of the memory for a few percent of CPU.
const gcPercent = 40

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(run())
}

// run returns the exit code. The first interrupt or termination stops the
// command cleanly, so that what is done is saved; the second kills the process.
func run() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)

	var caught atomic.Int32
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		if s == syscall.SIGTERM {
			caught.Store(cli.ExitTerminated)
			cancel(cli.Terminated())
		} else {
			caught.Store(cli.ExitInterrupted)
			cancel(cli.Interrupted())
		}
	}()

	code := cli.Main(ctx, cli.Process{
		Args:    os.Args[1:],
		Environ: os.Environ(),
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Version: version,
	})
	if c := caught.Load(); c != 0 && code != cli.ExitOK {
		return int(c)
	}
	return code
}
