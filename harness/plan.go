package harness

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"ibid"
	"ibid/annotations"
	"ibid/dataset"
	"ibid/dataset/objects"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/judge/openrouter"
	"ibid/metrics"
	"ibid/metrics/claims"
)

// A Plan is a run before anything is written: its inputs are open, its settings
// have been checked against them, and its fingerprint is known.
type Plan struct {
	job            *Job
	imported       *importedInput // nil if all inputs are Parquet
	named          string         // the dataset, as the settings have it
	namedDocuments string         // what has the documents, as the settings have it
	kept           string         // the folder of a run whose texts are read in place of documents; "" for none
	gone           error          // why they are
	source         *dataset.Source
	people         *dataset.Source         // the same, for what annotators said
	tables         *Tables                 // in place of source: rows that are scored already
	documents      *dataset.DocumentSource // nil if the run has none
	loaded         *dataset.Documents      // all of them, for rows that come in a stream
	truth          *dataset.Gold           // joined to source and people; nil if there is none
	labels         *dataset.Gold           // likewise
	names          *dataset.DocumentNames  // of documents, for all spellings of them; nil if names are exact
	conventions    dataset.Conventions
	options        metrics.Options
	inputs         []runs.Input
	judge          judge.Judge    // nil if the run has none
	held           *lock          // of the run directory, while Run is at work
	live           judge.Live     // the judge, if it asks over a network; else nil
	inline         bool           // some row brings documents of its own
	annotators     annotatorNames // of the rows that were scored
	several        atomic.Bool    // some row that was scored may have two annotators
	severalSystems bool           // rows are of several systems; known once keys are checked
	questions      runs.Sketch    // of the rows; known then, too
	warnings       []string       // of planning, for the manifest
	rows           *runs.RowRange // that this process scores; nil for all

	// What earlier processes spent on this run, in billionths of a US dollar.
	spentBefore int64

	replayDigest     string                          // of the file of recorded verdicts
	thresholds       *annotations.Thresholds         // of judge.file; nil if it has none
	thresholdsDigest string                          // of that file
	openBatches      []string                        // of the judge, when the run stops: what the service calls them
	keptQuotations   func() (*keptQuotations, error) // of the run in kept
	texts            *keptTexts                      // nil if the run keeps none, or those of another
	log              *runLog                         // of the run while it lasts
	embedder         *openrouter.Embedder            // nil if no endpoint is asked for vectors
	notFetched       notFetched

	Ingredients map[string]string // what the fingerprint is made of
	Fingerprint string
	ID          string
	Dir         string // the run directory
	Rows        int64  // rows of the input that this run covers
}

// Plan opens the inputs and derives the fingerprint. It writes nothing but what it has to
// import first, which Close removes unless a run has taken it. Wrong input is
// [ibid.ErrUsage].
func (j *Job) Plan(ctx context.Context) (*Plan, error) {
	p := &Plan{job: j, tables: j.Tables, named: j.Config.Dataset, namedDocuments: cmp.Or(j.Config.Documents, j.Config.Dataset)}
	var err error
	switch {
	case j.ID != "" && (strings.TrimSpace(j.ID) == "" || j.ID == "." || j.ID == ".." || strings.ContainsAny(j.ID, "/\\\x00\n")):
		err = ibid.Usagef("the name of a run is that of one folder, not %q", j.ID).With("choose another: --id NAME")
	case p.tables != nil:
		p.named = p.tables.Files[0]
		err = asUsage(p.planTables(ctx))
	default:
		err = p.prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Plan) prepare(ctx context.Context) error {
	if err := p.importInputs(ctx); err != nil {
		return err
	}
	if err := p.open(ctx); err != nil {
		return asUsage(err)
	}
	if p.gone != nil {
		p.warn("%v: scored with the texts that run %s kept", p.gone, p.job.SameDataAs.ID)
	}
	if err := p.checkSettings(ctx); err != nil {
		return err
	}
	if err := p.join(ctx); err != nil {
		return asUsage(err)
	}
	if err := p.checkRecorded(ctx); err != nil {
		return asUsage(err)
	}
	if err := p.digest(ctx); err != nil {
		return err
	}
	if err := p.checkData(); err != nil {
		return err
	}
	p.Fingerprint = fingerprintOf(p.Ingredients)
	p.name()
	if s := p.job.Scored; s != nil && s.Manifest.Fingerprint != p.Fingerprint {
		return ibid.Usagef("the data are not those that the rows were scored from").With("put them back, or score the rows again", changes(s.Manifest.Ingredients, p.Ingredients)...)
	}
	if err := p.checkRows(); err != nil {
		return err
	}
	return p.checkBaseline()
}

// checkData compares the data with those of the run that this one must have.
func (p *Plan) checkData() error {
	m := p.job.SameDataAs
	if m == nil {
		return nil
	}
	for _, kind := range []string{"dataset", "documents", "truth", "labels"} {
		if m.Ingredients[kind] == p.Ingredients[kind] {
			continue
		}
		var lines []string
		for _, in := range inputsOf(m, kind) {
			if !slices.ContainsFunc(p.inputs, func(now runs.Input) bool { return now.SHA256 == in.SHA256 && now.Version == in.Version }) {
				lines = append(lines, fmt.Sprintf("it read %s with the SHA-256 %s", in.Path, cmp.Or(in.SHA256, "not known")))
			}
		}
		return ibid.Usagef("the %s of run %s changed since it was made", kind, m.ID).With("evaluate it again: ibid run", lines...)
	}
	return nil
}

// want is what scoring needs of the dataset.
const want = dataset.WantKeys | dataset.WantAnswers | dataset.WantSpans | dataset.WantQuotes |
	dataset.WantDetails | dataset.WantDocuments | dataset.WantMessages | dataset.WantTags

// wantJudged is what a judge needs besides.
const wantJudged = dataset.WantClaims | dataset.WantLabels

func (p *Plan) want() dataset.Want {
	if p.job.judgeKind() == noJudge {
		return want
	}
	return want | wantJudged
}

func (p *Plan) open(ctx context.Context) (err error) {
	s := &p.job.Config.Settings
	if m := p.job.SameDataAs; m != nil && m.OfRows() {
		return ibid.Usagef("it was made of rows, which have no texts").With("evaluate it again: ibid run")
	}
	if s.Dataset == "" {
		return ibid.Usagef("no dataset").With("name one: ibid run DATASET, or dataset: PATH in the run file")
	}
	for _, open := range []func(context.Context) error{p.openGold, p.openDocuments, p.openNames} {
		if err := open(ctx); err != nil {
			return err
		}
	}
	all, err := p.openDataset(p.want() | wantAnnotated)
	if err != nil {
		return err
	}
	p.source, p.people = all.Select(p.want()), all.Select(wantAnnotated)
	return ctx.Err()
}

// checkSettings brings settings and inputs together and checks what depends on both.
func (p *Plan) checkSettings(ctx context.Context) error {
	var err error
	if p.conventions, err = p.agreedConventions(); err != nil {
		return err
	}
	if err := p.openScoring(ctx); err != nil {
		return err
	}
	if err := p.findComponents(ctx); err != nil {
		return asUsage(err)
	}
	if err := p.checkOptions(); err != nil {
		return err
	}
	if err := checkGates(p.job.Config, p.job.Baseline != NoBaseline); err != nil {
		return err
	}
	p.Rows = rowsOf(p.source, p.job.Limit)
	return nil
}

// openScoring opens what rows are scored with: the detector of citations and the judge.
func (p *Plan) openScoring(ctx context.Context) (err error) {
	p.options = optionsOf(&p.job.Config.Settings, p.job.judgeKind())
	if err := p.openDetector(ctx); err != nil {
		return asUsage(err)
	}
	if p.judge, err = p.openJudge(ctx); err != nil {
		return err
	}
	if err := p.openThresholds(ctx); err != nil {
		return err
	}
	p.options.AsksElsewhere = p.asksElsewhere()
	p.live, _ = p.judge.(judge.Live)
	return nil
}

// checkOptions checks the settings of scoring against the inputs.
func (p *Plan) checkOptions() error {
	if p.conventions.NeedDocuments() && !p.hasDocuments() && !p.inline {
		return ibid.Usagef("offset_unit is %s, but there are no documents to convert by", p.conventions.OffsetUnit).With("give the documents: --documents PATH")
	}
	return nil
}

// digest hashes the inputs and collects what the fingerprint is made of.
func (p *Plan) digest(ctx context.Context) error {
	j, since := p.job, time.Now()
	progress := func(done, of int64) {
		j.progress(Progress{Stage: "reading digests", Done: done, Of: of, Since: since, UnitsBytes: true})
	}
	p.Ingredients = p.settingIngredients()
	if j.Limit > 0 {
		p.Ingredients["--limit"] = strconv.FormatInt(j.Limit, 10)
	}
	for key, value := range j.Only {
		p.Ingredients["--only "+key] = value
	}
	digests, err := p.source.Digest(ctx, progress)
	if err != nil {
		return asUsage(err)
	}
	p.addInputs("dataset", digests)
	if p.documents != nil {
		if digests, err = p.documents.Digest(ctx, progress); err != nil {
			return asUsage(err)
		}
		p.addInputs("documents", digests)
		if reader := p.documents.Reader(); reader != "" {
			p.Ingredients["documents.reader"] = reader
		}
	} else if m := j.SameDataAs; p.kept != "" { // the documents that the run had are gone
		for _, kind := range []string{"documents", "documents.reader"} {
			if v, ok := m.Ingredients[kind]; ok {
				p.Ingredients[kind] = v
			}
		}
		p.inputs = append(p.inputs, inputsOf(m, "documents")...)
	}
	for kind, g := range p.gold {
		if digests, err = g.Digest(ctx, progress); err != nil {
			return asUsage(err)
		}
		p.addInputs(kind, digests)
	}
	return nil
}

// settingIngredients are what numbers depend on beside the data.
func (p *Plan) settingIngredients() map[string]string {
	out := map[string]string{"metrics": metricsVersion, "phrases": claims.PhrasesDigest()}
	for _, v := range p.job.Config.ScoreSettings() {
		out[v.Key] = v.Value
	}
	if p.thresholds != nil {
		out["judge.thresholds"] = p.thresholdsDigest
	}
	if p.judge != nil {
		info := p.judge.Info()
		out["judge"] = info.Kind + " " + info.Model + p.replayDigest
		if info.Prompt != "" {
			out["judge.prompt"] = info.Prompt
		}
	}
	return out
}

// addInputs records the files of one kind; their content, in order, becomes an
// ingredient of the fingerprint.
func (p *Plan) addInputs(kind string, files []dataset.FileDigest) {
	content := make(map[string]string, len(files))
	for i, f := range files {
		p.inputs = append(p.inputs, runs.Input{Kind: kind, Path: f.Name, Rows: f.Rows, Bytes: f.Size, SHA256: f.SHA256, Version: f.Version, Unchecked: f.Unchecked, Modified: f.Modified.UTC()})
		content[fmt.Sprintf("%08d", i)] = f.Content() + f.Doc
	}
	p.Ingredients[kind] = fingerprintOf(content)
}

// name chooses id and directory.
func (p *Plan) name() {
	p.ID = p.job.ID
	if p.ID == "" {
		p.ID = stem(p.named) + "-" + p.Fingerprint[:8]
	}
	if p.job.Fresh {
		p.ID += "-" + time.Now().UTC().Format("20060102T150405Z")
	}
	p.Dir = filepath.Join(p.job.Config.Out, p.ID)
}

// stem names a dataset: its file without extension, or the folder of a glob.
func stem(path string) string {
	if path == stdinPath {
		return "stdin"
	}
	base := filepath.Base(path)
	if strings.ContainsAny(base, "*?[") {
		base = filepath.Base(filepath.Dir(path))
	}
	for _, ending := range []string{".gz", ".zst", ".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".sse"} {
		base = strings.TrimSuffix(base, ending)
	}
	if base == "." || base == string(filepath.Separator) {
		return "dataset"
	}
	return base
}

// asUsage makes wrong use of what the inputs are blamed for; trouble with reading them
// stays as it is.
func asUsage(err error) error {
	var path *fs.PathError
	switch {
	case err == nil, errors.Is(err, ibid.ErrUsage), errors.Is(err, context.Canceled), objects.Trouble(err),
		errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return &ibid.Error{Usage: true, Err: err}
}

// Errors of reading that end it early on purpose.
var errEnough = errors.New("enough")

func ignoreEnough(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// metricsVersion changes whenever the same data and settings would give another
// number than before. The changelog says which and why.
const metricsVersion = "16"

// fingerprintOf hashes the ingredients: each name and value with its length, in
// the order of the names, so that no two different maps give the same bytes.
func fingerprintOf(ingredients map[string]string) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(ingredients)) {
		for _, s := range []string{name, ingredients[name]} {
			h.Write([]byte(strconv.Itoa(len(s))))
			h.Write([]byte{':'})
			h.Write([]byte(s))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// changes says how the ingredients of two fingerprints differ, one line each,
// in the order of their names.
func changes(old, now map[string]string) []string {
	names := maps.Clone(old)
	maps.Copy(names, now)
	text := func(of map[string]string, name string) string {
		if value, has := of[name]; has {
			return shorten(value)
		}
		return "not there"
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		was, had := old[name]
		if is, has := now[name]; had != has || was != is {
			lines = append(lines, fmt.Sprintf("%s: %s -> %s", name, text(old, name), text(now, name)))
		}
	}
	return lines
}

// shorten cuts digests and long values to what a person compares.
func shorten(value string) string {
	const limit = 40
	if value == "" {
		return `""`
	}
	if len(value) <= limit {
		return value
	}
	return value[:limit] + "…"
}

// findComponents finds out whether any row has truth spans, and whether any has
// documents; a column may be null in every row. Truth spans decide whether the
// overall score has a span component. Documents are needed to convert offsets.
func (p *Plan) findComponents(ctx context.Context) (err error) {
	if p.source.HasTruth() {
		has := (*dataset.Batch).HasTruth
		if p.truth != nil { // which is joined as rows are made
			var row ibid.Answer
			has = func(b *dataset.Batch) bool {
				for i := range b.Len() {
					if b.Row(i, &row); row.HasTruth {
						return true
					}
				}
				return false
			}
		}
		if p.options.SpanComponent, err = someBatch(ctx, p.source.Select(dataset.WantSpans), 256, has); err != nil {
			return err
		}
	}
	if p.source.HasDocuments() {
		p.inline, err = someBatch(ctx, p.source.Select(dataset.WantDocuments), keysBatch, (*dataset.Batch).HasDocuments)
	}
	return err
}

// someBatch reports whether there is a batch, of so many rows, with a property. It reads
// no further than the first one.
func someBatch(ctx context.Context, src *dataset.Source, rows int, has func(*dataset.Batch) bool) (found bool, err error) {
	err = src.Read(ctx, 0, rows, func(b *dataset.Batch) error {
		defer b.Release()
		if found = has(b); found {
			return errEnough
		}
		return nil
	})
	return found, ignoreEnough(err)
}
