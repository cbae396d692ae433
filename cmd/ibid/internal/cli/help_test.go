package cli

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"ibid/dataset/runs"
)

var update = flag.Bool("update", false, "rewrite docs/columns.md")

// docs/columns.md says what ibid help columns says.
func TestColumnsDocument(t *testing.T) {
	var b strings.Builder
	intro, _, _ := strings.Cut(helpText("columns"), "\n\n")
	b.WriteString("# Columns\n\n" + intro + "\n\nThis file is made from the code: `go test ./cmd/ibid/internal/cli -run TestColumnsDocument -update`.\n")
	for _, f := range columnForms() {
		b.WriteString("\n" + markdownOf(&f))
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

// columnNeeds says what columns need, in words.
var columnNeeds = map[string]string{
	runs.NeedsJudge: "a judge", runs.NeedsTexts: "documents", runs.NeedsAuto: "statistics.cluster: auto",
	runs.SourceTypeSlice: "slices by source_type", runs.SourceStatusSlice: "slices by source_status",
}

// markdownOf is the documentation of the columns of a table as a section.
func markdownOf(f *runs.Form) string {
	cell := strings.NewReplacer("|", `\|`, "<", "&lt;")
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\nEach row is %s.\n\n| column | type | what it is | null |\n|---|---|---|---|\n", f.File, cell.Replace(f.Doc))
	for _, c := range f.Columns {
		null, doc, typ := c.Null, c.Doc, c.Kind.String()
		if c.Required {
			null = "never"
		}
		if c.Needs != "" {
			null += "; not there without " + columnNeeds[c.Needs]
		}
		if len(c.Keys) > 0 {
			doc += fmt.Sprintf(" (keys: `%s`; in SQL `%s`)", strings.Join(c.Keys, "`, `"), c.SQL)
		}
		for _, trait := range []string{c.Unit, c.Range} {
			if trait != "" {
				typ += ", " + trait
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Name, cell.Replace(typ), cell.Replace(doc), cell.Replace(null))
	}
	if len(f.Derived) > 0 {
		b.WriteString("\nThese follow from the columns and are not in the file:\n\n| metric | what it is | SQL |\n|---|---|---|\n")
		for _, c := range f.Derived {
			fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", c.Name, cell.Replace(c.Doc), cell.Replace(c.SQL))
		}
	}
	return b.String()
}

// TestReference: pages of docs that say what ibid help says.
func TestReference(t *testing.T) {
	for name, page := range map[string]struct{ title, text string }{
		"settings": {"Settings", helpText("settings")}, "metrics": {"Metrics", helpText("metrics")},
		"exit-codes": {"Exit codes", helpText("exit-codes")}, "formats": {"Formats", helpText("formats")},
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
	text := helpText("columns")
	for _, want := range []string{
		"\nrows.parquet: one row of the input", "\n  char_f1 (derived, double, [0, 1]): ", "\ncitations.parquet: ", "\n  repaired_start (int64, code points): ",
		"\n      null: nothing was repaired\n", "\nagreement.parquet: ", "\nibid compare: ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}
