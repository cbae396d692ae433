package configs

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKeys pins the table that users see: every name, type, default and alias.
func TestKeys(t *testing.T) {
	var got bytes.Buffer
	for _, k := range Keys() {
		fmt.Fprintf(&got, "%s (%s, default %s): %s\n", k.Name, k.Type, k.Default, k.Doc)
		if k.Allowed != nil {
			fmt.Fprintf(&got, "    one of %s\n", strings.Join(k.Allowed, ", "))
		}
		for _, a := range k.Aliases {
			fmt.Fprintf(&got, "    also %s\n", a)
		}
	}
	compare(t, filepath.Join("testdata", "keys.golden"), got.Bytes())
}

func TestTable(t *testing.T) {
	seen := make(map[string]string)
	for _, s := range table {
		field := fmt.Sprint(s.field.Index)
		if other, ok := seen[field]; ok {
			t.Errorf("%s and %s have the same field", s.name, other)
		}
		seen[field] = s.name
		if s.typeName() == "" {
			t.Errorf("%s has no field of a known type", s.name)
		}
		if groups[s.name] {
			t.Errorf("%s is a setting and a group", s.name)
		}
		if msg, _ := s.notAllowed(s.def); msg != "" {
			t.Errorf("%s: default is not allowed: %s", s.name, msg)
		}
		if msg := s.refusal(s.def); msg != "" {
			t.Errorf("%s: default is refused: %s", s.name, msg)
		}
		if got := decodeFlow(t, s, flowText(s.def)); !reflect.DeepEqual(got, s.def) {
			t.Errorf("%s: default %#v reads back as %#v", s.name, s.def, got)
		}
		for _, a := range aliasesOf(s.name) {
			if found, ok := byName[a]; !ok || found != s {
				t.Errorf("alias %s does not lead to %s", a, s.name)
			}
		}
	}
	if fields := countFields(reflect.TypeFor[Settings]()); fields != len(table) {
		t.Errorf("Settings has %d fields, the table %d settings", fields, len(table))
	}
}

func decodeFlow(t *testing.T, s *setting, text string) any {
	t.Helper()
	n, bad := parseYAML(text)
	if bad != nil {
		t.Fatalf("%s: %q is not YAML: %s", s.name, text, bad.msg)
	}
	v, wrong := s.decode(n)
	if wrong != nil {
		t.Fatalf("%s: %q: %s", s.name, text, wrong.msg)
	}
	return v
}

func countFields(t reflect.Type) int {
	if t.Kind() != reflect.Struct {
		return 1
	}
	n := 0
	for f := range t.Fields() {
		n += countFields(f.Type)
	}
	return n
}

func TestScoreSettings(t *testing.T) {
	keys := func(o Options) []string {
		t.Helper()
		c, err := Load(o)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, v := range c.ScoreSettings() {
			keys = append(keys, v.Key)
		}
		return keys
	}
	none := keys(Options{Set: []string{"judge=none"}})
	for _, key := range []string{"dataset", "documents", "out", "gates", "judge.model", "judge.rpm", "judge.max_cost_usd", "judge.cache", "performance.parallel_evaluation", "report.citation_display.inline_markers", "min_coverage"} {
		if slices.Contains(none, key) {
			t.Errorf("%s cannot change a score of a run without a judge", key)
		}
	}
	for _, key := range []string{"columns", "judge.kind", "offset_base", "mark_scope", "truth_policy", "thresholds.supported", "statistics.level", "slices", "span_matching.tolerance_chars", "quality_control.validation_checks.span_bounds_check"} {
		if !slices.Contains(none, key) {
			t.Errorf("%s can change a score or a summary", key)
		}
	}
	c := newConfig("")
	var judged []string
	for _, v := range c.ScoreSettings() {
		judged = append(judged, v.Key)
	}
	for _, key := range []string{"judge.model", "judge.votes", "performance.batch_size", "min_coverage"} {
		if !slices.Contains(judged, key) {
			t.Errorf("%s can change a score of a run with a judge", key)
		}
	}
	if slices.Contains(judged, "judge.rpm") || slices.Contains(judged, "judge.concurrency") {
		t.Error("rate and concurrency cannot change a score")
	}
}

func TestFlowText(t *testing.T) {
	texts := []string{"", "a", "null", "~", "true", "No", "1", "1e3", "-", "- a", "a: b", "a #b", "#", " a", "a ", "*.parquet", "[x]", "{", "é", "\"", "\\", "a\nb", "\t", "\u2028", "\ufeff", "\U0001f600", "0x1F", ".inf", "1_000", "'", "a,b", "%", "@", "`", "!x", "&x", "?", ":", "---", "...", "a\u0085b", "\u200b", "\u00a0"}
	for _, text := range texts {
		if got := decodeFlow(t, byName["dataset"], flowText(text)); got != text {
			t.Errorf("%q prints as %s, which is %q", text, flowText(text), got)
		}
	}
	if got := decodeFlow(t, byName["slices"], flowText(texts)); !cmp.Equal(got, any(texts)) {
		t.Errorf("as a list: %s", cmp.Diff(any(texts), got))
	}
	mapping := make(map[string]string)
	for _, text := range texts {
		mapping[text] = text
	}
	if got := decodeFlow(t, byName["columns"], flowText(mapping)); !cmp.Equal(got, any(mapping)) {
		t.Errorf("as a mapping: %s", cmp.Diff(any(mapping), got))
	}
	free := map[string]any{"order": []any{"a", "1", int64(1), 1.0, 0.5, 1e300, -1e-300, true, nil, map[string]any{}}, "x": nil, "y": map[string]any{"z": "true"}}
	if got := decodeFlow(t, byName["judge.request"], flowText(free)); !cmp.Equal(got, any(free)) {
		t.Errorf("free: %s", cmp.Diff(any(free), got))
	}
}

// TestFlowDuration has its texts from the documentation of time.Duration,
// with the units that are zero left out.
func TestFlowDuration(t *testing.T) {
	for _, text := range []string{"0s", "1s", "2m", "10m", "1h", "1h30m", "1h0m5s", "90ms", "10s", "1m30s", "-1h", "100h"} {
		v := decodeFlow(t, byName["judge.timeout"], text)
		if got := flowText(v); got != text {
			t.Errorf("%s prints as %s", text, got)
		}
	}
}
