package cli

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/columns.md")

// docs/columns.md says what ibid help columns says.
func TestColumnsDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Columns\n\n" + columnsIntro + "\nThis file is made from the code: `go test ./cmd/ibid/internal/cli -run TestColumnsDocument -update`.\n")
	for _, f := range columnForms() {
		b.WriteString("\n" + f.Markdown())
	}
	path := "../../../../docs/columns.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Errorf("%s is stale; if the change is meant, run go test ./cmd/ibid/internal/cli -run TestColumnsDocument -update", path)
	}
}

// TestReference: pages of docs that say what ibid help says.
func TestReference(t *testing.T) {
	for name, page := range map[string]struct{ title, text string }{
		"settings": {"Settings", settingsTopic()}, "metrics": {"Metrics", metricsTopic()},
		"exit-codes": {"Exit codes", exitTopic}, "formats": {"Formats", formatsTopic()},
	} {
		want := "# " + page.title + "\n\nWhat `ibid help " + name + "` says. This file is made from the code: `go test ./cmd/ibid/internal/cli -run TestReference -update`.\n\n```text\n" + strings.TrimSpace(page.text) + "\n```\n"
		path := "../../../../docs/" + name + ".md"
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is stale; if the change is meant, run go test ./cmd/ibid/internal/cli -run TestReference -update", path)
		}
	}
}

func TestColumnsTopic(t *testing.T) {
	text := columnsTopic()
	for _, want := range []string{
		"\nrows.parquet: one row of the input", "\n  char_f1 (derived, double, [0, 1]): ", "\ncitations.parquet: ", "\n  repaired_start (int64, code points): ",
		"\n      null: nothing was repaired\n", "\nagreement.parquet: ", "\nibid compare: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}
