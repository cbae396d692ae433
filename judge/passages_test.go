package judge

import (
	"fmt"
	"strings"
	"testing"

	"ibid"
)

func TestAddPassages(t *testing.T) {
	r := &Request{
		Claims: []ibid.Claim{
			{Text: "The bridge opened in 1931.", Citations: []int32{0}},
			{Text: "It has ninety staff."},
			{Text: "The moon is a cheese."},
		},
		Evidence: []Evidence{{Text: "The bridge opened in 1931.", Citation: 0, Doc: "a"}},
		Sources: []Source{
			{Doc: "a", Text: "Bridges age. The bridge opened in 1931. Trains cross it.", Cited: []Interval{{Start: 13, End: 39, Citation: 0}}},
			{Doc: "b", Page: 2, Text: "A museum stands there. It has ninety staff in summer. The bridge opened late."},
		},
	}
	AddPassages(r)
	var got []string
	for _, e := range r.Evidence[1:] {
		got = append(got, fmt.Sprintf("%s %d [%d,%d) %q %q %q", e.At.Doc, e.At.Page, e.At.Start, e.At.End, e.Before, e.Text, e.After))
		if e.Citation != NoCitation {
			t.Errorf("citation %d", e.Citation)
		}
	}
	want := []string{
		`b 2 [23,53) "A museum stands there. " "It has ninety staff in summer." " The bridge opened late."`,
		`b 2 [54,77) "It has ninety staff in summer. " "The bridge opened late." ""`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	if n := len(r.Cited(0, nil)) + len(r.Cited(1, nil)); n != 1 {
		t.Errorf("%d passages are cited", n)
	}

	// Many sentences that fit: two a claim, twelve in all.
	many := &Request{Sources: []Source{{Doc: "a", Text: strings.Repeat("Tower seven is high. ", 50)}}}
	for n := range 20 {
		many.Claims = append(many.Claims, ibid.Claim{Text: fmt.Sprintf("Tower %d is high.", n)})
		many.Sources = append(many.Sources, Source{Doc: fmt.Sprint(n), Text: fmt.Sprintf("Tower %d is high. So it is.", n)})
	}
	AddPassages(many)
	if len(many.Evidence) != passagesMost {
		t.Errorf("%d passages", len(many.Evidence))
	}
}

// TestAddPassagesLong: a text without sentences is no passage, and costs no more than its length.
func TestAddPassagesLong(t *testing.T) {
	r := &Request{Claims: []ibid.Claim{{Text: "Tower 7 is high."}}, Sources: []Source{{Doc: "a", Text: "Tower 7 is high. "}}}
	var b strings.Builder
	for n := range 200_000 {
		fmt.Fprintf(&b, "tower%d ", n)
	}
	r.Sources = append(r.Sources, Source{Doc: "b", Text: b.String() + "Tower 7 is high."})
	AddPassages(r)
	if len(r.Evidence) != 1 || r.Evidence[0].Doc != "a" || r.Evidence[0].After != "" {
		t.Errorf("%d passages, %.200v", len(r.Evidence), r.Evidence)
	}
}
