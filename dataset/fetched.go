package dataset

import (
	"context"
	"encoding/json"
	"time"

	"ibid"
)

// A FetchState says what became of fetching a page.
type FetchState string

const (
	FetchOK         FetchState = "ok"         // its text is there
	FetchUnreadable FetchState = "unreadable" // it came, but has no text that can be read
	FetchDead       FetchState = "dead"       // no such page (404, 410) or no such host
	FetchDenied     FetchState = "denied"     // the server, or its robots.txt, does not give it
	FetchRefused    FetchState = "refused"    // not asked for: no public address, or no http
	FetchFailed     FetchState = "failed"     // the network, the server, or a limit of time or size
)

// FetchStates are all of them, the good one first.
var FetchStates = []FetchState{FetchOK, FetchUnreadable, FetchDead, FetchDenied, FetchRefused, FetchFailed}

// Fetched is what is known of a page that was asked for. The metadata of the
// documents that ibid fetch writes are one, as JSON.
type Fetched struct {
	URL         string     `json:"url"`                    // that was asked for, without a fragment
	Final       string     `json:"final_url,omitempty"`    // where it redirected to, if it did
	State       FetchState `json:"state"`                  //
	Status      int        `json:"status,omitempty"`       // of the last response of HTTP; 0 if there was none
	Time        time.Time  `json:"fetched"`                // when, in UTC
	ContentType string     `json:"content_type,omitempty"` // as the server says
	Bytes       int64      `json:"bytes,omitempty"`        // of the body
	SHA256      string     `json:"sha256,omitempty"`       // of the body, its name in the archive
	Problem     string     `json:"problem,omitempty"`      // in words, if the state is not ok
	Reader      string     `json:"reader,omitempty"`       // what read it if it is a PDF: pdftotext with its version, or the library
}

// Live reports whether there is such a page. Known is false if nobody asked for
// it: its robots.txt does not allow that, or its address is not public.
func (f *Fetched) Live() (live, known bool) {
	if f.Status == 0 && (f.State == FetchDenied || f.State == FetchRefused) {
		return false, false
	}
	return f.Status >= 200 && f.Status < 300, true
}

// Fetched reads what ibid fetch has found out, by the names of the documents.
// Other documents are not in the result.
func (s *DocumentSource) Fetched(ctx context.Context) (map[string]Fetched, error) {
	all := make(map[string]Fetched)
	err := s.Read(ctx, func(d *ibid.Document) error {
		var f Fetched
		if json.Unmarshal([]byte(d.Metadata), &f) == nil && f.State != "" && f.URL != "" {
			all[string([]byte(d.Doc))] = f
		}
		return nil
	})
	return all, err
}
