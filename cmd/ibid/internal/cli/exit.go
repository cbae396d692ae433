package cli

// Exit codes. They are part of the contract with scripts and CI systems.
const (
	ExitOK          = 0   // done, gates passed
	ExitFailure     = 1   // could not: I/O, network, a bug
	ExitUsage       = 2   // wrong use: flags, run file, schema, fingerprint; nothing was written
	ExitGate        = 3   // done, a gate failed
	ExitNoVerdict   = 4   // no verdict, or done in part; resumable; wins over ExitGate
	ExitInterrupted = 130 // SIGINT; what was done is saved
	ExitTerminated  = 143 // SIGTERM; what was done is saved
)

// An exitError carries the exit code of a command that did its work and has
// already said all there is to say.
type exitError struct{ code int }

func (e exitError) Error() string { return "exit status" }

// A usageError is wrong use of a command: flags, arguments, run file.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }
func (e *usageError) Hint() string  { return e.hint }
