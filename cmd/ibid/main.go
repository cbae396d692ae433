// Command ibid evaluates the accuracy of citations.
//
// Everything happens in package cli; main joins it to the process.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"syscall"

	"ibid/cmd/ibid/internal/cli"
)

// version is set by the linker; see the Makefile.
var version = "devel"

// How much the heap may grow before it is collected, in percent of what lives in it, unless GOGC
// says otherwise. Columns of a part are large and live long, so that half the default saves a
// third of the memory for a few percent of CPU; from where all would take more than heapBytes it
// is less, since what grows with the rows has hardly a pointer to follow.
const (
	mostGrowth, leastGrowth = 50, 15
	heapBytes               = 170 << 20
)

// limitGrowth sets how much the heap may grow, after each collection anew.
func limitGrowth(after *[2]*byte) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	room := heapBytes*100/max(1, int(live[0].Value.Uint64())) - 100
	debug.SetGCPercent(min(mostGrowth, max(leastGrowth, room)))
	runtime.SetFinalizer(after, limitGrowth)
}

func main() {
	if os.Getenv("GOGC") == "" {
		limitGrowth(new([2]*byte))
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
