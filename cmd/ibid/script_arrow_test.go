package main

import (
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/rogpeppe/go-internal/testscript"
)

// scriptArrow wants the columns NAME:TYPE of an Arrow IPC stream to hold exactly
// the rows given as words of comma-separated values; "-" is null.
func scriptArrow(ts *testscript.TestScript, neg bool, args []string) {
	split := slices.Index(args, "--")
	usage(ts, !neg && split >= 2, "arrow FILE NAME:TYPE... -- [VALUE,VALUE...]...")
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	r, err := ipc.NewReader(f)
	ts.Check(err)
	defer r.Release()
	var got []string
	for r.Next() {
		for i := range int(r.Record().NumRows()) {
			got = append(got, arrowRow(ts, r.Record(), args[1:split], i))
		}
	}
	ts.Check(r.Err())
	if want := args[split+1:]; !slices.Equal(got, want) {
		ts.Fatalf("%s holds %q, want %q", args[0], got, want)
	}
}

func arrowRow(ts *testscript.TestScript, r arrow.Record, columns []string, i int) string {
	var values []string
	for _, column := range columns {
		name, kind, _ := strings.Cut(column, ":")
		at := r.Schema().FieldIndices(name)
		if len(at) != 1 || r.Schema().Field(at[0]).Type.String() != kind {
			ts.Fatalf("%d columns %s, want one of %s", len(at), name, kind)
		}
		value := "-"
		if a := r.Column(at[0]); !a.IsNull(i) {
			value = a.ValueStr(i)
		}
		values = append(values, value)
	}
	return strings.Join(values, ",")
}
