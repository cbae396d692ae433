package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/disk"
	"ibid/dataset/runs"
)

// A Shard is one of Of shares of a run: a stretch of its parts.
type Shard struct{ Number, Of int } // from 1

// ParseShard reads I/N.
func ParseShard(text string) (Shard, error) {
	number, of, ok := strings.Cut(text, "/")
	i, err := strconv.Atoi(number)
	n, err2 := strconv.Atoi(of)
	if !ok || err != nil || err2 != nil || i < 1 || i > n || n > maxShards {
		return Shard{}, ibid.Usagef("shard %q is not I/N with I from 1 to N, and N at most %d", text, maxShards).With("such as --shard 3/16")
	}
	return Shard{i, n}, nil
}

const maxShards = 1 << 20

// parts are those of the shard, half-open. They follow from the numbers alone.
func (s Shard) parts(all int64) (from, to int64) {
	of := int64(s.Of)
	return all * int64(s.Number-1) / of, all * int64(s.Number) / of
}

func (s Shard) folder() string {
	return fmt.Sprintf("shard-%0*d-of-%d", len(strconv.Itoa(s.Of)), s.Number, s.Of)
}

// shardFile says that a shard is done, and of what it is. It is written last.
const shardFile = "shard.json"

const shardSchema = "ibid.shard/v1"

// A shardState is the content of shardFile. It is the same whoever made the shard, and
// when.
type shardState struct {
	Schema      string            `json:"schema"`
	Fingerprint string            `json:"fingerprint"`
	Number      int               `json:"shard"`
	Of          int               `json:"of"`
	Parts       int64             `json:"parts"` // of the whole run
	From        int64             `json:"from"`  // the parts of the shard, half-open
	To          int64             `json:"to"`
	Files       map[string]string `json:"files"` // SHA-256 of the files in its folder parts
}

// readShard reads the state of a shard, nil if it is not done.
func readShard(dir string) (*shardState, error) {
	var s shardState
	sealed, err := runs.ReadJSON(filepath.Join(dir, shardFile), &s)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && (!sealed || s.Schema != shardSchema) {
		err = runs.Damaged(filepath.Join(dir, shardFile), "is no "+shardSchema)
	}
	return &s, err
}

// checkShard refuses what has no place in a shard.
func (p *Plan) checkShard() error {
	switch {
	case p.job.Shard == nil:
		return nil
	case p.anchors != nil:
		return ibid.Usagef("judge.anchors: a shard judges no anchors").With("leave them out, or run without --shard")
	case p.imported != nil:
		return ibid.Usagef("a shard reads Parquet alone: every shard would import the rest, too").With("import it once: ibid import auto … -o answers.parquet")
	}
	s := &p.job.Config.Judge
	if p.live != nil && (s.MaxCostUSD > 0 || s.RPM > 0) {
		p.warn("judge.max_cost_usd and judge.rpm hold for each shard, not for all together")
	}
	return nil
}

// sealShard says that all parts of the shard are done.
func (p *Plan) sealShard(m *runs.Manifest, parts, from, to int64) error {
	if p.live != nil {
		m.Judge.SpentUSD = new(float64(p.spentBefore+p.live.Usage().CostNanoUSD) / 1e9)
	}
	if err := m.Write(p.Dir); err != nil {
		return err
	}
	s := shardState{
		Schema: shardSchema, Fingerprint: p.Fingerprint, Number: p.job.Shard.Number, Of: p.job.Shard.Of,
		Parts: parts, From: from, To: to, Files: make(map[string]string),
	}
	for k := from; k < to; k++ {
		for _, kind := range p.partFiles() {
			path := p.partPath(k, kind)
			digest, err := fileDigest(path)
			if err != nil {
				return err
			}
			s.Files[filepath.Base(path)] = digest
		}
	}
	return runs.WriteJSON(filepath.Join(p.Dir, shardFile), &s)
}

// Shards are those that make a whole run.
type Shards struct {
	Manifest *runs.Manifest // of one of them
	parts    []string       // the folder of each part
	warnings []string
	spentUSD *float64
	seconds  float64
}

// A ShardsError says why shards are no run. Nothing was written.
type ShardsError struct{ Err error }

func (e *ShardsError) Error() string { return e.Err.Error() }
func (e *ShardsError) Unwrap() error { return e.Err }

// noRun is a [*ShardsError] of lines, and what to do about it.
func noRun(hint string, lines ...string) error {
	return &ShardsError{&ibid.Error{Err: errors.New(strings.Join(lines, "\n  ")), Hint: hint}}
}

// OpenShards opens the shards in directories: those that are shards, and those in folders
// of shards. Unless they are every part of one run exactly once, and all files are as
// they were written, the error is a [*ShardsError].
func OpenShards(ctx context.Context, dirs []string) (*Shards, error) {
	found, err := findShards(dirs)
	if err != nil {
		return nil, err
	}
	var out Shards
	var first *shardState
	var from string                // of first
	ofs, done := 0, map[int]bool{} // shards of equal shares, and which are there
	var owner []string             // of each part
	var unfinished, damaged []string
	for _, dir := range found {
		s, err := readShard(dir)
		if _, ok := errors.AsType[runs.Damage](err); ok {
			damaged = append(damaged, err.Error())
			continue
		}
		if err != nil {
			return nil, err
		}
		m, err := runs.ReadManifest(dir)
		if err != nil {
			return nil, err
		}
		if s == nil {
			unfinished = append(unfinished, dir)
			continue
		}
		if first == nil {
			first, from, ofs = s, dir, s.Of
			owner, out.Manifest = make([]string, s.Parts), m
		}
		if s.Fingerprint != first.Fingerprint || s.Parts != first.Parts {
			lines := append([]string{fmt.Sprintf("%s is a shard of another run than %s", dir, from)}, changes(out.Manifest.Ingredients, m.Ingredients)...)
			return nil, noRun("leave it out, or make it again from the same data and settings", lines...)
		}
		if s.Of != ofs {
			ofs = 0
		}
		bad, err := damagedFile(ctx, dir, s)
		if err != nil {
			return nil, err
		}
		if bad != "" {
			damaged = append(damaged, bad+": is not as it was written")
			continue
		}
		for k := s.From; k < s.To; k++ {
			if owner[k] != "" {
				return nil, noRun("leave one of them out", fmt.Sprintf("%s and %s both have part %d: each is wanted exactly once", owner[k], dir, k))
			}
			owner[k] = dir
		}
		done[s.Number] = true
		out.add(m)
	}
	var lines []string
	for _, dir := range unfinished {
		lines = append(lines, dir+" is not finished")
	}
	lines = append(lines, damaged...)
	if first == nil {
		lines = append([]string{"no finished shard in " + strings.Join(dirs, ", ")}, lines...)
		return nil, noRun("make them: ibid run RUN.yaml --shard I/N --out DIR", lines...)
	}
	if missing := missingParts(owner); missing != nil {
		text, hint := "parts are missing: "+ranges(missing), "make the shards that have them"
		if ofs > 0 {
			var numbers []int64
			for i := 1; i <= ofs; i++ {
				if a, b := (Shard{i, ofs}).parts(first.Parts); !done[i] && a < b {
					numbers = append(numbers, int64(i))
				}
			}
			text = fmt.Sprintf("%d of %d shards are missing: --array=%s", len(numbers), ofs, ranges(numbers))
			hint = "run these again, such as --shard " + strconv.FormatInt(numbers[0], 10) + "/" + strconv.Itoa(ofs) + ", and merge all"
		}
		return nil, noRun(hint, append([]string{text}, lines...)...)
	}
	out.parts = owner
	return &out, nil
}

// findShards are the directories that are shards, or that hold some, each once.
func findShards(dirs []string) ([]string, error) {
	var out []string
	for _, dir := range dirs {
		entries, err := disk.ReadDir(dir)
		if err != nil {
			return nil, &ibid.Error{Usage: true, Err: err}
		}
		if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == runs.ManifestFile }) {
			out = append(out, filepath.Clean(dir))
			continue
		}
		for _, e := range entries {
			inner := filepath.Join(dir, e.Name())
			if m, err := runs.ReadManifestIfAny(inner); e.IsDir() && strings.HasPrefix(e.Name(), "shard-") && (m != nil || err != nil) {
				out = append(out, inner)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// damagedFile is a file of a shard that is not as it was written, "" if there is none.
func damagedFile(ctx context.Context, dir string, s *shardState) (string, error) {
	for name, want := range s.Files {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		path := filepath.Join(dir, partsDir, name)
		got, err := fileDigest(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if got != want {
			return path, nil
		}
	}
	return "", nil
}

// add takes what the manifest of a finished shard says of how it was made.
func (s *Shards) add(m *runs.Manifest) {
	for _, text := range m.Warnings {
		if !slices.Contains(s.warnings, text) {
			s.warnings = append(s.warnings, text)
		}
	}
	if m.Judge.SpentUSD != nil {
		if s.spentUSD == nil {
			s.spentUSD = new(float64)
		}
		*s.spentUSD += *m.Judge.SpentUSD
	}
	s.seconds += m.Timings.Seconds
	if m.Timings.Started.Before(s.Manifest.Timings.Started) {
		s.Manifest.Timings.Started = m.Timings.Started
	}
}

func missingParts(owner []string) (missing []int64) {
	for k, dir := range owner {
		if dir == "" {
			missing = append(missing, int64(k))
		}
	}
	return missing
}

// ranges writes rising numbers as 3,7-9.
func ranges(numbers []int64) string {
	var out []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		text := strconv.FormatInt(numbers[i], 10)
		if j > i {
			text += "-" + strconv.FormatInt(numbers[j], 10)
		}
		out = append(out, text)
		i = j + 1
	}
	return strings.Join(out, ",")
}

// checkMerge compares the plan with the shards that it is to be made of.
func (p *Plan) checkMerge() error {
	s := p.job.Merge
	if s == nil || s.Manifest.Fingerprint == p.Fingerprint {
		return nil
	}
	return ibid.Usagef("the data are not those that the shards were made from").With("put them back, or make the shards again", changes(s.Manifest.Ingredients, p.Ingredients)...)
}

// takeShards makes the parts of shards those of the run, which has their names too.
func (p *Plan) takeShards(ctx context.Context, m *runs.Manifest) error {
	s := p.job.Merge
	m.Timings.Started, m.Timings.Seconds, m.Judge.SpentUSD = s.Manifest.Timings.Started, s.seconds, s.spentUSD
	for _, text := range s.warnings {
		if !slices.Contains(m.Warnings, text) {
			m.Warnings = append(m.Warnings, text)
		}
	}
	for k, dir := range s.parts {
		for _, kind := range p.partFiles() {
			if err := ctx.Err(); err != nil {
				return err
			}
			to := p.partPath(int64(k), kind)
			if err := takeFile(filepath.Join(dir, partsDir, filepath.Base(to)), to); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeFile gives a file another name, or makes a copy of it where that cannot be.
func takeFile(from, to string) error {
	if err := removeIfThere(to); err != nil {
		return err
	}
	if disk.Link(from, to) == nil {
		return nil
	}
	f, err := disk.Open(from, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	return dataset.WriteFile(to, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// finishedShard is the outcome of a shard that is done already, nil if it is not.
func (p *Plan) finishedShard(m *runs.Manifest) (*Outcome, error) {
	if p.job.Shard == nil {
		return nil, nil
	}
	s, err := readShard(p.Dir)
	if err != nil || s == nil {
		return nil, err
	}
	return &Outcome{Dir: p.Dir, Manifest: m, Existed: true}, nil
}
