// Package history follows metrics over nights: which runs belong together.
package history

import (
	"slices"
	"time"

	"ibid"
	"ibid/dataset/runs"
)

// A Night is one run in a history.
type Night struct {
	Run   string            `json:"run" doc:"id of the run"`
	Dir   string            `json:"-"`
	At    time.Time         `json:"at" doc:"when the run began, RFC 3339 in UTC"`
	Basis map[string]string `json:"-"` // what a run must share with the nights before to be compared with them
	Items string            `json:"-"` // which questions it asked
	Value ibid.Number       `json:"value" doc:"the metric" null:"undefined"`
	SE    ibid.Number       `json:"se" doc:"sampling error of the value" null:"undefined"`
}

// A Series is one metric over nights.
type Series struct {
	Metric   string    `json:"metric"`
	System   string    `json:"system"`
	Segments []Segment `json:"segments"`
}

// A Segment is nights that follow each other and have the same questions, judge and
// settings.
type Segment struct {
	Why    []string `json:"changed"` // against the segment before; empty of the first
	Nights []Night  `json:"nights"`
}

// A Line is a night with what it is of.
type Line struct {
	Metric  string `col:"metric" doc:"name of the metric"`
	System  string `col:"system" doc:"the system; empty for all systems together"`
	Segment int    `col:"segment" doc:"number of the segment, from 1: runs over the same questions, with the same judge and settings"`
	Night
}

// Lines is the table of a history, in CSV.
var Lines = runs.NewTable[Line]("ibid history", "one metric of a run")

// Lines are the nights of a series.
func (s *Series) Lines() []Line {
	var all []Line
	for i := range s.Segments {
		for _, n := range s.Segments[i].Nights {
			all = append(all, Line{s.Metric, s.System, i + 1, n})
		}
	}
	return all
}

// Divide divides nights, which come in order, into segments.
func Divide(nights []Night) []Segment {
	var out []Segment
	for i, n := range nights {
		why := []string{}
		if i > 0 {
			why = changed(&nights[i-1], &n)
		}
		if i == 0 || len(why) > 0 {
			out = append(out, Segment{Why: why})
		}
		last := &out[len(out)-1]
		last.Nights = append(last.Nights, n)
	}
	return out
}

// changed says what a night does not share with the one before.
func changed(before, now *Night) []string {
	var why []string
	for key, v := range now.Basis {
		if before.Basis[key] != v {
			why = append(why, key)
		}
	}
	for key := range before.Basis {
		if _, ok := now.Basis[key]; !ok {
			why = append(why, key)
		}
	}
	slices.Sort(why)
	if before.Items != now.Items {
		why = append([]string{"questions"}, why...)
	}
	return why
}
