package cli

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/pprof"
)

// profileVariable names the folder for profiles of a command's time and memory.
const profileVariable = "IBID_PROFILE"

// profile starts a CPU profile in dir and returns the function that writes it, and a
// profile of allocations beside it. With dir "" there are none.
func profile(dir string) (end func() error, err error) {
	if dir == "" {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	cpu, err := os.Create(filepath.Join(dir, "cpu.pprof"))
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return nil, errors.Join(err, cpu.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		allocations, err := os.Create(filepath.Join(dir, "allocs.pprof"))
		if err != nil {
			return errors.Join(err, cpu.Close())
		}
		return errors.Join(pprof.Lookup("allocs").WriteTo(allocations, 0), allocations.Close(), cpu.Close())
	}, nil
}
