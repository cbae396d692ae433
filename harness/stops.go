package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/runs"
)

// maxNames bounds the names that a hint chooses from or lists.
const (
	maxNames       = 1000
	maxListedNames = 10
)

// checkInput stops a run of which nothing could come: without rows, with documents
// that are none, or over a slice that no row is in. Each is [ibid.ErrUsage].
func (p *Plan) checkInput(ctx context.Context) error {
	switch {
	case p.Rows == 0:
		return signNoRows.Stop("%s has no rows", p.named)
	case p.documents != nil && p.documents.Rows() == 0:
		return signEmptyDocuments.Stop("%s has no documents", p.namedDocuments)
	}
	err := p.checkOnly(ctx)
	if err == nil { // slices are of the run
		err = p.checkSlices(ctx)
	}
	if err = asUsage(err); err != nil {
		return err
	}
	return p.checkAnswers(ctx)
}

// ErrTruthOnly is in the chain of the error of a run over questions with truth.
var ErrTruthOnly = errors.New("answers are missing")

// firstRows is how many rows are looked at for places that start after their end.
const firstRows = 1000

// checkAnswers stops a run of five rows or more in which none has an answer or a citation, one
// over questions with truth, and one most of whose first places start after their end.
func (p *Plan) checkAnswers(ctx context.Context) error {
	rows, answered, truth, places, swapped := 0, false, false, 0, 0
	place := func(start, end ibid.Integer) {
		if start.Known() && end.Known() {
			places++
			if start.Value > end.Value {
				swapped++
			}
		}
	}
	source := p.source.Select(dataset.WantKeys | dataset.WantSpans | dataset.WantAnswers | dataset.WantMessages)
	err := eachRow(ctx, source, p.job.Limit, func(r *ibid.Answer) error {
		rows++
		answered = answered || r.Answer != "" || len(r.Citations) > 0 || len(r.Messages) > 0
		truth = truth || len(r.Truth) > 0
		for i := range r.Citations {
			place(r.Citations[i].Start, r.Citations[i].End)
		}
		for i := range r.Truth {
			place(r.Truth[i].Start, r.Truth[i].End)
		}
		if answered && rows >= firstRows {
			return errEnough
		}
		return nil
	})
	switch data := p.named; {
	case ignoreEnough(err) != nil:
		return asUsage(err)
	case !answered && truth:
		return &ibid.Error{Err: fmt.Errorf("%s has questions with truth; %w (sign %s)", data, ErrTruthOnly, signTruthOnly.Name), Hint: signTruthOnly.Tip}
	case !answered && rows >= fewestCases:
		return signNoAnswers.Stop("no row of %s has an answer", data).With(unreadColumns(p.source.Ignored()))
	case swapped >= fewestCases && 2*swapped > places:
		return signOffsetsSwapped.Stop("%d of the first %d places of %s start after their end", swapped, places, data)
	}
	return nil
}

// unreadColumns is a hint: the columns that may hold the answers.
func unreadColumns(names []string) string {
	if len(names) == 0 {
		return signNoAnswers.Tip
	}
	return fmt.Sprintf("are the answers in %s? --columns THEIRS=answer", listed(names, maxListedNames))
}

// knownTags are the values of tags that rows have, as far as hints look.
type knownTags map[string]map[string]bool

func (k knownTags) add(r *ibid.Answer) {
	for _, tag := range r.Tags {
		of := k[tag.Key]
		if of == nil {
			if len(k) == maxNames {
				continue
			}
			of = make(map[string]bool)
			k[strings.Clone(tag.Key)] = of
		}
		if !of[tag.Value] && len(of) < maxNames {
			of[strings.Clone(tag.Value)] = true
		}
	}
}

// checkOnly stops a run whose --only leaves no row.
func (p *Plan) checkOnly(ctx context.Context) error {
	if len(p.job.Only) == 0 {
		return nil
	}
	found := false
	values := make(knownTags)
	err := eachRow(ctx, p.source.Select(dataset.WantKeys|dataset.WantTags), p.job.Limit, func(r *ibid.Answer) error {
		if found = p.job.wants(r); found {
			return errEnough
		}
		values.add(r)
		return nil
	})
	if found || ignoreEnough(err) != nil {
		return ignoreEnough(err)
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(p.job.Only)) {
		value := p.job.Only[key]
		all = append(all, "--only "+key+"="+value)
		of, ok := values[key]
		switch {
		case !ok:
			return signNoRowLeft.Stop("--only %s=%s leaves no row: no row has the tag %s", key, value, key).With(meantAmong(key, slices.Sorted(maps.Keys(values)), "tags are", "the dataset has no tags"))
		case !of[value]:
			return signNoRowLeft.Stop("--only %s=%s leaves no row", key, value).With(meantAmong(value, slices.Sorted(maps.Keys(of)), "values of "+key+" are", ""))
		}
	}
	return signNoRowLeft.Stop("%s leave no row: none has all of these tags", strings.Join(all, " "))
}

// checkSlices stops a run over slices, or clusters, by a tag that no row of the dataset
// has. It reads no further than the last tag that it looks for.
func (p *Plan) checkSlices(ctx context.Context) error {
	missing := slices.DeleteFunc(slices.Clone(p.job.Config.Slices), runs.IsColumnSlice)
	cluster := p.job.Config.Statistics.Cluster
	if tag := runs.ClusterTag(cluster); tag != "" {
		missing = append(missing, tag)
	}
	if len(missing) == 0 {
		return nil
	}
	tags := make(knownTags)
	var values []string
	err := eachRow(ctx, p.source.Select(dataset.WantKeys|dataset.WantTags), 0, func(r *ibid.Answer) error {
		missing = slices.DeleteFunc(missing, func(key string) bool {
			values = runs.AppendSlices(values[:0], r, key)
			return len(values) > 0
		})
		if len(missing) == 0 {
			return errEnough
		}
		tags.add(r)
		return nil
	})
	if err := ignoreEnough(err); err != nil || len(missing) == 0 {
		return err
	}
	if names := slices.Sorted(maps.Keys(tags)); missing[0] == cluster && !slices.Contains(p.job.Config.Slices, cluster) {
		tip := meantAmong(cluster, append([]string{runs.AutoCluster, "question"}, names...), "rows depend on each other by", "")
		return p.job.Config.Refuse("statistics.cluster", "no row has the tag "+cluster, tip)
	}
	tip := meantAmong(missing[0], append(slices.Sorted(maps.Keys(tags)), runs.ColumnSlices()...), "slices can be by", "")
	return p.job.Config.Refuse("slices", fmt.Sprintf("no row has the tag %s (sign %s)", missing[0], signUnknownSlice.Name), tip)
}

// meantAmong is a hint: the name that was probably meant, else the first of all names
// after what they are, or the text otherwise if there are none.
func meantAmong(name string, names []string, what, otherwise string) string {
	if near := ibid.Nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	if len(names) == 0 {
		return otherwise
	}
	return what + " " + listed(names, maxListedNames)
}

// listed joins the first names and counts the others.
func listed(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// checkCited stops a run if no cited document is among its documents: every citation would count as
// invented. A run of at most [firstRows] rows also stops if no document of its truth is among them.
// Rows with a text of a document of their own, and rows with an empty list of documents, do not count.
func (p *Plan) checkCited(ctx context.Context, docs *dataset.Documents) error {
	if docs == nil {
		return nil
	}
	cited, marked, rows := namesIn{docs: docs}, namesIn{docs: docs}, 0
	source := p.source.Select(dataset.WantKeys | dataset.WantSpans | dataset.WantDocuments)
	err := eachRow(ctx, source, p.job.Limit, func(r *ibid.Answer) error {
		for i := range r.Citations {
			cited.note(r, r.Citations[i].Doc, r.Citations[i].DocNull)
		}
		for i := range r.Truth {
			marked.note(r, r.Truth[i].Doc, r.Truth[i].DocNull)
		}
		if rows++; cited.found && (marked.found || rows >= firstRows) {
			marked.found = true // or may be: the sign counts what is missing
			return errEnough
		}
		return nil
	})
	for _, n := range []struct {
		sign        *Sign
		what, named string
		in          *namesIn
	}{
		{signNoCitedDocument, "cited documents", "the answers cite", &cited},
		{signTruthMissing, "documents of truth", "truth names", &marked},
	} {
		if ignoreEnough(err) != nil || n.in.found || len(n.in.missing) == 0 {
			continue
		}
		return p.refuseNames(ctx, n.sign, n.what, n.named, n.in.missing)
	}
	return ignoreEnough(err)
}

// namesIn are the names of documents that rows point to and that are not there, the first of
// them, until one is found that is.
type namesIn struct {
	docs    *dataset.Documents
	found   bool
	missing []string
}

func (n *namesIn) note(r *ibid.Answer, doc string, null bool) {
	hasText := func(d ibid.Document) bool { return !d.NameOnly() }
	own := r.HasDocuments && (len(r.Documents) == 0 || slices.ContainsFunc(r.Documents, hasText))
	if n.found = n.found || own || !null && n.docs.Has(doc); n.found || null {
		return
	}
	if len(n.missing) < maxListedNames && !slices.Contains(n.missing, doc) {
		n.missing = append(n.missing, strings.Clone(doc))
	}
}

// refuseNames is the error about documents of which none is there. It hints at the one that
// was probably meant.
func (p *Plan) refuseNames(ctx context.Context, sign *Sign, what, named string, missing []string) error {
	names, err := p.documentNames(ctx)
	if err != nil {
		return err
	}
	u := sign.Stop("none of the %s is in %s: %s %s; it has %s",
		what, p.namedDocuments, named, listed(quotedNames(missing), 3), listed(quotedNames(names), 3))
	for _, doc := range missing {
		meant, spelling := meantDocument(doc, names)
		switch {
		case spelling:
			u.Hint = fmt.Sprintf("%q is %q in another spelling: --set doc_names=normalized reads both as one name", doc, meant)
		case meant != "":
			u.Hint = fmt.Sprintf("%q is probably %q: write the same names in both, without ./, folders or other case", doc, meant)
		default:
			continue
		}
		break
	}
	return u
}

// documentNames are the names of all documents, in their order.
func (p *Plan) documentNames(ctx context.Context) ([]string, error) {
	var names []string
	err := p.eachName(ctx, func(name string) error {
		names = append(names, strings.Clone(name))
		return nil
	})
	return names, err
}

// meantDocument returns the document that a wrong name probably means, "" for none: the first name
// that differs in spelling only, else the same file name in another folder or in other case, else the
// most similar name.
func meantDocument(doc string, names []string) (meant string, spelling bool) {
	normal, base := dataset.NormalName(doc), path.Base(doc)
	for _, name := range names {
		if name != doc && dataset.NormalName(name) == normal {
			return name, true
		}
	}
	for _, name := range names {
		if strings.EqualFold(base, path.Base(name)) {
			return name, false
		}
	}
	return ibid.Nearest(doc, names), false
}

func quotedNames(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = fmt.Sprintf("%q", name)
	}
	return out
}
