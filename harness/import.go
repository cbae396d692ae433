package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/convert"
	"ibid/dataset/disk"
	"ibid/dataset/runs"
)

// An importedInput is what a run reads in place of files in another format than Parquet:
// they are imported first, into a folder that becomes [runs.ImportDir] of the run.
// An import of the same files that a run of the same name has is taken again.
type importedInput struct {
	dir       string // where it is now
	temporary string // folder to remove in the end, "" if none
	made      string // folder that was made for it, and that is removed if nothing else is in it
	lock      *lock  // of temporary
	rows      bool   // the dataset was imported
	documents bool   // there are documents
	record    runs.Imported

	stdin *disk.File // a copy of standard input, nil if that is not read
}

// An Importing says what a plan does with inputs that are not Parquet.
type Importing uint8

const (
	ImportNothing Importing = iota // they are refused
	ImportForRun                   // they are imported into the run directory
	ImportForNow                   // they are imported into the system's temporary folder, until the plan is closed
)

// Files of an import.
const (
	importedRows      = "answers.parquet"
	importedDocuments = "documents.parquet"
	importedRecord    = "import.json"
	importPrefix      = ".ibid-import-"
	maxSaidLeftOut    = 10
)

// stdinPath is the dataset that is read from standard input.
const stdinPath = "-"

// foreignPaths are the files that a setting names, if foreign says that they are in another
// format than ours.
func foreignPaths(pattern string, directories bool, foreign func(path string) bool) []string {
	paths := []string{pattern}
	switch info, err := disk.Stat(pattern); {
	case err != nil:
		paths, _ = filepath.Glob(pattern)
		paths = slices.DeleteFunc(paths, func(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") })
		slices.Sort(paths)
	case !info.IsDir():
	case !directories:
		return nil
	default:
		if paths, _ = filepath.Glob(filepath.Join(pattern, "*.parquet")); len(paths) == 0 {
			if !convert.IsDirectoryOf(pattern) {
				return nil
			}
			return []string{pattern}
		}
	}
	if slices.ContainsFunc(paths, func(path string) bool { return !foreign(path) }) {
		return nil
	}
	return paths
}

// importInputs imports what is not Parquet with columns of ours, and makes the job read that.
func (p *Plan) importInputs(ctx context.Context) error {
	s := &p.job.Config.Settings
	answers := foreignPaths(s.Dataset, true, func(path string) bool {
		return dataset.IsForeign(path) || convert.IsOther(path, s.Columns)
	})
	if s.Dataset == stdinPath && p.job.Stdin != nil {
		answers = []string{stdinPath}
	}
	documents := foreignPaths(s.Documents, false, dataset.IsForeign)
	if p.job.Import == ImportNothing || len(answers)+len(documents) == 0 {
		return nil
	}
	im := &importedInput{rows: len(answers) > 0}
	p.imported = im
	paths := append(slices.Clone(answers), documents...)
	im.record.Version = p.job.Version
	im.record.Documents = s.Documents == "" || len(documents) > 0
	im.record.FirstMark = s.Marks.First
	if im.rows {
		im.record.Columns = s.Columns
	}
	var err error
	if im.record.Inputs, err = p.digestInputs(ctx, paths); err != nil {
		return err
	}
	if !p.findImport(im) {
		if err := p.makeImport(ctx, im, paths); err != nil {
			return err
		}
	}
	im.documents = im.record.Report.Documents > 0
	if err := CheckImport(&im.record.Report, firstMark(s.Marks.First), im.record.Columns); err != nil {
		return err
	}
	switch {
	case im.rows && im.record.Report.Rows == 0:
		return nothingImported(answers, &im.record.Report)
	case !im.rows && im.record.Report.Rows > 0:
		return ibid.Usagef("%s has rows of answers: it is no file of documents", s.Documents)
	}
	if n := im.record.Report.Failed; n > 0 {
		p.warn("%d of %d records of %s could not be read and were left out: %s in the run directory lists them", n, im.record.Report.Records, strings.Join(paths, ", "), filepath.Join(runs.ImportDir, importedRecord))
	}
	if r := &im.record.Report; im.rows && r.Citations == 0 {
		text := "no answer of " + strings.Join(paths, ", ") + " cites anything"
		if len(r.UnknownFields) > 0 {
			text += "; ibid has no place for " + listed(slices.Sorted(maps.Keys(r.UnknownFields)), maxListedNames)
		}
		p.warn("%s; --columns THEIRS=citations reads a list under another name", text)
	}
	job, config := *p.job, *p.job.Config
	job.Config = &config
	p.job = &job
	p.pointTo(im.dir)
	return nil
}

// pointTo makes the job read the import in dir.
func (p *Plan) pointTo(dir string) {
	c := p.job.Config
	if p.imported.rows {
		c.Dataset = filepath.Join(dir, importedRows)
	}
	if p.imported.documents {
		c.Documents = filepath.Join(dir, importedDocuments)
	}
}

// fileColumns are the names that files have for our columns. Where rows are imported, the
// import has read them.
func (p *Plan) fileColumns() map[string]string {
	if m := p.job.SameDataAs; p.imported != nil && p.imported.rows || m != nil && m.Imported != nil && len(m.Imported.Columns) > 0 {
		return nil
	}
	return p.job.Config.Columns
}

// warn warns now and in the manifest, of one thing once.
func (p *Plan) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if slices.Contains(p.warnings, text) {
		return
	}
	p.warnings = append(p.warnings, text)
	p.job.warn("%s", text)
}

// digestInputs hashes every file that the import may read.
func (p *Plan) digestInputs(ctx context.Context, paths []string) (inputs []runs.Input, err error) {
	if paths[0] == stdinPath {
		input, err := p.copyStdin(ctx)
		if err != nil {
			return nil, err
		}
		inputs, paths = append(inputs, input), paths[1:]
	}
	files, err := convert.Inputs(paths)
	if err != nil {
		return nil, asUsage(err)
	}
	digests, err := dataset.DigestFiles(ctx, files)
	if err != nil {
		return nil, asUsage(err)
	}
	for _, d := range digests {
		inputs = append(inputs, runs.Input{Kind: "imported", Path: d.Name, Bytes: d.Size, SHA256: d.SHA256})
	}
	return inputs, nil
}

// copyStdin copies and hashes standard input: an import of the same bytes is taken again.
func (p *Plan) copyStdin(ctx context.Context) (runs.Input, error) {
	to, err := disk.Nameless("")
	if err != nil {
		return runs.Input{}, err
	}
	p.imported.stdin = to
	digest := sha256.New()
	size, err := io.Copy(io.MultiWriter(io.NewOffsetWriter(to, 0), digest), Interruptible(ctx, p.job.Stdin))
	return runs.Input{Kind: "imported", Path: stdinPath, Bytes: size, SHA256: hex.EncodeToString(digest.Sum(nil))}, err
}

// Interruptible is r until ctx ends; from then on it gives the error of ctx. A
// Read of r may still be waiting then: nothing ends one of standard input.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.CopyBuffer(in, struct{ io.Reader }{r}, make([]byte, 1<<20))
		in.CloseWithError(err)
	}()
	return out
}

// findImport looks for an import of the same files, by the same version, in the runs that
// this one may be.
func (p *Plan) findImport(im *importedInput) bool {
	s := &p.job.Config.Settings
	if p.job.Import == ImportForNow {
		return false
	}
	name := stem(s.Dataset) + "-*"
	if p.job.ID != "" {
		name = p.job.ID
	}
	records, _ := filepath.Glob(filepath.Join(p.job.Config.Out, name, runs.ImportDir, importedRecord))
	for _, path := range records {
		var found runs.Imported
		if _, err := runs.ReadJSON(path, &found); err != nil || !found.Same(&im.record) {
			continue
		}
		im.dir, im.record = filepath.Dir(path), found
		return true
	}
	return false
}

// makeImport imports into a temporary folder, beside the runs or, of a job that leaves
// nothing, in the system's.
func (p *Plan) makeImport(ctx context.Context, im *importedInput, paths []string) error {
	parent := p.job.Config.Out
	if p.job.Import == ImportForNow {
		parent = os.TempDir()
	}
	if _, err := disk.Stat(parent); errors.Is(err, os.ErrNotExist) {
		im.made = parent
		if err := disk.MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := removeOldFolders(parent, importPrefix); err != nil {
		return err
	}
	var err error
	// Unlike os.MkdirTemp, the folder is to stay, with the permissions of others.
	im.temporary = filepath.Join(parent, fmt.Sprintf("%s%08x.tmp", importPrefix, rand.Uint32()))
	if err := disk.MkdirAll(im.temporary); err != nil {
		im.temporary = ""
		return err
	}
	if im.lock, err = acquire(im.temporary); err != nil {
		return err
	}
	im.dir = im.temporary
	docs := ""
	if im.record.Documents {
		docs = filepath.Join(im.dir, importedDocuments)
	}
	o := convert.Options{Limits: int(p.job.Config.Limits), FirstMark: firstMark(im.record.FirstMark), Columns: im.record.Columns, NoDocs: "a document, and the run has its documents elsewhere (" + p.job.Config.Documents + ")"}
	if im.stdin != nil {
		o.Stdin = io.NewSectionReader(im.stdin, 0, math.MaxInt64)
	}
	p.job.progress(Progress{Stage: "importing", Since: time.Now()})
	im.record.Report, err = convert.ToFiles(ctx, "auto", paths, o, filepath.Join(im.dir, importedRows), docs, nil)
	p.warnLeftOut(&im.record.Report)
	if err != nil {
		return err
	}
	for file, empty := range map[string]bool{importedRows: im.record.Report.Rows == 0, importedDocuments: docs != "" && im.record.Report.Documents == 0} {
		if empty {
			if err := disk.Remove(filepath.Join(im.dir, file)); err != nil {
				return err
			}
		}
	}
	return runs.WriteJSON(filepath.Join(im.dir, importedRecord), im.record)
}

// warnLeftOut names the first records that could not be read. If there is nothing else the error
// names the very first.
func (p *Plan) warnLeftOut(r *convert.Report) {
	for i, e := range r.Errors[:min(len(r.Errors), maxSaidLeftOut)] {
		if i > 0 || r.Rows+r.Documents > 0 {
			p.job.warn("left out: %v", e)
		}
	}
}

// firstMark is the setting marks.first; nil if it leaves it open.
func firstMark(setting string) *int {
	switch setting {
	case "0":
		return new(0)
	case "1":
		return new(1)
	}
	return nil
}

// brief is the record for a manifest: the whole lists are beside it.
func (im *importedInput) brief() *runs.Imported {
	r := im.record
	r.Report.Errors = r.Report.Errors[:min(len(r.Report.Errors), maxSaidLeftOut)]
	r.Report.Warnings = r.Report.Warnings[:min(len(r.Report.Warnings), maxSaidLeftOut)]
	return &r
}

// removeOldFolders removes the working folders that processes that were killed have left
// in another one. Those of living ones are locked.
func removeOldFolders(parent, prefix string) error {
	old, err := filepath.Glob(filepath.Join(parent, prefix+"*.tmp"))
	if err != nil {
		return err
	}
	for _, dir := range old {
		held, err := acquire(dir)
		if err != nil {
			continue // another process is at work in it, or another user's
		}
		if err := held.remove(dir); err != nil {
			return err
		}
	}
	return nil
}

// nothingImported is the error of files of which no row came.
func nothingImported(paths []string, r *convert.Report) error {
	u := ibid.Usagef("there are no answers in %s", strings.Join(paths, ", "))
	if r.Failed > 0 {
		u = ibid.Usagef("none of the records of %s could be read: %v", strings.Join(paths, ", "), r.Errors[0])
	}
	u.Hint = "--columns THEIRS=OURS names columns and members; ibid import --help lists the formats"
	return u
}

// keepImport puts the import into the run directory, which the caller has locked.
func (p *Plan) keepImport() error {
	im := p.imported
	to := filepath.Join(p.Dir, runs.ImportDir)
	if im == nil {
		return nil
	}
	if im.dir == to {
		// Whoever put it there may have died before its lock was removed.
		if err := disk.Remove(filepath.Join(to, "lock")); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := disk.RemoveAll(to); err != nil { // of other files, or unfinished
		return err
	}
	if im.temporary != "" {
		if err := im.lock.rename(im.temporary, to); err != nil {
			return err
		}
		im.temporary, im.lock = "", nil
	} else if err := linkImport(im.dir, to); err != nil {
		return err
	}
	p.pointTo(to)
	if im.rows {
		p.source.Move(p.job.Config.Dataset)
	}
	if im.documents {
		p.documents.Move(p.job.Config.Documents)
	}
	for i := range p.inputs {
		if filepath.Dir(p.inputs[i].Path) == im.dir {
			p.inputs[i].Path = filepath.Join(to, filepath.Base(p.inputs[i].Path))
		}
	}
	im.dir = to
	return nil
}

// linkImport gives a run the import of another: as links, because the files never change,
// or copies where the system has no links. Its record comes last.
func linkImport(from, to string) error {
	if err := disk.MkdirAll(to); err != nil {
		return err
	}
	for _, name := range []string{importedRows, importedDocuments, importedRecord} {
		source, target := filepath.Join(from, name), filepath.Join(to, name)
		err := disk.Link(source, target)
		if err == nil || errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := copyFile(source, target); err != nil {
			return err
		}
	}
	return nil
}

// Close removes what planning has left outside of the run directory. The plan cannot be
// used any more.
func (p *Plan) Close() error {
	im := p.imported
	if im == nil {
		return nil
	}
	var err error
	if im.stdin != nil {
		im.stdin.Close() // nobody needs its content any more
		im.stdin = nil
	}
	if im.temporary != "" {
		if im.lock != nil {
			err = im.lock.remove(im.temporary)
		} else {
			err = disk.RemoveAll(im.temporary)
		}
		im.temporary, im.lock = "", nil
	}
	if im.made != "" {
		_ = disk.Remove(im.made) // unless a run is in it
	}
	return err
}
