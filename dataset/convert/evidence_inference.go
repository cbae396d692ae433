package convert

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ibid"
)

// The columns of the files of Evidence Inference that records are gathered by.
const (
	colUser    = "UserID"
	colPrompt  = "PromptID"
	colArticle = "PMCID"
)

// gatherEvidence joins the annotations of each prompt, in the order of its first one, with the
// prompt's line and the text of its article. An annotation that cannot be read spoils its prompt:
// with a part of its spans it would be scored wrongly. One whose prompt cannot be told is a record
// of its own.
func gatherEvidence(ctx context.Context, c *exchangeReader) (func(func(madeRow) error) error, error) {
	files, err := findEvidence(c.file)
	if err != nil {
		return nil, err
	}
	c.file = files.annotations
	prompts := map[string][]any{}
	err = c.eachLine(files.prompts, []string{colPrompt, colArticle, "Outcome", "Intervention", "Comparator"}, nil, func(rec csvRecord, wrong *RecordError) error {
		if wrong != nil {
			c.warn(*wrong) // the annotations that ask for it will miss it
		} else {
			prompts[rec.get(colPrompt)] = append(prompts[rec.get(colPrompt)], rec.piece().tree)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	records, err := c.readAnnotations(files.annotations)
	if err == nil && c.TruthAnnotator != nil {
		err = c.checkAnnotator(records)
	}
	var truth any
	if c.TruthAnnotator != nil {
		truth = *c.TruthAnnotator
	}
	return func(do func(madeRow) error) error {
		var article, text string // read last: prompts of one article follow each other
		for i := range records {
			r := *records[i]
			tree := map[string]any{"annotations": trees(r.pieces), "truth": truth, "file": filepath.Base(files.prompts)}
			if r.bad == nil {
				first := r.pieces[0].tree.(map[string]any)
				tree["prompts"] = prompts[first[colPrompt].(string)]
				if id := first[colArticle].(string); id != article || i == 0 {
					var err error
					article = id
					if text, err = c.article(files.texts, id); err != nil {
						r.fail(r.pieces[0].at.err(c.file, err.Error()))
					}
				}
				tree["text"] = text
			}
			r.tree = tree
			if err := c.finish(ctx, &r, false, do); err != nil {
				return err
			}
		}
		return nil
	}, err
}

// readAnnotations reads the annotations of every prompt.
func (c *exchangeReader) readAnnotations(path string) (records []*programRecord, err error) {
	byID := map[string]int{}
	columns := []string{colUser, colPrompt, colArticle, "Label", "Annotations", "Evidence Start", "Evidence End"}
	err = c.eachLine(path, columns, nil, func(rec csvRecord, wrong *RecordError) error {
		id := rec.get(colPrompt)
		if id == "" && wrong == nil {
			wrong = rec.bad("%s is empty", colPrompt)
		}
		at, known := byID[id]
		if !known || id == "" {
			at = len(records)
			byID[id] = at
			records = append(records, c.recordOf(at+1))
		}
		r := records[at]
		if wrong == nil && len(r.pieces) > 0 {
			if article := r.pieces[0].tree.(map[string]any)[colArticle]; article != rec.get(colArticle) {
				wrong = rec.bad("%s %s, and line %d has %s for the same prompt", colArticle, quoted(rec.get(colArticle)), r.pieces[0].at.line, quoted(article.(string)))
			}
		}
		if wrong != nil {
			r.fail(*wrong)
		} else {
			r.pieces = append(r.pieces, rec.piece())
		}
		return nil
	})
	return records, err
}

// checkAnnotator refuses a truth annotator whom the file does not know.
func (c *exchangeReader) checkAnnotator(records []*programRecord) error {
	var all []string
	for _, r := range records {
		for _, p := range r.pieces {
			name := p.tree.(map[string]any)[colUser].(string)
			if name == *c.TruthAnnotator {
				return nil
			}
			if len(all) < 16 && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	e := ibid.Usagef("%s: nobody is called %s", c.file, quoted(*c.TruthAnnotator))
	if len(all) > 0 {
		e.Hint = "annotators are " + strings.Join(all, ", ")
	}
	return e
}

// article reads the text of an article.
func (c *exchangeReader) article(folder, id string) (string, error) {
	if id == "" || strings.Trim(id, "0123456789") != "" {
		return "", errors.New(colArticle + ": want a number, got " + quoted(id)) // it becomes a file name
	}
	path := filepath.Join(folder, "PMC"+id+".txt")
	data, err := c.readText(path)
	if err == nil && !utf8.Valid(data) {
		err = errors.New(path + ": invalid UTF-8")
	}
	return string(data), err
}

// evidenceFiles are the files of one data set.
type evidenceFiles struct{ annotations, prompts, texts string }

// The names of the published data, the usual ones first; the prompts of
// annotations_SET.csv are prompts_SET.csv, such as those of the pilot run.
var (
	evidenceAnnotations = []string{"annotations.csv", "annotations_merged.csv", "v2_annotations.csv"}
	evidencePrompts     = []string{"prompts.csv", "prompts_merged.csv"}
	evidenceTexts       = []string{"txt", "txt_files"}
)

// findEvidence looks for the files of a data set: of a directory, or its folder
// annotations; or of a file of annotations, whose texts may be one folder up.
func findEvidence(path string) (evidenceFiles, error) {
	info, err := os.Stat(path)
	if err != nil {
		return evidenceFiles{}, pathError(path, err)
	}
	f := evidenceFiles{}
	folders := []string{path, filepath.Join(path, "annotations")}
	prompts := evidencePrompts
	if info.IsDir() {
		const hint = "give a file of annotations, such as annotations_pilot_run.csv"
		if f.annotations, err = firstThere(path, folders, evidenceAnnotations, hint); err != nil {
			return f, err
		}
	} else {
		name := filepath.Base(path)
		set, ok := strings.CutPrefix(name, "annotations_")
		switch usual := slices.Contains(evidenceAnnotations, name); {
		case !usual && !ok:
			return f, ibid.Usagef("%s: not a directory", path).With("give the directory that holds annotations.csv, or a file called annotations_SET.csv beside its prompts_SET.csv")
		case !usual:
			prompts = []string{"prompts_" + set}
		}
		f.annotations = path
		folders = []string{filepath.Dir(path), filepath.Join(filepath.Dir(path), "..")}
	}
	if f.prompts, err = firstThere(path, folders, prompts, ""); err == nil {
		f.texts, err = firstThere(path, folders, evidenceTexts, "")
	}
	return f, err
}

// firstThere is the first of some names that a folder has, for the data set at a path.
func firstThere(path string, folders, names []string, hint string) (string, error) {
	for _, folder := range folders {
		for _, name := range names {
			found := filepath.Join(folder, name)
			if _, err := os.Stat(found); err == nil {
				return found, nil
			}
		}
	}
	return "", ibid.Usagef("%s: no %s here", path, strings.Join(names, " or ")).With(hint)
}
