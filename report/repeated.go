package report

import (
	"fmt"
	"math"

	"ibid/annotations"
)

// repeated shows what a judge that judged the same data several times varied in.
func repeated(p *paper, r *annotations.Repeated) {
	p.heading(fmt.Sprintf("Judged %d times: the judge's noise", r.Runs))
	t := &table{header: []string{"", "items", "judgments", "sd of a judgment", "sd of items", "judge's part", "se of the mean"}, right: 1}
	for _, list := range [][]annotations.NoiseOf{r.Verdicts, r.Metrics} {
		for i := range list {
			n := &list[i]
			part := "–"
			if share, ok := n.Share(); ok {
				part = fmt.Sprintf("%.1f %%", 100*share)
			}
			t.rows = append(t.rows, []string{
				n.Name, Thousands(n.Items), Thousands(n.Judgments), number(math.Sqrt(n.Judge)), number(math.Sqrt(n.Sample)), part, fmt.Sprintf("%.4f", n.MeanSE()),
			})
		}
	}
	p.table(t)
	p.line("se of the mean: what the judge alone gives to the mean over these items, judged once; two runs over them differ by 1.4 times as much for no other reason")
}

type repeatedJSON struct {
	Runs     int           `json:"runs"`
	Verdicts []noiseOfJSON `json:"verdicts"`
	Metrics  []noiseOfJSON `json:"metrics"`
}

type noiseOfJSON struct {
	Name string `json:"name"`
	noiseJSON
	MeanSE float64 `json:"judge_se_of_mean"`
}

func repeatedOf(r *annotations.Repeated) *repeatedJSON {
	list := func(from []annotations.NoiseOf) []noiseOfJSON {
		out := []noiseOfJSON{}
		for i := range from {
			out = append(out, noiseOfJSON{from[i].Name, noiseJSON(from[i].Noise), from[i].MeanSE()})
		}
		return out
	}
	return &repeatedJSON{r.Runs, list(r.Verdicts), list(r.Metrics)}
}
