package convert

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ibid"
)

// A frameworkRow is a row that must come out of a file of the shared vectors.
type frameworkRow struct {
	ID, System    *string
	Query, Answer string
	Claims        []string
	Citations     []struct {
		Doc         *string
		AnswerStart *int64 `json:"answer_start"`
		AnswerEnd   *int64 `json:"answer_end"`
		Start, End  *int64
		Unit        *string
		CitedText   *string `json:"cited_text"`
		Claim       *int
	}
	Documents []struct {
		Doc, Title string
		Text       *string
		Partial    bool
	}
}

// TestFrameworks reads what frameworks, evaluators and providers save without the name of a
// format. Documents that are cut have no text yet.
func TestFrameworks(t *testing.T) {
	wanted, err := filepath.Glob(filepath.Join(shared(t, "vectors", "inputs", "frameworks"), "*.rows.jsonl"))
	if err != nil || len(wanted) != 29 {
		t.Fatalf("%d files, %v; want 29", len(wanted), err)
	}
	for _, path := range wanted {
		stem := strings.TrimSuffix(path, ".rows.jsonl")
		t.Run(filepath.Base(stem), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files, _ := filepath.Glob(stem + ".[js]*")
			m, report := importPath(t, "auto", files[0], Options{})
			lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
			if len(m.rows) != len(lines) || report.Failed != 0 {
				t.Fatalf("%d rows, want %d; report %+v", len(m.rows), len(lines), report)
			}
			for i, line := range lines {
				var want frameworkRow
				if err := json.Unmarshal(line, &want); err != nil {
					t.Fatal(err)
				}
				want.compare(t, &m.rows[i])
			}
		})
	}
}

func (want *frameworkRow) compare(t *testing.T, got *ibid.Answer) {
	t.Helper()
	if want.ID != nil && got.ID != *want.ID && got.ID != fileID(got.File) || want.System != nil && got.System != *want.System || got.Query != want.Query || got.Answer != want.Answer {
		t.Errorf("id %q, system %q, query %q, answer %q; want %+v", got.ID, got.System, got.Query, got.Answer, want)
	}
	var texts []string
	for _, c := range got.Claims {
		texts = append(texts, c.Text)
	}
	if !reflect.DeepEqual(texts, want.Claims) {
		t.Errorf("claims %q, want %q", texts, want.Claims)
	}
	if len(got.Citations) != len(want.Citations) {
		t.Fatalf("citations %+v, want %d", got.Citations, len(want.Citations))
	}
	for i, w := range want.Citations {
		c := &got.Citations[i]
		same := w.Doc == nil && c.DocNull || w.Doc != nil && c.Doc == *w.Doc
		same = same && (w.AnswerStart == nil) == !c.AnswerStart.Known() && (w.AnswerStart == nil || *w.AnswerStart == c.AnswerStart.Value && *w.AnswerEnd == c.AnswerEnd.Value)
		same = same && (w.Start == nil || *w.Start == c.Start.Value && *w.End == c.End.Value)
		same = same && (w.Unit == nil || *w.Unit == c.Unit) && (w.CitedText == nil || *w.CitedText == c.CitedText)
		same = same && (w.Claim == nil || c.ClaimID == got.Claims[*w.Claim].ClaimID)
		if !same {
			t.Errorf("citation %d %+v, want %+v", i, *c, w)
		}
	}
	for i, w := range want.Documents {
		d := documentOf(got, w.Doc)
		switch {
		case d == nil && w.Text == nil || w.Partial: // a name that citations have is enough
		case d == nil || d.Title != w.Title || w.Text != nil && d.Text != *w.Text:
			t.Errorf("document %d %+v, want %+v", i, d, w)
		}
	}
}

// fileID is the id of a row that is called by its file.
func fileID(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }
