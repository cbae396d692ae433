package acts

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"ibid"
	"ibid/annotations"
	"ibid/metrics/stats"
)

// ReadFilled reads a file of filled items.
func ReadFilled(path string) ([]annotations.BlindItem, error) {
	var items []annotations.BlindItem
	err := annotations.EachLine(path, func(line []byte) error {
		var it annotations.BlindItem
		if err := json.Unmarshal(line, &it); err != nil {
			return err
		}
		items = append(items, it)
		return it.CheckMarks()
	})
	return items, err
}

// An Opinion is what one annotator said of one part of an item.
type Opinion struct {
	Annotator string                   `json:"annotator"`
	Shown     string                   `json:"-"`               // the judge whose proposals the annotator saw, "" for none
	Marks     []Mark                   `json:"marks,omitempty"` // none: there is nothing to mark
	Labels    []annotations.BlindLabel `json:"labels,omitempty"`
}

// A Question is one part of an item, by which opinions are looked up.
type Question struct{ Item, Part string }

// Opinions are what all annotators said whose files are in a folder, but those in except,
// by question and in the order of their names. Files are NAME.jsonl. Adjudicators have none.
func Opinions(dir string, except ...string) (map[Question][]Opinion, error) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*.jsonl"))
	if err != nil {
		return nil, err
	}
	out := make(map[Question][]Opinion)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		if strings.HasSuffix(path, suffix) || slices.Contains(except, name) {
			continue
		}
		items, err := ReadFilled(path)
		if err != nil {
			return nil, err
		}
		for i := range items {
			it := &items[i]
			if it.How != "" {
				continue // it decides between others
			}
			if it.Truth != nil {
				q := Question{it.ID, Truth}
				out[q] = append(out[q], Opinion{Annotator: name, Marks: MarksOf(it.Truth)})
			}
			var labels []annotations.BlindLabel
			for _, l := range it.Labels {
				if l.Value != nil {
					labels = append(labels, l)
				}
			}
			if labels != nil {
				q := Question{it.ID, Labels}
				out[q] = append(out[q], Opinion{Annotator: name, Shown: it.Shown(), Labels: labels})
			}
		}
	}
	return out, nil
}

func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// MarksOf are places as marks; each has both ends.
func MarksOf(places []annotations.BlindPlace) []Mark {
	var out []Mark
	for _, p := range places {
		out = append(out, Mark{Doc: p.Doc, Start: *p.Start, End: *p.End})
	}
	return out
}

// Combine is what stands for several opinions on marks, sorted by document and place.
func Combine(policy ibid.Policy, opinions []Opinion) []Mark {
	var docs []string
	for _, o := range opinions {
		for _, m := range o.Marks {
			docs = append(docs, m.Doc)
		}
	}
	slices.Sort(docs)
	var out []Mark
	for _, doc := range slices.Compact(docs) {
		var all []annotations.Mark
		for _, o := range opinions {
			m := annotations.Mark{Annotator: o.Annotator}
			for _, x := range o.Marks {
				if x.Doc == doc {
					m.Units = append(m.Units, stats.Unit{Start: x.Start, End: x.End, Category: 1})
				}
			}
			all = append(all, m)
		}
		for _, u := range annotations.CombineMarks(policy, all) {
			out = append(out, Mark{Doc: doc, Start: u.Start, End: u.End})
		}
	}
	return out
}

// Agreement is the part of what anybody marked that everybody marked, from 0 to 1; 1 where
// nobody marked anything. Of labels it is the part of the questions that all who answered
// gave one answer to.
func Agreement(opinions []Opinion) float64 {
	length := func(marks []Mark) (n int64) {
		for _, m := range marks {
			n += m.End - m.Start
		}
		return n
	}
	values := make(map[annotations.BlindLabel][]float64)
	for _, o := range opinions {
		for _, l := range o.Labels {
			v := *l.Value
			l.Value = nil
			values[l] = append(values[l], v)
		}
	}
	if len(values) > 0 {
		same := 0
		for _, v := range values {
			if slices.Min(v) == slices.Max(v) {
				same++
			}
		}
		return float64(same) / float64(len(values))
	}
	all := length(Combine(ibid.PolicyUnion, opinions))
	if all == 0 {
		return 1
	}
	return float64(length(Combine(ibid.PolicyIntersection, opinions))) / float64(all)
}
