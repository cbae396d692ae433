package harness

import (
	"context"
	"fmt"
	"strings"

	"ibid"
	"ibid/dataset"
)

// checkOffsets stops a run whose quotes stand at their offsets only if these are read in
// another way than the settings say. It looks at a sample, and nowhere if nothing is
// quoted, no text is at hand, quotes are not checked, or the dataset states what its
// offsets count.
func (p *Plan) checkOffsets(ctx context.Context, docs *dataset.Documents) error {
	if docs == nil && !p.inline || !p.conventions.Checks.Text || p.source.Conventions().OffsetUnit != "" {
		return nil
	}
	proof, err := dataset.ProveOffsets(ctx, p.source, docs.View(textCache), p.conventions, p.Rows)
	if err != nil || !proof.Contradicted {
		return err
	}
	c, better := p.conventions, proof.Better
	var write, because []string
	for _, s := range []struct{ key, is, should string }{
		{"offset_unit", c.OffsetUnit.String(), better.Unit.String()},
		{"span_end", c.SpanEnd.String(), better.End.String()},
		{"offset_base", c.OffsetBase.String(), better.Base.String()},
	} {
		if s.is != s.should {
			write = append(write, s.key+": "+s.should)
			because = append(because, s.key+" is "+s.is)
		}
	}
	return ibid.Usagef("%s, and %d of %d quotes stand at their offsets; with %s all %d do",
		strings.Join(because, ", "), proof.Given, proof.Quotes, strings.Join(write, " and "), proof.Quotes).
		With(fmt.Sprintf("write %s, in the run file or as --set %s", strings.Join(write, " and "), strings.ReplaceAll(strings.Join(write, " --set "), ": ", "=")))
}
