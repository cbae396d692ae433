package harness

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/disk"
	"ibid/dataset/runs"
)

// The values of the setting keep.
const (
	keepTexts   = "texts"
	keepNothing = "nothing"
)

// keepsTexts reports whether the run keeps the documents that its rows point to.
func (p *Plan) keepsTexts() bool { return (p.hasDocuments() || p.inline) && p.keeps(runs.TextsFile) }

// keepsAnswers reports whether the run keeps queries and answers: labels and verdicts are
// read beside them.
func (p *Plan) keepsAnswers() bool { return p.judge != nil && p.keeps(runs.AnswersFile) }

// keeps reports whether the run keeps a file of texts. What ranges did not keep, a run that is
// made of them has not.
func (p *Plan) keeps(file string) bool {
	return p.job.Config.Keep == keepTexts &&
		(p.job.Scored == nil || !slices.ContainsFunc(p.job.Scored.dirs, func(dir string) bool { return !kept(dir, file) }))
}

// A keptTexts gathers the texts that a run keeps in a nameless file, and knows which are there
// already, or about to be. It is safe for concurrent use.
type keptTexts struct {
	mu      sync.Mutex
	known   map[[2]int32]bool // pieces of the documents of the run: number and begin
	digests map[int32]string  // of documents of the run
	own     map[ownText]bool  // pieces of documents of rows

	file *disk.File
	list []spilledText
	end  int64
}

// newKeptTexts begins to gather texts in a file on the disk of dir.
func newKeptTexts(dir string) (*keptTexts, error) {
	file, err := disk.Nameless(dir)
	return &keptTexts{known: make(map[[2]int32]bool), digests: make(map[int32]string), own: make(map[ownText]bool), file: file}, err
}

type ownText struct {
	digest [16]byte
	at     int64
}

// take is a piece as a row keeps it: nil if it is of the run and there already, without its
// text if it is of a row and the text is there.
func (k *keptTexts) take(p *dataset.Piece) (*dataset.Text, error) {
	ofRun, place := p.Document >= 0, [2]int32{p.Document, p.At}
	k.mu.Lock()
	known, digest := k.known[place], k.digests[p.Document]
	k.mu.Unlock()
	if ofRun && known {
		return nil, nil
	}
	t, err := p.Text(digest)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if ofRun {
		k.digests[p.Document], k.known[place] = t.Digest, true
		return t, nil
	}
	key := ownText{halfDigest(t), t.At}
	if k.own[key] {
		t.Text = ""
	}
	k.own[key] = true
	return t, nil
}

// add writes a text into the file.
func (k *keptTexts) add(t dataset.Text) error {
	text, digest := t.Text, halfDigest(&t)
	t.Text = ""
	b, err := json.Marshal(&t)
	if err != nil {
		return err
	}
	head := len(b)
	b = append(b, text...)
	k.mu.Lock()
	at := k.end
	k.end += int64(len(b))
	k.list = append(k.list, spilledText{digest, at, int32(head), int32(len(text))})
	k.mu.Unlock()
	_, err = k.file.WriteAt(b, at)
	return err
}

// halfDigest is the first half of a digest.
func halfDigest(t *dataset.Text) (half [16]byte) {
	_, _ = hex.Decode(half[:], []byte(t.Digest[:min(len(t.Digest), 2*len(half))])) // ours
	return half
}

// keepTexts adds what the current row points to.
func (w *worker) keepTexts(failure error) error {
	if w.plan.texts == nil {
		return nil
	}
	r := w.scorer.resolver
	var elsewhere []ibid.Place
	if failure != nil {
		_ = r.Resolve(&w.row) // the failure is known; the other places are shown
	} else if j := w.scorer.judging; j != nil {
		elsewhere = j.foundElsewhere()
	}
	return r.EachPiece(&w.row, elsewhere, func(p *dataset.Piece) error {
		t, err := w.plan.texts.take(p)
		if err != nil || t == nil {
			return err
		}
		if p.Document < 0 {
			t.Rows = []int32{int32(w.row.Pos)}
		}
		return w.plan.texts.add(*t)
	})
}

// foundElsewhere are the places where claims have support that they do not cite.
func (j *judging) foundElsewhere() (places []ibid.Place) {
	if j.verdict == nil {
		return nil
	}
	for k := range j.verdict.Claims {
		if p := j.elsewhere(&j.verdict.Claims[k]); p != nil && p.Doc != "" {
			places = append(places, ibid.Place{Doc: p.Doc, Page: p.Page, Level: ibid.LevelCharacters, Start: int64(p.Start), End: int64(p.End)})
		}
	}
	return places
}

// saveTexts writes the texts that the run keeps, gathered from its rows or from its ranges.
// What it does not keep it removes.
func (p *Plan) saveTexts() error {
	path := filepath.Join(p.Dir, runs.TextsFile)
	var err error
	switch {
	case !p.keepsTexts():
		err = removeIfThere(path)
	case p.kept != "": // it points to what the other pointed to
		err = copyFile(filepath.Join(p.kept, runs.TextsFile), path)
	default:
		var dirs []string // of the ranges that the run is made of
		if p.job.Scored != nil {
			dirs = p.job.Scored.dirs
		}
		for _, dir := range dirs {
			err = errors.Join(err, runs.Texts.Scan(dir, nil, func(_ int64, t *dataset.Text) error { return p.texts.add(*t) }))
		}
		if err == nil {
			err = p.texts.save(p.Dir)
		}
	}
	if !p.keepsAnswers() {
		err = errors.Join(err, removeIfThere(filepath.Join(p.Dir, runs.AnswersFile)))
	}
	return err
}

func copyFile(from, to string) error {
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

// A spilledText is where a text is in a file, all else of it before the text.
type spilledText struct {
	digest     [16]byte // half of it
	at         int64
	head, text int32
}

// save makes texts.parquet in dir: each text once, in the order of digests.
func (k *keptTexts) save(dir string) error {
	list := k.list
	slices.SortStableFunc(list, func(a, b spilledText) int { return slices.Compare(a.digest[:], b.digest[:]) })
	return runs.Texts.WriteEach(dir, func(yield func(*dataset.Text) error) error {
		for len(list) > 0 {
			n := 1
			for n < len(list) && list[n].digest == list[0].digest {
				n++
			}
			if err := mergeEqual(k.file, list[:n], yield); err != nil {
				return err
			}
			list = list[n:]
		}
		return nil
	})
}

// mergeEqual yields texts of one digest, each once.
func mergeEqual(file io.ReaderAt, list []spilledText, yield func(*dataset.Text) error) error {
	all, texts := make([]dataset.Text, len(list)), make(map[int64]string)
	for i, s := range list {
		b := make([]byte, s.head+s.text)
		if _, err := file.ReadAt(b, s.at); err != nil {
			return err
		}
		if err := json.Unmarshal(b[:s.head], &all[i]); err != nil {
			return err
		}
		if s.text > 0 {
			texts[all[i].At] = string(b[s.head:])
		}
	}
	slices.SortStableFunc(all, func(a, b dataset.Text) int {
		return cmp.Or(a.Compare(&b), cmp.Compare(a.At, b.At))
	})
	for i := 0; i < len(all); {
		t := &all[i]
		for i++; i < len(all) && all[i].At == t.At && t.Compare(&all[i]) == 0; i++ {
			t.Rows = append(t.Rows, all[i].Rows...)
		}
		slices.Sort(t.Rows)
		t.Rows, t.Text = slices.Compact(t.Rows), texts[t.At]
		if err := yield(t); err != nil {
			return err
		}
	}
	return nil
}
