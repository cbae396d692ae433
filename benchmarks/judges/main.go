//go:build unix

// Command judges is the laboratory of judges: how well they agree with people, and what
// they take.
//
// It runs judges over labelled sets and prints a Markdown table: AUROC, balanced accuracy
// and κ with intervals over documents, flips over repeats, attacks that won, cost and time, beside published
// figures. Without -models it needs no key: lexical, plain
// overlap of words, and what GPT-3.5, GPT-4 and two T5 said of WiCE.
//
//	go run ./benchmarks/judges
//	go run ./benchmarks/judges -wice WICE/oracle_chunks/claim/test.jsonl
//	go run ./benchmarks/judges -data labelled.parquet -documents documents.parquet
//	OPENROUTER_API_KEY=... go run ./benchmarks/judges -models openai/gpt-5-mini,qwen/qwen3-8b -repeats 3 \
//	    -vary judge.evidence=window,span,document -vary judge.prompts=my-prompts -set judge.max_cost_usd=5
//
// With -service it measures instead how a live judge gets on with a service and its faults,
// with -runs what whole runs with one take; both against the fake of judge/judgetest.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// list is a flag that may be repeated.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

func main() {
	var l laboratory
	var vary list
	models := flag.String("models", "", "models to ask, separated by commas; their key comes from the environment")
	flag.Var(&vary, "vary", "KEY=VALUE,VALUE…: ask every model with each value of a setting (may be repeated)")
	flag.Var((*list)(&l.settings), "set", "KEY=VALUE of all models, as ibid run has it (may be repeated)")
	flag.IntVar(&l.repeats, "repeats", 1, "how often a model is asked, with another seed each time")
	flag.BoolVar(&l.attacks, "attacks", false, "attack models, too, which takes some hundred calls of each")
	shared := flag.String("shared", filepath.Join("..", "shared", "data"), "folder that has wice and expertqa")
	wice := flag.String("wice", "", "WiCE's oracle chunks instead: JSON Lines")
	data := flag.String("data", "", "a dataset of your own with labels, Parquet, instead")
	documents := flag.String("documents", "", "its documents")
	service := flag.Bool("service", false, "measure how a live judge gets on with a service")
	only := flag.String("only", "", "of -service: the scenarios whose name has this in it")
	whole := flag.Bool("runs", false, "measure whole runs with a live judge")
	program := flag.String("ibid", "bin/ibid", "of -runs: the program to measure")
	rows := flag.String("rows", "", "of -service: rows under limits (1500); of -runs: rows of the datasets (10000,100000)")
	concurrency := flag.Int("concurrency", 64, "of -runs: calls under way at once")
	latency := flag.Duration("latency", 5*time.Millisecond, "of -runs: of the service")
	flag.Parse()
	var err error
	switch {
	case *service:
		err = measureService(*rows, *only)
	case *whole:
		m := &measurement{ibid: *program, concurrency: *concurrency, latency: *latency}
		err = m.all(*rows)
	default:
		var sets []*labelledSet
		if sets, err = l.open(*shared, *wice, *data, *documents); err == nil {
			err = l.run(context.Background(), os.Stdout, sets, *models, vary)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "judges:", err)
		os.Exit(1)
	}
}
