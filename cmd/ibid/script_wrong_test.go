package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Where the wrong inputs of a script are collected, and the page that has them.
const (
	wrongRows = "wrong-inputs.rows"
	wrongPage = "../../docs/wrong-inputs.md"
	fewWrong  = 40 // the page has no fewer
)

const wrongHead = `# Wrong inputs

What ibid says of input that is wrong, by the script wrong_inputs.txtar, which keeps this page. Exit code 2: nothing was written. Exit code 4: done, but gates over what the input makes
meaningless have no verdict. None of these ends with exit code 0.

| input | command | exit | message |
|---|---|--:|---|
`

// scriptWrong runs a command on the wrong INPUT, wants exactly the exit code N and a
// message, and collects them.
func scriptWrong(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 3 && args[0] != "0", "wrong N INPUT command...")
	scriptExits(ts, false, append(args[:1:1], args[2:]...))
	var said, hint string
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		line = strings.TrimSpace(line)
		text, ok := strings.CutPrefix(line, "ibid: ")
		switch {
		case strings.HasPrefix(line, "hint: ") && hint == "" && said != "":
			hint = line
		case !ok || strings.HasPrefix(text, "warning: "):
		case strings.HasPrefix(text, "  "):
			said += "; " + strings.TrimSpace(text)
		case said == "" || args[0] == "2" && strings.HasPrefix(said, "left out: "):
			said, hint = text, ""
		}
	}
	if args[0] == "4" { // what is shown then is no way out
		hint = ""
	}
	if said == "" || args[0] == "2" && ts.ReadFile("stdout") != "" {
		ts.Fatalf("no message, or a result: %q", ts.ReadFile("stdout"))
	}
	if hint != "" {
		said += "; " + hint
	}
	f, err := os.OpenFile(ts.MkAbs(wrongRows), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	ts.Check(err)
	defer f.Close()
	command := args[2]
	for _, arg := range args[3:] {
		if strings.ContainsAny(arg, " []<>") {
			arg = "'" + arg + "'"
		}
		command += " " + arg
	}
	cell := strings.NewReplacer("|", "\\|", "<", "&lt;").Replace
	_, err = fmt.Fprintf(f, "| %s | `%s` | %s | %s |\n", cell(args[1]), command, args[0], cell(said))
	ts.Check(err)
}

// scriptWrongs compares what was collected with the page, or writes it under -update.
func scriptWrongs(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 0, "wrongs")
	rows := ts.ReadFile(wrongRows)
	if n := strings.Count(rows, "\n"); n < fewWrong {
		ts.Fatalf("%d wrong inputs, want %d", n, fewWrong)
	}
	got := wrongHead + rows
	if *update {
		ts.Check(os.WriteFile(wrongPage, []byte(got), 0o666))
		return
	}
	want, err := os.ReadFile(wrongPage)
	ts.Check(err)
	if string(want) != got {
		ts.Fatalf("docs/wrong-inputs.md is stale; if the change is meant, run go test ./cmd/ibid -run TestScripts/wrong_inputs -update\n%s", got)
	}
}
