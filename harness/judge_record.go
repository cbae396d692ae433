package harness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset/runs"
	"ibid/judge/openrouter"
	"ibid/metrics/stats"
)

// callOK is the status of a call that gave a verdict.
const callOK = "ok"

// countCalls adds up what the calls of the run in dir took. It returns how often each reason for
// no answer was met.
func countCalls(dir string, j *runs.JudgeRecord) (failures map[string]int, err error) {
	failures = make(map[string]int)
	answerers := make(map[runs.Answerer]int64)
	var cost, millis float64
	sent := int64(0) // calls that the cache did not answer
	err = runs.Calls.Scan(dir, nil, func(_ int64, c *runs.Call) error {
		j.Calls++
		if c.Status == callOK {
			answerers[runs.Answerer{Model: c.Model, Provider: c.Provider}]++
		} else {
			failures[cmp.Or(c.Error, c.Status)]++
		}
		if c.Cached {
			j.Cached++
			return nil
		}
		sent++
		millis += float64(orZero(c.LatencyMillis))
		cost += orZero(c.CostUSD)
		j.Retries += int64(max(c.Attempts-1, 0))
		j.PromptTokens += orZero(c.PromptTokens)
		j.CompletionTokens += orZero(c.CompletionTokens)
		return nil
	})
	if err != nil {
		return nil, err
	}
	j.CostUSD = &cost
	if sent > 0 {
		j.LatencyMillis = new(millis / float64(sent))
	}
	j.Answered = nil
	for who, n := range answerers {
		who.Calls = n
		j.Answered = append(j.Answered, who)
	}
	slices.SortFunc(j.Answered, func(a, b runs.Answerer) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Provider, b.Provider))
	})
	return failures, nil
}

func orZero[T any](v *T) T {
	if v == nil {
		var zero T
		return zero
	}
	return *v
}

// maxFailureKinds is how many kinds of failed calls are told of.
const maxFailureKinds = 3

// warnOfFailures says why the judge of the run gave no answers: the commonest reasons,
// how often each was met, and what to do about it.
func (p *Plan) warnOfFailures(m *runs.Manifest, count map[string]int) {
	reasons := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	for i, reason := range reasons {
		if i == maxFailureKinds {
			p.warnOf(m, "no answer of the judge for %d more reasons: ibid show %s --errors", len(reasons)-i, p.Dir)
			break
		}
		text := fmt.Sprintf("no answer of the judge, %d times: %s", count[reason], reason)
		if hint := openrouter.Hint(reason); hint != "" {
			text += " (" + hint + ")"
		}
		p.warnOf(m, "%s", text)
	}
}

// countClaims counts the claims of the run, those that the judge was asked
// about, and those that it could not answer, and how the models of a panel agree.
func (p *Plan) countClaims(m *runs.Manifest) error {
	m.Claims, m.Judge.Asked, m.Judge.Unanswered, m.Judge.Failed, m.Judge.Panel = 0, 0, 0, 0, nil
	columns, panel := []string{"votes", "label"}, make(panelTables)
	if p.live != nil {
		columns = append(columns, "opinions")
	}
	err := runs.Claims.Scan(p.Dir, columns, func(_ int64, c *runs.Claim) error {
		m.Claims++
		panel.count(c.Opinions)
		if c.Votes == nil {
			return nil
		}
		m.Judge.Asked++
		if *c.Votes == 0 {
			m.Judge.Failed++
		}
		if *c.Votes == 0 || c.Label == ibid.Unsure.String() {
			m.Judge.Unanswered++
		}
		return nil
	})
	m.Judge.Panel = panel.pairs()
	if err != nil || m.Judge.Failed == 0 || p.log.file == nil {
		return err
	}
	return p.logUnanswered(m.Judge.Failed)
}

// loggedClaims is how many claims without a verdict the log names.
const loggedClaims = 1000

// logUnanswered names the claims that the judge could not answer, n in all, in the log.
func (p *Plan) logUnanswered(n int64) error {
	left := int64(loggedClaims)
	err := runs.Claims.Scan(p.Dir, []string{"id", "system", "claim", "votes", "reason"}, func(_ int64, c *runs.Claim) error {
		if c.Votes != nil && *c.Votes == 0 && left > 0 {
			left--
			p.log.Warn("no verdict", "row", c.ID+"/"+c.System, "claim", c.Number, "reason", c.Reason)
		}
		return nil
	})
	if n > loggedClaims {
		p.log.Warn("no verdict", "claims_more", n-loggedClaims, "see", "the column reason of "+runs.ClaimsFile)
	}
	return err
}

// countTampering counts the rows whose material tries to steer the judge, as it says, and
// those whose material looks as if it did, and warns of them.
func (p *Plan) countTampering(m *runs.Manifest, sums map[string]*systemSums) {
	m.Judge.Tampering, m.Judge.Suspected = 0, 0
	for _, s := range sums {
		m.Judge.Tampering, m.Judge.Suspected = m.Judge.Tampering+s.tampering, m.Judge.Suspected+s.suspected
	}
	if n := m.Judge.Tampering; n > 0 {
		p.warnOf(m, "rows that try to steer the judge: %d, see the column tampering of %s", n, runs.RowsFile)
	}
	if n := m.Judge.Suspected; n > 0 {
		p.warnOf(m, "rows with material that looks written for the judge: %d, see the column suspected of %s", n, runs.VerdictsFile)
	}
}

// panelTables count the labels of pairs of models.
type panelTables map[[2]string]*panelTable

type panelTable struct {
	labels *stats.Contingency
	unsure int64
}

// pairs say how the models agree, nil if only one judged.
func (tables panelTables) pairs() []runs.PanelPair {
	var out []runs.PanelPair
	for _, models := range slices.SortedFunc(maps.Keys(tables), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		t := tables[models]
		k := t.labels.Kappa(stats.Unweighted)
		pair := runs.PanelPair{Models: models, Claims: k.N, Unsure: t.unsure}
		if k.Observed.Known() {
			pair.Agreement = &k.Observed.Value
		}
		if k.Value.Known() {
			pair.Kappa = &k.Value.Value
		}
		out = append(out, pair)
	}
	return out
}

// count counts the opinions on one claim, each pair of models once.
func (tables panelTables) count(opinions []string) {
	labels := make(map[string]ibid.Degree, len(opinions))
	for _, o := range opinions {
		model, name, _ := strings.Cut(o, "#0=") // of the model's first vote
		if label, err := ibid.ParseDegree(name); err == nil {
			labels[model] = label
		}
	}
	models := slices.Sorted(maps.Keys(labels))
	for i, a := range models {
		for _, b := range models[i+1:] {
			t := tables[[2]string{a, b}]
			if t == nil {
				t = &panelTable{labels: stats.NewContingency(int(ibid.Contradicts) + 1)}
				tables[[2]string{a, b}] = t
			}
			if labels[a] == ibid.Unsure || labels[b] == ibid.Unsure {
				t.unsure++
				continue
			}
			t.labels.Add(int(labels[a]), int(labels[b]))
		}
	}
}
