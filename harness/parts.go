package harness

import (
	"fmt"
	"path/filepath"
	"regexp"

	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/runs"
)

// partsDir holds what is done of a run while its process works. A part is the results of a
// fixed stretch of the input; its number says which. Which rows a part has depends on data
// and settings alone. A process that follows one that was killed begins anew: what was paid
// for is in the store of answers.
const partsDir = "parts"

const (
	// maxPartRows is how many rows of a slim dataset make a part, and a row group
	// of the result files.
	maxPartRows = 16384
	// maxJudgedRows is the same for a run with a judge, whose rows carry texts.
	maxJudgedRows = 4096
	// maxLiveRows is the same for a judge that costs money and time.
	maxLiveRows = minPartRows
	minPartRows = 256
	// partBytes is about how many bytes of the input make a part when rows are
	// long: every worker holds one part in memory.
	partBytes = 4 << 20
)

// partRows chooses the rows of a part from the size of the input files and
// whether there is a judge.
func (p *Plan) partRows() int64 {
	var size int64
	for _, f := range p.source.Files() {
		size += f.Size
	}
	perRow := size/max(p.source.Rows(), 1) + 1
	rows := int64(maxPartRows)
	switch {
	case p.live != nil:
		rows = maxLiveRows
	case p.judge != nil:
		rows = maxJudgedRows
	}
	for rows > minPartRows && rows*perRow > partBytes {
		rows /= 2
	}
	if most := p.job.Config.RowsPerPart; most > 0 {
		rows = min(rows, most)
	}
	return int64(p.source.BatchRows(int(rows)))
}

// limitsOf are the limits of what is read.
func limitsOf(s *configs.Settings) dataset.Limits { return dataset.Limits(s.Limits) }

// A partFile is one kind of result within a part.
type partFile string

// The results of a part.
const (
	partClaims    partFile = "claims" // of runs that have a judge
	partVerdicts  partFile = "verdicts"
	partAnswers   partFile = "answers"
	partCalls     partFile = "calls"  // only if a model or server judges
	partQuotes    partFile = "quotes" // only if texts of sources are known
	partCitations partFile = "citations"
	partRowsFile  partFile = "rows"
)

// partFiles are the results of the run's parts.
func (p *Plan) partFiles() []partFile {
	if p.tables != nil {
		return p.tables.kinds
	}
	var kinds []partFile
	if p.live != nil {
		kinds = append(kinds, partCalls)
	}
	if p.judge != nil {
		kinds = append(kinds, partVerdicts, partClaims)
	}
	if p.keepsAnswers() {
		kinds = append(kinds, partAnswers)
	}
	if p.hasDocuments() || p.inline {
		kinds = append(kinds, partQuotes)
	}
	return append(kinds, partCitations, partRowsFile)
}

// result is the file that parts of this kind are joined to.
func (k partFile) result() string { return string(k) + ".parquet" }

// form is the form of the result, of a run whose rows have that layout.
func (k partFile) form(layout *runs.RowsLayout) *runs.Form {
	switch k {
	case partCalls:
		return &runs.Calls.Form
	case partClaims:
		return &runs.Claims.Form
	case partVerdicts:
		return &runs.Verdicts.Form
	case partAnswers:
		return &runs.Answers.Form
	case partQuotes:
		return &runs.Quotations.Form
	case partCitations:
		return layout.Citations
	}
	return &layout.Form
}

// partName matches the names of parts.
var partName = regexp.MustCompile(`^\d{8,}\.[a-z]+$`)

func (p *Plan) partPath(number int64, kind partFile) string {
	return filepath.Join(p.Dir, partsDir, fmt.Sprintf("%08d.%s", number, kind))
}
