package harness

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"ibid"
	"ibid/annotations"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/metrics/stats"
)

// fewestFitted is the fewest groups of documents that have labels, for a fit: groups
// that no labelled claim connects. There are two for each part.
const fewestFitted = 2 * judge.LexicalParts

// fitRidge is the penalty of the fit, on features of standard deviation 1: as much as
// knowing that the weight of each is 0 ± 1 before seeing any label.
const fitRidge = 1

// A LexicalFit is weights of judge: lexical with what they are worth on the labels that
// they were fitted to, each item scored by the model that has not seen its documents.
type LexicalFit struct {
	Weights   *judge.LexicalWeights
	Documents int                   // groups of documents that no item connects
	Items     []annotations.Verdict // with the scores of the weights

	Before ibid.Number // AUROC of lexical without weights
	// How much higher the AUROC of the weights is, over groups of documents.
	Gain stats.Estimate
	Test stats.Test
}

// A fitItem is a claim, or a claim with one of its citations, that people labelled.
type fitItem struct {
	verdict   annotations.Verdict // of lexical without weights
	features  judge.LexicalFeatures
	documents []string // that the claim cites
	text      string   // of the claim
}

// FitLexical fits [judge.LexicalWeights] to the labels of the finished run m: to those on
// claims, or, where there is none, to those on citations. People's value is a yes from
// positive on. The run must have been judged by lexical, whose evidence and claims are
// what later runs have. Labels that cannot be fitted to are [ibid.ErrUsage].
func FitLexical(ctx context.Context, m *runs.Manifest, positive, level float64) (*LexicalFit, error) {
	if m.Judge.Kind != lexicalJudge {
		return nil, ibid.Usagef("run %s was judged by %s, the features are those of lexical", m.ID, m.Judge.Kind).With("judge the same data by it first: ibid run DATASET --judge lexical")
	}
	policy, err := labelPolicyOf(m)
	if err != nil {
		return nil, err
	}
	lexical := judge.NewLexical(nil)
	p, scorer, closeDocs, err := rejudge(ctx, m, lexical)
	if err != nil {
		return nil, err
	}
	defer closeDocs()
	items := make(map[string][]fitItem) // by kind of question
	err = eachRow(ctx, p.source, p.job.Limit, func(row *ibid.Answer) error {
		if !p.job.wants(row) || len(row.Labels) == 0 {
			return nil
		}
		failure, err := scorer.score(ctx, row)
		if err != nil || failure != nil || scorer.judging.verdict == nil {
			return err
		}
		of := labelledItems(p, scorer.judging, lexical, row, policy)
		for kind := range of {
			items[kind] = append(items[kind], of[kind]...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, kind := range []string{annotations.ClaimSupport, annotations.CitationSupport} {
		if len(items[kind]) > 0 {
			return fitItems(kind, items[kind], positive, level)
		}
	}
	return nil, ibid.Usagef("run %s: people labelled the support of no claim or citation that has a text", m.ID).With("labels are of kind support, with the claim_id or citation_id of the row: ibid sample draws what to label")
}

// labelledItems are the items of a row by kind of question.
func labelledItems(p *Plan, j *judging, lexical *judge.Lexical, row *ibid.Answer, policy ibid.Policy) map[string][]fitItem {
	out := make(map[string][]fitItem)
	features := lexical.Features(&j.request)
	for _, question := range p.judgedOf(row) {
		key := question.Verdict
		if key.Kind != ibid.SupportLabel {
			continue
		}
		human, people := policy.Label(opinionsOn(row, key))
		if people == 0 {
			continue
		}
		it := fitItem{verdict: annotations.Verdict{Item: question.ID, Human: human}}
		found := false
		for c := range j.request.Claims {
			own := c // the claim of the answer that it is, or is a part of
			if c >= len(j.claims) {
				own = j.parts[c-len(j.claims)].claim
			}
			if key.Claim != "" && j.claims[own].ClaimID != key.Claim || !features[c].Known {
				continue
			}
			if key.Citation == "" {
				if c == own && j.claims[c].Joint.Known() { // every text that it cites is known
					found = true
					it.features, it.verdict.Judge = features[c].Joint, j.claims[c].Joint.Value
				}
			} else if f, support, ok := citedAlone(j, &features[c], c, row, key.Citation); ok && (!found || f[0] > it.features[0]) {
				found = true
				it.features, it.verdict.Judge = f, support
			}
			if found && it.documents == nil {
				it.text, it.documents = j.claims[own].Text, citedDocuments(&j.request, c)
			}
		}
		if found {
			out[key.Question()] = append(out[key.Question()], it)
		}
	}
	return out
}

func citedAlone(j *judging, features *judge.ClaimFeatures, c int, row *ibid.Answer, citation string) (f judge.LexicalFeatures, support float64, ok bool) {
	for n, e := range j.request.Cited(c, nil) {
		if row.Citations[j.request.Evidence[e].Citation].CitationID == citation {
			return features.Cited[n], j.verdict.Claims[c].Checks[n].Support.Value, true
		}
	}
	return f, 0, false
}

// citedDocuments are the documents that a claim cites, as [judge.LexicalWeights] looks for
// them.
func citedDocuments(r *judge.Request, claim int) []string {
	var out []string
	for _, e := range r.Cited(claim, nil) {
		if doc := r.Evidence[e].Doc; !slices.Contains(out, doc) {
			out = append(out, doc)
		}
	}
	return out
}

func fitItems(kind string, items []fitItem, positive, level float64) (*LexicalFit, error) {
	chose, yes := 0, 0
	for i := range items {
		if judge.ChoseFeatures(items[i].text) {
			chose++
		}
		if items[i].verdict.Human >= positive {
			yes++
		}
	}
	if chose > 0 {
		return nil, ibid.Usagef("%d of %d labelled claims are of the development part of WiCE, on which the features of lexical were chosen", chose, len(items)).With("what is fitted to them would look better than it is: leave them out")
	}
	if yes == 0 || yes == len(items) {
		return nil, ibid.Usagef("%d of %d labels are a yes (%g or more): there is nothing to tell apart", yes, len(items), positive).With("label claims of both kinds, or say what counts as a yes: --positive VALUE")
	}
	parts, groups := partsOf(items)
	if groups < fewestFitted {
		return nil, ibid.Usagef("too few documents that have labels and do not occur together: %d, a fit needs %d", groups, fewestFitted).With("label claims of more documents: ibid sample draws them")
	}
	w := &judge.LexicalWeights{Kind: kind, Positive: positive, Ridge: fitRidge, Items: len(items), Yes: yes, Documents: make(map[string]int)}
	for doc, part := range parts {
		w.Documents[judge.DocumentDigest(doc)] = part
	}
	for part := range judge.LexicalParts {
		var x [][]float64
		var y []bool
		for i := range items {
			if parts[items[i].documents[0]] != part {
				x, y = append(x, items[i].features[:]), append(y, items[i].verdict.Human >= positive)
			}
		}
		l, err := stats.FitLogistic(x, y, fitRidge)
		if errors.Is(err, stats.ErrOneClass) {
			return nil, ibid.Usagef("without one fifth of the documents all labels are a yes, or none is: %d of %d are", yes, len(items)).With("label more claims, of both kinds")
		}
		if err != nil {
			return nil, err
		}
		w.Models = append(w.Models, judge.LexicalModel{Intercept: l.Intercept, Weights: judge.LexicalFeatures(l.Weights)})
	}
	if err := w.Seal(); err != nil {
		return nil, err
	}
	return measureFit(w, items, groups, positive, level), nil
}

// measureFit scores each item by the model that has not seen its documents.
func measureFit(w *judge.LexicalWeights, items []fitItem, groups int, positive, level float64) *LexicalFit {
	out := &LexicalFit{Weights: w, Documents: groups}
	n := len(items)
	fitted, plain, labels, clusters := make([]float64, n), make([]float64, n), make([]bool, n), make([]string, n)
	group := groupsOf(items)
	for i := range items {
		v := items[i].verdict
		v.Cluster = group[items[i].documents[0]]
		fitted[i], plain[i], labels[i], clusters[i] = w.Score(&items[i].features, items[i].documents), v.Judge, v.Human >= positive, v.Cluster
		v.Judge = fitted[i]
		out.Items = append(out.Items, v)
	}
	out.Before = stats.AUROC(plain, labels)
	out.Gain, out.Test = stats.PairedAUROC(fitted, plain, labels, clusters, level)
	return out
}

// groupsOf puts documents that some item cites together into one group, which is called
// by the first of them.
func groupsOf(items []fitItem) map[string]string {
	parent := make(map[string]string)
	var find func(doc string) string
	find = func(doc string) string {
		if up, known := parent[doc]; known && up != doc {
			parent[doc] = find(up)
			return parent[doc]
		}
		return doc
	}
	for i := range items {
		for _, doc := range items[i].documents {
			a, b := find(items[i].documents[0]), find(doc)
			parent[max(a, b)] = min(a, b)
		}
	}
	for doc := range parent {
		parent[doc] = find(doc)
	}
	return parent
}

// partsOf puts the documents of each group into one part: groups in the order of the
// digests of their names, each into the part that has the fewest items so far.
func partsOf(items []fitItem) (parts map[string]int, groups int) {
	group := groupsOf(items)
	size := make(map[string]int)
	for i := range items {
		size[group[items[i].documents[0]]]++
	}
	order := slices.SortedFunc(maps.Keys(size), func(a, b string) int {
		return cmp.Or(cmp.Compare(judge.DocumentDigest(a), judge.DocumentDigest(b)), cmp.Compare(a, b))
	})
	var load [judge.LexicalParts]int
	part := make(map[string]int)
	for _, g := range order {
		least := 0
		for k := range load {
			if load[k] < load[least] {
				least = k
			}
		}
		part[g] = least
		load[least] += size[g]
	}
	parts = make(map[string]int)
	for doc, g := range group {
		parts[doc] = part[g]
	}
	return parts, len(size)
}
