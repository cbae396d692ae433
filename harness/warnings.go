package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
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
func modelWarnings(s *configs.Settings, known map[string]openrouter.ModelInfo, longest int64) []string {
	if len(known) == 0 {
		return nil
	}
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, model := range s.Judge.Models() {
		m, ok := known[model]
		if !ok {
			text := "the endpoint has no model " + model
			if near := ibid.Nearest(model, slices.Sorted(maps.Keys(known))); near != "" {
				text += "; did you mean " + near + "?"
			}
			warn("%s", text)
			continue
		}
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
