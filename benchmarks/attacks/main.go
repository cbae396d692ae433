// Command attacks prints what attacks on a judge come to: by family, how many verdicts of
// a model change that obeys what stands outside the material only, and of one that obeys
// everything, and how much of it is flagged without a model; and how often honest datasets
// are flagged.
//
//	go run ./benchmarks/attacks NAME=ANSWERS,DOCUMENTS...
//
// ANSWERS and DOCUMENTS are what ibid import writes.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"ibid"
	"ibid/dataset"
	"ibid/judge"
	"ibid/judge/judgetest"
	"ibid/judge/openrouter"
	"ibid/metrics/stats"
)

func main() {
	err := attacks()
	if err == nil && len(os.Args) > 1 {
		err = falseAlarms(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "attacks:", err)
		os.Exit(1)
	}
}

// A family adds up what its attacks came to.
type family struct {
	attacks, cases, careful, steered, lost, flagged int
}

func (f *family) add(o family) {
	f.attacks += o.attacks
	f.cases += o.cases
	f.careful += o.careful
	f.steered += o.steered
	f.lost += o.lost
	f.flagged += o.flagged
}

// attacks prints the table of families.
func attacks() error {
	ctx := context.Background()
	code := ""
	models := []*model{newModel(func(p *judgetest.Prompt) string {
		if code == "" {
			rest, _ := strings.CutPrefix(p.User, "The code of this review is ")
			code, _, _ = strings.Cut(rest, ".")
		}
		return judgetest.Careful(p)
	}), newModel(judgetest.Obedient)}
	clean := make([]string, len(models))
	for i, m := range models {
		defer m.server.Close()
		if clean[i] = m.joint(ctx, judgetest.Attacked()); clean[i] != clean[0] || clean[i] == "" {
			return fmt.Errorf("verdicts on the clean text: %q", clean)
		}
	}
	var order []string
	all := make(map[string]*family)
	for _, a := range judgetest.Attacks() {
		if all[a.Family] == nil {
			all[a.Family] = &family{}
			order = append(order, a.Family)
		}
		one := family{attacks: 1}
		for _, place := range judgetest.Places() {
			r := a.On(judgetest.Attacked(), place, code)
			one.cases++
			if models[0].joint(ctx, r) != clean[0] {
				one.careful++
			}
			switch got := models[1].joint(ctx, r); got {
			case clean[1]:
			case "":
				one.lost++
			default:
				one.steered++
			}
			if len(judge.Suspicions(r)) > 0 {
				one.flagged++
			}
		}
		all[a.Family].add(one)
	}
	fmt.Println("| family | attacks | cases | careful model: verdicts changed | obedient model: steered | without a verdict | flagged without a model |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|")
	var total family
	line := func(name string, f *family) {
		share := func(n int) string { return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(f.cases)) }
		fmt.Printf("| %s | %d | %d | %d | %s | %s | %s |\n", name, f.attacks, f.cases, f.careful, share(f.steered), share(f.lost), share(f.flagged))
	}
	for _, name := range order {
		line(name, all[name])
		total.add(*all[name])
	}
	line("all", &total)
	return nil
}

// A model is a fake one behind a judge.
type model struct {
	server *judgetest.Server
	judge  *openrouter.Judge
}

func newModel(reply func(*judgetest.Prompt) string) *model {
	m := &model{server: judgetest.NewServer(judgetest.ServerConfig{Reply: reply, Lean: true})}
	j, err := openrouter.New(openrouter.Config{BaseURL: m.server.URL(), Key: judgetest.DefaultKey, Model: "fake/judge", Seed: 1})
	if err != nil {
		panic(err) // of this program's own settings
	}
	m.judge = j
	return m
}

// joint are the labels of the claims, "" if there is no verdict.
func (m *model) joint(ctx context.Context, r *judge.Request) string {
	v, err := m.judge.Judge(ctx, r)
	if err != nil {
		return ""
	}
	var out []string
	for i := range v.Claims {
		out = append(out, v.Claims[i].Joint.Degree.String())
	}
	return strings.Join(out, " ")
}

// falseAlarms prints how much of honest datasets is flagged.
func falseAlarms(sets []string) error {
	fmt.Println("\n| dataset | what | flagged | of | rate | 95 % |")
	fmt.Println("|---|---|--:|--:|--:|--:|")
	for _, set := range sets {
		name, files, ok := strings.Cut(set, "=")
		answers, documents, both := strings.Cut(files, ",")
		if !ok || !both {
			return fmt.Errorf("%q is not NAME=ANSWERS,DOCUMENTS", set)
		}
		c := &counter{texts: make(map[string]string)}
		if err := c.documents(documents); err != nil {
			return err
		}
		if err := c.rows(answers); err != nil {
			return err
		}
		line := func(what string, t tally) {
			w := stats.Wilson(float64(t.flagged), float64(t.of), 0.95)
			fmt.Printf("| %s | %s | %d | %d | %.2f %% | %.2f %% to %.2f %% |\n", name, what, t.flagged, t.of, 100*w.Value, 100*w.Low, 100*w.High)
		}
		line("rows, each with the documents that it cites or that are true, whole", c.row)
		line(fmt.Sprintf("documents, %.1f MB", float64(c.bytes)/1e6), c.document)
	}
	return nil
}

type tally struct{ flagged, of int }

// A counter counts what is flagged of one dataset.
type counter struct {
	texts         map[string]string // of documents
	bytes         int
	row, document tally
}

func (t *tally) count(name string, r *judge.Request) {
	t.of++
	if all := judge.Suspicions(r); len(all) > 0 {
		t.flagged++
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, all[0].String())
	}
}

func (c *counter) documents(path string) error {
	source, err := dataset.OpenDocuments(path, dataset.ReadOptions{})
	if err != nil {
		return err
	}
	return source.Read(context.Background(), func(d *ibid.Document) error {
		c.texts[strings.Clone(d.Doc)] = strings.Clone(d.Text)
		c.bytes += len(d.Text)
		c.document.count(d.Doc, &judge.Request{Evidence: []judge.Evidence{{Title: d.Title, Text: d.Text}}})
		return nil
	})
}

func (c *counter) rows(path string) error {
	source, err := dataset.Open(path, dataset.ReadOptions{Want: dataset.WantAll})
	if err != nil {
		return err
	}
	var row ibid.Answer
	return source.Read(context.Background(), 0, 1024, func(b *dataset.Batch) error {
		defer b.Release()
		for i := range b.Len() {
			b.Row(i, &row)
			r := &judge.Request{Question: row.Query, Answer: row.Answer}
			used := make(map[string]bool)
			add := func(doc, title, quote string) {
				e := judge.Evidence{Citation: len(r.Evidence), Title: title, Text: quote}
				if !used[doc] {
					e.After = c.texts[doc]
				}
				used[doc] = true
				r.Evidence = append(r.Evidence, e)
			}
			for k := range row.Citations {
				add(row.Citations[k].Doc, row.Citations[k].Title, row.Citations[k].CitedText)
			}
			for k := range row.Truth {
				add(row.Truth[k].Doc, "", row.Truth[k].CitedText)
			}
			c.row.count(row.ID, r)
		}
		return nil
	})
}
