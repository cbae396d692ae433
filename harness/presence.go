package harness

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/judge/cache"
	"ibid/judge/openrouter"
	"ibid/metrics/presence"
)

// openDetector makes what decides whether answers cite. It asks nobody for a page:
// which URLs are live stands in the documents that ibid fetch has written.
func (p *Plan) openDetector(ctx context.Context) error {
	s := &p.job.Config.Presence
	mode, err := presence.ParseMode(s.Mode)
	if err != nil {
		return err
	}
	o := presence.Options{Mode: mode, Strict: s.Strict, CustomPhrases: s.CustomResourcePhrases}
	if s.Strict {
		if o.URLs, err = p.fetchedDocuments(ctx); err != nil {
			return err
		}
	}
	if s.Semantic() {
		o.Semantic = &presence.Semantic{Embedder: presence.Lexical{}, Threshold: s.ResourceSimilarityThreshold}
		if s.Embeds() {
			p.embedder = &openrouter.Embedder{
				Model: s.EmbedModel, BaseURL: p.job.Config.Judge.BaseURL, Azure: p.job.Config.Judge.Azure(), Key: p.job.EmbeddingKey,
				Retries: int(p.job.Config.Judge.RetryAttempts), Timeout: p.job.Config.Judge.Timeout,
				Offline: p.job.SameDataAs != nil, // of a run that was made before: what it asked is kept
			}
			o.Semantic.Embedder = p.embedder
		}
	}
	p.options.Presence, err = presence.New(o)
	return err
}

// fetchedPages are what ibid fetch has found out, by name and by URL.
type fetchedPages map[string]dataset.Fetched

// fetchedDocuments are the documents of the run that ibid fetch has written.
func (p *Plan) fetchedDocuments(ctx context.Context) (fetchedPages, error) {
	var pages map[string]dataset.Fetched
	if p.documents != nil {
		var err error
		if pages, err = p.documents.Fetched(ctx); err != nil {
			return nil, err
		}
	}
	if len(pages) == 0 {
		return nil, ibid.Usagef("presence.strict: nothing in %s was written by ibid fetch", p.job.Config.Documents).With(fetchLine(p.named, "sources.parquet") + ", and then with --documents sources.parquet")
	}
	for _, f := range pages {
		if _, ok := pages[f.URL]; !ok {
			pages[f.URL] = f
		}
	}
	return pages, nil
}

// Live says what became of a URL, which may be written without its scheme.
func (f fetchedPages) Live(_ context.Context, url string) (bool, error) {
	page, ok := f[url]
	if !ok {
		plain, _, _ := strings.Cut(url, "#")
		page, ok = f[plain]
	}
	if !ok {
		return false, presence.ErrNotFetched
	}
	live, known := page.Live()
	if !known {
		return false, fmt.Errorf("%w: %s", presence.ErrNotFetched, page.Problem)
	}
	return live, nil
}

// fetchLine is what to type so that the cited pages are known.
func fetchLine(answers, sources string) string {
	return fmt.Sprintf("ibid fetch %s -o %s", answers, sources)
}

// notFetched counts rows whose URLs are not among the fetched pages.
type notFetched struct {
	mu    sync.Mutex
	rows  int64
	first error
}

func (n *notFetched) add(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.rows++; n.first == nil {
		n.first = err
	}
}

// warning says how many rows have no citation_presence, and what to type; "" if all
// have one.
func (n *notFetched) warning(p *Plan) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.rows == 0 {
		return ""
	}
	return fmt.Sprintf("citation_presence is undefined for %s, such as where %v; type: %s",
		plural(int(n.rows), "row", "rows"), n.first, fetchLine(p.named, p.job.Config.Documents))
}

// openEmbedder gives the embedder the store of the judge's answers, and its calls
// the name of the run; without a name it asks nothing.
func (p *Plan) openEmbedder(run string) (close func() error, err error) {
	if p.embedder == nil {
		return nothing, nil
	}
	p.embedder.Run = run
	if run == "" {
		p.embedder.Offline = true
		if p.job.Config.Judge.Cache == configs.CacheOff {
			return nothing, nil // what was kept went with the run's end
		}
	}
	path, err := p.answersPath()
	if err != nil {
		return nil, err
	}
	store, err := cache.Open(path)
	if err != nil {
		return nil, err
	}
	p.embedder.Store = store
	return store.Close, nil
}
