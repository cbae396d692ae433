package main

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite golden files")

// shortGOGC is the GOGC of processes that tests start, unless their memory is measured: a third of
// what the start of a process costs would be two collections.
const shortGOGC = "400"

// TestMain makes the test binary serve as ibid, too: scripts and tests run it as
// a process of its own, with its signals and exit codes.
func TestMain(m *testing.M) {
	os.Setenv("GOGC", shortGOGC) // of the processes that tests start
	testscript.Main(m, map[string]func(){"ibid": func() {
		code := run()
		leaveAllocated()
		os.Exit(code)
	}})
}

// TestScripts runs testdata/script. The first line of a script says what it
// promises.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: scriptCommands, Setup: func(env *testscript.Env) error {
		env.Setenv("GORACE", os.Getenv("GORACE")) // settings of the race detector, if there is one
		env.Setenv("GOGC", shortGOGC)
		return nil
	}})
}
