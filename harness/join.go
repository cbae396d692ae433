package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ibid"
	"ibid/dataset"
	"ibid/metrics/claims"
)

// openGold opens the tables that are joined to the dataset.
func (p *Plan) openGold(context.Context) (err error) {
	s := &p.job.Config.Settings
	if s.Truth != "" {
		if p.truth, err = dataset.OpenTruth(s.Truth); err != nil {
			return goneInput(p.job.SameDataAs, "truth", err)
		}
	}
	if s.Labels != "" {
		p.labels, err = dataset.OpenLabels(s.Labels, s.Values)
	}
	return goneInput(p.job.SameDataAs, "labels", err)
}

// gold are the tables that are joined to the dataset, under the names of the settings
// that say where they are.
func (p *Plan) gold(yield func(kind string, g *dataset.Gold) bool) {
	if p.truth != nil && !yield("truth", p.truth) {
		return
	}
	if p.labels != nil {
		yield("labels", p.labels)
	}
}

// openDataset opens the dataset with what tables say of its rows, and the names of
// documents as they are read.
func (p *Plan) openDataset(want dataset.Want) (*dataset.Source, error) {
	s := &p.job.Config.Settings
	if p.labels != nil {
		want |= dataset.WantClaims
	}
	source, err := dataset.Open(s.Dataset, dataset.ReadOptions{Columns: p.fileColumns(), Want: want, Limits: limitsOf(s)})
	if err != nil {
		return nil, goneInput(p.job.SameDataAs, "dataset", err)
	}
	source = source.Join(p.truth, p.labels)
	if p.names != nil {
		source = source.Normalize(p.names)
	}
	return source, nil
}

// join finds out what becomes of the tables that are joined to the dataset, whatever
// part of it the run covers, and says what did not join.
func (p *Plan) join(ctx context.Context) error {
	options, err := claimOptions(&p.job.Config.Settings)
	if err != nil {
		return err
	}
	cutter := claims.NewCutter(options)
	cut := func(r *ibid.Answer) []ibid.Claim { return cutter.Cut(r).List }
	if options.Source == claims.Model { // which is not asked yet
		cut = nil
	}
	all, err := p.source.CheckJoin(ctx, p.conventions, cut)
	if err != nil {
		return err
	}
	for i := range all {
		j := &all[i]
		table := p.job.Config.Truth
		if j.Column == "labels" {
			table = p.job.Config.Labels
		}
		if j.Lost == j.Elements {
			return p.nothingJoined(j, table)
		}
		for _, text := range notJoined(j, table) {
			p.warn("%s", text)
		}
	}
	return nil
}

// nothingJoined is the error for a table that says nothing of any row.
func (p *Plan) nothingJoined(j *dataset.Joined, table string) error {
	if j.LostIDs < j.IDs {
		return signNothingJoined.Stop("none of the %d %s of %s is about anything in %s: %s", j.Elements, j.Column, table, p.named, j.Nothing[0])
	}
	u := signNothingJoined.Stop("no id of %s is in %s: the table has %s; the answers have %s",
		table, p.named, listed(quotedNames(j.NoRow), 3), listed(quotedNames(j.NoElement), 3))
	for _, id := range j.NoRow {
		if near := nearID(id, j.NoElement); near != "" {
			u.Hint = fmt.Sprintf("%q is probably %q: write the same ids in both", id, near)
			break
		}
	}
	return u
}

// notJoined says what is on one side only.
func notJoined(j *dataset.Joined, table string) []string {
	var texts []string
	if j.LostIDs > 0 {
		names := quotedNames(j.NoRow)
		for i, id := range j.NoRow[:min(len(j.NoRow), maxListedNames)] {
			if near := nearID(id, j.NoElement); near != "" {
				names[i] += fmt.Sprintf(" (did you mean %q?)", near)
			}
		}
		texts = append(texts, fmt.Sprintf("%s: no answer has %d of the %d ids: %s", table, j.LostIDs, j.IDs, listed(names, maxListedNames)))
	}
	if len(j.Nothing) > 0 {
		texts = append(texts, fmt.Sprintf("%s: %d of the %d %s are about nothing that is there: %s", table, j.Lost, j.Elements, j.Column, listed(j.Nothing, 3)))
	}
	if j.Without > 0 {
		texts = append(texts, fmt.Sprintf("%s: %d of the %d answers have no %s: %s", table, j.Without, j.Rows, j.Column, listed(quotedNames(slices.Compact(j.NoElement)), maxListedNames)))
	}
	return texts
}

// nearID is the id that was probably meant: one that differs in case, spaces or signs
// only, or else one that is spelt nearly so. Numbers are near to no other number.
func nearID(id string, ids []string) string {
	letters := func(s string) string {
		return strings.ToLower(strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, s))
	}
	if slices.Contains(ids, id) { // of another system
		return ""
	}
	for _, other := range ids {
		if letters(id) == letters(other) {
			return other
		}
	}
	digits := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsDigit(r) {
				return r
			}
			return -1
		}, s)
	}
	near := ibid.Nearest(id, ids)
	if digits(near) != digits(id) {
		return ""
	}
	return near
}
