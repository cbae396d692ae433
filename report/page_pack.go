package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
)

// rowsPerPack is how many rows the page opens at once.
const rowsPerPack = 200

// textPack is about how many bytes of texts the page opens at once.
const textPack = 256 << 10

// A pack is JSON, compressed, for the script of the page.
type pack struct {
	ID   string
	Data string // gzip in base64
}

// A textHeld is one text as the page holds it.
type textHeld struct {
	Pieces []string `json:"pieces"`
}

// pack numbers the texts that rows use and compresses everything.
func packAll(data *pageData, held []int, details []*rowDetail, detailers []*detailer) ([]pack, error) {
	for _, d := range detailers {
		for _, t := range d.sources.byKey {
			t.number = -1
		}
	}
	var order []*sourceText
	number := func(t *sourceText) int {
		if t.number < 0 {
			t.number = len(order)
			order = append(order, t)
		}
		return t.number
	}
	for k, d := range details {
		if d == nil {
			continue
		}
		detailers[data.rows[held[k]].run].settle(&d.View, number)
	}
	index := newRowIndex(data, held)
	jobs := []packJob{{"rows-0", nil}}[:0]
	for first := 0; first < len(details); first += rowsPerPack {
		jobs = append(jobs, packJob{fmt.Sprintf("rows-%d", first/rowsPerPack), details[first:min(first+rowsPerPack, len(details))]})
	}
	for first := 0; first < len(order); {
		var group []textHeld
		index.Texts = append(index.Texts, first)
		for size := 0; first < len(order) && size < textPack; first++ {
			var t textHeld
			for _, p := range order[first].pieces {
				t.Pieces = append(t.Pieces, p.text)
				size += len(p.text)
			}
			group = append(group, t)
		}
		jobs = append(jobs, packJob{fmt.Sprintf("texts-%d", len(index.Texts)-1), group})
	}
	return compressAll(append([]packJob{{"index", index}}, jobs...))
}

// A packJob is a value to compress.
type packJob struct {
	id    string
	value any
}

// splitAll cuts the texts of all rows, several rows at a time.
func splitAll(data *pageData, held []int, details []*rowDetail, detailers []*detailer) {
	sideBySide(len(details), func() func(int) {
		return func(k int) {
			if d := details[k]; d != nil {
				detailers[data.rows[held[k]].run].split(&d.View)
			}
		}
	})
}

// compressAll compresses values, several at a time.
func compressAll(jobs []packJob) ([]pack, error) {
	packs := make([]pack, len(jobs))
	errs := make([]error, len(jobs))
	sideBySide(len(jobs), func() func(int) {
		z, _ := gzip.NewWriterLevel(nil, 5) // only a wrong level is an error
		return func(k int) { packs[k], errs[k] = compress(z, jobs[k]) }
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return packs, nil
}

// sideBySide does n things with as many workers as there are processors; worker
// makes what one of them does.
func sideBySide(n int, worker func() func(k int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		do := worker()
		workers.Go(func() {
			for k := next.Add(1) - 1; k < int64(n); k = next.Add(1) - 1 {
				do(int(k))
			}
		})
	}
	workers.Wait()
}

func compress(z *gzip.Writer, job packJob) (pack, error) {
	var out bytes.Buffer
	z.Reset(&out)
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	if err := e.Encode(job.value); err != nil {
		return pack{}, err
	}
	if err := z.Close(); err != nil {
		return pack{}, err
	}
	return pack{job.id, base64.StdEncoding.EncodeToString(out.Bytes())}, nil
}
