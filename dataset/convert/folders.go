package convert

import (
	"context"

	"ibid"
)

// A folderFormat says how the records of a program are gathered that reads the files of a folder
// together: what lies in which of them is for Go, what a record says is for the program.
type folderFormat struct {
	input   string
	options []string
	why     string // it takes one folder

	// gather looks at the files that lie at c.file. The function that it returns calls do with
	// every row, and may be called twice.
	gather func(ctx context.Context, c *exchangeReader) (each func(do func(madeRow) error) error, err error)
}

// folderFormats are those, by the names of their programs.
var folderFormats = map[string]*folderFormat{
	"brat": {
		input:  "a directory of .txt and .ann files",
		why:    "annotators are its folders",
		gather: gatherBrat,
	},
	"evidence-inference": {
		input:   "the directory with annotations.csv, prompts.csv and txt/, or a file annotations_SET.csv of several sets",
		options: []string{"truth-annotator"},
		why:     "ids would repeat between directories",
		gather:  gatherEvidence,
	},
}

// convertFolder converts what lies at the path of a run with a program.
func convertFolder(ctx context.Context, r *run, p *program) error {
	if len(r.paths) > 1 {
		return ibid.Usagef("format %s takes one directory", p.name).With(p.folder.why)
	}
	c := &exchangeReader{run: r, program: p, file: r.paths[0]}
	each, err := p.folder.gather(ctx, c)
	if err != nil {
		return err
	}
	return c.convertRows(ctx, each)
}
