package judgetest

import (
	"strings"

	"ibid/judge"
)

// Requests returns the requests of [TestJudge], made anew: plain ones with
// human labels, and the odd ones that data brings. Each has its own Row.
func Requests() []*judge.Request {
	return []*judge.Request{
		plain(), shared(), odd(), spaceless(),
		{Row: "empty/a"},
		{Row: "no evidence/a", Question: "Why?", Claims: []judge.Claim{{Text: "Nothing is cited here."}, {}}},
	}
}

// plain has a claim of two citations, one of an invalid citation, one uncited.
func plain() *judge.Request {
	source := "The bridge opened on 11 July 1909. It carries 4,200 cars a day. It was never closed."
	return &judge.Request{
		Row: "plain/a", Question: "When did the bridge open?", Answer: "The bridge opened in 1909. It is red. It was closed.",
		Claims: []judge.Claim{
			{ID: "one", Text: "The bridge opened in 1909 and carries 4200 cars.", Evidence: []int{0, 1}, Citations: []int{0, 1}},
			{Text: "The bridge is red.", Citations: []int{2}},
			{Text: "It was closed."},
		},
		Evidence: []judge.Evidence{
			{Text: "The bridge opened on 11 July 1909.", Citation: 0},
			{Text: "It carries 4,200 cars a day.", Citation: 1},
		},
		Sources: []judge.Source{{Doc: "bridge", Page: 1, Text: source, Cited: []judge.Interval{
			{Start: 0, End: 34, Citation: 0}, {Start: 35, End: 63, Citation: 1},
		}}},
		Labels: []judge.HumanLabel{
			{Annotator: "a", Claim: 0, Citation: -1, Kind: "support", Value: 1},
			{Annotator: "b", Claim: 0, Citation: -1, Kind: "support", Value: 0.5},
			{Annotator: "a", Claim: 0, Citation: 1, Kind: "support", Value: 0.5},
			{Annotator: "a", Claim: -1, Citation: 2, Kind: "relevant", Value: 0},
			{Annotator: "a", Claim: 2, Citation: -1, Kind: "factual", Value: 1},
			{Annotator: "b", Claim: 2, Citation: -1, Kind: "needs_citation", Value: 0},
		},
	}
}

// shared has one text cited twice, by one claim and by two.
func shared() *judge.Request {
	text := "Rain fell for three days in Lisbon."
	return &judge.Request{
		Row: "shared/a",
		Claims: []judge.Claim{
			{Text: "It rained in Lisbon.", Evidence: []int{0, 1}, Citations: []int{0, 3}},
			{Text: "It rained for three days.", Evidence: []int{1}, Citations: []int{3}},
			{Text: "It did not rain in Lisbon.", Evidence: []int{2}, Citations: []int{4}},
		},
		Evidence: []judge.Evidence{{Text: text, Citation: 0}, {Text: text, Citation: 3}, {Text: "Porto was dry.", Citation: 4}},
	}
}

// odd has what no one writes on purpose: markers alone, no letters, bytes that
// are not UTF-8, evidence without text, a word of 100,000 letters.
func odd() *judge.Request {
	long := strings.Repeat("x", 100_000)
	return &judge.Request{
		Row: "odd/a", Question: "?",
		Claims: []judge.Claim{
			{Text: "[1][2]", Evidence: []int{0}, Citations: []int{0}},
			{Text: "\xff\xfe 1.2.3.4 --5,,6 [", Evidence: []int{1}, Citations: []int{1}},
			{Text: long, Evidence: []int{2}, Citations: []int{2}},
			{Text: strings.Repeat("[", 1000) + "0" + strings.Repeat("9", 400), Evidence: []int{0, 1, 2}, Citations: []int{0, 1, 2}},
		},
		Evidence: []judge.Evidence{{Citation: 0}, {Text: "\xffnot UTF-8\xc3 5", Citation: 1}, {Text: long + " " + long, Citation: 2}},
		Sources:  []judge.Source{{Doc: "d"}, {Doc: "e", Text: "\n\n.\n"}},
	}
}

// spaceless has scripts that do not divide words by spaces.
func spaceless() *judge.Request {
	return &judge.Request{
		Row: "spaceless/a", Question: "大桥何时开放？",
		Claims: []judge.Claim{
			{Text: "大桥于1909年7月11日开放。", Evidence: []int{0}, Citations: []int{0}},
			{Text: "橋は閉鎖されなかった。", Evidence: []int{1}, Citations: []int{1}},
			{Text: "다리는 붉은색이다"},
		},
		Evidence: []judge.Evidence{{Text: "大桥于1909年7月11日开放,长2公里。", Citation: 0}, {Text: "橋は閉鎖された。", Citation: 1}},
		Sources:  []judge.Source{{Doc: "ko", Text: "다리는 붉은색이다. 길이는 2킬로미터이다."}},
	}
}
