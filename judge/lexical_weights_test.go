package judge_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"ibid"
	"ibid/judge"
)

// fittedWeights are sealed weights whose model k gives a chance of about k/10, and three
// labelled documents.
func fittedWeights(t *testing.T) *judge.LexicalWeights {
	t.Helper()
	w := &judge.LexicalWeights{Documents: map[string]int{
		judge.DocumentDigest("first"): 0, judge.DocumentDigest("second"): 1, judge.DocumentDigest("fifth"): 4,
	}}
	for k := range judge.LexicalParts {
		p := 0.1 + 0.1*float64(k)
		w.Models = append(w.Models, judge.LexicalModel{Intercept: math.Log(p / (1 - p))})
	}
	if err := w.Seal(); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestFittedScore: a labelled document is scored by its own part's model, which has not
// seen it, any other by the mean of all.
func TestFittedScore(t *testing.T) {
	w := fittedWeights(t)
	for _, tt := range []struct {
		name string
		docs []string
		want float64
	}{
		{"labelled", []string{"first"}, 0.1},
		{"labelled, another part", []string{"fifth"}, 0.5},
		{"never labelled", []string{"other"}, 0.3},
		{"labelled and not", []string{"other", "second"}, 0.2},
		{"of two parts", []string{"first", "fifth"}, 0.3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := w.Score(&judge.LexicalFeatures{1, 0, 0}, tt.docs); math.Abs(got-tt.want) > 1e-15 {
				t.Errorf("Score(%v) = %v, want %v", tt.docs, got, tt.want)
			}
			r := &judge.Request{Claims: []ibid.Claim{{Text: "The mill is old."}}}
			for i, doc := range tt.docs {
				r.Evidence = append(r.Evidence, judge.Evidence{Text: "The mill is old.", Citation: i, Doc: doc})
				r.Claims[0].Citations = append(r.Claims[0].Citations, int32(i))
			}
			v, err := judge.NewLexical(w).Judge(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Claims[0].Joint.Value; math.Abs(got-tt.want) > 1e-15 {
				t.Errorf("Judge: joint %v, want %v", got, tt.want)
			}
			for _, check := range v.Claims[0].Checks {
				if math.Abs(check.Support.Value-tt.want) > 1e-15 {
					t.Errorf("Judge: citation %d %v, want %v: the label was on the claim", check.Citation, check.Support.Value, tt.want)
				}
			}
		})
	}
}

func TestLexicalFeatures(t *testing.T) {
	r := &judge.Request{
		Claims: []ibid.Claim{
			{Text: "Visitors saw the Tower of Askim in 1933 and 1950.", Citations: []int32{0, 1}},
			{Text: "and of the", Citations: []int32{0}},
			{Text: "The tower is high."},
		},
		Evidence: []judge.Evidence{{Text: "The tower was built in 1933."}, {Text: "Visitors of Askim saw it.", Citation: 1}},
	}
	f := judge.NewLexical(nil).Features(r)
	// Names are Tower and Askim: Visitors begins the sentence.
	if one, two := math.Log1p(1), math.Log1p(2); !f[0].Known || f[0].Joint[1] != 0 || f[0].Joint[2] != one ||
		f[0].Cited[0][1] != one || f[0].Cited[0][2] != one || f[0].Cited[1][1] != one || f[0].Cited[1][2] != two {
		t.Errorf("names and numbers: %+v", f[0])
	}
	joint, alone := f[0].Joint[0], f[0].Cited[0][0]
	v, err := judge.NewLexical(nil).Judge(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Claims[0].Joint.Value; math.Abs(got-0.6*joint) > 1e-15 || alone >= joint || joint >= 1 {
		t.Errorf("share %v of both, %v of the first; judged %v", joint, alone, got)
	}
	if f[1].Known || f[2].Known {
		t.Errorf("without content, without evidence: %+v", f[1:])
	}
}

func TestParseLexicalWeights(t *testing.T) {
	w := fittedWeights(t)
	good, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := judge.ParseLexicalWeights(good); err != nil || again.Digest != w.Digest {
		t.Errorf("what was written: %v", err)
	}
	other := *w
	other.Models = other.Models[:4]
	if err := other.Seal(); err != nil {
		t.Fatal(err)
	}
	four, err := json.Marshal(&other)
	if err != nil {
		t.Fatal(err)
	}
	old := *w
	old.Features, old.Digest = []string{"share"}, ""
	open, err := json.Marshal(&old)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(open)
	older := strings.Replace(string(open), `"digest":""`, `"digest":"`+hex.EncodeToString(sum[:])+`"`, 1)
	for _, tt := range []struct{ name, data, want string }{
		{"cut off", string(good[:len(good)/2]), "no weights: "},
		{"another file", `{"a":1}`, `schema is "", this ibid reads`},
		{"a number changed", strings.Replace(string(good), `"items": 0`, `"items": 1`, 1), "its digest is not that of its content"},
		{"a member more", strings.Replace(string(good), `{`, `{"more": 1,`, 1), "damaged: "},
		{"features of another version", older, "fitted to the features of lexical-3 (share), this ibid has those of lexical-3 (share, missing_names, missing_numbers)"},
		{"four models", string(four), "4 models, want 5"},
	} {
		if _, err := judge.ParseLexicalWeights([]byte(tt.data)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestChoseFeatures: white space does not hide that a claim chose the features.
func TestChoseFeatures(t *testing.T) {
	if !judge.ChoseFeatures("Tobacco and  alcohol are\u00a0also not allowed. ") || judge.ChoseFeatures("Tobacco is allowed.") {
		t.Error("a claim of WiCE's development part is not known, or another is")
	}
}
