package judge_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ibid"
	"ibid/judge"
)

// jointOf is the lexical verdict on one claim with its evidence.
func jointOf(t *testing.T, claim string, evidence ...string) judge.ClaimVerdict {
	t.Helper()
	r := &judge.Request{Claims: []ibid.Claim{{Text: claim}}}
	for i, text := range evidence {
		r.Evidence = append(r.Evidence, judge.Evidence{Text: text, Citation: i})
		r.Claims[0].Citations = append(r.Claims[0].Citations, int32(i))
	}
	v, err := judge.NewLexical().Judge(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return v.Claims[0]
}

// TestLexicalFull: the evidence says the same in other words of form. Each must
// be covered in full.
func TestLexicalFull(t *testing.T) {
	tests := []struct{ name, claim, evidence string }{
		{"verbatim", "The bridge opened in July.", "The bridge opened in July."},
		{"other endings", "The bridges opened.", "Opening the bridge was hard, but the bridge was opened."},
		{"case", "NASA LAUNCHED", "nasa launched"},
		{"markers", "Snow is white [1][2, 3].", "White snow."},
		{"grouped number", "It has 4,200 seats.", "4200 seats"},
		{"number with an apostrophe", "It has 4'200 seats.", "4200 seats"},
		{"number with thin spaces", "It has 4\u202f200\u202f000 seats.", "4,200,000 seats"},
		{"German number", "Es hat 4.200 Plätze.", "4200 Plätze"},
		{"decimal comma", "It weighs 3,5 kg.", "It weighs 3.5 kilograms."},
		{"million", "It cost 4.2 million dollars.", "It cost $4.2 million."},
		{"code before", "It cost USD 5 million.", "It cost 5 million dollars."},
		{"sign after a space", "Es kostet 5 €.", "Es kostet 5 Euro."},
		{"word for a number", "It has three wings.", "It has 3 wings."},
		{"percent", "Sales rose 5 percent.", "Sales rose 5%."},
		{"unit not said", "Growth was 5%.", "Growth (in the table): 5"},
		{"unit with hyphen", "A 5-year plan.", "a plan for 5 years"},
		{"ordinal", "The 3rd edition.", "3. edition"},
		{"negative", "It was −5 °C.", "It was -5°C."},
		{"date, month first", "Born July 11, 1909.", "Born 11 July 1909."},
		{"date in digits", "Born July 11, 1909.", "Born 1909-07-11."},
		{"German date", "Geboren am 11. Juli 1909.", "Geboren: 1909-07-11"},
		{"date with of", "Born on the 11th of July 1909.", "Born 07/11/1909."},
		{"Spanish date", "Nació el 11 de julio de 1909.", "Nació: 1909-07-11"},
		{"abbreviated month", "Died Dec. 20, 1998.", "Died December 20, 1998"},
		{"part of a date", "Born in July 1909.", "Born July 11, 1909."},
		{"year of a date", "Born in 1909.", "Born July 11, 1909."},
		{"negation", "It was not closed.", "It wasn't closed."},
		{"number sign is no negation", "It is No. 5 in the list.", "It is number 5, list no. 5."},
		{"French apostrophe", "L'homme d'État", "homme, État"},
		{"possessive", "Hervey's films", "films of Hervey"},
		{"Chinese", "大桥于1909年7月11日开放。", "大桥于1909年7月11日开放,长2公里。"},
		{"Chinese number", "人口300000。", "人口300,000"},
		{"Japanese", "橋は赤い", "この橋は赤い。"},
		{"Korean", "다리는 붉은색이다", "다리는 붉은색이다."},
		{"Arabic", "الجسر أحمر", "الجسر أحمر في المدينة"},
		{"Thai", "สะพานสีแดง", "สะพานสีแดง"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := jointOf(t, tt.claim, tt.evidence); got.Joint != ibid.Full.Support() {
				t.Errorf("%q by %q: %+v, %s", tt.claim, tt.evidence, got.Joint, got.JointWhy)
			}
		})
	}
}

// TestLexicalDiffers: the words are the same, and a number or a negation is not.
func TestLexicalDiffers(t *testing.T) {
	tests := []struct {
		name, claim, evidence, why string
	}{
		{"number", "The hall has 4,200 seats.", "The hall has 4,300 seats.", "a number"},
		{"number missing", "The hall has 4,200 seats.", "The hall has seats.", "a number"},
		{"one of two numbers", "Sales rose from 5% to 7%.", "Sales rose from 5% to 8%.", "a number"},
		{"date", "The bridge opened on July 11, 1909.", "The bridge opened on July 12, 1909.", "a number"},
		{"year", "The bridge opened in 1909.", "The bridge opened in 1910.", "a number"},
		{"date says less", "The bridge opened on July 11, 1909.", "The bridge opened in July 1909.", "a number"},
		{"negated evidence", "The bridge was closed.", "The bridge was not closed.", "negated"},
		{"negated claim", "The bridge was never closed.", "The bridge was closed.", "negated"},
		{"contraction", "The bridge wasn't closed.", "The bridge was closed.", "negated"},
		{"typographic apostrophe", "The bridge wasn’t closed.", "The bridge was closed.", "negated"},
		{"German negation", "Die Brücke wurde nicht gesperrt.", "Die Brücke wurde gesperrt.", "negated"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := jointOf(t, tt.claim, tt.evidence)
			if got.Joint.Value > 0.6 || got.Contradicted != ibid.Unset || !strings.Contains(got.JointWhy, tt.why) {
				t.Errorf("%q by %q: %+v, contradicted %v, %s", tt.claim, tt.evidence, got.Joint, got.Contradicted, got.JointWhy)
			}
		})
	}
}

func TestLexicalScore(t *testing.T) {
	// Two passages; "ferry" is in neither, "bridge" in both, "red" in one:
	// ln(3/1)+1, ln(3/3)+1 and ln(3/2)+1.
	ferry, bridge, red := math.Log(3)+1, 1.0, math.Log(1.5)+1
	got := jointOf(t, "Bridge, ferry, red", "A red bridge. That bridge.").Joint.Value
	if want := (bridge + red) / (ferry + bridge + red); math.Abs(got-want) > 1e-12 {
		t.Errorf("score %v, want %v", got, want)
	}
	if got := jointOf(t, "The bridge is red.", "Rain fell."); got.Joint != ibid.None.Support() || got.Checks[0].Relevant != ibid.No {
		t.Errorf("nothing in common: %+v, %+v", got.Joint, got.Checks)
	}
	if got := jointOf(t, "It was this.", "It was this."); got.Joint.Known() || got.Factual != ibid.No {
		t.Errorf("no content word: %+v, factual %s", got.Joint, got.Factual)
	}
	if got := jointOf(t, "Is the bridge red?", "The bridge is red."); got.Factual != ibid.No || got.Joint != ibid.Full.Support() {
		t.Errorf("question: %+v, factual %s", got.Joint, got.Factual)
	}
	// Two texts together cover what neither does alone.
	both := jointOf(t, "The bridge opened in 1909 and carries 4200 cars.", "The bridge opened in 1909.", "It carries 4,200 cars.")
	if both.Joint != ibid.Full.Support() || both.Checks[0].Support.Value >= both.Joint.Value || both.Checks[1].Support.Value >= both.Joint.Value {
		t.Errorf("joint %+v of %+v", both.Joint, both.Checks)
	}
	// An uncited claim has no support, whatever the sources say.
	if got := jointOf(t, "The bridge is red."); got.Joint != ibid.None.Support() || got.Votes != 0 {
		t.Errorf("uncited: %+v", got.Joint)
	}
}

func TestLexicalElsewhere(t *testing.T) {
	source := "Überall fällt Regen. Die Brücke ist rot. Sie öffnete 1909. Nichts sonst."
	r := &judge.Request{
		Claims: []ibid.Claim{
			{Text: "Die Brücke ist rot.", Citations: []int32{0}},
			{Text: "Die rote Brücke öffnete 1909.", Citations: []int32{1}},
			{Text: "Vulkane speien Lava."},
		},
		Evidence: []judge.Evidence{{Text: "Überall fällt Regen.", Citation: 0}, {Text: "Vulkane sind heiß und speien Lava.", Citation: 1}},
		Sources: []judge.Source{
			{Doc: "x", Text: "Leer."},
			{Doc: "b", Page: 2, Text: source, Cited: []judge.Interval{{Start: 0, End: 20, Citation: 0}, {Start: 21, End: 40, Citation: 7}}},
		},
	}
	elsewhere := func() []judge.ClaimVerdict {
		t.Helper()
		v, err := judge.NewLexical().Judge(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return v.Claims
	}
	v := elsewhere()
	// The end of a passage is that of its last word; "Die Brücke ist rot" has 18 letters.
	if p := v[0].ElsewherePlace; v[0].Elsewhere != ibid.Full.Support() || p == nil || *p != (judge.Place{Doc: "b", Page: 2, Start: 21, End: 39}) ||
		v[0].ElsewhereQuote != "Die Brücke ist rot" {
		t.Errorf("claim 0: %+v at %+v: %q", v[0].Elsewhere, p, v[0].ElsewhereQuote)
	}
	if p := v[1].ElsewherePlace; p == nil || p.Start != 21 || v[1].ElsewhereQuote != "Die Brücke ist rot. Sie öffnete 1909" {
		t.Errorf("claim 1: %+v at %+v: %q", v[1].Elsewhere, p, v[1].ElsewhereQuote)
	}
	if v[2].Elsewhere != ibid.Full.Support() || v[2].ElsewherePlace != nil || v[2].ElsewhereEvidence != 1 || v[2].ElsewhereAt != (judge.Interval{Start: 0, End: 33}) {
		t.Errorf("claim 2: %+v in evidence %d at %+v", v[2].Elsewhere, v[2].ElsewhereEvidence, v[2].ElsewhereAt)
	}
	// What the claim itself cites is not elsewhere.
	r.Sources[1].Cited[1].Citation = 0
	if v := elsewhere(); v[0].Elsewhere.Value >= 0.8 {
		t.Errorf("its own place counts as elsewhere: %+v, %q", v[0].Elsewhere, v[0].ElsewhereQuote)
	}
}

// TestLexicalSmall is a small corpus of the kind of the shared ones.
func TestLexicalSmall(t *testing.T) {
	chunks := []wiceChunk{
		{Label: "supported", Claim: "The mill was built in 1820 by Hans Brandt.", Evidence: []string{"# Mills", "Hans Brandt built the mill in 1820."}},
		{Label: "supported", Claim: "It exports 40 percent of its wool.", Evidence: []string{"Wool: 40% exported."}},
		{Label: "partially_supported", Claim: "The mill was built in 1820 and burned down in 1901.", Evidence: []string{"Hans Brandt built the mill in 1820."}},
		{Label: "partially_supported", Claim: "The mill exports 40 percent of its wool to Norway.", Evidence: []string{"Wool: 45% exported."}},
		{Label: "not_supported", Claim: "The town has two schools.", Evidence: []string{"Hans Brandt built the mill in 1820."}},
		{Label: "not_supported", Claim: "The museum never charged visitors.", Evidence: []string{"Visitors are charged at the museum."}},
	}
	for i := range chunks {
		chunks[i].Meta.ID = fmt.Sprint(i)
	}
	// A worse selection of evidence does not lower a claim's score.
	worse := chunks[0]
	worse.Evidence = []string{"# Mills"}
	s := scoreWice(t, judge.NewLexical(), append(chunks, worse))
	if len(s.score) != 6 {
		t.Fatalf("%d claims, want 6", len(s.score))
	}
	if area := s.report(t, "lexical on a small corpus"); area != 1 {
		t.Errorf("AUROC %v, want 1: %v", area, s.score)
	}
	complete, incomplete := "Complete", "Incomplete"
	records := make([]expertRecord, 1)
	if err := json.Unmarshal([]byte(`{"question":"Which mill?","answers":{"s":{"claims":[
		{"claim_string":"Brandt built the mill [1].","evidence":["[1] http://x\n\nHans Brandt built the mill."],"support":"`+complete+`"},
		{"claim_string":"The mill is tall [1].","evidence":["[1] http://x\n\nRain fell on Lisbon."],"support":"`+incomplete+`"},
		{"claim_string":"No passage [2].","evidence":["[2] http://y"],"support":"`+complete+`"},
		{"claim_string":"Not judged [1].","evidence":["[1] http://x\n\nHans."],"support":null}]}}}`), &records[0]); err != nil {
		t.Fatal(err)
	}
	e := scoreExpertQA(t, judge.NewLexical(), records)
	if len(e.score) != 2 || !e.positive[0] || e.positive[1] || e.score[0] <= e.score[1] {
		t.Errorf("expert labels %v, scores %v", e.positive, e.score)
	}
}

func TestLexicalInfo(t *testing.T) {
	if i := judge.NewLexical().Info(); i.Kind != "lexical" || !i.Baseline || i.Model == "" {
		t.Errorf("%+v is not labelled a baseline", i)
	}
}

// benchRequest has claims and spans of so many characters, and sources of
// 3,000.
func benchRequest(claims, spans, sources int) *judge.Request {
	rng := rand.New(rand.NewPCG(1, 2))
	var vocabulary []string
	for range 2000 {
		var w strings.Builder
		for range 2 + rng.IntN(9) {
			w.WriteByte(byte('a' + rng.IntN(26)))
		}
		vocabulary = append(vocabulary, w.String())
	}
	text := func(size int) string {
		var b strings.Builder
		for n := 0; b.Len() < size; n++ {
			switch {
			case n%12 == 11:
				b.WriteString("end. The ")
			case n%17 == 16:
				fmt.Fprintf(&b, "%d,%03d ", rng.IntN(90), rng.IntN(1000))
			default:
				b.WriteString(vocabulary[int(float64(len(vocabulary))*math.Pow(rng.Float64(), 3))] + " ")
			}
		}
		return b.String()[:size]
	}
	r := &judge.Request{Row: "q/s", Question: text(60)}
	for i := range spans {
		r.Evidence = append(r.Evidence, judge.Evidence{Text: text(300), Citation: i})
	}
	for i := range claims {
		c := ibid.Claim{Text: text(120)}
		for e := range spans {
			if (i+e)%2 == 0 {
				c.Citations = append(c.Citations, int32(e))
			}
		}
		r.Claims = append(r.Claims, c)
	}
	for i := range sources {
		r.Sources = append(r.Sources, judge.Source{Doc: fmt.Sprint(i), Text: text(3000)})
	}
	return r
}

func BenchmarkLexical(b *testing.B) {
	for _, sources := range []int{0, 5} {
		b.Run(fmt.Sprintf("claims=5/spans=5/sources=%d", sources), func(b *testing.B) {
			j, r := judge.NewLexical(), benchRequest(5, 5, sources)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := j.Judge(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A question and a claim without a content word cannot be checked.
func TestFactual(t *testing.T) {
	r := &judge.Request{Claims: []ibid.Claim{{Text: "Anna built the mill of oak."}, {Text: "Was it?"}, {Text: "It is."}}}
	if got := judge.NewLexical().Factual(r); !slices.Equal(got, []ibid.Tri{ibid.Yes, ibid.No, ibid.No}) {
		t.Errorf("factual: %v", got)
	}
}
