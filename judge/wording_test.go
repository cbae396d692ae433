package judge_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"ibid"
	"ibid/judge"
)

// byWording judges one claim by one cited text, which is whole sentences.
func byWording(t *testing.T, claim, evidence string) *judge.ClaimVerdict {
	t.Helper()
	v, err := judge.NewLexical().Judge(t.Context(), &judge.Request{
		Claims: []ibid.Claim{{Text: claim, Citations: []int32{0}}}, Evidence: []judge.Evidence{{Text: evidence}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &v.Claims[0]
}

// TestWording has claims that stand in their evidence, and claims that do not.
func TestWording(t *testing.T) {
	for _, tt := range []struct {
		claim, evidence string
		stands          bool
	}{
		{"The bridge opened in 1931.", "The bridge opened in 1931.", true},
		{"The bridge opened in 1932.", "The bridge opened in 1931.", false},
		{"Ada's bridge opened.", "The bridge of Ada opened.", false},
		{"Ada Stone designed the bridge.", "In haste Ada Stone designed this bridge of steel.", true},
		{"The drug reduces pain.", "The drug doesn't reduce pain.", false},
		{"The drug reduces pain.", "The drug can’t reduce pain.", false},
		{"The drug doesn't reduce pain.", "The drug does not reduce pain.", true},
		{"The drug does not reduce pain.", "The drug reduces pain.", false},
		{"We measured the depth.", "They measured the depth.", false},
		{"The fund grew by 5%.", "The fund grew by 5 %.", true},
		{"The fund grew by 5%.", "The fund grew by 5.", false},
		{"It weighs 15mg of salt.", "It weighs 15 g of salt.", false},
		{"It came 3rd in the race.", "It came 3 in the race.", true},
		{"The tower has 007 floors.", "The tower has 7 floors.", true},
		{"The value rose from -3 to 4.", "The value rose from 3 to 4.", false},
		{"The Acme study of May 1990 ended.", "The Acme study of May 1990 ended.", true},
		{"The study ended in May.", "The study may have ended in May.", false},
		{"Ada built it [3]. Bob paid.", "Ada built it. Bob paid.", true},
		{"1. Ada built the bridge.", "Ada built the bridge.", true},
		{"Ada built it. Bob paid for it. Cy left.", "Ada built it. Bob paid for it. Cy left.", false},
		{"Das ist neu und gut.", "Das ist neu und sehr gut.", false},
		{"東京は日本の首都です。", "東京は日本の首都です。", true},
		{"The bridge opened.", "The old and long and narrow bridge opened.", true},
		{"The bridge opened.", "The bridge, long and narrow, opened.", false},
		{"Sales fell in 2020.", "It is incorrect. Sales fell in 2020.", false},
		{"Ada moved to Berlin in 1990.", "Ada moved from Berlin in 1990.", false},
		{"Ada sued Bob in 2003.", "Ada was sued by Bob in 2003.", false},
		{"The train goes from Rome to Paris.", "The train goes to Rome from Paris.", false},
		{"The train goes from Rome to Paris.", "In May the train goes from Rome to Paris.", true},
		{"It cost 84 million crowns, and the region paid one third.", "The quay cost 84 million crowns, of which the region paid one third.", true},
		{"It is open on clear Friday nights.", "The observatory is open to visitors on clear Friday nights.", true},
		{"Ada lives in Rome now.", "Ada lives outside Rome now.", false},
		{"The firm closes the plant.", "The firm wants to close the plant.", false},
		{"Prices fell by 5 percent.", "Prices fell to 5 percent.", false},
		{"Acme owns Bolt.", "Acme owns part of Bolt.", false},
		{"Ada won the cup.", "Ada's brother won the cup.", false},
		{"Ada won the cup.", "The brother of Ada won the cup.", false},
		{"Ada won the cup.", "Ada said she won the cup.", false},
		{"Ada voted for the bill.", "Ada voted against the bill.", false},
		{"The pump works.", "I doubt that the pump works.", false},
		{"Two people fled.", "Two million people fled.", false},
		{"Two million people fled.", "Two million people fled.", true},
		{"Some 40 ships sank.", "Over 40 ships sank.", false},
		{"40 ships sank.", "Over 40 ships sank.", false},
		{"The device weighs 2 kg.", "The device weighs under 2 kg.", false},
		{"The river is the longest in Asia.", "The river is the second longest in Asia.", false},
		{"The king died in 1066.", "The king died in 1066 BC.", false},
		{"Ada founded the firm.", "Ada co-founded the firm.", false},
		{"Vitamin A is stored in fat.", "Vitamin D is stored in fat.", false},
		{"Vitamin A is stored in fat.", "Vitamin A was stored in fat.", true},
		{"X > 5 was met in tests.", "X < 5 was met in tests.", false},
		{"Ada won the cup.", `<p class="a">Ada <b>won</b> the cup.</p>`, true},
		{"Ada won the cup.", "Ada won the < 5 cup.", false},
		{"It has 5‰ of salt.", "It has 5% of salt.", false},
		{"It costs ₹500 in shops.", "It costs 500 in shops.", false},
		{"It opened at 9 am in May.", "It opened at 9 pm in May.", false},
		{"About ½ of it was lost.", "About ¾ of it was lost.", false},
		{"The area is 10² metres.", "The area is 10 metres.", false},
		{"墙高１２米。", "墙高２１米。", false},
		{"الجدار ارتفاعه ١٢ مترا.", "الجدار ارتفاعه ٢١ مترا.", false},
		{"दीवार १२ मीटर ऊँची है।", "दीवार १३ मीटर ऊँची है।", false},
		{"दीवार १२ मीटर ऊँची है।", "दीवार १२ मीटर ऊँची है।", true},
		{"The drug cures migraine.", "The drug can cure migraine.", false},
		{"The drug can cure migraine.", "The drug can cure migraine.", true},
		{"The vaccine prevents infection.", "The vaccine helps prevent infection.", false},
		{"The bridge is the longest in Europe.", "The bridge was once the longest in Europe.", false},
		{"Sales rose in May.", "Sales rose tenfold in May.", false},
		{"It opened in May 1931.", "It opened in May 1931, according to a hoax.", false},
		{"The train leaves Paris at 10.", "The train leaves Paris at 10:30.", false},
		{"The train leaves Paris at 10:30.", "The train leaves Paris at 10:30.", true},
		{"Sales rose 10 percent in May.", "Sales rose 10-15 percent in May.", false},
		{"The war lasted from 1914 to 1918.", "The war lasted from 1914 to 1918.", true},
		{"The war of 1914-1918 ended.", "The war of 1914–1918 ended.", true},
		{"", "The bridge opened.", false},
		{"The bridge opened.", "", false},
	} {
		if got := byWording(t, tt.claim, tt.evidence); (got.Joint.Value == 1) != tt.stands || got.Joint.Known() != tt.stands || !tt.stands && !got.Joint.Undecided() {
			t.Errorf("%q by %q: %+v, %s", tt.claim, tt.evidence, got.Joint, got.JointWhy)
		}
	}
}

// TestWordingVectors are the cases of the shared vectors.
func TestWordingVectors(t *testing.T) {
	data, err := os.ReadFile("../../shared/vectors/wording.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no vectors beside the project")
	}
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Claim, Evidence string
			Stands          bool
		}
	}
	if err := json.Unmarshal(data, &file); err != nil || len(file.Cases) < 50 {
		t.Fatal(len(file.Cases), err)
	}
	for _, c := range file.Cases {
		if got := byWording(t, c.Claim, c.Evidence); (got.Joint.Value == 1) != c.Stands {
			t.Errorf("%q by %q: %+v, want %t", c.Claim, c.Evidence, got.Joint, c.Stands)
		}
	}
}

// TestWordingOfWindow: cited words are completed to their sentences, and only sentences that
// hold some of them count.
func TestWordingOfWindow(t *testing.T) {
	claim := ibid.Claim{Text: "The bridge opened in 1931.", Citations: []int32{0}}
	evidence := judge.Evidence{Before: "A town. The bridge ", Text: "opened in 1931", After: ". It is long."}
	v, err := judge.NewLexical().Judge(t.Context(), &judge.Request{Claims: []ibid.Claim{claim}, Evidence: []judge.Evidence{evidence}})
	if err != nil {
		t.Fatal(err)
	}
	check := v.Claims[0].Checks[0]
	if check.Support.Value != 1 || check.Quote != evidence.Text || check.QuoteAt != (judge.Interval{End: 14}) {
		t.Errorf("%+v", check)
	}
	evidence = judge.Evidence{Before: "The bridge opened in 1931. ", Text: "It is long.", After: ""}
	v, err = judge.NewLexical().Judge(t.Context(), &judge.Request{Claims: []ibid.Claim{claim}, Evidence: []judge.Evidence{evidence}})
	if err != nil || !v.Claims[0].Joint.Undecided() || v.Claims[0].JointWhy != "wording cannot tell" {
		t.Errorf("%+v, %v", v.Claims[0], err)
	}
}

// TestWordingElsewhere: a sentence that is not cited is found with its place; where other
// texts are known and none says it, wording cannot tell, and where none is known nothing
// supports the claim.
func TestWordingElsewhere(t *testing.T) {
	text := "A town. The bridge opened in 1931. It is long."
	claim := ibid.Claim{Text: "The bridge opened in 1931."}
	for _, tt := range []struct {
		claim   string
		sources []judge.Source
		want    ibid.Support
	}{
		{claim.Text, []judge.Source{{Doc: "d", Text: text}}, ibid.Full.Support()},
		{"The bridge opened in 1932.", []judge.Source{{Doc: "d", Text: text}}, ibid.Undecidable()},
		{claim.Text, nil, ibid.None.Support()},
		{claim.Text, []judge.Source{{Doc: "d"}}, ibid.None.Support()},
	} {
		claim.Text = tt.claim
		v, err := judge.NewLexical().Judge(t.Context(), &judge.Request{Claims: []ibid.Claim{claim}, Sources: tt.sources})
		if err != nil {
			t.Fatal(err)
		}
		got := v.Claims[0]
		if got.Elsewhere != tt.want || got.Joint != ibid.None.Support() {
			t.Errorf("%q: %+v", tt.claim, got)
		}
		if got.Elsewhere.Known() && got.Elsewhere.Value == 1 && (got.ElsewherePlace == nil || *got.ElsewherePlace != judge.Place{Doc: "d", Start: 8, End: 34} || got.ElsewhereQuote != "The bridge opened in 1931.") {
			t.Errorf("%+v at %+v", got, got.ElsewherePlace)
		}
	}
}

// TestWordingWhy: the number or name that the cited words lack is named.
func TestWordingWhy(t *testing.T) {
	for claim, want := range map[string]string{
		"The bridge opened in 1932.":           "1932 is not in the cited sentence",
		"The bridge of Ada opened in 1931.":    "Ada is not in the cited sentence",
		"The bridge was long closed in 1931.":  "wording cannot tell",
		"The bridge opened in 1931.":           "found word for word",
		"Did the bridge open in 1931?":         "wording cannot tell",
		strings.Repeat("word ", 20) + "ended.": "wording cannot tell",
	} {
		if got := byWording(t, claim, "The bridge opened in 1931."); got.JointWhy != want {
			t.Errorf("%q: %q, want %q", claim, got.JointWhy, want)
		}
	}
}

// FuzzWording: a sentence stands in itself or cannot be decided, and no text is too odd.
func FuzzWording(f *testing.F) {
	for _, s := range []string{"The bridge opened in 1931.", "5 % of €1,200.50", "-5°", "doesn't", "绿茶 3", "a\xff1,5", "[3]", "1.\n2."} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, claim, evidence string) {
		r := &judge.Request{Claims: []ibid.Claim{{Text: claim, Citations: []int32{0}}}, Evidence: []judge.Evidence{{Text: evidence}}, Sources: []judge.Source{{Text: evidence + claim}}}
		v, err := judge.NewLexical().Judge(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		c := v.Claims[0]
		if len(c.Checks) != 1 || c.Joint.Known() && c.Joint.Value != 1 || !c.Joint.Known() && !c.Joint.Undecided() {
			t.Errorf("%+v", c)
		}
		if at := c.Checks[0].QuoteAt; at.Start > at.End || int(at.End) > len(evidence) {
			t.Errorf("quote at %v", at)
		}
	})
}
