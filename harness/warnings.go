package harness

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ibid"
	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/judge/openrouter"
)

// warnOf warns now, and whoever looks at the run later.
func (p *Plan) warnOf(m *runs.Manifest, format string, args ...any) {
	m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...))
	p.job.warn(format, args...)
}

// Parameters that verdicts rest on, as OpenRouter calls them.
const (
	structuredOutputs = "structured_outputs"
	responseFormat    = "response_format"
	temperature       = "temperature"
)

// modelWait is how long a run waits for the list of models before it begins.
const modelWait = 2 * time.Second

// modelWarnings says what models lack that verdicts rest on. Nothing is known of
// them without a list; longest is the longest prompt in tokens, 0 if not known.
func modelWarnings(s *configs.Settings, known []openrouter.ModelInfo, longest int64) []string {
	if len(known) == 0 {
		return nil
	}
	var names, out []string
	for i := range known {
		names = append(names, known[i].ID)
	}
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, model := range s.Judge.Models() {
		i := slices.Index(names, model)
		if i < 0 {
			text := "the endpoint has no model " + model
			if near := ibid.Nearest(model, names); near != "" {
				text += "; did you mean " + near + "?"
			}
			warn("%s", text)
			continue
		}
		m := &known[i]
		if s.Judge.Protocol == openrouter.Verdicts && !m.Supports(structuredOutputs) && !m.Supports(responseFormat) {
			warn("%s does not promise structured outputs: more replies will break the schema and be asked again", model)
		}
		if !m.Supports(temperature) {
			warn("%s takes no temperature: its verdicts will differ more from run to run", model)
		}
		if m.ContextLength > 0 && longest > m.ContextLength {
			warn("the longest prompt has about %d tokens, %s takes %d: such rows are asked in parts", longest, model, m.ContextLength)
		}
	}
	return out
}

// warnOfModels says at the beginning of a run what its models lack, if the
// endpoint tells at once. A rerun whose answers are all kept needs no network, so
// silence is no error.
func (p *Plan) warnOfModels(ctx context.Context, m *runs.Manifest, judge *openrouter.Judge) {
	s := &p.job.Config.Settings
	if s.Judge.Kind != openrouter.KindOpenRouter {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, modelWait)
	defer cancel()
	known, err := judge.Models(ctx)
	if err != nil {
		return
	}
	for _, text := range modelWarnings(s, known, 0) {
		p.warnOf(m, "%s", text)
	}
}

// maxSharedDocuments bounds the documents that a [sharedDocuments] keeps.
const maxSharedDocuments = 1 << 16

// sharedDocuments finds out whether questions share documents. If they do, they are
// not independent of each other, and intervals over questions are too narrow. It
// looks at the documents of truth and citations until it finds one that two
// questions have. It keeps no more than 65,536 documents.
type sharedDocuments struct {
	done  atomic.Bool // found, too many, or of no interest
	seed  maphash.Seed
	mu    sync.Mutex
	found bool
	id    map[uint64]uint64 // document -> a question that has it
}

// newSharedDocuments looks for them where rows depend on each other only by their question.
func newSharedDocuments(cluster string) *sharedDocuments {
	s := &sharedDocuments{seed: maphash.MakeSeed(), id: make(map[uint64]uint64)}
	s.done.Store(cluster == runs.AutoCluster || runs.ClusterTag(cluster) != "")
	return s
}

func (s *sharedDocuments) note(r *ibid.Answer) {
	if s.done.Load() {
		return
	}
	id := maphash.String(s.seed, r.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	eachNamed(r, func(doc string, null bool) {
		if null {
			return
		}
		hash := maphash.String(s.seed, doc)
		if other, known := s.id[hash]; !known {
			s.id[hash] = id
		} else if other != id {
			s.found = true
		}
	})
	if s.found || len(s.id) >= maxSharedDocuments {
		s.done.Store(true)
	}
}
