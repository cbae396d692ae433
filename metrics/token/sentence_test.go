package token

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// split returns the sentences of a text in which «…» stands for a marker.
func split(text string) []string {
	plain, markers := parseMarked(text)
	points := []rune(plain)
	var got []string
	for _, b := range Sentences(plain, markers) {
		got = append(got, string(points[b.Start:b.End]))
	}
	return got
}

// parseMarked replaces «1» by [1] and returns where that is.
func parseMarked(text string) (string, []Bounds) {
	var plain []rune
	var markers []Bounds
	for _, r := range text {
		switch r {
		case '«':
			markers = append(markers, Bounds{Start: int32(len(plain))})
			plain = append(plain, '[')
		case '»':
			plain = append(plain, ']')
			if n := len(markers); n > 0 && markers[n-1].End == 0 {
				markers[n-1].End = int32(len(plain))
			}
		default:
			plain = append(plain, r)
		}
	}
	return string(plain), markers
}

func TestSentences(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"plain", "One is red.| Two is blue!| Is three?| Four"},
		{"no white space behind the stop", "Really?|Yes.| Node.Js and a.b.C"},
		{"space around", "  One.|  Two.  "},
		{"unspaced before a capital", "Use A!B and x/y?Zed and q=a!B here.| Ja!|Nein"},
		{"scripts without capitals", "Good.|है यह.| Ende...है so."},
		{"other stops", "One．| Two﹒| Three․| Four。| Five"},
		{"line breaks", "One is\u0085|Two is\u2028|Three is\u2029|Four"},
		{"wrapped line", "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww five\nsix.| Also (one, two,\nthree) here."},
		{"line too short to be wrapped", "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww five\n|six."},
		{"items of small letters", "The list of all that is wanted by people\n|a) one\n|b. two"},
		{"more addresses", "At HTTPS://X.Y/Z.A or Ftp://a.B/c!D or wWw.x.Y!Z now.| See “www.a.B”.| End of http://.| Next."},
		{"one small letter before", "Am z. B. Montag, p. ex. Paris, S. 5 und 9. Mai und 0. Mai.| Es war 10.| Neu."},
		{"Roman one", "So did I.| He ran.| Karl I. Weber spoke.| Karl I. J. Weber."},
		{"non-breaking space", "Mr.\u00a0Smith left.|\u00a0He ran."},

		{"titles", "Dr. Smith met Mrs. Jones and Prof. Lee.| Gen. Grant vs. Lee."},
		{"Latin", "Some, e.g. Apple, grew, i.e. Ten percent.| Cf. Smith et al. (2020) and etc.| Next one."},
		{"company", "Apple Inc. Chief Cook spoke.| He works at Apple Inc.| The firm grew."},
		{"countries", "The U.S. Army and the U.K. Navy met in Washington D.C.| They left the U.S.| However, it rained."},
		{"time", "At 5 p.m. Eastern it rained.| At 6 a.m.| The sun rose."},
		{"initials", "J. K. Rowling, J.R.R. Tolkien and John F. Kennedy wrote.| Q. E. D."},
		{"letters that are names", "Take vitamin C.| The rest is plan B.| It is type A.| Then World War I.| Germany lost."},
		{"numbers", "See No. 5, Fig. 3, pp. 5 and vol. IV of Sec. 2.| She said no.| I left.| Five left on Jan. 5, 2020."},
		{"decimals", "It is 3.14 or .5 or 1,000.50.| Then 2.| Five."},
		{"years", "It was in 1990.| The war ended in 45 BC.| Ten people left."},
		{"versions", "Go 1.26.0 and v1.2.3-rc.1 and Python 3.12 run.| Python 3 too."},
		{"addresses", "See https://example.com/a.Html?q=A!b.C for it.| Or www.example.com.| Mail a.b@example.com.| End"},
		{"address then marker", "See https://example.com/a?B=c«1».| Next."},
		{"ellipsis", "Well... maybe not.| It ended...| Then…| Then more.| Hm… ok."},
		{"small first letter", "Phones sell.| iPhone sales rose.| mRNA is used.| pH is 7."},
		{"emphasis", "**Note.**| Next one.| *Really!*| Yes **it is**.| Ok."},

		{"quotes", `He said "Stop."| Then left.`},
		{"quote goes on", `"Stop!" he said.| “Why?” she asked.| (Is it so?) and more.`},
		{"quote ends", `He said "no."| She left.| (It rained.)| [It did.]| It was “so.”| Then.`},
		{"brackets", "It rose (by 5.2%).| It fell (a lot!).| End."},

		{"bullets", "Fruits:\n|- apples\n|- pears\n|* plums. |And more\n|• nuts"},
		{"numbered", "Steps:\n|1. Open it.| Look.\n|2. Close it\n|10) Leave\n\n|a. Go\n|IV. Rest"},
		{"numbered with markers", "Steps:\n\n|1«1». Open it.\n|2 «2». Close it."},
		{"numbered in a line", "There are three: |1. Apples are red.| 2. Pears are green.| 3. Plums."},
		{"sections", "2.1. Methods\n|We did it.\n|## 3. Results\n|It worked."},
		{"heading", "# Results of 2020\n\n|It rose.\n|A Title\n|More text"},
		{"wrapped", "This is a long line of text that was wrapped at some\nwidth, as mail does it,\nand goes on.|\nEnd."},
		{"lines", "apples\n|pears\r\n|plums\u2028|nuts"},
		{"answer is a number", "5."},

		{"German abbreviations", "Das gilt z. B. Berlin, d. h. Deutschland, u. a. Hamburg, z.B. Bonn, vgl. Abb. 3 und S. 15, Nr. 7.| Ende."},
		{"German ordinals", "Am 3. Oktober 1990 war es soweit.| Der 2. Weltkrieg endete am 8. 5. 1945.| Im 19. Jahrhundert.| Es waren 12.| Alle gingen."},
		{"German quotes", "Er sagte: „Geh!“ und ging.| „Nein.“| Sie blieb.| Dr. Müller, 44 v. Chr. geboren, usw.| Die Stadt kostet 5 Mio. Euro."},
		{"French", "M. Dupont et Mme. Curie, p. ex. Paris, sont là !| Vraiment ?| Oui, av. J.-C. et cætera.| Fin."},
		{"Spanish", "¿Qué es?| ¡Es el Sr. López!| La Dra. Ruiz vive en EE. UU.| Fin."},
		{"Chinese", "我是中文。|你呢？|很好！|“没有。”|他走了……然后回来。|圆周率是3.14。|完"},
		{"Japanese", "これは文です。|「はい。」と答えた。|本当？|「行くぞ！」|山は高い．|終わり｡"},
		{"Korean", "안녕하세요.| 네.| 그렇습니다."},
		{"Arabic", "هذا نص. |هل هو كذلك؟ |نعم! |قال د. محمد ذلك. |انتهى"},
		{"Urdu", "یہ اردو ہے۔ |کیا؟ |ہاں۔"},
		{"Hindi", "यह हिंदी है। |डॉ. शर्मा आए। |क्या? |हाँ॥ |अंत"},
		{"Russian", "См. рис. 5 и т.е. Москву.| А. С. Пушкин жил в 1799 г.| Он писал."},

		{"marker before the stop", "One is red«1».| Two «2» «3».| Three«4»!| Four"},
		{"marker behind the stop", "One is red.«1»| Two. «2» «3»| Three!«4»|Four"},
		{"marker behind the stop, Chinese", "我是中文。«1»«2»|你呢？«3»|完"},
		{"marker before the stop, Chinese", "我是中文«1»«2»。|你呢«3»？|完"},
		{"marker behind a quote", "He said \"no.\"«1»| She left."},
		{"marker after an abbreviation", "Dr.«1» Smith left.| In the U.S.«2» Army.| Apple Inc.«3»| The end."},
		{"marker alone in a line", "One is red.\n«1»\n\n|Two.\n\n«2» «3»\n"},
		{"marker before everything", "«1» One is red.| Two."},
		{"marker begins a line", "One is red.\n|«1» Smith 2020.\n|«2» https://example.com/a."},
		{"many markers", "One is red." + strings.Repeat(" «1»", 60) + "| Two."},
		{"punctuation is no sentence", "...\n---\nOne.| Two.\n\n***\n\n|Three."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var want []string
			for s := range strings.SplitSeq(tt.text, "|") {
				plain, _ := parseMarked(s)
				want = append(want, strings.TrimSpace(plain))
			}
			if diff := cmp.Diff(want, split(strings.ReplaceAll(tt.text, "|", ""))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestNoSentences(t *testing.T) {
	for _, text := range []string{"", " \n\t ", "«1» «2»\n«3».", "--- … !", "«1»", "\xff", "😀"} {
		if got := split(text); got != nil {
			t.Errorf("%q: got %q, want none", text, got)
		}
	}
}

func TestSentencesOfTable(t *testing.T) {
	want := []string{"| a | b |\n|---|---|", "| 1. | 2 |"}
	if diff := cmp.Diff(want, split(strings.Join(want, "\n")+"\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSentencesOfStatements(t *testing.T) {
	const first = "<statement>One is. Red<cite>[0-1]</cite></statement>"
	const second = "<statement>Two.<cite></cite></statement>"
	at := func(text, part string, from int) Bounds {
		i := from + strings.Index(text[from:], part)
		return Bounds{int32(i), int32(i + len(part))}
	}
	for _, between := range []string{"", " ", "\n\n"} {
		text := first + between + second
		markers := []Bounds{
			at(text, "<statement>", 0), at(text, "<cite>[0-1]</cite></statement>", 0),
			at(text, "<statement>", len(first)), at(text, "<cite></cite></statement>", 0),
		}
		one := at(text, "Red", 0).Start
		want := []Bounds{{0, one - 1}, {one, int32(len(first))}, {int32(len(first) + len(between)), int32(len(text))}}
		if diff := cmp.Diff(want, Sentences(text, markers)); diff != "" {
			t.Errorf("between %q: -want +got:\n%s", between, diff)
		}
	}
}
