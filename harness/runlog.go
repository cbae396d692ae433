package harness

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// LogFile is the name of the log in a run directory.
const LogFile = "run.log"

// A runLog keeps what happened to a run, over all the processes that worked on
// it. A run without error_logging has none; all methods then do nothing.
type runLog struct {
	file   *os.File
	logger *slog.Logger
}

// openLog appends to the log in dir.
func openLog(dir string, wanted bool) (*runLog, error) {
	if !wanted {
		return &runLog{}, nil
	}
	f, err := os.OpenFile(filepath.Join(dir, LogFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	return &runLog{f, slog.New(slog.NewTextHandler(f, nil))}, nil
}

func (l *runLog) info(message string, args ...any) {
	if l.logger != nil {
		l.logger.Info(message, args...)
	}
}

func (l *runLog) warn(message string, args ...any) {
	if l.logger != nil {
		l.logger.Warn(message, args...)
	}
}

// close ends the log with what became of the run.
func (l *runLog) close(err error) error {
	if l.file == nil {
		return nil
	}
	if err != nil {
		l.warn("stopped", "error", err)
	} else {
		l.info("finished")
	}
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("run log: %w", err)
	}
	return nil
}
