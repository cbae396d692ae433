//go:build unix

// Command judges is the laboratory of judges: how well they agree with people, and what
// they cost.
//
// It runs judges over labelled sets and prints a Markdown table: AUROC, balanced accuracy
// and κ with intervals over documents, cost and time. Without -models it needs no key: plain overlap of words, and what
// GPT-3.5, GPT-4 and two T5 said of WiCE.
//
//	go run ./judges
//	go run ./judges -wice WICE/oracle_chunks/claim/test.jsonl
//	go run ./judges -data labelled.parquet -documents documents.parquet
//	OPENROUTER_API_KEY=... go run ./judges -models openai/gpt-5-mini,qwen/qwen3-8b \
//	    -set judge.evidence=document -set judge.max_cost_usd=5
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// list is a flag that may be repeated.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

func main() {
	var l laboratory
	models := flag.String("models", "", "models to ask, separated by commas; their key comes from the environment")
	flag.Var((*list)(&l.settings), "set", "KEY=VALUE of all models, as ibid run has it (may be repeated)")
	shared := flag.String("shared", filepath.Join("..", "..", "shared", "data"), "folder that has wice and expertqa")
	wice := flag.String("wice", "", "WiCE's oracle chunks instead: JSON Lines")
	data := flag.String("data", "", "a dataset of your own with labels, Parquet, instead")
	documents := flag.String("documents", "", "its documents")
	flag.Parse()
	sets, err := l.open(*shared, *wice, *data, *documents)
	if err == nil {
		err = l.run(context.Background(), os.Stdout, sets, *models)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "judges:", err)
		os.Exit(1)
	}
}
