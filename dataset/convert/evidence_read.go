package convert

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The columns of the two files that are read.
const (
	colUser    = "UserID"
	colPrompt  = "PromptID"
	colArticle = "PMCID"
	colLabel   = "Label"
	colQuote   = "Annotations"
	colStart   = "Evidence Start"
	colEnd     = "Evidence End"
)

// An annotation is one passage that one annotator marked for one prompt.
type annotation struct {
	annotator string
	markedSpan
	marked bool // false: the annotator looked and marked nothing
	label  string
	rest   [][2]string // the columns that have no column of ours, by name
	line   int
}

// A prompt is one question about one article with all its annotations, in the
// order of the file.
type prompt struct {
	id, article string
	query       string
	annotations []annotation
	bad         *RecordError // why it cannot be converted
	line        int          // of its first annotation
}

// fail keeps the first thing that is wrong with the prompt.
func (p *prompt) fail(e *RecordError) {
	if p.bad == nil {
		p.bad = e
	}
}

// A question is one record of the file of prompts.
type question struct {
	article, query string
	twice          bool
}

// evidenceFiles are the files of one directory.
type evidenceFiles struct{ annotations, prompts, texts string }

// findEvidence looks for the files under the names of the published data, in dir
// or in its folder annotations.
func findEvidence(dir string) (evidenceFiles, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return evidenceFiles{}, pathError(dir, err)
	}
	if !info.IsDir() {
		return evidenceFiles{}, &UsageError{Msg: dir + ": not a directory", Hint: "give the directory that holds annotations.csv"}
	}
	var f evidenceFiles
	for _, want := range []struct {
		at    *string
		names []string
	}{
		{&f.annotations, []string{"annotations.csv", "annotations_merged.csv", "v2_annotations.csv"}},
		{&f.prompts, []string{"prompts.csv", "prompts_merged.csv"}},
		{&f.texts, []string{"txt", "txt_files"}},
	} {
		if *want.at = firstThere(dir, want.names); *want.at == "" {
			return evidenceFiles{}, &UsageError{Msg: fmt.Sprintf("%s: no %s here", dir, strings.Join(want.names, " or "))}
		}
	}
	return f, nil
}

func firstThere(dir string, names []string) string {
	for _, folder := range []string{dir, filepath.Join(dir, "annotations")} {
		for _, name := range names {
			path := filepath.Join(folder, name)
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	return ""
}

// readQuestions reads the file of prompts. A record that cannot be read is given
// to bad; the annotations that ask for it will miss it.
func readQuestions(file string, in io.Reader, bad func(RecordError)) (map[string]question, error) {
	t, err := newTable(file, in, colPrompt, colArticle, "Outcome", "Intervention", "Comparator")
	if err != nil {
		return nil, err
	}
	all := map[string]question{}
	for {
		rec, wrong, err := t.next()
		switch {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, err
		case wrong != nil:
			bad(*wrong)
			continue
		}
		q := question{article: rec.get(colArticle)}
		q.query = fmt.Sprintf("With respect to %s, characterize the reported difference between %s and %s",
			rec.get("Outcome"), rec.get("Intervention"), rec.get("Comparator"))
		id := rec.get(colPrompt)
		if old, twice := all[id]; twice && old != q {
			q.twice = true
		}
		all[id] = q
	}
}

// readAnnotations reads the file of annotations into prompts, in the order of
// their first annotation. Any annotation that cannot be read spoils its prompt:
// with a part of its spans it would be scored wrongly. One whose prompt cannot be
// told is given to lost.
func readAnnotations(file string, in io.Reader, lost func(RecordError)) ([]*prompt, error) {
	t, err := newTable(file, in, colUser, colPrompt, colArticle, colLabel, colQuote, colStart, colEnd)
	if err != nil {
		return nil, err
	}
	var prompts []*prompt
	byID := map[string]*prompt{}
	for {
		rec, wrong, err := t.next()
		switch {
		case err == io.EOF:
			return prompts, nil
		case err != nil:
			return nil, err
		}
		id := rec.get(colPrompt)
		if id == "" {
			if wrong == nil {
				wrong = rec.bad("%s is empty", colPrompt)
			}
			lost(*wrong)
			continue
		}
		p := byID[id]
		if p == nil {
			p = &prompt{id: strings.ToValidUTF8(id, "\ufffd"), article: rec.get(colArticle), line: rec.line}
			byID[id] = p
			prompts = append(prompts, p)
		}
		if wrong != nil {
			p.fail(wrong)
			continue
		}
		a, wrong := readAnnotation(rec)
		if wrong == nil && rec.get(colArticle) != p.article {
			wrong = rec.bad("%s %s, and line %d has %s for the same prompt", colArticle, quoted(rec.get(colArticle)), p.line, quoted(p.article))
		}
		if wrong != nil {
			p.fail(wrong)
			continue
		}
		p.annotations = append(p.annotations, a)
	}
}

func readAnnotation(rec csvRecord) (annotation, *RecordError) {
	a := annotation{annotator: rec.get(colUser), label: rec.get(colLabel), line: rec.line}
	if a.annotator == "" {
		return a, rec.bad("%s is empty", colUser)
	}
	var wrong *RecordError
	if a.quote.start, wrong = rec.integer(colStart); wrong != nil {
		return a, wrong
	}
	if a.quote.end, wrong = rec.integer(colEnd); wrong != nil {
		return a, wrong
	}
	a.quote.text = rec.get(colQuote)
	// The published data writes -1, -1 and no quote where nothing was marked.
	a.marked = a.quote.text != "" || a.quote.start >= 0 || a.quote.end >= 0
	for i, name := range rec.columns {
		switch name {
		case colUser, colPrompt, colArticle, colQuote, colStart, colEnd:
		default:
			a.rest = append(a.rest, [2]string{name, rec.fields[i]})
		}
	}
	return a, nil
}
