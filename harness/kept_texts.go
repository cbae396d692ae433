package harness

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
func (p *Plan) keepsTexts() bool { return (p.hasDocuments() || p.inline) && p.keeps(partTexts) }

// keepsAnswers reports whether the run keeps queries and answers: labels and verdicts are
// read beside them.
func (p *Plan) keepsAnswers() bool { return p.judge != nil && p.keeps(partAnswers) }

// keeps reports whether the run keeps a kind of text. What parts did not keep, a run that is
// made of them has not.
func (p *Plan) keeps(kind partFile) bool {
	return p.job.Config.Keep == keepTexts &&
		(p.job.Scored == nil || !slices.ContainsFunc(p.job.Scored.dirs, func(dir string) bool { return !kept(dir, kind.result()) }))
}

// A heldTexts says which texts some part has, or is about to have: others need not. It is
// safe for concurrent use.
type heldTexts struct {
	mu      sync.Mutex
	known   map[[2]int32]bool // pieces of the documents of the run: number and begin
	digests map[int32]string  // of documents of the run
	own     map[ownText]bool  // pieces of documents of rows
}

type ownText struct {
	digest [16]byte
	at     int64
}

// take is a piece as a part keeps it: nil if it is of the run and another part has it, without
// its text if it is of a row. What only a judge points to is not held: another evaluation of
// the part may not find it.
func (h *heldTexts) take(p *dataset.Piece) (*dataset.Text, error) {
	ofRun, place := p.Document >= 0, [2]int32{p.Document, p.At}
	h.mu.Lock()
	known, digest := h.known[place], h.digests[p.Document]
	h.mu.Unlock()
	if ofRun && known {
		return nil, nil
	}
	t, err := p.Text(digest)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if ofRun {
		h.digests[p.Document] = t.Digest
		if !p.Judged {
			h.known[place] = true
		}
		return t, nil
	}
	key := ownText{halfDigest(t), t.At}
	if h.own[key] {
		t.Text = ""
	} else if !p.Judged {
		h.own[key] = true
	}
	return t, nil
}

// halfDigest is the first half of a digest.
func halfDigest(t *dataset.Text) (half [16]byte) {
	_, _ = hex.Decode(half[:], []byte(t.Digest[:min(len(t.Digest), 2*len(half))])) // ours
	return half
}

// partTextTable is the table of the texts of a part, which is compressed fast.
var partTextTable = func() *runs.Table[dataset.Text] {
	t := *runs.Texts
	t.Columns = slices.Clone(t.Columns)
	for i := range t.Columns {
		t.Columns[i].Zstd = false
	}
	return &t
}()

// partTextsOf are the texts of the open part of a worker.
type partTextsOf struct {
	list  []dataset.Text
	index map[textName]int
}

type textName struct {
	doc, digest string
	at          int64
}

func (l *partTextsOf) reset() {
	clear(l.list)
	l.list = l.list[:0]
	clear(l.index)
}

// add adds a text that a row brings along, or with the row -1 one of the run.
func (l *partTextsOf) add(t *dataset.Text, row int32) {
	name := textName{t.Doc, t.Digest, t.At}
	k, there := l.index[name]
	there = there && l.list[k].SameDocument(t)
	if !there {
		k = len(l.list)
		l.index[name], l.list = k, append(l.list, *t)
	}
	if to := &l.list[k]; row >= 0 && (len(to.Rows) == 0 || to.Rows[len(to.Rows)-1] != row) {
		to.Rows = append(to.Rows, row)
	}
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
		switch {
		case err != nil || t == nil:
			return err
		case p.Document < 0:
			w.texts.add(t, int32(w.row.Pos))
		default:
			w.texts.add(t, -1)
		}
		return nil
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

// saveTexts writes the texts that the run keeps, of its parts, of those of its ranges, and of
// an earlier attempt that had rows without results. What it does not keep it removes.
func (p *Plan) saveTexts(from, to int64) error {
	path := filepath.Join(p.Dir, runs.TextsFile)
	var err error
	switch {
	case !p.keepsTexts():
		err = removeIfThere(path)
	case p.kept != "": // it points to what the other pointed to
		err = copyFile(filepath.Join(p.kept, runs.TextsFile), path)
	default:
		var files []string
		for _, part := range p.partsOf(partTexts, from, to) {
			files = append(files, part.Path)
		}
		if p.job.Scored != nil {
			files = nil
			for _, dir := range p.job.Scored.dirs {
				files = append(files, filepath.Join(dir, runs.TextsFile))
			}
		}
		err = mergeTexts(p.Dir, append(files, path))
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

// mergeTexts makes texts.parquet in dir of files of texts, which may not be there: each text
// once, in the order of digests.
func mergeTexts(dir string, files []string) error {
	spill, err := disk.Nameless(dir)
	if err != nil {
		return err
	}
	defer spill.Close()
	var list []spilledText
	end := int64(0)
	for _, file := range files {
		err := runs.Texts.ScanFile(file, func(_ int64, t *dataset.Text) error {
			text, digest := t.Text, halfDigest(t)
			t.Text = ""
			b, err := json.Marshal(t)
			if err != nil {
				return err
			}
			list = append(list, spilledText{digest, end, int32(len(b)), int32(len(text))})
			b = append(b, text...)
			_, err = spill.WriteAt(b, end)
			end += int64(len(b))
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	slices.SortStableFunc(list, func(a, b spilledText) int { return slices.Compare(a.digest[:], b.digest[:]) })
	return runs.Texts.WriteEach(dir, func(yield func(*dataset.Text) error) error {
		for len(list) > 0 {
			n := 1
			for n < len(list) && list[n].digest == list[0].digest {
				n++
			}
			if err := mergeEqual(spill, list[:n], yield); err != nil {
				return err
			}
			list = list[n:]
		}
		return nil
	})
}

// ofRun is 0 for a text that rows bring along, else 1.
func ofRun(t *dataset.Text) int {
	if t.Rows == nil {
		return 1
	}
	return 0
}

// mergeEqual yields texts of one digest, each once.
func mergeEqual(spill io.ReaderAt, list []spilledText, yield func(*dataset.Text) error) error {
	all, texts := make([]dataset.Text, len(list)), make(map[int64]string)
	for i, s := range list {
		b := make([]byte, s.head+s.text)
		if _, err := spill.ReadAt(b, s.at); err != nil {
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
		return cmp.Or(strings.Compare(a.Digest, b.Digest), strings.Compare(a.Doc, b.Doc), slices.Compare(a.Pages, b.Pages), slices.Compare(a.Blocks, b.Blocks), ofRun(&a)-ofRun(&b), cmp.Compare(a.At, b.At))
	})
	for i := 0; i < len(all); {
		t := &all[i]
		for i++; i < len(all) && all[i].At == t.At && t.SameDocument(&all[i]); i++ {
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
