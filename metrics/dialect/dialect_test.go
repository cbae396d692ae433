package dialect

import (
	"testing"

	"ibid"
)

func cite(support float64) Citation { return Citation{Support: ibid.Some(support)} }

func need(without float64) Citation {
	return Citation{Support: ibid.Some[float64](0), Without: ibid.Some(without)}
}

func statement(support float64, citations ...Citation) Statement {
	return Statement{Support: ibid.Some(support), Citations: citations}
}

func relevant(v ...ibid.Tri) Statement {
	s := Statement{Support: ibid.Some[float64](1)}
	for _, r := range v {
		s.Citations = append(s.Citations, Citation{Relevant: r})
	}
	return s
}

// at binds the threshold of a score.
func at(score func(Table, float64) (float64, bool), threshold float64) func(Table) (float64, bool) {
	return func(t Table) (float64, bool) { return score(t, threshold) }
}

// The expected values are worked out by hand from the papers' definitions.
func TestScores(t *testing.T) {
	uncited, dangling := Statement{}, Citation{Dangling: true}
	none := Statement{Citations: []Citation{{}}} // cited, nothing judged
	tests := []struct {
		name  string
		score func(Table) (float64, bool)
		table Table
		want  float64
		ok    bool
	}{
		{"ALCE recall counts uncited statements", at(ALCERecall, 0.7), Table{statement(1, cite(1)), uncited}, 0.5, true},
		{"ALCE recall at the threshold", at(ALCERecall, 0.7), Table{statement(0.7, cite(0.7)), statement(0.69, cite(0.69))}, 0.5, true},
		{"ALCE recall with a dangling citation", at(ALCERecall, 0.7), Table{statement(1, cite(1), dangling)}, 0, true},
		{"ALCE recall leaves out what is not judged", at(ALCERecall, 0.7), Table{statement(1, cite(1)), none}, 1, true},
		{"ALCE recall of nothing judged", at(ALCERecall, 0.7), Table{none}, 0, false},
		{"ALCE recall of nothing", at(ALCERecall, 0.7), nil, 0, false},

		{"ALCE precision, one citation", at(ALCEPrecision, 0.7), Table{statement(1, cite(0)), statement(0, cite(1))}, 0.5, true},
		{"ALCE precision, one of two irrelevant", at(ALCEPrecision, 0.7), Table{statement(1, cite(1), need(1))}, 0.5, true},
		{"ALCE precision, both needed", at(ALCEPrecision, 0.7), Table{statement(1, need(0), need(0))}, 1, true},
		{"ALCE precision, unsupported", at(ALCEPrecision, 0.7), Table{statement(0, Citation{}, Citation{}), statement(1, cite(1))}, 1.0 / 3, true},
		{"ALCE precision, dangling", at(ALCEPrecision, 0.7), Table{statement(1, cite(1), dangling), statement(1, cite(1))}, 1, true},
		{"ALCE precision needs leave-one-out", at(ALCEPrecision, 0.7), Table{statement(1, cite(1), cite(0))}, 0, false},
		{"ALCE precision leaves out what is not judged", at(ALCEPrecision, 0.7), Table{statement(1, cite(1), need(1), Citation{}), none}, 0.5, true},
		{"ALCE precision knows what is needed or not whatever is missing", at(ALCEPrecision, 0.7), Table{
			statement(1, cite(1), Citation{Without: ibid.Some[float64](0)}), {Citations: []Citation{need(1), need(0)}},
		}, 2.0 / 3, true},
		{"ALCE precision, uncited", at(ALCEPrecision, 0.7), Table{uncited}, 0, false},

		{"LongCite recall", LongCiteRecall, Table{statement(1, cite(1)), statement(0.5, cite(1)), {NeedsCitation: ibid.Yes}, {NeedsCitation: ibid.No}}, 0.625, true},
		{"LongCite recall leaves out what is not judged", LongCiteRecall, Table{none, uncited, statement(0.5, cite(1))}, 0.5, true},
		{"LongCite recall, dangling", LongCiteRecall, Table{{Citations: []Citation{dangling}}, statement(1, dangling, cite(1))}, 0.5, true},
		{"LongCite recall of nothing", LongCiteRecall, nil, 0, false},
		{"LongCite precision", LongCitePrecision, Table{relevant(ibid.Yes, ibid.No), relevant(ibid.Yes, ibid.Unset), {Citations: []Citation{dangling}}}, 0.5, true},
		{"LongCite precision, uncited", LongCitePrecision, Table{uncited}, 0, false},
		{"LongCite F1", LongCiteF1, Table{relevant(ibid.Yes, ibid.No)}, 2.0 / 3, true},
		{"LongCite F1, both 0", LongCiteF1, Table{{Support: ibid.Some[float64](0), Citations: []Citation{{Relevant: ibid.No}}}}, 0, true},
		{"LongCite F1 without a recall", LongCiteF1, Table{{Citations: []Citation{{Relevant: ibid.Yes}}}}, 0, false},
		{"LongCite F1 without a precision", LongCiteF1, Table{{NeedsCitation: ibid.No}}, 0, false},
		{"LongCite scores 40 statements", LongCiteRecall, append(make(Table, 40), statement(1, cite(1))), 0, false},
		{"LongCite counts 40 statements", LongCitePrecision, append(make(Table, 40), relevant(ibid.Yes)), 0, false},

		{"TREC precision is over citations", TRECWeightedPrecision, Table{statement(0, cite(1), cite(0.5), dangling), uncited}, 0.5, true},
		{"TREC precision leaves out what is not judged", TRECWeightedPrecision, Table{none, statement(0, cite(0.5))}, 0.5, true},
		{"TREC precision, uncited", TRECWeightedPrecision, Table{uncited}, 0, false},
		{"TREC recall reads the first citation", TRECWeightedRecall, Table{statement(0, cite(0.5), cite(1)), uncited}, 0.25, true},
		{"TREC recall, dangling", TRECWeightedRecall, Table{statement(0, dangling, cite(1)), statement(0, cite(1))}, 0.5, true},
		{"TREC recall leaves out what is not judged", TRECWeightedRecall, Table{none, statement(0, cite(1))}, 1, true},
		{"TREC recall of nothing", TRECWeightedRecall, nil, 0, false},
		{"TREC first precision", TRECFirstPrecision, Table{statement(0, cite(0.5), cite(1)), uncited}, 0.5, true},

		{"DRB accuracy", at(DRBAccuracy, 0.7), Table{statement(0, cite(0.7), cite(0.6)), uncited}, 0.5, true},
		{"DRB accuracy drops what is not judged", at(DRBAccuracy, 0.7), Table{none, statement(0, cite(1), dangling)}, 1, true},
		{"DRB accuracy, uncited", at(DRBAccuracy, 0.7), Table{uncited}, 0, false},
		{"DRB accuracy, all dangling", at(DRBAccuracy, 0.7), Table{statement(0, dangling)}, 0, false},
		{"DRB counts a source once per statement", at(DRBEffectiveCitations, 0.7), Table{
			{Citations: []Citation{{Source: "a"}, {Source: "a", Support: ibid.Some[float64](0)}, {Source: "a", Support: ibid.Some[float64](1)}, {Source: "b", Support: ibid.Some[float64](1)}}},
			{Citations: []Citation{{Source: "a", Support: ibid.Some[float64](1)}, {Source: "a", Support: ibid.Some[float64](0)}, cite(1), cite(1)}},
		}, 5, true},
		{"DRB effective citations, uncited", at(DRBEffectiveCitations, 0.7), Table{uncited}, 0, true},
		{"DRB effective citations, all dangling", at(DRBEffectiveCitations, 0.7), Table{statement(0, dangling)}, 0, true},
		{"DRB effective citations, nothing judged", at(DRBEffectiveCitations, 0.7), Table{none}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := tt.score(tt.table)
			near(t, "score", got, tt.want)
			if ok != tt.ok {
				t.Errorf("defined: %v, want %v", ok, tt.ok)
			}
		})
	}
}
