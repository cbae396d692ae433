package metrics

import (
	"testing"

	"ibid"
)

func TestProblemOfCitation(t *testing.T) {
	l := ProblemLimits{Supported: 0.7}
	matched := func(exact, snapped float64) CitationFinding {
		return CitationFinding{Status: ibid.StatusOK, HasTruth: true, Exact: exact, Snapped: snapped}
	}
	judged := func(support float64, contradicts bool) CitationFinding {
		return CitationFinding{Status: ibid.StatusOK, Support: ibid.Some(support), Contradicts: contradicts, Claims: []int32{-1, 0, 1}}
	}
	tests := []struct {
		name  string
		c     CitationFinding
		claim ClaimFinding
		want  Problem
	}{
		{"nothing known", CitationFinding{Status: ibid.StatusUnchecked}, ClaimFinding{}, NoProblem},
		{"exact", matched(1, 1), ClaimFinding{}, NoProblem},
		{"good after snapping", matched(0.7, 0.9), ClaimFinding{}, NoProblem},
		{"good at the threshold", matched(0.8, 0), ClaimFinding{}, NoProblem},
		{"covers too little", matched(0.5, 0.5), ClaimFinding{}, ProblemPartly},
		{"touches nothing", matched(0, 0), ClaimFinding{}, ProblemWrongPlace},
		{"an invented document is worse than touching nothing", CitationFinding{Status: ibid.StatusDocumentNotFound, HasTruth: true}, ClaimFinding{}, ProblemNoDocument},
		{"repaired", CitationFinding{Status: ibid.StatusQuoteRepaired}, ClaimFinding{}, ProblemQuoteMoved},
		{"unsupported claim", judged(0, false), ClaimFinding{Outcome: ibid.Unsupported}, ProblemUnsupported},
		{"not judged", CitationFinding{Claims: []int32{0}}, ClaimFinding{Outcome: ibid.Unscored}, ProblemUnjudged},
		{"of another claim", CitationFinding{}, ClaimFinding{Outcome: ibid.Unsupported}, NoProblem},
		{"not the citation that fails its claim", judged(0.7, false), ClaimFinding{Outcome: ibid.Unsupported}, NoProblem},
		{"just below the threshold", judged(0.69, false), ClaimFinding{Outcome: ibid.Unsupported}, ProblemUnsupported},
		{"contradicts", judged(0, true), ClaimFinding{Outcome: ibid.Contradicted, Cited: 2}, ProblemContradicted},
		{"beside one that contradicts", judged(0, false), ClaimFinding{Outcome: ibid.Contradicted, Cited: 2}, NoProblem},
		{"alone with what is contradicted", judged(0, false), ClaimFinding{Outcome: ibid.Contradicted, Cited: 1}, ProblemContradicted},
		{"supported elsewhere", judged(0, false), ClaimFinding{Outcome: ibid.SupportedElsewhere}, ProblemElsewhere},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := l.OfCitation(&tt.c, []ClaimFinding{tt.claim}); got != tt.want {
				t.Errorf("problem is %s, want %s", got, tt.want)
			}
		})
	}
}

// TestProblemOfClaims: a claim that another citation contradicts says nothing of this one,
// and the claims behind it still do.
func TestProblemOfClaims(t *testing.T) {
	c := CitationFinding{Status: ibid.StatusOK, Support: ibid.Some(0.0), Claims: []int32{0, 1}}
	claims := []ClaimFinding{{Outcome: ibid.Contradicted, Cited: 2}, {Outcome: ibid.Unsupported}}
	if got := (ProblemLimits{Supported: 0.7}).OfCitation(&c, claims); got != ProblemUnsupported {
		t.Errorf("problem is %s, want %s", got, ProblemUnsupported)
	}
}

func TestProblemOfAnswer(t *testing.T) {
	l := ProblemLimits{Supported: 0.7}
	fine := []CitationFinding{{Status: ibid.StatusOK}}
	tests := []struct {
		name string
		a    AnswerFinding
		want Problem
	}{
		{"nothing known", AnswerFinding{}, NoProblem},
		{"error", AnswerFinding{Error: true, HasOverall: true}, ProblemError},
		{"overall just enough", AnswerFinding{Citations: fine, HasOverall: true, Overall: FailsBelow}, NoProblem},
		{"overall too low", AnswerFinding{Citations: fine, HasOverall: true, Overall: 0.49}, ProblemLowScore},
		{"overall not known", AnswerFinding{Citations: fine}, NoProblem},
		{"a named problem before a low score", AnswerFinding{Citations: []CitationFinding{{Status: ibid.StatusOK, HasTruth: true}}, HasOverall: true}, ProblemWrongPlace},
		{"cites nothing where a place was marked", AnswerFinding{ToCite: true}, ProblemUncited},
		{"cites where a place was marked", AnswerFinding{Citations: fine, ToCite: true}, NoProblem},
		{"claim without citation", AnswerFinding{Citations: fine, Claims: []ClaimFinding{{Outcome: ibid.Unsupported}}}, ProblemUncited},
		{"claim without citation, known elsewhere", AnswerFinding{Citations: fine, Claims: []ClaimFinding{{Outcome: ibid.SupportedElsewhere}}}, ProblemUncited},
		{"claim not supported by what it cites", AnswerFinding{Citations: fine, Claims: []ClaimFinding{{Outcome: ibid.Unsupported, Cited: 1}}}, ProblemUnsupported},
		{"not judged", AnswerFinding{Claims: []ClaimFinding{{Outcome: ibid.Unscored, Cited: 1}, {Outcome: ibid.SupportedByCited, Cited: 1}}}, ProblemUnjudged},
		{"the worst of all", AnswerFinding{Citations: []CitationFinding{{Status: ibid.StatusTooLong}, {Status: ibid.StatusInverted}, {Status: ibid.StatusQuoteRepaired}}}, ProblemMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := l.OfAnswer(&tt.a); got != tt.want {
				t.Errorf("problem is %s, want %s", got, tt.want)
			}
		})
	}
}

// Every status that is not valid fails an answer, and no other one does.
func TestProblemOfStatus(t *testing.T) {
	for _, s := range ibid.Statuses() {
		if got := StatusProblem(s); got.Fails() == s.Valid() {
			t.Errorf("status %s is the problem %s", s, got)
		}
	}
}

func TestProblemNames(t *testing.T) {
	for p := range Problem(NumProblems) {
		if back, ok := ParseProblem(p.String()); !ok || back != p {
			t.Errorf("%s is read back as %s, %v", p, back, ok)
		}
	}
	if p, ok := ParseProblem(""); ok {
		t.Errorf("no name is %s", p)
	}
}
