package cli

import (
	"io"

	"ibid/annotations/compare"
	"ibid/report"
)

// planAlone plans from one run: from the differences of its systems, or if it has
// one only, from the variance of its rows.
func (a *app) planAlone(f *compareFlags, o compare.Options, dir string) error {
	if err := a.formats(tableFormats...); err != nil {
		return err
	}
	if _, err := openRun(dir); err != nil {
		return err
	}
	run, err := compare.Open(dir)
	if err != nil {
		return err
	}
	defer run.Close()
	var plan *compare.Plan
	if len(run.Systems()) > 1 {
		var r *compare.Result
		if r, err = compare.BySystem(run, o); err == nil {
			plan = compare.NewPlan(r, f.deltas)
		}
	} else {
		plan, err = compare.PlanAlone(run, o, f.deltas)
	}
	if err != nil {
		return compareError(err)
	}
	return a.writePlan(plan)
}

func (a *app) writePlan(plan *compare.Plan) error {
	return a.write(func(w io.Writer) error {
		return report.WritePlan(w, plan, a.format, report.TextOptions{Style: a.style()})
	})
}
