package configs

import (
	"errors"
	"strings"
	"testing"
)

// A setting that is gone is refused with one sentence that says what to do instead,
// wherever it is written.
func TestGone(t *testing.T) {
	if len(gone) < 30 {
		t.Errorf("only %d settings are gone", len(gone))
	}
	for name, instead := range gone {
		if _, ok := byName[name]; ok {
			t.Errorf("%s is both a setting and gone", name)
		}
		if strings.Contains(strings.TrimSuffix(instead, "."), ". ") {
			t.Errorf("%s: more than one sentence: %s", name, instead)
		}
		environ := envPrefix + strings.ToUpper(strings.ReplaceAll(name, ".", "__")) + "=1"
		for _, options := range []Options{{Set: []string{name + "=1"}}, {Environ: []string{environ}}} {
			_, err := Load(options)
			many, _ := errors.AsType[Errors](err)
			if len(many) != 1 || many[0].Msg != "this setting is gone" || many[0].Hint != instead {
				t.Errorf("%+v: %v, want that %s is gone: %s", options, err, name, instead)
			}
		}
	}
}
