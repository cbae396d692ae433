package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ibid"
	"ibid/configs"
	"ibid/dataset"
	"ibid/dataset/parquet"
	"ibid/dataset/runs"
	"ibid/judge"
	"ibid/metrics/claims"
)

// fromFields reports whether verdicts are labels that rows bring: those of people, or in
// source_reference.
func fromFields(s *configs.Settings, kind string) bool {
	return kind == humanJudge || kind == recordedJudge && s.Judge.File == ""
}

// openRecorded opens a file of verdicts: verdicts.parquet of a run, or a table of another
// program.
func openRecorded(path string) (*keptVerdicts, error) {
	info := judge.Info{Kind: recordedJudge}
	if strings.EqualFold(filepath.Ext(path), ".parquet") {
		f, err := runs.OpenFrame(path)
		if err != nil {
			return nil, err
		}
		ours := !slices.ContainsFunc(runs.Verdicts.Columns, func(c runs.Column) bool { return c.Required && !f.Has(c.Name) })
		if err := f.Close(); err != nil {
			return nil, err
		}
		if ours {
			table := *runs.Verdicts
			table.File = filepath.Base(path)
			v, err := openKept(&table, filepath.Dir(path), info)
			v.file = path
			return v, err
		}
	}
	all, err := readTold(path)
	v := &keptVerdicts{info: info, file: path, told: all}
	for _, row := range all {
		v.elsewhere = v.elsewhere || slices.ContainsFunc(row, func(t told) bool { return t.Evidence == runs.ElsewhereEvidence })
	}
	return v, err
}

// A told verdict is one of another program. It may name its claim by other things than
// its position.
type told struct {
	runs.Judgment
	start, end ibid.Integer // of the claim in the answer
	wrong      error        // what it says cannot be read
}

// Columns of a table of another program that verdicts.parquet does not have: the interval of
// the claim in the answer.
const claimStart, claimEnd = "claim_start", "claim_end"

// toldColumns are the columns that are read of verdicts of another program: those of
// verdicts.parquet that say something, and the interval of a claim.
func toldColumns() []string {
	out := []string{claimStart, claimEnd}
	for _, c := range runs.Verdicts.Columns {
		if !slices.Contains([]string{"row", "sufficient", "tampering", "judge", "template", "source", "settled", "suspected"}, c.Name) {
			out = append(out, c.Name)
		}
	}
	return out
}

// readTold reads verdicts of another program, by rows as id/system. A table that cannot
// be one is an error; what is wrong with a verdict is told of its row.
func readTold(path string) (map[string][]told, error) {
	known := toldColumns()
	table, err := dataset.ReadFlat(path, known)
	if err == nil {
		err = checkToldColumns(path, table.Columns, known)
	}
	if err != nil {
		return nil, err
	}
	rows := table.Rows
	out := make(map[string][]told)
	for i := range rows {
		t := told{Judgment: runs.Judgment{Key: runs.Key{System: "default"}}}
		for k, cell := range rows[i].Cells {
			if err := t.set(known[k], cell); err != nil && t.wrong == nil {
				t.wrong = fmt.Errorf("line %d: %w", rows[i].Line, err)
			}
		}
		if err := t.finish(); err != nil && t.wrong == nil {
			t.wrong = fmt.Errorf("line %d: %w", rows[i].Line, err)
		}
		out[t.ID+"/"+t.System] = append(out[t.ID+"/"+t.System], t)
	}
	return out, nil
}

// checkToldColumns refuses a table that lacks what every verdict needs, and one with a column
// that is very probably a misspelt one.
func checkToldColumns(path string, have, known []string) error {
	for _, name := range have {
		if meant := ibid.Slip(name, known); meant != "" && !slices.Contains(have, meant) {
			return ibid.Usagef("%s: unknown column %q", path, name).With("did you mean " + meant + "?")
		}
	}
	for _, need := range [][]string{
		{"id"}, {"evidence"}, {"claim", "claim_id", "claim_text", claimStart, "evidence"}, {"support", "label", "relevant", "factual", "needs_citation", "contradicted"},
	} {
		if !slices.ContainsFunc(need, func(name string) bool { return slices.Contains(have, name) }) {
			return &ibid.Error{
				Usage: true, Err: fmt.Errorf("%s: no column %s", path, strings.Join(need, ", nor ")),
				Hint: fmt.Sprintf("verdicts have id, system, claim_id or claim_text, evidence (citation:N, joint, elsewhere, claim) and support or label; it has %s", strings.Join(have, ", ")),
			}
		}
	}
	return nil
}

// set sets a column to a cell; an empty one is null.
func (t *told) set(name, cell string) error {
	if cell == "" {
		return nil
	}
	if to := map[string]*string{"id": &t.ID, "system": &t.System}[name]; to != nil {
		*to = cell
		return nil
	}
	if to := map[string]*ibid.Integer{claimStart: &t.start, claimEnd: &t.end}[name]; to != nil {
		n, err := strconv.ParseInt(strings.TrimSuffix(cell, ".0"), 10, 64)
		if err != nil {
			return fmt.Errorf("%s %q is not a whole number", name, cell)
		}
		*to = ibid.Some(n)
		return nil
	}
	var value any = cell
	var err error
	what := ""
	switch runs.Verdicts.Columns[runs.Verdicts.Index(name)].Kind {
	case parquet.Int32, parquet.Int64:
		value, err = strconv.ParseInt(strings.TrimSuffix(cell, ".0"), 10, 32)
		what = "a whole number"
	case parquet.Double:
		value, err = strconv.ParseFloat(cell, 64)
		what = "a number"
	case parquet.Bool:
		value, err = strconv.ParseBool(cell)
		what = "true or false"
	}
	if err != nil {
		return fmt.Errorf("%s %.40q is not %s", name, cell, what)
	}
	data, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		return fmt.Errorf("%s %.40q is not %s", name, cell, what) // such as NaN
	}
	return json.Unmarshal(data, &t.Judgment)
}

// finish checks a verdict, and fills in what follows from its label.
func (t *told) finish() error {
	if number, isCitation := strings.CutPrefix(t.Evidence, runs.CitationEvidence); isCitation {
		if n, err := strconv.Atoi(number); err != nil || n < 0 {
			return fmt.Errorf("evidence %.40q: citation:N has the position of a citation, from 0", t.Evidence)
		}
	} else if !slices.Contains([]string{runs.JointEvidence, runs.ElsewhereEvidence, runs.ClaimEvidence}, t.Evidence) {
		return fmt.Errorf("evidence %.40q is none of citation:N, joint, elsewhere and claim", t.Evidence)
	}
	if v := t.Support; v != nil && !(*v >= 0 && *v <= 1) {
		return fmt.Errorf("support %v is outside [0, 1]", *v)
	}
	if t.Label != "" && t.Label != ibid.Undecided.String() {
		degree, err := ibid.ParseDegree(t.Label)
		if err != nil {
			return err
		}
		if s := degree.Support(); t.Support == nil && s.Known() {
			t.Support = &s.Value
		}
		if t.Contradicted == nil && t.Evidence == runs.JointEvidence && degree != ibid.Unsure {
			t.Contradicted = new(degree == ibid.Contradicts)
		}
	}
	if t.Evidence == runs.JointEvidence && t.Votes == nil && (t.Support != nil || t.Label != "") {
		t.Votes = new(int32(1))
	}
	return nil
}

// about are the positions of the claims that a verdict may be about: those that have all
// that it names of its claim, white space of the text aside. named is false if it names nothing: it
// is about all claims that cite its evidence.
func (t *told) about(all []ibid.Claim) (found []int, named bool) {
	text := strings.Fields(t.ClaimText)
	for k := range all {
		c := &all[k]
		switch {
		case t.ClaimID != "" && c.ClaimID != t.ClaimID,
			len(text) > 0 && !slices.Equal(strings.Fields(c.Text), text),
			t.start.Known() && c.Extent.Start != t.start, t.end.Known() && c.Extent.End != t.end,
			t.Claim != nil && int(*t.Claim) != k:
		default:
			found = append(found, k)
		}
	}
	return found, t.ClaimID != "" || len(text) > 0 || t.start.Known() || t.end.Known() || t.Claim != nil
}

// name is what a verdict says of its claim.
func (t *told) name() string {
	var out []string
	for _, part := range []struct {
		said bool
		text string
	}{
		{t.ClaimID != "", fmt.Sprintf("claim_id %.60q", t.ClaimID)},
		{t.ClaimText != "", fmt.Sprintf("claim_text %.60q", t.ClaimText)},
		{t.start.Known(), fmt.Sprintf("%s %d", claimStart, t.start.Value)},
		{t.end.Known(), fmt.Sprintf("%s %d", claimEnd, t.end.Value)},
		{t.Claim != nil, fmt.Sprintf("claim %d", orZero(t.Claim))},
	} {
		if part.said {
			out = append(out, part.text)
		}
	}
	return strings.Join(out, ", ")
}

// matched gives verdicts of another program the positions of their claims in a request.
// Those that are about no claim are left out: [Plan.checkRecorded] counts them.
func matched(all []told, r *judge.Request) ([]runs.Judgment, error) {
	var out []runs.Judgment
	for i := range all {
		t := &all[i]
		if t.wrong != nil {
			return nil, t.wrong
		}
		if t.Annotator != nil {
			continue // a label that others were combined from
		}
		found, named := t.about(r.Claims)
		if named && len(found) > 1 {
			return nil, fmt.Errorf("%d claims have %s", len(found), t.name())
		}
		for _, k := range found {
			if !named && !t.cites(&r.Claims[k]) {
				continue
			}
			j := t.Judgment
			j.Claim, j.ClaimText = new(int32(k)), r.Claims[k].Text
			same := func(o runs.Judgment) bool {
				return *o.Claim == *j.Claim && o.Evidence == j.Evidence && (j.Vote == nil) == (o.Vote == nil) && (j.Vote == nil || *o.Vote == *j.Vote && o.Model == j.Model)
			}
			if slices.ContainsFunc(out, same) {
				return nil, fmt.Errorf("two verdicts on claim %d and %s", k, j.Evidence)
			}
			out = append(out, j)
		}
	}
	return out, nil
}

// cites reports whether a claim cites the evidence of a verdict.
func (t *told) cites(c *ibid.Claim) bool {
	return slices.ContainsFunc(c.Citations, func(n int32) bool { return t.Evidence == runs.CitationEvidence+strconv.Itoa(int(n)) })
}

// completeTold adds what another program does not say: the joint support of claims whose
// citations alone have verdicts.
func completeTold(v *judge.Verdict, r *judge.Request, all []runs.Judgment) {
	for k := range v.Claims {
		told := slices.ContainsFunc(all, func(j runs.Judgment) bool {
			return int(*j.Claim) == k && j.Evidence == runs.JointEvidence && j.Vote == nil
		})
		if !told {
			v.Claims[k].JoinChecks(len(r.Claims[k].Citations))
		}
	}
}

// checkRecorded finds out which verdicts of a file belong to the dataset, and says what
// does not on either side.
func (p *Plan) checkRecorded(ctx context.Context) error {
	v, _ := p.judge.(*keptVerdicts)
	if v == nil || v.file == "" {
		return nil
	}
	options, err := claimOptions(&p.job.Config.Settings)
	if err != nil {
		return err
	}
	cutter := claims.NewCutter(options)
	resolver := dataset.NewResolver(nil, p.conventions)
	joined := dataset.Joined{Column: "verdicts"}
	there := make(map[string]bool)
	var row ibid.Answer
	fields := dataset.WantKeys | dataset.WantSpans | dataset.WantAnswers | dataset.WantQuotes | dataset.WantDetails | dataset.WantClaims
	err = p.source.Select(fields).Read(ctx, 0, 1024, func(b *dataset.Batch) error {
		defer b.Release()
		for i := range b.Len() {
			b.Row(i, &row)
			if row.Err != nil {
				continue
			}
			key := row.ID + "/" + row.System
			resolver.Resolve(&row)
			list := cutter.Cut(&row).List
			joined.Rows++
			there[key] = true
			if !v.has(key) {
				if len(list) > 0 {
					joined.Without++
					joined.NoElement = append(joined.NoElement, key)
				}
				continue
			}
			if options.Source == claims.Model {
				continue
			}
			for k := range v.told[key] {
				if found, _ := v.told[key][k].about(list); len(found) == 0 {
					joined.Lost++
					joined.Nothing = append(joined.Nothing, fmt.Sprintf("%q of %s: no claim has %s", row.ID, row.System, v.told[key][k].name()))
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for key, n := range v.counts() {
		joined.Elements += n
		joined.IDs++
		if !there[key] {
			joined.Lost += n
			joined.LostIDs++
			joined.NoRow = append(joined.NoRow, key)
		}
	}
	slices.Sort(joined.NoRow)
	if joined.Lost == joined.Elements {
		return p.nothingJoined(&joined, v.file)
	}
	for _, text := range notJoined(&joined, v.file) {
		p.warn("%s", text)
	}
	return nil
}
