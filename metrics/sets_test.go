package metrics

import (
	"math"
	"strconv"
	"testing"

	"ibid"
	"ibid/metrics/token"
)

func TestPages(t *testing.T) {
	pages := func(doc string, first, last int32) ibid.Place {
		return ibid.Place{Doc: doc, Level: ibid.LevelPages, FirstPage: first, LastPage: last}
	}
	noPage := at("a", 0, 9)
	noPage.FirstPage, noPage.LastPage = 0, 0
	wholeDoc := ibid.Place{Doc: "a", Level: ibid.LevelDocument}
	tests := []struct {
		name                string
		row                 *Row
		truth, pred, common int64
		why                 ibid.Reason // of page_f1
	}{
		{"ranges", cited(pages("a", 2, 5), at("b", 0, 4)).against(by("", pages("a", 4, 9))), 6, 5, 2, ibid.Defined},
		{"single pages", cited(pages("a", 2, 2), pages("a", 2, 2), pages("b", 2, 2)).against(by("", pages("a", 2, 2)), by("", pages("a", 3, 3))), 2, 2, 1, ibid.Defined},
		{"huge ranges", cited(pages("a", 1, math.MaxInt32)).against(by("", pages("a", 2, math.MaxInt32))), math.MaxInt32 - 1, math.MaxInt32, math.MaxInt32 - 1, ibid.Defined},
		{"a whole document is coarser", cited(wholeDoc, pages("a", 1, 1)).against(by("", pages("a", 1, 2))), 2, 1, 1, ibid.Defined},
		{"nothing at all", cited().against(), 0, 0, 0, ibid.NothingToCite},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := score(t, DefaultOptions(), tt.row)
			wantCount(t, s, TruthPages, tt.truth)
			wantCount(t, s, PredPages, tt.pred)
			wantCount(t, s, OverlapPages, tt.common)
			if s.Reasons[PageF1] != tt.why {
				t.Errorf("reason of page_f1 = %q, want %q", s.Reasons[PageF1], tt.why)
			}
		})
	}
	t.Run("a page is not known", func(t *testing.T) {
		s := score(t, DefaultOptions(), cited(noPage, pages("a", 1, 1)).against(by("", pages("a", 1, 1))))
		wantReason(t, s, ibid.NoDocuments, PagePrecision, PageRecall, PageF1)
		if s.Known[PredPages] || s.Known[OverlapPages] {
			t.Error("pages are counted")
		}
		wantValue(t, s, DocF1, 1)
	})
}

// Rows with many documents go through maps; a smaller row afterwards must not
// find their names again.
func TestManyDocuments(t *testing.T) {
	s := NewScorer(DefaultOptions())
	var out Scores
	for _, n := range []int{scanLimit - 1, scanLimit, scanLimit + 1, 5 * scanLimit, 3, scanLimit + 1} {
		row := Row{Answer: ibid.Answer{HasCitations: true, HasTruth: true}}
		for i := range n {
			p := at(strconv.Itoa(i), 0, 9)
			p.Page = int32(i % 2)
			row.Citations = append(row.Citations, ibid.Citation{Place: p})
			p.Doc = strconv.Itoa(n - i)
			p.Page = int32((n - i) % 2)
			row.Truth = append(row.Truth, by("", p))
		}
		s.Score(&row, &out)
		wantCount(t, &out, PredDocs, int64(n))
		wantCount(t, &out, TruthDocs, int64(n))
		wantCount(t, &out, OverlapDocs, int64(n-1))
		wantCount(t, &out, OverlapChars, 9*int64(n-1))
		wantCount(t, &out, OverlapPages, int64(n-1))
		wantCount(t, &out, MatchedSpans, int64(n-1))
	}
}

func TestDocs(t *testing.T) {
	inverted := at("d", 9, 3)
	nowhere := ibid.Place{Level: ibid.LevelNowhere, Status: ibid.StatusDocumentNotFound}
	row := cited(at("a", 0, 9), at("a", 20, 29), ibid.Place{Doc: "b", Level: ibid.LevelDocument}, inverted, nowhere).against(
		by("", at("b", 0, 9)), by("", at("c", 0, 9)))
	s := score(t, DefaultOptions(), row)
	wantCount(t, s, TruthDocs, 2)
	wantCount(t, s, PredDocs, 2)
	wantCount(t, s, OverlapDocs, 1)
	wantValue(t, s, DocF1, 0.5)
}

// texts is a token source in which every text has tokens of four code points
// with a space behind each.
type texts map[docName]int

type docName struct {
	doc  string
	page int32
}

func (x texts) Tokens(index *token.Index, doc string, page, start, end int32) bool {
	n, ok := x[docName{doc, page}]
	var whole token.Index
	for i := range n {
		whole.Starts = append(whole.Starts, int32(5*i))
		whole.Ends = append(whole.Ends, int32(5*i+4))
	}
	lo, hi := whole.Range(start, end)
	index.Append(&whole, lo, hi)
	return ok
}

func TestTokens(t *testing.T) {
	source := texts{{"a", 0}: 20, {"b", 0}: 3}
	with := func(r *Row) *Row {
		r.Tokens = source
		return r
	}
	t.Run("touched tokens", func(t *testing.T) {
		// a: truth touches tokens 0, 1, predictions 1, 1, 2; the two predictions
		// share token 1. b: truth touches token 2, the prediction lies behind the text.
		s := score(t, DefaultOptions(), with(cited(at("a", 6, 7), at("a", 8, 12), at("b", 90, 99)).against(
			by("", at("a", 3, 6)), by("", at("b", 12, 50)))))
		wantCount(t, s, TruthTokens, 3)
		wantCount(t, s, PredTokens, 2)
		wantCount(t, s, OverlapTokens, 1)
		wantValue(t, s, TokenPrecision, 1.0/2)
		wantValue(t, s, TokenRecall, 1.0/3)
		wantValue(t, s, TokenF1, 2.0/5)
		wantValue(t, s, TokenJaccard, 1.0/4)
	})
	t.Run("only space", func(t *testing.T) {
		s := score(t, DefaultOptions(), with(cited(at("a", 4, 5)).against(by("", at("a", 0, 2)))))
		wantReason(t, s, ibid.NoCitations, TokenPrecision)
		wantValue(t, s, TokenRecall, 0)
	})
	t.Run("no text of one document", func(t *testing.T) {
		s := score(t, DefaultOptions(), with(cited(at("a", 0, 5), at("z", 0, 5)).against(by("", at("a", 0, 5)))))
		wantReason(t, s, ibid.NoDocuments, TokenPrecision, TokenRecall, TokenF1, TokenJaccard)
		if s.Known[PredTokens] || s.Known[TruthTokens] {
			t.Error("tokens are counted")
		}
	})
	t.Run("both empty", func(t *testing.T) {
		s := score(t, DefaultOptions(), with(cited().against()))
		wantReason(t, s, ibid.NothingToCite, TokenF1, TokenJaccard)
		wantCount(t, s, PredTokens, 0)
	})
}
