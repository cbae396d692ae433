package convert

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ibid"
	"ibid/metrics/token"
)

const (
	trialOne = "TITLE: Zürich\n\nThe dose – 5 µg – helped 12 of 20. “No harm” was seen."
	trialTwo = "TITLE: B\r\n\r\nNothing changed. Nothing at all changed."

	evidenceHeader = "UserID,PromptID,PMCID,Valid Label,Valid Reasoning,Label,Annotations,Label Code,In Abstract,Evidence Start,Evidence End\n"
	promptsFile    = "PromptID,PMCID,Outcome,Intervention,Comparator\n" +
		"7,1,relief,drug,placebo\n8,1,harm,drug,placebo\n9,2,change,\"a, b\",none\n"
)

// evidenceDir writes the files of one data set. Names may have folders.
func evidenceDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// trials is the usual data set with these annotations.
func trials(t *testing.T, annotations string) string {
	t.Helper()
	return evidenceDir(t, map[string]string{
		"annotations.csv": annotations, "prompts.csv": promptsFile,
		"txt/PMC1.txt": trialOne, "txt/PMC2.txt": trialTwo,
	})
}

// annotated is a record that quotes part of text with its offsets as r has them.
func annotated(t *testing.T, user, prompt, article, label, text, part string, r Reading) string {
	t.Helper()
	start, end := offsetsOf(t, text, part, r)
	return strings.Join([]string{
		user, prompt, article, "True", "False", label, `"` + part + `"`, "1", "UNK",
		strconv.FormatInt(start, 10), strconv.FormatInt(end, 10),
	}, ",") + "\n"
}

func TestEvidenceInferenceRows(t *testing.T) {
	ours := Reading{}
	dir := trials(t, "\ufeff"+evidenceHeader+
		annotated(t, "0", "7", "1", "better", trialOne, "helped 12 of 20", ours)+
		annotated(t, "3", "7", "1", "better", trialOne, "dose – 5 µg – helped", ours)+
		annotated(t, "0", "9", "2", "same", trialTwo, "Nothing changed.", ours)+
		annotated(t, "3", "7", "1", "worse", trialOne, "was seen.", ours)+
		"4,7,1,True,True,no idea,,0,UNK,-1,-1\n"+
		annotated(t, "5", "8", "1", "same", trialOne, "No harm", ours))
	zero := "0"
	m, report := importPath(t, "evidence-inference", dir, Options{Docs: true, TruthAnnotator: &zero})

	reference := func(label string) string {
		return `{"Valid Label":"True","Valid Reasoning":"False","Label":"` + label + `","Label Code":"1","In Abstract":"UNK"}`
	}
	truth := []ibid.Mark{{Annotator: "0", Doc: "PMC1", Start: some(33), End: some(48), CitedText: "helped 12 of 20"}}
	tags := []ibid.Tag{{Key: "in_abstract", Value: "UNK"}, {Key: "label", Value: "better"}, {Key: "label_code", Value: "1"}, {Key: "valid_label", Value: "True"}, {Key: "valid_reasoning", Value: "False"}}
	const query = "With respect to relief, characterize the reported difference between drug and placebo"
	want := []ibid.Answer{
		{
			ID: "7", System: "3", Query: query, Answer: "better; worse",
			Citations: []ibid.Citation{
				{Doc: "PMC1", Start: some(19), End: some(39), CitedText: "dose – 5 µg – helped", SourceReference: reference("better")},
				{Doc: "PMC1", Start: some(60), End: some(69), CitedText: "was seen.", SourceReference: reference("worse")},
			},
			HasCitations: true, Truth: truth, HasTruth: true, Tags: tags,
		},
		{ID: "7", System: "4", Query: query, Answer: "no idea", HasCitations: true, Truth: truth, HasTruth: true, Tags: tags},
	}
	for i := range m.rows {
		for k, c := range m.rows[i].Citations {
			if got := passage(trialOne, c.Start.Value, c.End.Value); got != c.CitedText {
				t.Errorf("row %d: citation %d is %q, want %q", i, k, got, c.CitedText)
			}
		}
	}
	if diff := cmp.Diff(want, m.rows, ignorePosition); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]ibid.Document{{Doc: "PMC1", Text: trialOne, HasText: true}}, m.documents); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if report.Records != 3 || report.Rows != 2 || report.LeftOut != 2 || report.Failed != 0 || report.Proved != 5 || report.Citations != 2 {
		t.Errorf("report: %+v", report)
	}

	m, report = importPath(t, "evidence-inference", dir, Options{})
	if report.Records != 3 || report.Rows != 3 || report.LeftOut != 0 {
		t.Fatalf("without a truth annotator: %+v", report)
	}
	first := m.rows[0]
	if first.HasCitations || first.Answer != "" || first.AnswerNull || first.System != "default" || len(first.Truth) != 4 ||
		!cmp.Equal(first.Truth[3], ibid.Mark{Annotator: "4", DocNull: true}) {
		t.Errorf("row of all annotators: %+v", first)
	}
	if ids := m.rows[0].ID + m.rows[1].ID + m.rows[2].ID; ids != "798" {
		t.Errorf("order of ids %s, want that of first annotations, 798", ids)
	}
}

func TestEvidenceInferenceOtherReadings(t *testing.T) {
	for _, r := range readings {
		t.Run(r.String(), func(t *testing.T) {
			m, report := importPath(t, "evidence-inference", trials(t, evidenceHeader+
				annotated(t, "0", "7", "1", "better", trialOne, "helped 12 of 20", r)+
				annotated(t, "3", "7", "1", "better", trialOne, "5 µg – helped", r)+
				annotated(t, "3", "8", "1", "better", trialOne, "Zürich", r)), Options{})
			for _, row := range m.rows {
				for _, x := range row.Truth {
					got := passage(trialOne, x.Start.Value, x.End.Value)
					if got != "helped 12 of 20" && got != "5 µg – helped" && got != "Zürich" {
						t.Errorf("truth of %s is %q", x.Annotator, got)
					}
				}
			}
			// No code point of the article is above U+FFFF.
			name := strings.Replace(r.String(), "utf16", "codepoint", 1)
			if report.Readings[name] != 3 {
				t.Errorf("readings %v, want 3 of %s", report.Readings, name)
			}
		})
	}
}

func TestEvidenceInferenceRepairs(t *testing.T) {
	bytes := Reading{Unit: token.Byte}
	file := evidenceHeader +
		annotated(t, "0", "7", "1", "better", trialOne, "helped 12 of 20", bytes) +
		"0,7,1,True,True,better,\"\"\"No harm\"\" was\",1,UNK,1,4\n" + // elsewhere
		"0,7,1,True,True,better,no such words,1,UNK,1,4\n" +
		"0,7,1,True,True,better,seen,1,UNK,9,4\n" +
		"3,7,1,True,True,better,\"\"\"No harm\"\" was\",1,UNK,1,4\n" +
		"3,7,1,True,True,better,no such words,1,UNK,5,4000\n"
	zero := "0"
	m, report := importPath(t, "evidence-inference", trials(t, file), Options{TruthAnnotator: &zero})
	if report.Readings["byte_exclusive"] != 1 || report.Repaired != 2 || report.Mismatched != 2 || report.Degenerate != 1 {
		t.Errorf("report: %+v", report)
	}
	row := m.rows[0]
	var truth []string
	for _, x := range row.Truth {
		truth = append(truth, passage(trialOne, x.Start.Value, x.End.Value)+x.Unit)
	}
	// Truth keeps its place and its quote, as citations do; what has no place in code points keeps its unit.
	if diff := cmp.Diff([]string{"helped 12 of 20", "ITL", "ITL", "[9,4)byte"}, truth); diff != "" {
		t.Errorf("truth (-want +got):\n%s", diff)
	}
	want := []ibid.Citation{
		{Doc: "PMC1", Start: some(1), End: some(4), CitedText: `"No harm" was`},
		{Doc: "PMC1", Start: some(5), End: some(4000), Unit: "byte", CitedText: "no such words"},
	}
	for i := range row.Citations {
		row.Citations[i].SourceReference = ""
	}
	if diff := cmp.Diff(want, row.Citations); diff != "" {
		t.Errorf("citations (-want +got):\n%s", diff)
	}
	var lines []int
	for _, w := range report.Warnings {
		lines = append(lines, w.Line)
	}
	if diff := cmp.Diff([]int{3, 4, 5}, lines); diff != "" || report.Warned != 3 {
		t.Errorf("lines of the warnings (-want +got):\n%s", diff)
	}
}

func TestEvidenceInferenceBadRecords(t *testing.T) {
	good := annotated(t, "0", "8", "1", "better", trialOne, "helped 12 of 20", Reading{})
	tests := []struct{ name, record, want string }{
		{"no integer", "0,7,1,True,True,x,dose,1,UNK,12.5,16\n", `:2: Evidence Start: want an integer, got "12.5"`},
		{"empty integer", "0,7,1,True,True,x,dose,1,UNK,12,\n", `:2: Evidence End: want an integer, got ""`},
		{"too few fields", "0,7,1,True\n", `:2: 4 fields, and the header has 11`},
		{"bare quote", "0,7,1,True,True,x,a \"dose\",1,UNK,1,2\n", `:2: bare " in non-quoted-field`},
		{"invalid UTF-8", "0,7,1,True,True,x,d\xffse,1,UNK,1,2\n", `:2: Annotations: invalid UTF-8`},
		{"no annotator", ",7,1,True,True,x,dose,1,UNK,1,2\n", `:2: UserID is empty`},
		{"no prompt", "0,,1,True,True,x,dose,1,UNK,1,2\n", `:2: PromptID is empty`},
		{"unknown prompt", "0,70,1,True,True,x,dose,1,UNK,1,2\n", `:2: prompt "70" is not in prompts.csv`},
		{"another article", "0,9,1,True,True,x,dose,1,UNK,1,2\n", `:2: prompt "9" is of article "1", and of "2" in prompts.csv`},
		{"two articles", "0,9,2,True,True,x,Nothing changed.,1,UNK,1,2\n0,9,1,True,True,x,dose,1,UNK,1,2\n", `:3: PMCID "1", and line 2 has "2" for the same prompt`},
		{"a good and a bad one", "0,7,1,True,True,x,helped,1,UNK,36,42\n0,7,1,True,True,x,dose,1,UNK,x,2\n", `:3: Evidence Start: want an integer, got "x"`},
		{"over two lines", "0,7,1,True,True,x,\"a\nb\",1,UNK,x,2\n", `:2: Evidence Start: want an integer, got "x"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := trials(t, evidenceHeader+tt.record+good)
			m, report := importPath(t, "evidence-inference", dir, Options{})
			if len(m.rows) != 1 || m.rows[0].ID != "8" || report.Records != 2 || report.Failed != 1 {
				t.Fatalf("%d rows; report: %+v", len(m.rows), report)
			}
			if got, want := report.Errors[0].Error(), filepath.Join(dir, "annotations.csv")+tt.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestEvidenceInferenceBadArticles(t *testing.T) {
	dir := evidenceDir(t, map[string]string{
		"annotations/v2_annotations.csv": evidenceHeader +
			"0,1,11,True,True,x,dose,1,UNK,1,2\n0,2,12,True,True,x,dose,1,UNK,1,2\n0,3,../x,True,True,x,dose,1,UNK,1,2\n0,4,13,True,True,x,large,1,UNK,0,5\n0,5,14,True,True,x,ok,1,UNK,0,2\n",
		"annotations/prompts_merged.csv":  "PromptID,PMCID,Outcome,Intervention,Comparator\n1,11,a,b,c\n2,12,a,b,c\n3,../x,a,b,c\n4,13,a,b,c\n5,14,a,b,c\n6,1\n5,14,a,b,c\n",
		"annotations/txt_files/PMC12.txt": "d\xff",
		"annotations/txt_files/PMC13.txt": "large" + strings.Repeat("x", 500),
		"annotations/txt_files/PMC14.txt": "ok",
		"x.txt":                           "not to be read",
	})
	m, report := importPath(t, "evidence-inference", dir, Options{MaxRecord: 500})
	if len(m.rows) != 1 || m.rows[0].ID != "5" || report.Failed != 4 || report.Records != 5 || report.Spans != 1 {
		t.Errorf("%d rows; report: %+v", len(m.rows), report)
	}
	texts := filepath.Join(dir, "annotations", "txt_files")
	want := []string{
		filepath.Join(texts, "PMC11.txt") + ": no such file or directory",
		filepath.Join(texts, "PMC12.txt") + ": invalid UTF-8",
		`PMCID: want a number, got "../x"`,
		filepath.Join(texts, "PMC13.txt") + ": over 500 bytes",
	}
	for i, e := range report.Errors {
		if e.Reason != want[i] || e.Line != i+2 {
			t.Errorf("error %d: %v, want line %d: %s", i, e, i+2, want[i])
		}
	}
	if report.Warned != 1 || report.Warnings[0].Line != 7 {
		t.Errorf("warnings %v, want the short line 7 of the prompts", report.Warnings)
	}
}

func TestEvidenceInferenceUsage(t *testing.T) {
	good := annotated(t, "0", "7", "1", "better", trialOne, "helped 12 of 20", Reading{})
	usual := trials(t, evidenceHeader+good)
	nobody := "99"
	tests := []struct {
		name, dir  string
		o          Options
		want, hint string
	}{
		{"no annotations", evidenceDir(t, map[string]string{"prompts.csv": promptsFile}), Options{}, ": no annotations.csv or annotations_merged.csv or v2_annotations.csv here", "give a file of annotations, such as annotations_pilot_run.csv"},
		{"a file", filepath.Join(usual, "prompts.csv"), Options{}, ": not a directory", "give the directory that holds annotations.csv, or a file called annotations_SET.csv beside its prompts_SET.csv"},
		{"nobody of that name", usual, Options{TruthAnnotator: &nobody}, `/annotations.csv: nobody is called "99"`, "annotators are 0"},
		{"no column", trials(t, strings.Replace(evidenceHeader, "Evidence End", "Evidence end", 1)), Options{}, `/annotations.csv: no column "Evidence End"`, `did you mean "Evidence end"?`},
		{"a column twice", trials(t, strings.Replace(evidenceHeader, "In Abstract", "Label", 1)), Options{}, `/annotations.csv: column "Label" is there twice`, ""},
		{"empty file", trials(t, ""), Options{}, "/annotations.csv: empty, not even a header", ""},
		{"no CSV", trials(t, "a\"b\n"), Options{}, "/annotations.csv:1: header: bare \" in non-quoted-field", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Convert(t.Context(), "evidence-inference", []string{tt.dir}, tt.o, failing{errors.New("something was written")})
			var usage *ibid.Error
			if !errors.As(err, &usage) || !usage.Usage || usage.Error() != tt.dir+tt.want || usage.Hint != tt.hint {
				t.Errorf("error %v, hint %v; want %s", err, usage, tt.dir+tt.want)
			}
		})
	}
	if _, err := Convert(t.Context(), "evidence-inference", []string{usual, usual}, Options{}, &memory{}); !errors.Is(err, ibid.ErrUsage) {
		t.Errorf("two directories: %v", err)
	}
	if _, err := Convert(t.Context(), "evidence-inference", []string{filepath.Join(usual, "none")}, Options{}, &memory{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// FuzzEvidenceCSV reads any file of annotations: what comes of it adds up, and is the same if it
// is done again.
func FuzzEvidenceCSV(f *testing.F) {
	f.Add(evidenceHeader + "0,7,1,True,True,x,\"a \"\"b\"\"\nc\",1,UNK,12,16\n0,7,1,T\n")
	f.Add("\ufeff" + evidenceHeader + "0,7,1,True,True,x,y,1,UNK,,\r\n\"")
	f.Add(evidenceHeader + "0,7,1,True,True,x,dose,1,UNK,19,23\n3,7,1,True,True,y,no,1,UNK,-1,-1\n0,9,2,T,T,x,,1,UNK,5,2\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := trials(t, text)
		read := func() (*memory, Report, error) {
			var m memory
			report, err := Convert(t.Context(), "evidence-inference", []string{dir}, Options{Docs: true}, &m)
			return &m, report, err
		}
		m, report, err := read()
		again, reportAgain, _ := read()
		if diff := cmp.Diff(m.rows, again.rows) + cmp.Diff(report, reportAgain); diff != "" {
			t.Fatalf("-once +twice:\n%s", diff)
		}
		if err != nil {
			return
		}
		checkReport(t, &report)
		for i := range m.rows {
			checkRow(t, &m.rows[i])
		}
	})
}

// TestEvidencePilot reads one of several sets of a folder by the name of its annotations,
// with the prompts of that set and the texts that all sets share.
func TestEvidencePilot(t *testing.T) {
	quote := func(part string) string { return annotated(t, "3", "7", "1", "none", trialOne, part, Reading{}) }
	dir := evidenceDir(t, map[string]string{
		"annotations/additional_files/annotations_pilot_run.csv": evidenceHeader + quote("12 of 20"),
		"annotations/additional_files/prompts_pilot_run.csv":     promptsFile,
		"annotations/additional_files/annotations_other.csv":     evidenceHeader + quote("No harm"),
		"annotations/txt_files/PMC1.txt":                         trialOne,
		"annotations/prompts_merged.csv":                         promptsFile,
		"annotations/v2_annotations.csv":                         evidenceHeader + quote("5 µg"),
	})
	more := filepath.Join(dir, "annotations", "additional_files")
	for path, want := range map[string]string{
		filepath.Join(more, "annotations_pilot_run.csv"): "12 of 20",
		dir: "5 µg",
		filepath.Join(dir, "annotations", "v2_annotations.csv"): "5 µg",
	} {
		for _, format := range []string{"evidence-inference", "auto"} {
			m, report := importPath(t, format, path, Options{})
			if report.Rows != 1 || report.Failed != 0 {
				t.Fatalf("%s as %s: report %+v", path, format, report)
			}
			at := m.rows[0].Truth[0]
			if got := passage(trialOne, at.Start.Value, at.End.Value); got != want {
				t.Errorf("%s as %s marks %q, want %q", path, format, got, want)
			}
		}
	}
	var m memory
	_, err := Convert(t.Context(), "evidence-inference", []string{filepath.Join(more, "annotations_other.csv")}, Options{}, &m)
	if err == nil || !strings.HasSuffix(err.Error(), "no prompts_other.csv here") {
		t.Errorf("a set without prompts: %v", err)
	}
}
