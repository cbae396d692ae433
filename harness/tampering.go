package harness

import (
	"fmt"
	"path/filepath"

	"ibid/dataset"
	"ibid/dataset/runs"
)

// countTampering counts the rows whose material tries to steer the judge, as far
// as the judge looks for that, and warns of them.
func (p *Plan) countTampering(m *runs.Manifest) error {
	f, err := dataset.OpenResult(filepath.Join(p.Dir, runs.RowsFile))
	if err != nil {
		return err
	}
	defer f.Close()
	m.Judge.Tampering = 0
	var column dataset.ColumnValues
	for g := range f.RowGroups() {
		if err := f.ReadColumn(g, "tampering", &column); err != nil {
			return err
		}
		for _, what := range column.Strings {
			if what != "" && what != "none" {
				m.Judge.Tampering++
			}
		}
	}
	if n := m.Judge.Tampering; n > 0 {
		text := fmt.Sprintf("rows that try to steer the judge: %d, see the column tampering of %s", n, runs.RowsFile)
		m.Warnings = append(m.Warnings, text)
		p.job.warn("%s", text)
	}
	return nil
}
