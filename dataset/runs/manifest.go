// Package runs is the layout of a run directory: which files it has, the
// columns of each, and how its manifest and summary are read and written.
//
// Package harness makes run directories; reports, comparisons and gates read
// them through this package.
package runs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ibid"
	"ibid/configs"
	"ibid/dataset/convert"
	"ibid/metrics"
)

// ManifestSchema names the form of manifest.json.
const ManifestSchema = "ibid.manifest/v1"

// ManifestFile is the name of the manifest in a run directory.
const ManifestFile = "manifest.json"

// The states of a run.
const (
	StatusRunning  = "running"  // unfinished: parts are there, results are not
	StatusComplete = "complete" // every row has its result
	StatusRange    = "range"    // a range of the rows has its results; ibid summary makes a run of all
	StatusPartial  = "partial"  // finished, but some rows are error rows, or a model did not answer some claims; running again asks it again
)

// A Manifest says what a run is made of and what became of it. It is the one
// file of a run that is allowed to differ between two runs over the same data.
type Manifest struct {
	Schema      string            `json:"schema"`
	ID          string            `json:"id"`
	Status      string            `json:"status"`
	Fingerprint string            `json:"fingerprint"`
	Ingredients map[string]string `json:"fingerprint_of"` // what the fingerprint was made from
	Source      string            `json:"source"`         // the run file or dataset as the user named it
	Dataset     string            `json:"dataset"`        // as resolved from the settings
	Documents   string            `json:"documents,omitempty"`
	Truth       string            `json:"truth,omitempty"` // tables that were joined
	Labels      string            `json:"labels,omitempty"`
	Settings    []configs.Value   `json:"settings"` // the effective ones, and where they came from
	Inputs      []Input           `json:"inputs"`
	Imported    *Imported         `json:"imported,omitempty"` // what inputs were made from that are not Parquet; nil if all are
	Versions    map[string]string `json:"versions"`
	Judge       JudgeRecord       `json:"judge"`
	Range       *RowRange         `json:"range,omitempty"`          // --rows: the rows that were scored; nil of a whole run
	Limit       int64             `json:"limit,omitempty"`          // --limit of the run
	Only        map[string]string `json:"only,omitempty"`           // --only of the run
	Baseline    string            `json:"baseline,omitempty"`       // run directory that the run is compared with; "" if there is none
	Given       bool              `json:"baseline_given,omitempty"` // --baseline names it, or none; else it is the base of the run's series
	Rows        int64             `json:"rows"`
	Claims      int64             `json:"claims"`
	Citations   int64             `json:"citations"`
	Errors      int64             `json:"error_rows"`
	Statuses    map[string]int64  `json:"citation_statuses,omitempty"`
	Coverage    *float64          `json:"coverage"` // rows that have a result / rows; null without rows
	Components  []string          `json:"overall_components,omitempty"`
	Signs       []Sign            `json:"signs,omitempty"` // that the input may be wrong
	Warnings    []string          `json:"warnings,omitempty"`
	Timings     Timings           `json:"timings"`

	// Gates are how the gates ended that the run was begun with; "" without gates.
	Gates Verdict `json:"gates,omitempty"`

	// Questions tell which other runs ask the same ones; nil of a run of an earlier version.
	Questions Sketch `json:"questions,omitempty"`

	// Places are what became of cited and marked places, by system; nil if that is not known.
	Places map[string]*metrics.Places `json:"places,omitempty"`

	// Files are the digests of the result files of a finished run: SHA-256, of Parquet
	// that of the footer.
	Files map[string]string `json:"files,omitempty"`
}

// A RowRange is a stretch of the rows of a dataset, half-open.
type RowRange struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	Of   int64 `json:"of"` // rows of the dataset
}

// In names the rows, or the whole run that a nil range is.
func (r *RowRange) In() string {
	if r == nil {
		return "the run of all rows"
	}
	return fmt.Sprintf("the rows %d to %d of a run", r.From, r.To-1)
}

// Supported is the support from which a claim or citation is supported.
func (m *Manifest) Supported() float64 {
	if at := m.Judge.SupportedFrom; at != nil && m.Judge.Kind != "lexical" {
		return *at
	}
	return m.Effective().Thresholds.Supported
}

// Effective are the settings of the run, typed. What its manifest does not say has
// its default.
func (m *Manifest) Effective() *configs.Settings { return configs.FromValues(m.Settings) }

// An Input is one file that the run read.
type Input struct {
	Kind   string `json:"kind"` // dataset or documents
	Path   string `json:"path"`
	Rows   int64  `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // "" for an object

	// Version is the ETag of an object. With the size it stands for the content.
	Version string `json:"version,omitempty"`

	// Unchecked is how many of the bytes that a run reads are in Parquet pages without
	// checksums: damage there may read as other values.
	Unchecked int64 `json:"unchecked_bytes,omitempty"`

	Modified time.Time `json:"modified,omitzero"` // where it says so, the file is not hashed again
}

// ImportDir is the folder of a run directory with what its inputs were imported to.
const ImportDir = "import"

// An Imported says what the files in [ImportDir] were made from, and what became of it.
type Imported struct {
	Version   string            `json:"version"`               // of ibid
	Documents bool              `json:"documents"`             // documents were imported, too
	Inputs    []Input           `json:"inputs"`                // as the user named them
	FirstMark string            `json:"marks_first,omitempty"` // the setting marks.first
	Columns   map[string]string `json:"columns,omitempty"`     // the setting columns, which the import has applied
	Report    convert.Report    `json:"report"`                // in a manifest with the first errors and warnings only
}

// Same reports whether both were made from the same files in the same way.
func (i *Imported) Same(other *Imported) bool {
	return i.Version == other.Version && i.Documents == other.Documents && i.FirstMark == other.FirstMark && maps.Equal(i.Columns, other.Columns) && slices.EqualFunc(i.Inputs, other.Inputs, func(a, b Input) bool {
		return a.SHA256 == b.SHA256 && filepath.Base(a.Path) == filepath.Base(b.Path)
	})
}

// A JudgeRecord says who judged and what it cost.
type JudgeRecord struct {
	Kind       string `json:"kind"`
	Model      string `json:"model,omitempty"`
	Replay     string `json:"replay,omitempty"`   // file of recorded verdicts, as resolved from the settings
	Baseline   bool   `json:"baseline,omitempty"` // a simple method that others are measured against
	Asked      int64  `json:"asked"`              // claims that the judge was asked about
	Unanswered int64  `json:"unanswered"`         // of them, claims that it could not answer

	// Of thresholds that ibid calibrate chose; null if none did. Those of support take the place
	// of the setting thresholds.supported, those of lexical are of overlap.
	SupportedFrom *float64 `json:"supported_from,omitempty"`
	UnsupportedTo *float64 `json:"unsupported_to,omitempty"`

	AsksElsewhere bool `json:"asks_elsewhere"` // it is asked whether passages that a claim does not cite support it

	Failed int64 `json:"failed,omitempty"` // of those, claims of rows that ended without a verdict

	// Of a judge that asks models: which, with what, and what it took. Calls are
	// those of calls.parquet: of a call that failed and was sent again, one.
	Prompt           string     `json:"prompt,omitempty"`   // version of the prompts
	Answered         []Answerer `json:"answered,omitempty"` // who answered; more than one judge is a warning
	Calls            int64      `json:"calls"`
	Cached           int64      `json:"cached"`
	Retries          int64      `json:"retries,omitempty"`
	PromptTokens     int64      `json:"prompt_tokens,omitempty"`
	CompletionTokens int64      `json:"completion_tokens,omitempty"`
	CostUSD          *float64   `json:"cost_usd"`             // null when nothing was asked
	LatencyMillis    *float64   `json:"latency_ms,omitempty"` // mean of the calls that were sent

	// SpentUSD is what the calls of all processes that worked on the run cost, those
	// without use with them: what counts against its budget. Null if the judge asks
	// no model.
	SpentUSD *float64 `json:"spent_usd,omitempty"`

	Tampering int64 `json:"tampering,omitempty"` // rows whose material tries to steer the judge, as it says itself
	Suspected int64 `json:"suspected,omitempty"` // other rows whose material looks as if it did

	Panel []PanelPair `json:"panel,omitempty"` // how models that judged together agree
}

// A PanelPair is how two models of a panel agree about claims, by the label of
// each claim with all that it cites. Claims that one of them is unsure about are
// left out and counted.
type PanelPair struct {
	Models    [2]string `json:"models"` // in the order of their names
	Claims    int64     `json:"claims"`
	Unsure    int64     `json:"unsure"`
	Agreement *float64  `json:"agreement"` // share of the claims with the same label; null without claims
	Kappa     *float64  `json:"kappa"`     // Cohen's, unweighted; null where chance leaves no room to disagree
}

// An Answerer is a model, and who served it, with the calls that it answered.
type Answerer struct {
	Model    string `json:"model"`
	Provider string `json:"provider,omitempty"`
	Calls    int64  `json:"calls"`
}

// Name is the judge by its model, or else by its kind.
func (j *JudgeRecord) Name() string { return cmp.Or(j.Model, j.Kind) }

// Coverage is the share of the claims put to the judge that it answered, 1 if it
// was asked nothing.
func (j *JudgeRecord) Coverage() float64 {
	if j.Asked == 0 {
		return 1
	}
	return float64(j.Asked-j.Unanswered) / float64(j.Asked)
}

// Timings tell how long a run took. A resumed run adds up.
type Timings struct {
	Started  time.Time  `json:"started"`
	Finished *time.Time `json:"finished"`
	Seconds  float64    `json:"seconds"` // wall time over all its processes
	Resumed  int        `json:"resumed"` // how often it was taken up again
	Workers  int        `json:"workers"`
}

// Complete reports whether the results of the run can be read.
func (m *Manifest) Complete() bool { return m.Status == StatusComplete || m.Status == StatusPartial }

// A SchemaError is about a manifest of another form, or of something else.
type SchemaError struct{ Path, Schema string }

func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s: schema is %q, this ibid reads %q", e.Path, e.Schema, ManifestSchema)
}

// OfRun reports whether the manifest is that of a run, if of another form.
func (e *SchemaError) OfRun() bool {
	kind, _, _ := strings.Cut(ManifestSchema, "/")
	return strings.HasPrefix(e.Schema, kind+"/")
}

// ReadManifest reads the manifest of the run in dir. The error wraps
// fs.ErrNotExist if dir holds no run, a [SchemaError] if this program does not read it,
// and a [Damage] if the manifest or a result file of the run is not as it was
// written: both are compared with the digests that the manifest has, pages of Parquet
// with their checksums as they are read.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestFile)
	var m Manifest
	sealed, err := ReadJSON(path, &m)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && m.Schema != ManifestSchema {
		return nil, &SchemaError{path, cmp.Or(m.Schema, wrong.Value)}
	}
	if err != nil {
		return nil, err
	}
	if m.Schema != ManifestSchema {
		return nil, &SchemaError{path, m.Schema}
	}
	if !sealed {
		return nil, Damaged(path, "has lost the digest of itself")
	}
	return &m, m.checkFiles(dir)
}

// ReadManifestIfAny is ReadManifest that returns nil where there is no run.
func ReadManifestIfAny(dir string) (*Manifest, error) {
	m, err := ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return m, err
}

// OfRows reports whether the run was made of rows that were scored before, so that it has
// no dataset.
func (m *Manifest) OfRows() bool { return m.Dataset == "" }

// Write replaces the manifest of the run in dir. That of a finished run gets the digests
// of its result files, which must be written before.
func (m *Manifest) Write(dir string) (err error) {
	m.Files = nil
	if m.Complete() || m.Status == StatusRange {
		if m.Files, err = digestFiles(dir); err != nil {
			return err
		}
	}
	return m.write(dir)
}

func (m *Manifest) write(dir string) error { return WriteJSON(filepath.Join(dir, ManifestFile), m) }

// Moved says in sentences how many places the run moved to where their quotes stand, and
// what it could not place. It is empty if every place is where it was said to be.
func (m *Manifest) Moved() []string {
	var out []string
	const counted = "%s is not at its offsets: counted where the quote is"
	if n := m.Statuses[ibid.StatusQuoteRepaired.String()]; n > 0 {
		out = append(out, fmt.Sprintf(counted, quotes(n, "citation", m.Citations)))
	}
	var all metrics.Places
	for _, places := range m.Places {
		all.Add(places)
	}
	if all.Moved > 0 {
		out = append(out, fmt.Sprintf(counted, quotes(all.Moved, "truth span", 0)))
	}
	if all.Lost > 0 {
		out = append(out, fmt.Sprintf("truth spans without a place (quote not found, or offsets beyond 2^31-1): %d; span metrics of their rows are undefined (truth_not_found)", all.Lost))
	}
	return out
}

// quotes counts the quotes of n places, of all of them if that number is known.
func quotes(n int64, of string, all int64) string {
	text := fmt.Sprintf("the quote of %d %s", n, of)
	if n != 1 {
		text += "s"
	}
	if all > 0 {
		text += fmt.Sprintf(" of %d", all)
	}
	return text
}
