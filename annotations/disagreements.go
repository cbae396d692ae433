package annotations

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"ibid/dataset"
	"ibid/dataset/runs"
)

// disagreementsSchema names the form of the file of disagreements.
const disagreementsSchema = "ibid.disagreements/v1"

type disagreementsFile struct {
	Schema string         `json:"schema"`
	Worst  []Disagreement `json:"worst"`
}

// WriteDisagreements leaves the worst disagreements of a run in its directory:
// places and labels, not what stands at the places.
func WriteDisagreements(dir string, worst []Disagreement) error {
	data, err := json.MarshalIndent(disagreementsFile{disagreementsSchema, append([]Disagreement{}, worst...)}, "", "  ")
	if err != nil {
		return err
	}
	return dataset.WriteFile(filepath.Join(dir, runs.DisagreementsFile), func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
}

// ReadDisagreements reads what [WriteDisagreements] left; none if there is no such
// file.
func ReadDisagreements(dir string) ([]Disagreement, error) {
	path := filepath.Join(dir, runs.DisagreementsFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var in disagreementsFile
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if in.Schema != disagreementsSchema {
		return nil, fmt.Errorf("%s: schema is %q, this ibid reads %q", path, in.Schema, disagreementsSchema)
	}
	return in.Worst, nil
}
