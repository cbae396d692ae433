package verify

import (
	"cmp"
	"slices"
	"strings"

	"ibid"
)

// A truth is what the citations are compared with: the marks of one annotator, or of several
// together. marks are the annotations of its spans; nil if these are combined.
type truth struct {
	*side
	name   string
	marks  []int
	places []markedPlace
}

// A markedPlace is one mark: its document, its spans, and its pages if they are known.
type markedPlace struct {
	doc          string
	spans, pages []span
	finer        bool // than a document
}

// annotators are the truth of each annotator, by name. The reason is Defined if there is
// something to compare with.
func annotators(row *ibid.Answer, policy ibid.Policy) ([]truth, ibid.Reason) {
	if !row.HasTruth {
		return nil, ibid.NoTruth
	}
	only, one := policy.Annotator()
	var all []truth
	for i := range row.Truth {
		t := &row.Truth[i]
		if one && t.Annotator != only {
			continue
		}
		at := slices.IndexFunc(all, func(a truth) bool { return a.name == t.Annotator })
		if at < 0 {
			at = len(all)
			all = append(all, truth{side: newSide(), name: t.Annotator})
		}
		if t.DocNull {
			continue // looked and marked nothing
		}
		if lostMark(&t.Place) {
			return nil, ibid.TruthNotFound
		}
		before, pages := len(all[at].spans), len(all[at].pages)
		all[at].add(i, &t.Place, t.CitedText)
		if usable(&t.Place) && t.Place.Level != ibid.LevelNowhere {
			all[at].places = append(all[at].places, markedPlace{t.Place.Doc, all[at].spans[before:], all[at].pages[pages:], t.Place.Level != ibid.LevelDocument})
		}
		for range len(all[at].spans) - before {
			all[at].marks = append(all[at].marks, i)
		}
	}
	if one && len(all) == 0 {
		return nil, ibid.NoTruth
	}
	slices.SortFunc(all, func(a, b truth) int { return strings.Compare(a.name, b.name) })
	return all, ibid.Defined
}

// lostMark reports whether a mark is in no text.
func lostMark(p *ibid.Place) bool {
	return p.Excluded || p.Status == ibid.StatusQuoteNotFound || inSets(p) && p.End > ibid.MaxEnd
}

// combined is what so many of the annotators marked, as runs. Its documents and pages are
// those of the runs; in a document of which some mark has no span, people vote on pages, or
// on the document, by all their marks.
func combined(all []truth, quorum int) truth {
	out := truth{side: newSide()}
	out.spans = agreed(all, quorum, func(a truth) []span { return a.spans })
	whole, paged := make(map[string]bool), make(map[string]bool)
	for _, a := range all {
		for _, p := range a.places {
			if len(p.spans) == 0 {
				whole[p.doc] = true
				paged[p.doc] = paged[p.doc] || p.finer
			}
		}
	}
	voters := make([]truth, len(all))
	votes := make(map[string]int)
	for i, a := range all {
		voters[i] = truth{side: newSide()}
		for _, p := range a.places {
			_, _, both := measure(out.spans, p.spans)
			if both > 0 || whole[p.doc] {
				voters[i].docs[p.doc] = true
			}
			if both > 0 || paged[p.doc] {
				voters[i].pages = append(voters[i].pages, p.pages...)
				out.pagesUnknown = out.pagesUnknown || p.finer && len(p.pages) == 0
			}
		}
		for doc := range voters[i].docs {
			votes[doc]++
		}
	}
	out.pages = agreed(voters, quorum, func(a truth) []span { return a.pages })
	for doc, n := range votes {
		if n >= quorum {
			out.docs[doc] = true
		}
	}
	return out
}

// agreed are the runs of what so many of the annotators have.
func agreed(all []truth, quorum int, of func(truth) []span) (out []span) {
	bounds := make(map[key][]int64)
	for _, a := range all {
		for _, s := range of(a) {
			bounds[s.key] = append(bounds[s.key], s.start, s.end)
		}
	}
	for k, at := range bounds {
		slices.Sort(at)
		at = slices.Compact(at)
		var runs []span
		for i := 1; i < len(at); i++ {
			votes := 0
			for _, a := range all {
				if slices.ContainsFunc(of(a), func(s span) bool { return s.key == k && s.start <= at[i-1] && at[i] <= s.end }) {
					votes++
				}
			}
			if votes < quorum {
				continue
			}
			if n := len(runs); n > 0 && runs[n-1].end == at[i-1] {
				runs[n-1].end = at[i]
			} else {
				runs = append(runs, span{k, at[i-1], at[i], -1})
			}
		}
		out = append(out, runs...)
	}
	slices.SortFunc(out, func(a, b span) int {
		return cmp.Or(strings.Compare(a.key.doc, b.key.doc), cmp.Compare(a.key.page, b.key.page), cmp.Compare(a.start, b.start))
	})
	return out
}

// chosen is the truth that the policy compares with, mean excepted.
func chosen(all []truth, policy ibid.Policy, pred *side) truth {
	switch {
	case len(all) == 0:
		return truth{side: newSide()}
	case policy == ibid.PolicyUnion:
		return combined(all, 1)
	case policy == ibid.PolicyMajority:
		return combined(all, len(all)/2+1)
	case policy == ibid.PolicyIntersection:
		return combined(all, len(all))
	}
	best, most := all[0], ratio{-1, 1}
	for _, a := range all {
		t, p, both := measure(a.spans, pred.spans)
		if f1 := (ratio{2 * both, t + p}); f1.den > 0 && f1.compare(most) > 0 {
			best, most = a, f1
		}
	}
	return best
}
