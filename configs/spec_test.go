package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// specification is the configuration of CITATION-ACCURACY-001 §6 as it stands
// there.
func specification(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "specification.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSpecificationIsValid(t *testing.T) {
	c, err := Load(Options{File: write(t, specification(t)), Flags: []Flag{{"--judge", "judge.kind", "none"}}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Load(Options{Set: []string{
		"judge=none", "judge.model=openrouter/auto", "judge.request={max_tokens: 100, temperature: 0.0, seed: 1}",
		"quality_thresholds={span_accuracy: 0.8, citation_validity: 0.7, answer_consistency: 0.8, hallucination_tolerance: 0.1}",
		"quality_control.error_handling.max_retries=3",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Settings, c.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if len(c.Gates()) != 4 {
		t.Errorf("%d gates, want 4", len(c.Gates()))
	}
}

// TestSpecificationIsCurrent compares our copy of the block with the original.
func TestSpecificationIsCurrent(t *testing.T) {
	name := filepath.Join("..", "..", "shared", "seeds", "citation-accuracy-001.md")
	seed, err := os.ReadFile(name)
	if err != nil {
		t.Skipf("%s is missing: ../shared holds the specification", name)
	}
	_, section, _ := strings.Cut(string(seed), "## 6. Configuration")
	var blocks []string
	for range 2 {
		var block string
		_, section, _ = strings.Cut(section, "```yaml\n")
		block, section, _ = strings.Cut(section, "```\n")
		blocks = append(blocks, block)
	}
	if diff := cmp.Diff(strings.Join(blocks, ""), specification(t)); diff != "" {
		t.Errorf("testdata/specification.yaml (-seed +ours):\n%s", diff)
	}
}

func TestSpecificationNames(t *testing.T) {
	tests := []struct {
		name, text string
		get        func(*Config) any
		want       any
	}{
		{"outer block", "citation_accuracy: {span_matching: {tolerance_chars: 3}}", func(c *Config) any { return c.SpanMatching.ToleranceChars }, int64(3)},
		{"inner group alone", "span_matching: {tolerance_chars: 3}", func(c *Config) any { return c.SpanMatching.ToleranceChars }, int64(3)},
		{"both and equal", "span_matching: {tolerance_chars: 3}\ncitation_accuracy: {span_matching: {tolerance_chars: 3}}", func(c *Config) any { return c.SpanMatching.ToleranceChars }, int64(3)},
		{"any judge key", "citation_accuracy: {llm_evaluation: {votes: 3, timeout: 1m}}", func(c *Config) any { return c.Judge.Votes }, int64(3)},
		{"cache_results", "performance: {cache_results: false}", func(c *Config) any { return c.Judge.Cache }, CacheOff},
		{"parallel_evaluation", "performance: {parallel_evaluation: false}", func(c *Config) any { return c.Judge.Concurrency }, int64(1)},
		{"max_retries", "quality_control: {error_handling: {max_retries: 5}}", func(c *Config) any { return c.Judge.RetryAttempts }, int64(5)},
		{"retry_attempts wins", "quality_control: {error_handling: {max_retries: 5}}\ncitation_accuracy: {llm_evaluation: {retry_attempts: 4}}", func(c *Config) any { return c.Judge.RetryAttempts }, int64(4)},
		{"validation checks", "quality_control: {validation_checks: {span_bounds_check: false}}", func(c *Config) any { return c.QualityControl.ValidationChecks.SpanBoundsCheck }, false},
		{"null is the default", "span_matching:\nquality_control: {validation_checks: {span_bounds_check: null}}", func(c *Config) any { return c.QualityControl.ValidationChecks.SpanBoundsCheck }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load(Options{File: write(t, "judge: none\n"+tt.text+"\n")})
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.get(c); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestDisabledRunAsksForNothing: with enabled: false the caller must get as
// far as its notice, whatever features the rest of the file names.
func TestDisabledRunAsksForNothing(t *testing.T) {
	c, err := Load(Options{File: write(t, "citation_accuracy: {enabled: false}\nclaims: sentences\n")})
	if err != nil {
		t.Fatal(err)
	}
	if c.Enabled {
		t.Error("the run is enabled")
	}
}

func TestWarnings(t *testing.T) {
	text := "judge: {kind: none, retry_attempts: 1, model: m}\nquality_control: {error_handling: {max_retries: 2, fallback_scoring: 0}}\n"
	c, err := Load(Options{File: write(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ibid.yaml:2:49: quality_control.error_handling.max_retries: judge.retry_attempts is 1 (ibid.yaml:1:37) and wins",
		"ibid.yaml:1:47: judge.model: has no effect with judge: none",
		"ibid.yaml:1:37: judge.retry_attempts: has no effect with judge: none",
		"ibid.yaml:2:70: quality_control.error_handling.fallback_scoring: has no effect without compat: spec-1.0; what cannot be judged is unscored",
	}
	var got []string
	for _, w := range c.Warnings {
		got = append(got, w.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
