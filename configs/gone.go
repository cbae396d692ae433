package configs

import (
	_ "embed"
	"strings"
)

// goneText says for each setting of the version before what to do instead, a line each.
//
//go:embed gone.txt
var goneText string

// gone is that by the names of settings. A run file that still has one is refused with that
// sentence.
var gone = func() map[string]string {
	all := make(map[string]string)
	for line := range strings.Lines(goneText) {
		name, instead, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all[name] = instead
	}
	return all
}()

// refuseUnknown reports a key that names no setting; what was in a section that is gone is
// gone with it.
func (l *loader) refuseUnknown(at place, name, hint string) {
	for of := name; of != ""; {
		if instead, ok := gone[of]; ok {
			l.report(at, name, "this setting is gone", instead)
			return
		}
		of = of[:max(0, strings.LastIndexByte(of, '.'))]
	}
	l.report(at, name, "unknown key", hint)
}
