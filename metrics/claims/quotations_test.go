package claims

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ibid"
)

// quotationsOf reads the quotations of an answer whose marks [n] are its citations.
func quotationsOf(answer string, unplaced bool) []Quotation {
	row := &ibid.Answer{Answer: answer, HasCitations: true}
	for at := 0; ; {
		i := strings.IndexByte(answer[at:], '[')
		if i < 0 || at+i+3 > len(answer) {
			break
		}
		at += i
		if answer[at+2] == ']' {
			c := ibid.Citation{Doc: "d" + answer[at+1:at+2], AnswerRole: ibid.Marker}
			if !unplaced {
				start := int64(len([]rune(answer[:at])))
				c.Extent = ibid.Between(start, start+3)
			}
			row.Citations = append(row.Citations, c)
		}
		at++
	}
	c := NewCutter(Options{Phrases: NewPhrases(Phrases{})})
	c.Cut(row)
	return c.Quotations(row)
}

// TestQuotations: what is a quotation, of which kind, whether it is long enough, and what it
// cites.
func TestQuotations(t *testing.T) {
	for _, tt := range []struct{ answer, want string }{
		{`It says "the pump must be cleaned weekly" [1].`, `marks "the pump must be cleaned weekly" [0]`},
		{`It says “the ‘old’ pump must be cleaned” [1].`, `marks "the ‘old’ pump must be cleaned" [0]`},
		{`Es heißt: „Die Pumpe muss wöchentlich gereinigt werden“ [1].`, `marks "Die Pumpe muss wöchentlich gereinigt werden" [0]`},
		{`Il dit « La pompe doit être nettoyée » [1].`, `marks "La pompe doit être nettoyée" [0]`},
		{`手册写道：“水泵必须每周清洗一次”[1]。`, `marks "水泵必须每周清洗一次" [0]`},
		{`It says 'the firm doesn't pay its auditors' [1].`, `marks "the firm doesn't pay its auditors" [0]`},
		{`'Tis the season in which the dogs' toys are sold [1].`, ``},
		{`The tenants' union and the landlords' club met in the '70s [1].`, ``},
		{`A pipe of 3/4" and a cap of 2" are enough [1].`, ``},
		{`It says "a pipe of 5'6" must not be bent" [1].`, `marks "a pipe of 5'6\" must not be bent" [0]`},
		{"Run `echo \"the pump must be cleaned weekly\"` [1].", ``},
		{`The "smart" pump [1].`, `short marks "smart" [0]`},
		{`"One two three four five" [1] and "six seven eight nine ten" [2].`, `marks "One two three four five" [0]; marks "six seven eight nine ten" [1]`},
		{"> The pump must be cleaned.\n\n— Manual [1]", `block "The pump must be cleaned." [0]`},
		{"> \"The pump must be cleaned weekly.\" — Manual [1]", `marks "The pump must be cleaned weekly." [0]`},
		{"> [!NOTE]\n> Always ask somebody who knows the pump. [1]", ``},
		{"> **Note:** Always ask somebody who knows the pump. [1]", ``},
		{`See "The Mindful Way Through Depression" [1].`, `title "The Mindful Way Through Depression" [0]`},
		{`The article "substance abuse and dropout rates in schools" [1].`, `title "substance abuse and dropout rates in schools" [0]`},
		{`They ask "What would you like to do?" [1]`, `question "What would you like to do?" [0]`},
		{`{"answer": "It says “the pump must be cleaned weekly” [1]."}`, `marks "the pump must be cleaned weekly" [0]`},
		{`It says "the pump [2] must be cleaned weekly" [1].`, `marked marks "the pump  must be cleaned weekly" [0 1]`},
		{`See https://ex.org/a#:~:text=pre-,the%20pump%20is,blue,-suf [1].`, `fragment "the pump is ... blue" []`},
		{`The log [1] says “the pump must be cleaned weekly”.`, `marks "the pump must be cleaned weekly" [0]`},
		{`Source [1] states that “one two three four five”, and the log [2]: “six seven eight nine ten”.`, `marks "one two three four five" [0]; marks "six seven eight nine ten" [1]`},
		{`According to [1], “one two three four five”, whereas [2] has “six seven eight nine ten”.`, `marks "one two three four five" [0 1]; marks "six seven eight nine ten" [1]`},
		{`The log (see [1][2]) notes “one two three four five”, as does the book [3].`, `marks "one two three four five" [0 1]`},
		{`The log [1] says “one two three four five” [2].`, `marks "one two three four five" [0 1]`},
		{`The log [1] says “one two three four five”. [2] says “six seven eight nine ten”.`, `marks "one two three four five" [0]; marks "six seven eight nine ten" [1]`},
		{`“One two three four five” [1], “six seven eight nine ten”, and “two three four five six” [2].`, `marks "One two three four five" [0]; marks "six seven eight nine ten" [1]; marks "two three four five six" [1]`},
		{`The pump is old [1], but some say “one two three four five”.`, `marks "one two three four five" []`},
		{`文献[1]指出“水泵必须每周清洗一次”。`, `marks "水泵必须每周清洗一次" [0]`},
		{`Le manuel [1] indique : « La pompe doit être nettoyée ».`, `marks "La pompe doit être nettoyée" [0]`},
		{`It says ‘the engineers’ report was never signed’ [1].`, `marks "the engineers’ report was never signed" [0]`},
		{`It says 'the engineers' report was never signed' [1].`, `marks "the engineers' report was never signed" [0]`},
		{`The 'old boys' met the 'one two three four five' group of the boss' son [1].`, `short marks "old boys" [0]; marks "one two three four five" [0]`},
		{`The ‘old boys’ of the workers’ union [1].`, `short marks "old boys" [0]`},
		{`Siinä lukee »the pump must be cleaned weekly» ja »the tank must be drained yearly« [1].`, `marks "the pump must be cleaned weekly" [0]; marks "the tank must be drained yearly" [0]`},
		{`手册写道＂水泵必须每周清洗一次＂和｢油箱必须每年排空一次｣[1]。`, `marks "水泵必须每周清洗一次" [0]; marks "油箱必须每年排空一次" [0]`},
		{"# \"The pump must be cleaned weekly\"\n\nText [1].", ``},
	} {
		var got []string
		for _, q := range quotationsOf(tt.answer, false) {
			text := fmt.Sprintf("%s %q %v", q.Kind, q.Text, q.Citations)
			if q.Marked {
				text = "marked " + text
			}
			if q.Short {
				text = "short " + text
			}
			got = append(got, text)
			if runes := []rune(tt.answer); q.Start < 0 || q.End > len(runes) || q.Start >= q.End {
				t.Errorf("%q: [%d, %d)", tt.answer, q.Start, q.End)
			}
		}
		if s := strings.Join(got, "; "); s != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.answer, s, tt.want)
		}
	}
	if q := quotationsOf(`It says "the pump must be cleaned weekly". It is blue [1].`, true); len(q) != 1 || !slices.Equal(q[0].Citations, []int32{0}) {
		t.Errorf("with a citation that stands nowhere: %+v", q)
	}
}

// TestUnclosedQuotationMarks: a megabyte of marks that nothing closes is read, and holds nothing.
func TestUnclosedQuotationMarks(t *testing.T) {
	for _, mark := range []string{"“a ", "«a ", "„a ", "「a ", "'a "} {
		if q := quotationsOf(strings.Repeat(mark, 1<<20/len(mark)), false); len(q) > 0 {
			t.Errorf("%q: %d quotations", mark, len(q))
		}
	}
}

// FuzzQuotations: quotations lie in their answer, and none in another.
func FuzzQuotations(f *testing.F) {
	for _, s := range []string{`It "says [1]" “so” 'as'`, "> a\n> b [1]\n\n— c", "| \"a b c d e\" |\n|---|\n| “x” |", "{\"a\": \"“b” [1]\"}", "`\"` \" \" “ ”"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		end := -1
		for _, q := range quotationsOf(strings.ToValidUTF8(answer, "\uFFFD"), false) {
			if q.Start >= q.End || q.End > len([]rune(strings.ToValidUTF8(answer, "\uFFFD"))) {
				t.Fatalf("%q: [%d, %d)", answer, q.Start, q.End)
			}
			if q.Start < end && q.Kind == MarksQuotation {
				t.Fatalf("%q: [%d, %d) lies in another", answer, q.Start, q.End)
			}
			end = q.End
		}
	})
}
