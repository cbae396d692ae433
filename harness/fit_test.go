package harness

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/annotations"
	"ibid/judge"
)

// madeItems are n items whose labels follow the share, of documents d0, d1 …; every third
// cites the next document, too.
func madeItems(n int) []fitItem {
	r := rand.New(rand.NewPCG(7, 8))
	items := make([]fitItem, n)
	for i := range items {
		share, human := r.Float64(), 0.0
		if r.Float64() < share {
			human = 1
		}
		items[i] = fitItem{
			verdict:  annotations.Verdict{Item: fmt.Sprint(i), Human: human, Judge: share},
			features: judge.LexicalFeatures{share, float64(r.IntN(3)), 0}, documents: []string{fmt.Sprintf("d%d", i/2)},
		}
		if i%6 == 0 {
			items[i].documents = append(items[i].documents, fmt.Sprintf("d%d", i/2+1))
		}
	}
	return items
}

// TestFitHoldsOut: whatever people say of a document, the model that scores it does not
// know it; the other models do.
func TestFitHoldsOut(t *testing.T) {
	items := madeItems(90)
	before, err := fitItems(annotations.ClaimSupport, slices.Clone(items), 0.7, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	parts, groups := partsOf(items)
	if groups != 30 || before.Documents != groups {
		t.Errorf("%d groups, %d said, want 30: d0 and d1, d2, d3 and d4, …", groups, before.Documents)
	}
	var size [judge.LexicalParts]int
	for i := range items {
		part := parts[items[i].documents[0]]
		size[part]++
		for _, doc := range items[i].documents {
			if parts[doc] != part {
				t.Fatalf("item %d cites documents of two parts", i)
			}
		}
	}
	if slices.Max(size[:])-slices.Min(size[:]) > 4 {
		t.Errorf("parts of %v items", size)
	}
	for _, i := range []int{0, 31, 89} {
		changed := slices.Clone(items)
		changed[i].verdict.Human = 1 - changed[i].verdict.Human
		after, err := fitItems(annotations.ClaimSupport, changed, 0.7, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		for k := range judge.LexicalParts {
			same := before.Weights.Models[k] == after.Weights.Models[k]
			if own := k == parts[items[i].documents[0]]; same != own {
				t.Errorf("label of item %d changed: model %d is the same: %v, want %v", i, k, same, own)
			}
		}
		if before.Items[i].Judge != after.Items[i].Judge {
			t.Errorf("item %d: the label changed its score from %v to %v", i, before.Items[i].Judge, after.Items[i].Judge)
		}
	}
	if !before.Gain.Defined() || before.Weights.Models[0].Weights[0] <= 0 || before.Weights.Models[0].Weights[2] != 0 {
		t.Errorf("gain %+v, weights %v", before.Gain, before.Weights.Models[0])
	}
}

// TestFitRefuses: labels that say too little are refused; separated ones are not.
func TestFitRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		change     func(items []fitItem) []fitItem
	}{
		{"as they are", "", func(items []fitItem) []fitItem { return items }},
		{"separated", "", func(items []fitItem) []fitItem {
			for i := range items {
				items[i].verdict.Human = float64(i % 2)
				items[i].features = judge.LexicalFeatures{float64(i % 2)}
			}
			return items
		}},
		{"one class", "0 of 60 labels are a yes", func(items []fitItem) []fitItem {
			for i := range items {
				items[i].verdict.Human = 0.5
			}
			return items
		}},
		{"one class in four fifths", "without one fifth of the documents", func(items []fitItem) []fitItem {
			for i := range items {
				items[i].verdict.Human = 0
			}
			items[7].verdict.Human = 1
			return items
		}},
		{"one document", "do not occur together: 1, a fit needs 10", func(items []fitItem) []fitItem {
			for i := range items {
				items[i].documents = []string{"d"}
			}
			return items
		}},
		{"chose the features", "60 labelled claims are of the development part of WiCE", func(items []fitItem) []fitItem {
			items[3].text = "Tobacco and alcohol are also not allowed."
			return items
		}},
	} {
		fit, err := fitItems(annotations.ClaimSupport, tt.change(madeItems(60)), 0.7, 0.95)
		var usage *ibid.Error
		if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) || !usage.Usage || usage.Hint == "") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if tt.name == "separated" && err == nil && fit.Weights.Models[0].Weights[0] > 20 {
			t.Errorf("separated: weight %v", fit.Weights.Models[0].Weights[0])
		}
	}
}
