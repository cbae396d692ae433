package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"ibid"
)

// replyRequest has c1 with two citations of which two are the same text, and c2
// that cites e2.
func replyRequest() *Request {
	return &Request{
		Row: "q/s", Question: "?",
		Claims: []ibid.Claim{
			{Text: "A and B.", Citations: []int32{0, 1, 2}},
			{Text: "C.", Citations: []int32{1}},
			{Text: "Uncited."},
		},
		Evidence: []Evidence{{Text: "We know A\n well.", Citation: 0}, {Text: "B, say I. C too.", Citation: 1}, {Text: "We know A\n well.", Citation: 2}},
	}
}

const goodReply = `{"tampering":"in_evidence","claims":[
{"id":"c2","kind":"nonfactual","checks":[{"evidence_id":"e2","why":"w","quote":"C  too","support":"mostly","relevant":"no"}],"joint_why":"","joint":"contradicts","elsewhere":"partial","elsewhere_evidence_id":"e1","elsewhere_quote":"know A well"},
{"id":"c1","kind":"factual","checks":[{"evidence_id":"e1","why":"says A","quote":"know A well","support":"full","relevant":"yes"},{"evidence_id":"e2","why":"","quote":"","support":"none","relevant":"yes"}],"joint_why":"both","joint":"full","elsewhere":"none","elsewhere_evidence_id":"","elsewhere_quote":"","sufficient":[["e2","e1"]]},
{"id":"c3","kind":"factual","checks":[],"joint_why":"","joint":"full","elsewhere":"unsure","elsewhere_evidence_id":"","elsewhere_quote":""}]}`

// changedReply is goodReply with a text replaced, once.
func changedReply(t *testing.T, before, after string) string {
	t.Helper()
	reply := strings.Replace(goodReply, before, after, 1)
	if reply == goodReply {
		t.Fatal("nothing was replaced")
	}
	return reply
}

func TestParse(t *testing.T) {
	r := replyRequest()
	got, err := Parse(goodReply, NewRoster(r))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Defects) != 0 {
		t.Errorf("defects %+v", got.Defects)
	}
	v := &got.Verdict
	if v.Tampering != "in_evidence" {
		t.Errorf("tampering %q", v.Tampering)
	}
	c1, c2, c3 := &v.Claims[0], &v.Claims[1], &v.Claims[2]
	if c1.Factual != ibid.Yes || c1.Joint != ibid.Full.Support() || c1.JointWhy != "both" || c1.Contradicted != ibid.No || c1.Elsewhere != ibid.None.Support() {
		t.Errorf("c1 = %+v", c1)
	}
	// Equal texts share an id, and its check holds for each citation.
	if len(c1.Checks) != 3 || c1.Checks[2].Citation != 2 || c1.Checks[2].Support != ibid.Full.Support() || c1.Checks[1].Support != ibid.None.Support() {
		t.Errorf("c1.Checks = %+v", c1.Checks)
	}
	if at := c1.Checks[0].QuoteAt; at != (Interval{Start: 3, End: 15}) {
		t.Errorf("quote at %+v, want 3 to 15, across the line end", at)
	}
	if len(c1.Sufficient) != 1 || len(c1.Sufficient[0]) != 2 || c1.Sufficient[0][0] != 0 || c1.Sufficient[0][1] != 1 {
		t.Errorf("sufficient %v", c1.Sufficient)
	}
	if c2.Factual != ibid.No || c2.Contradicted != ibid.Yes || c2.Joint != ibid.Contradicts.Support() || c2.Checks[0].Relevant != ibid.No ||
		c2.Elsewhere != ibid.Partial.Support() || c2.ElsewhereEvidence != 0 || c2.ElsewhereAt != (Interval{Start: 3, End: 15}) {
		t.Errorf("c2 = %+v", c2)
	}
	if c3.Joint != ibid.None.Support() || c3.Votes != 0 || c3.Elsewhere != (ibid.Support{}) || c3.ElsewhereEvidence != -1 {
		t.Errorf("c3 = %+v", c3)
	}
}

func TestParseWrapped(t *testing.T) {
	o := NewRoster(replyRequest())
	tests := []struct {
		name, reply string
		ok          bool
	}{
		{"fence", "```json\n" + goodReply + "\n```", true},
		{"prose with braces", "Here {is} it, \"quoted {\" too:\n" + goodReply + "\nDone {}.", true},
		{"byte order mark", "\ufeff" + goodReply, true},
		{"inside an object", `{"verdict":` + goodReply + `}`, true},
		{"two", goodReply + goodReply, false},
		{"cut off behind the claims", goodReply[:len(goodReply)-2], true},
		{"no object", "I cannot say.", false},
		{"empty", "", false},
		{"braces", strings.Repeat("{", 1<<16), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Parse(tt.reply, o); (err == nil) != tt.ok {
				t.Errorf("error %v, want success %t", err, tt.ok)
			}
		})
	}
}

// TestParseLenient: what is unusual in form and clear in meaning is the same verdict.
func TestParseLenient(t *testing.T) {
	o := NewRoster(replyRequest())
	want, err := Parse(goodReply, o)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, old, new string }{
		{"label in capitals", `"support":"mostly"`, `"support":" Mostly"`},
		{"member in capitals", `"joint":"full","elsewhere":"none"`, `"Joint":"FULL","elsewhere":"none"`},
		{"member too many", `"joint_why":"both"`, `"joint_why":"both","score":1,"score":{"joint":null}`},
		{"member of another object", `"why":"w",`, `"why":"w","joint":"full",`},
		{"claim by number", `"id":"c2"`, `"id":2`},
		{"claim by number as text", `"id":"c1"`, `"id":" 1 "`},
		{"evidence by number", `"evidence_id":"e1","why":"says A"`, `"evidence_id":1,"why":"says A"`},
		{"null for no text", `"joint_why":"","joint":"contradicts"`, `"joint_why":null,"joint":"contradicts"`},
		{"null for no quote", `"quote":"","support":"none"`, `"quote":null,"support":"none"`},
		{"null for no evidence", `"elsewhere_evidence_id":"","elsewhere_quote":"","sufficient"`, `"elsewhere_evidence_id":null,"elsewhere_quote":null,"sufficient"`},
		{"null for no checks", `"checks":[],`, `"checks":null,`},
		{"none for no evidence", `"elsewhere_evidence_id":"","elsewhere_quote":"","sufficient"`, `"elsewhere_evidence_id":"none","elsewhere_quote":"","sufficient"`},
		{"true for yes", `"support":"full","relevant":"yes"`, `"support":"full","relevant":true`},
		{"trailing comma", `"elsewhere_quote":""}]}`, `"elsewhere_quote":"" , } , ],}`},
		{"line end in a text", `"quote":"know A well"`, "\"quote\":\"know A\n well\""},
		{"draft", `{"tampering"`, `<think>Perhaps {"tampering":"none","claims":[{"id":"c1"}]}?</think>{"tampering"`},
		{"draft without its begin", `{"tampering"`, "{\"tampering\":\"none\",\"claims\":[]}\n</think>\n```json\n{\"tampering\""},
		{"end of a draft in a text", `"joint_why":"both"`, `"joint_why":"</think>"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reply := changedReply(t, tt.old, tt.new)
			got, err := Parse(reply, o)
			if err != nil || len(got.Defects) > 0 {
				t.Fatalf("%v, %+v", err, got)
			}
			for c := range got.Verdict.Claims {
				g, w := &got.Verdict.Claims[c], &want.Verdict.Claims[c]
				g.JointWhy = w.JointWhy
				for i := range g.Checks {
					g.Checks[i].Quote = w.Checks[i].Quote
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
	for name, reply := range map[string]string{
		"a draft alone":       "<think>" + goodReply,
		"two after the draft": "<think>x</think>" + goodReply + goodReply,
	} {
		if _, err := Parse(reply, o); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// TestParseDefects: what is wrong with one claim costs that claim, and the others have the
// verdicts that they have without it.
func TestParseDefects(t *testing.T) {
	o := NewRoster(replyRequest())
	want, err := Parse(goodReply, o)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, old, new string
		claim          int
		defect         string
	}{
		{"claim missing", `{"id":"c3"`, `{"id":"c9"`, 2, "there is no entry for it"},
		{"claim twice", `{"id":"c3","kind":"factual","checks":[]`, `{"id":"c2"},{"id":"c3","kind":"factual","checks":[]`, 1, ""},
		{"check twice", `"evidence_id":"e2","why":""`, `"evidence_id":"e1","why":""`, 0, "evidence e1 occurs twice, with other verdicts"},
		{"check of another", `{"evidence_id":"e2","why":"w"`, `{"evidence_id":"e1","why":"w"`, 1, "evidence e2 is missing"},
		{"sufficient unknown", `[["e2","e1"]]`, `[["e3"]]`, 0, `sufficient: evidence id "e3" is not listed for it`},
		{"label", `"joint":"contradicts"`, `"joint":"refuted"`, 1, `joint: label "refuted"`},
		{"kind", `"nonfactual"`, `"opinion"`, 1, `kind "opinion"`},
		{"relevant", `"relevant":"no"`, `"relevant":"maybe"`, 1, `check number 1: relevant "maybe"`},
		{"member twice", `"joint":"full","elsewhere":"none"`, `"joint":"none","joint":"full","elsewhere":"none"`, 0, "there is no entry for it"},
		{"member missing", `"joint_why":"both",`, ``, 0, `member "joint_why" is missing`},
		{"null", `"joint":"contradicts"`, `"joint":null`, 1, `member "joint" is missing`},
		{"wrong type", `"joint":"contradicts"`, `"joint":0.5`, 1, `not of the given shape: member "joint" is 0.5`},
		{"broken off", `"elsewhere":"unsure","elsewhere_evidence_id":"","elsewhere_quote":""}]}`, `"elsewhere":"uns`, 2, "there is no entry for it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reply := changedReply(t, tt.old, tt.new)
			got, err := Parse(reply, o)
			if err != nil || len(got.Defects) != 1 || got.Defects[0].Claim != tt.claim || got.Defects[0].Unsure || !strings.HasPrefix(got.Defects[0].What, tt.defect) {
				t.Fatalf("%v, %+v, want %s", err, got, tt.defect)
			}
			for c := range got.Verdict.Claims {
				said := got.Verdict.Claims[c]
				said.Surplus = 0
				if c == tt.claim {
					if said.Unscored != BadReply || said.Joint.Known() || said.JointWhy != got.Defects[0].What {
						t.Errorf("claim %d: %+v", c, said)
					}
				} else if !reflect.DeepEqual(said, want.Verdict.Claims[c]) {
					t.Errorf("claim %d: %+v, want %+v", c, said, want.Verdict.Claims[c])
				}
			}
		})
	}
	for name, reply := range map[string]string{
		"no claims":          `{"tampering":"none","claims":null}`,
		"none of the claims": `{"tampering":"none","claims":[]}`,
		"claims twice":       `{"claims":[{}],"claims":[{}]}`,
		"broken off early":   `{"tampering":"none","claims":[{"id":"c1","ki`,
	} {
		if _, err := Parse(reply, o); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// TestParseSurplus: what a reply says beyond what was asked costs nothing, and is counted.
func TestParseSurplus(t *testing.T) {
	o := NewRoster(replyRequest())
	want, err := Parse(goodReply, o)
	if err != nil {
		t.Fatal(err)
	}
	const check = `{"evidence_id":"e1","why":"","quote":"know A well","support":"none","relevant":"yes"}`
	first, _, _ := strings.Cut(goodReply[strings.Index(goodReply, `{"id":"c2"`):], ",\n")
	tests := []struct {
		name, old, new string
		surplus        [3]int
	}{
		{"check of what it does not cite", `{"evidence_id":"e2","why":"w"`, check + `,{"evidence_id":"e2","why":"w"`, [3]int{0, 1, 0}},
		{"check of a claim without citations", `"checks":[]`, `"checks":[` + check + `,` + check + `]`, [3]int{0, 0, 2}},
		{"unknown passage", `{"evidence_id":"e2","why":"w"`, `{"evidence_id":"e7"},{"evidence_id":"e2","why":"w"`, [3]int{0, 1, 0}},
		{"unknown claim", `{"id":"c3"`, `{"id":"c4","kind":"?"},{"id":"c3"`, [3]int{}},
		{"claim twice alike", `{"id":"c3"`, first + `,{"id":"c3"`, [3]int{0, 1, 0}},
		{"elsewhere unknown and none", `"elsewhere":"none","elsewhere_evidence_id":""`, `"elsewhere":"none","elsewhere_evidence_id":"e9"`, [3]int{}},
		{"no joint without citations", `"checks":[],"joint_why":"","joint":"full"`, `"checks":[]`, [3]int{}},
		{"no tampering and no check word", `"tampering":"in_evidence",`, ``, [3]int{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reply := changedReply(t, tt.old, tt.new)
			got, err := Parse(reply, o)
			if err != nil || len(got.Defects) > 0 {
				t.Fatalf("%v, %+v", err, got)
			}
			for c := range got.Verdict.Claims {
				said := got.Verdict.Claims[c]
				if said.Surplus != tt.surplus[c] {
					t.Errorf("claim %d: surplus %d, want %d", c, said.Surplus, tt.surplus[c])
				}
				if said.Surplus = 0; !reflect.DeepEqual(said, want.Verdict.Claims[c]) {
					t.Errorf("claim %d: %+v, want %+v", c, said, want.Verdict.Claims[c])
				}
			}
		})
	}
	// A check of what a claim does not cite says where else it stands.
	backs := strings.Replace(goodReply, `"checks":[]`, `"checks":[`+strings.Replace(check, "none", "full", 1)+`]`, 1)
	got, err := Parse(backs, o)
	if c := &got.Verdict.Claims[2]; err != nil || c.Elsewhere != ibid.Full.Support() || c.ElsewhereEvidence != 0 || c.Joint != ibid.None.Support() {
		t.Errorf("%v, %+v", err, c)
	}
}

// TestParseQuotes takes the quotes away: what they bore becomes unsure.
func TestParseQuotes(t *testing.T) {
	o := NewRoster(replyRequest())
	invented := strings.ReplaceAll(goodReply, "know A well", "know A best")
	got, err := Parse(invented, o)
	if err != nil {
		t.Fatal(err)
	}
	c1, c2 := &got.Verdict.Claims[0], &got.Verdict.Claims[1]
	for _, s := range []ibid.Support{c1.Checks[0].Support, c1.Checks[2].Support, c1.Joint, c2.Elsewhere} {
		if s.Known() {
			t.Errorf("%+v without a verbatim quote", s)
		}
	}
	if c2.Checks[0].Support != ibid.Mostly.Support() || c1.Checks[1].Support != ibid.None.Support() {
		t.Error("what needs no quote, or has one, changed")
	}
	if d := got.Defects; len(d) != 2 || !d[0].Unsure || !d[1].Unsure || d[0].Claim != 0 || d[1].Claim != 1 {
		t.Errorf("defects %+v, want one of c1 and of c2", d)
	}
	// Elsewhere must not be what the claim cites.
	own := strings.Replace(goodReply, `"elsewhere":"none","elsewhere_evidence_id":""`, `"elsewhere":"full","elsewhere_evidence_id":"e2"`, 1)
	got, err = Parse(own, o)
	if err != nil || got.Verdict.Claims[0].Elsewhere.Known() || len(got.Defects) != 1 {
		t.Errorf("elsewhere in its own evidence: %+v, %+v, %v", got.Verdict.Claims[0].Elsewhere, got.Defects, err)
	}
}

// TestSchema checks that the parser and the schema name the same members.
func TestSchema(t *testing.T) {
	var schema any
	if err := json.Unmarshal([]byte(Schema), &schema); err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{"sufficient": true}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if names, ok := v["required"].([]any); ok {
				properties := v["properties"].(map[string]any)
				for _, n := range names {
					named[n.(string)] = true
					if properties[n.(string)] == nil {
						t.Errorf("required %v is not described", n)
					}
				}
				if len(names) != len(properties) || v["additionalProperties"] != false {
					t.Errorf("object of %v is open", names)
				}
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(schema)
	for n := range named {
		if !replyNames[n] {
			t.Errorf("the parser does not know %q", n)
		}
	}
	if len(named) != len(replyNames) {
		t.Errorf("the schema names %d members, the parser %d", len(named), len(replyNames))
	}
}

// TestSchemaNecessity checks that it is the other schema and one member more.
func TestSchemaNecessity(t *testing.T) {
	before, after, ok := strings.Cut(SchemaNecessity, ",\n  \"sufficient\"")
	plain := strings.Replace(Schema, `"elsewhere_quote"]`, `"elsewhere_quote","sufficient"]`, 1)
	if !ok || !json.Valid([]byte(SchemaNecessity)) || !strings.HasPrefix(plain, before) || !strings.HasSuffix(after, plain[len(before):]) {
		t.Errorf("schema %s", SchemaNecessity)
	}
}

// FuzzParse checks that what is accepted is whole.
func FuzzParse(f *testing.F) {
	f.Add(goodReply)
	f.Add("```json\n{\"claims\":[]}```")
	r := replyRequest()
	o := NewRoster(r)
	f.Fuzz(func(t *testing.T, reply string) {
		got, err := Parse(reply, o)
		if err != nil {
			if _, ok := errors.AsType[*ReplyError](err); !ok {
				t.Errorf("error %v of type %T", err, err)
			}
			return
		}
		for c := range r.Claims {
			if v := &got.Verdict.Claims[c]; v.Unscored == "" && (v.Factual == ibid.Unset || len(v.Checks) != len(r.Cited(c, nil))) {
				t.Errorf("claim %d: %+v", c, v)
			}
		}
	})
}

// TestParseBeside: support must come from the cited words. A quote that has some of them
// counts; one of what stands beside them makes the claim's own passage an elsewhere.
func TestParseBeside(t *testing.T) {
	r := &Request{
		Claims:   []ibid.Claim{{Text: "The bridge is red.", Citations: []int32{0}}},
		Evidence: []Evidence{{Text: "It opened in 1909.", Before: "Die Brücke: ", After: " It is red and long.", Citation: 0}},
	}
	o := NewRoster(r)
	reply := func(quote, elsewhere, id, other string) string {
		return fmt.Sprintf(`{"tampering":"none","claims":[{"id":"c1","kind":"factual","checks":[{"evidence_id":"e1","why":"","quote":%q,"support":"full","relevant":"yes"}],`+
			`"joint_why":"","joint":"full","elsewhere":%q,"elsewhere_evidence_id":%q,"elsewhere_quote":%q}]}`, quote, elsewhere, id, other)
	}
	tests := []struct {
		name, reply  string
		check, joint string
		at           Interval
		elsewhere    string
		where        Interval
	}{
		{"cited words", reply("opened in 1909", "none", "", ""), "full", "full", Interval{Start: 3, End: 17}, "none", Interval{}},
		{"over the edge", reply("in 1909. It is red", "none", "", ""), "full", "full", Interval{Start: 10, End: 18}, "none", Interval{}},
		{"beside", reply("It is red", "none", "", ""), "none", "none", Interval{}, "full", Interval{Start: 19, End: 28}},
		{"before", reply("Die Brücke", "none", "", ""), "none", "none", Interval{}, "full", Interval{Start: -12, End: -2}},
		{"named as elsewhere", reply("opened in 1909", "partial", "e1", "red and long"), "full", "full", Interval{Start: 3, End: 17}, "partial", Interval{Start: 25, End: 37}},
		{"nowhere", reply("It is blue", "none", "", ""), "unsure", "unsure", Interval{}, "none", Interval{}},
		{"cited words as elsewhere", reply("opened in 1909", "full", "e1", "in 1909"), "full", "full", Interval{Start: 3, End: 17}, "unsure", Interval{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse(tt.reply, o)
			if err != nil {
				t.Fatal(err)
			}
			data, err := o.Encode(&got.Verdict)
			if err != nil {
				t.Fatal(err)
			}
			v, err := o.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			c := &v.Claims[0]
			if k := &c.Checks[0]; k.Support.Degree.String() != tt.check || c.Joint.Degree.String() != tt.joint || k.QuoteAt != tt.at ||
				c.Elsewhere.Degree.String() != tt.elsewhere || c.ElsewhereAt != tt.where {
				t.Errorf("%+v, want %+v", c, tt)
			}
			if (c.ElsewhereEvidence == 0) != (tt.where != Interval{}) {
				t.Errorf("elsewhere in %d", c.ElsewhereEvidence)
			}
		})
	}
}
