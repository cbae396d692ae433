package cli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ibid/configs"
	"ibid/dataset/runs"
	"ibid/harness"
	"ibid/report"
)

func (a *app) showRow(cmd *cobra.Command, dir string, m *runs.Manifest, name string, set []string) error {
	if err := a.formats("text", "json"); err != nil {
		return err
	}
	key, err := findRow(dir, name)
	if err != nil {
		return err
	}
	row, err := runs.ReadRow(dir, key.Index)
	if err != nil {
		return err
	}
	citations, err := runs.CitationsOf(dir, key.Row)
	if err != nil {
		return err
	}
	claims, err := runs.ClaimsOf(dir, key.Row)
	if err != nil {
		return err
	}
	calls, err := runs.CallsOf(dir, key.Row)
	if err != nil {
		return err
	}
	config, err := shownAs(m, set)
	if err != nil {
		return err
	}
	view := report.NewRowView(key, row, claims, citations)
	view.SetCalls(calls)
	view.Display = displayOf(config)
	detail, err := harness.ReadDetail(cmd.Context(), m, key.Row, evidenceKeys(view))
	if err != nil {
		a.warn("only the results can be shown, not the texts: %v", err)
	} else {
		addDetail(view, detail)
		view.SetOrigins(detail.Row.Citations, m.Timings.Started)
	}
	return a.write(func(w io.Writer) error {
		if a.format == "json" {
			return writeJSON(w, view)
		}
		return view.WriteText(w, a.style())
	})
}

// findRow finds the one row that is meant by ID, ID/SYSTEM or #N.
func findRow(dir, name string) (runs.RowKey, error) {
	match := func(k runs.RowKey) bool { return k.ID == name || k.ID+"/"+k.System == name }
	if number, ok := strings.CutPrefix(name, "#"); ok {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return runs.RowKey{}, &usageError{err: fmt.Errorf("%q is no row number", name), hint: "write #N, quoted for the shell: '#12'"}
		}
		match = func(k runs.RowKey) bool { return k.Row == n }
	}
	found, err := runs.FindRows(dir, match)
	switch {
	case err != nil:
		return runs.RowKey{}, err
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		hint, err := nearestRow(dir, name)
		return runs.RowKey{}, errors.Join(err, &usageError{err: fmt.Errorf("%s has no row %s", dir, name), hint: hint})
	}
	var names []string
	for _, k := range found {
		names = append(names, k.ID+"/"+k.System)
	}
	return runs.RowKey{}, &usageError{err: fmt.Errorf("%s is the id of %d rows", name, len(found)), hint: "choose one of " + strings.Join(names, ", ")}
}

// nearestRow suggests a row instead of one that is not there.
func nearestRow(dir, name string) (string, error) {
	bySystem := strings.Contains(name, "/")
	var names []string
	_, err := runs.FindRows(dir, func(k runs.RowKey) bool {
		if bySystem {
			names = append(names, k.ID+"/"+k.System)
		} else if len(names) == 0 || names[len(names)-1] != k.ID {
			names = append(names, k.ID)
		}
		return false
	})
	if near := configs.Nearest(name, names); near != "" {
		return "did you mean " + near + "?", err
	}
	return "ibid show " + dir + " prints what the run has", err
}

// evidenceKeys are the texts that the evidence which claims do not cite is in.
func evidenceKeys(v *report.RowView) []harness.TextKey {
	var keys []harness.TextKey
	for i := range v.Claims {
		if e := v.Claims[i].Elsewhere; e != nil {
			keys = append(keys, evidenceKey(e))
		}
	}
	return keys
}

func evidenceKey(e *report.ElsewhereView) harness.TextKey {
	key := harness.TextKey{Doc: e.Doc}
	if e.Page != nil {
		key.Page = int32(*e.Page)
	}
	return key
}

// addDetail adds what the inputs know of a row to what its results say.
func addDetail(v *report.RowView, d *harness.Detail) {
	v.Presence = &d.Presence
	v.Query, v.Answer = d.Row.Query, d.Row.Answer
	for i := range d.Row.Truth {
		if d.Row.Truth[i].DocNull {
			continue
		}
		v.Truth = append(v.Truth, report.TruthView{Annotator: d.Row.Truth[i].Annotator, Place: d.Places.Truth[i]})
	}
	for k, text := range d.Texts {
		v.AddText(k.Doc, k.Page, text, d.Places.Citations)
	}
	for i := range v.Claims {
		if e := v.Claims[i].Elsewhere; e != nil {
			e.Quote(d.Texts[evidenceKey(e)])
		}
	}
	for i := range v.Citations {
		v.Citations[i].Meant = d.Meant[v.Citations[i].Doc]
	}
}
