package cli

import (
	"bytes"
	"encoding/json"
	"io"

	"ibid/annotations"
	"ibid/dataset/convert"
)

// A blindTemplate is what people are given of a blind sample.
type blindTemplate struct {
	write  []blindFile
	filled string // the file with what they say
}

type blindFile struct {
	name  string
	write func(io.Writer, []annotations.BlindItem) error
}

const (
	templateFile  = "template.jsonl"
	tasksFile     = "tasks.json"
	configFile    = "label_config.xml"
	annotatedFile = "annotated.parquet"
)

// templates are the templates by name.
var templates = map[string]blindTemplate{
	"jsonl": {
		write:  []blindFile{{templateFile, writeTemplate}},
		filled: templateFile,
	},
	"label-studio": {
		write: []blindFile{
			{tasksFile, func(w io.Writer, items []annotations.BlindItem) error {
				return convert.WriteBlindTasks(w, studioTasks(items))
			}},
			{configFile, func(w io.Writer, items []annotations.BlindItem) error {
				return convert.WriteBlindConfig(w, studioTasks(items))
			}},
		},
		filled: annotatedFile,
	},
}

// files are the names of the files that people are given.
func (t blindTemplate) files() []string {
	var names []string
	for _, f := range t.write {
		names = append(names, f.name)
	}
	return names
}

func writeTemplate(w io.Writer, items []annotations.BlindItem) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range items {
		if err := e.Encode(&items[i]); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// studioTasks are the items as tasks of Label Studio.
func studioTasks(items []annotations.BlindItem) []convert.BlindTask {
	all := make([]convert.BlindTask, len(items))
	for i := range items {
		it := &items[i]
		t := convert.BlindTask{ID: it.ID, Question: it.Query, Answer: it.Answer}
		for _, d := range it.Documents {
			t.Documents = append(t.Documents, convert.BlindText{Doc: d.Doc, Text: d.Text})
		}
		for _, l := range it.Labels {
			t.Questions = append(t.Questions, convert.BlindQuestion{Kind: l.Kind, ClaimID: l.ClaimID, CitationID: l.CitationID, Text: it.Ask(l)})
		}
		all[i] = t
	}
	return all
}
