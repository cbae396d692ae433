package judge

import (
	"runtime/debug"
	"slices"
)

// Raced reports whether the race detector is on. Under it, tests without a goroutine of ours are
// left out that take more than ten seconds then.
func Raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
