package cli

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A session gives commands to this process as a shell does, in a folder of its own.
type session struct {
	*testing.T
	environ []string
}

func newSession(t *testing.T, environ ...string) *session {
	t.Chdir(t.TempDir())
	return &session{t, environ}
}

// A step is a command line, what it reads, how it ends, and what it says: each line of out
// and of err is a pattern, one behind "! " for what must not be said. With err "" nothing may
// be said on standard error.
type step struct {
	line     string
	code     int
	out, err string
	stdin    string
}

// run gives one command line and returns what it has printed.
func (s *session) run(ctx context.Context, line, stdin string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Main(ctx, Process{Args: strings.Fields(line), Environ: s.environ, Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &err, Version: "test"})
	return code, out.String(), err.String()
}

func (s *session) steps(steps ...step) {
	s.Helper()
	for _, st := range steps {
		code, out, err := s.run(s.Context(), st.line, st.stdin)
		wrong := ""
		if code != st.code {
			wrong = "another exit code"
		}
		for _, side := range [][2]string{{st.out, out}, {st.err, err}} {
			for pattern := range strings.Lines(side[0]) {
				pattern, not := strings.CutPrefix(strings.TrimSuffix(pattern, "\n"), "! ")
				if regexp.MustCompile("(?m)"+pattern).MatchString(side[1]) == not {
					wrong += ", not as wanted: " + pattern
				}
			}
		}
		if st.err == "" && err != "" {
			wrong += ", something on standard error"
		}
		if wrong != "" {
			s.Errorf("ibid %s: exit code %d, want %d%s\n%s--\n%s", st.line, code, st.code, wrong, out, err)
		}
	}
}

// write writes a file of the session.
func (s *session) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		s.Fatal(err)
	}
}

// has checks that a file says something.
func (s *session) has(name string, patterns ...string) {
	s.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		s.Error(err)
	}
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).Match(text) {
			s.Errorf("%s has no %s", name, p)
		}
	}
}

// demo is a session in the folder of the sample, with runs of both nights.
func demo(t *testing.T) *session {
	s := newSession(t)
	s.steps(
		step{line: "init demo", out: `^wrote demo/ibid\.yaml, demo/answers\.parquet, `, err: `^hint: ibid run demo/ibid\.yaml$`},
		step{line: "init demo", code: 2, err: "^ibid: demo/ibid.yaml exists$\n^hint: choose another folder, or --force to overwrite$"},
	)
	t.Chdir("demo")
	s.steps(
		step{line: "run ibid.yaml --id first", out: "^first: careful is best on overall; dreamer is last\\.$\n^39 of 71 answers fail, 1 not scored, 1 not checked\\. Gates: 4 of 4 passed\\.$\n^careful +1 +2/24 .*0\\.931 ", err: `^hint: look at it: runs/first/report\.html$`},
		step{line: "run ibid-2.yaml --id second -q", out: "^Since first: pointer is worse on overall by .*; first seen tonight;$\n^8 answers newly fail\\.$"},
	)
	return s
}

// TestLookingAtRuns: what runs say in every shape that people and programs ask for.
func TestLookingAtRuns(t *testing.T) {
	s := demo(t)
	s.steps(
		step{line: "history", out: `first +pass +\S+ +\S+ +\S+$`},
		step{line: "history --json", out: `"schema": "ibid\.history/v2"`},
		step{line: "history nowhere", code: 2, err: `^ibid: nowhere: no such folder$`},

		step{line: "show runs/first", out: "^first: careful is best on overall; dreamer is last\\.$\n^careful +1 +2/24 .*0\\.931 "},
		step{line: "show runs/first --all", out: "^token_jaccard \n^citation_relevance "},
		step{line: "show runs/first --by lang", out: "^first, by lang: \n^de\\b"},
		step{line: "show runs/first --by colour", code: 2, err: `colour`},
		step{line: "show runs/first --json", out: `"schema": "ibid\.summary/v1"`},
		step{line: "show runs/first --format csv", out: `^careful,,char_f1,macro,22,.*,0\.80`},
		step{line: "show runs/first --format markdown", out: `^\| char\\_f1 +\|.*0\.802`},
		step{line: "show runs/first --format toml", code: 2, err: `toml`},
		step{line: "show first", code: 2, err: "^ibid: first is no run directory$\n^hint: did you mean runs/first\\?$"},
		step{line: "show runs/first q-01/dreamer", out: "^Claim 1 ✗ unsupported support 0\\.000$\n^Cited \\[1\\] ✗ document not found \nThere is no document of that name"},
		step{line: "show runs/first q-01/dreamer --json", out: `"status": "document_not_found"`},
		step{line: "show runs/first q-01/dreamer --set thresholds.supported=0.4", code: 2, err: "does not change how a finished run is shown$\n^hint: report\\.citation_display"},
		step{line: "show runs/first q-01/dreamer --set report.citation_display.show_provenance=false", out: `^q-01/dreamer `},
		step{line: "show runs/first q-99", code: 2, err: `q-99`},
		step{line: "show runs/first q-01/dreamer --prompt", code: 2, err: `human`},
		step{line: "show runs/first --failing", out: "^first: 39 of 71 answers fail, 1 not scored, 1 not checked\\.$\n^✗ unsupported +22$\n^q-01/dreamer +#2 +document not found +0\\.000 "},
		step{line: "show runs/first --failing --limit 2 -v", out: "^q-01/dreamer \n! ^q-20"},
		step{line: "show runs/first --failing --json", out: "\"schema\": \"ibid\\.failing/v1\"\n\"id\": \"q-01\""},
		step{line: "show runs/first --failing --format csv", out: `^2,q-01,dreamer,`},
		step{line: "show runs/first --failing --format markdown", out: `^\| q-01/dreamer \| document not found \|`},
		step{line: "show runs/first --errors", out: `^#71 q-24/dreamer: answer: null$`},
		step{line: "show runs/first --errors --json", out: `"schema": "ibid\.errors/v1"`},
		step{line: "show runs/first --limit 2", code: 2, err: `^ibid: --limit needs --failing$`},
		step{line: "show runs/first --failing --by system", code: 2, err: `do not go together$`},
		step{line: "show runs/first --table claims --format csv", out: `^q-01,pointer,0,1,1,52,109,That makes it the busiest harbour on the whole coast\.,true,true,1,0,none,,unsupported,`},
		step{line: "show runs/first --table people --format csv", code: 2, err: "people\n^hint: "},
		step{line: "show runs/first --table rows", code: 2, err: `^ibid: --table needs --format `},

		step{line: "run ibid.yaml --id first -q", out: `^first: careful `},
		step{line: "rescore runs/first --set thresholds.supported=0.4 --id lower -q", out: `^lower: careful `},
		step{line: "rescore runs/first --set thresholds.supported=7", code: 2, err: `thresholds\.supported`},
		step{line: "run ibid.yaml --dry-run", out: "^rows +72$\n^error rows +1$\n^citations +.*\n^truth +.*\n^calls +0: judge human asks no model$\n^problems$\n^answers\\.parquet: row 2 \\(q-01/dreamer\\): citation 1: document_not_found: "},
		step{line: "run ibid.yaml --dry-run --json", out: `"rows": 72`},
		step{line: "run ibid.yaml --limit -1", code: 2, err: `cannot be negative$`},
		step{line: "run ibid.yaml --only lang", code: 2, err: "^ibid: --only: lang is not TAG=VALUE$\n^hint: write --only TAG=VALUE"},
		step{line: "run ibid.yaml --workers many", code: 2, err: `^ibid: --workers is a whole number, not "many"$`},
		step{line: "run ibid.yaml --documnets x", code: 2, err: `^hint: did you mean --documents\?$`},
		step{line: "run ibid.yaml --dry-run --json", out: `"schema": "ibid\.dryrun/v1"`},
		step{line: "--version", out: `^ibid test`},
		step{line: "show runs/first --format arrow", code: 2, err: `^ibid: the format arrow is gone$`},
		step{line: "check ibid.yaml", code: 2, err: `^ibid: the command ibid check is gone$`},
		step{line: "nothing", code: 2, err: `^ibid: unknown command "nothing"`},
	)
}

// TestJudgingRuns: comparisons, gates, histories and pages of runs.
func TestJudgingRuns(t *testing.T) {
	s := demo(t)
	s.steps(
		step{line: "compare runs/first runs/second", out: "^Since first: pointer is worse on overall by \n^- new failures: 8 \\(q-03/pointer, \n^- fixed: 0$"},
		step{line: "compare runs/second runs/first --json", out: `"headline": "Since second: pointer is better on overall by `},
		step{line: "compare runs/first runs/second --format markdown", out: `^- new failures: 8 `},
		step{line: "compare runs/first runs/second --format csv -v", out: `^overall_citation_accuracy,macro,careful,,true,22,first,second,tied,`},
		step{line: "compare runs/first --by system", out: `^careful is best on overall; dreamer is last\.$`},
		step{line: "compare runs/first --by colour", code: 2, err: `colour`},
		step{line: "compare runs/first runs/second --metric char_f11", code: 2, err: `char_f1`},
		step{line: "compare runs/first runs/second --gate diff(char_f1)>=-0.5", out: `^- new failures: 8 `},
		step{line: "compare runs/first runs/second --gate diff(char_f1)>=0.5", code: 3, out: `^- new failures: 8 `, err: `^ibid: gate failed: diff\(char_f1\) >= 0\.5 \(is 0\.01517\)$`},
		step{line: "run ibid.yaml --id words -q --set mark_scope=paragraph", out: `^words: `},
		step{line: "compare runs/first runs/words", code: 2, err: "^ibid: first and words cannot be compared$\n^ibid:   values of mark_scope differ: sentence and paragraph$\n^hint: --force compares them all the same, and says so$"},
		step{line: "compare runs/first runs/words --force -q", out: `words`},

		step{line: "gate runs/first", out: `^run first: pass \(4 of 4 passed\)$`},
		step{line: "gate runs/first --gate char_f1>=0.9", code: 3, out: `^char_f1 >= 0\.9 +FAIL +0\.701$`, err: `^ibid: gate failed: char_f1 >= 0\.9 \(is 0\.7014\)$`},
		step{line: "gate runs/first --gate diff(char_f1)>=0", code: 2, err: `compares with another run`},
		step{line: "gate runs/second --gate diff(char_f1)>=-0.5 --baseline runs/first", out: `PASS`},
		step{line: "gate runs/first --gate page_f1[system=careful]>=0 --set min_coverage=0.5", code: 2, err: `set`},
		step{line: "gate runs/first --gate char_f1>=0.9 --annotations github --junit gates.xml", code: 3, out: `^char_f1 >= 0\.9 +FAIL `, err: `^::error title=ibid%3A gate failed::char_f1 >= 0\.9 \(is 0\.7014\)$`},
		step{line: "gate runs/first --annotations github", out: `pass`, err: `^::notice title=ibid%3A gates passed::run first: 4 of 4$`},
		step{line: "gate runs/first --annotations jenkins", code: 2, err: `jenkins`},
		step{line: "gate runs/first --json", out: `"verdict": "pass"`},
		step{line: "gate runs/first --format markdown", out: `^\|`},
		step{line: "run ibid.yaml --id strict -q --gate char_f1>=0.99", code: 3, out: "Gates: 1 of 5 failed, 4 of 5$\n^passed\\.$", err: `^ibid: gate failed: char_f1 >= 0\.99 `},
		step{line: "run ibid.yaml --id slip -q --gate char_f>=0.99", code: 2, err: "char_f\n^hint: did you mean char_f1"},

		step{line: "history runs --metric char_f1", out: "^history of runs: 4 runs$\n^first, 4 runs: char_f1; base first$"},
		step{line: "history runs --metric char_f1 --json", out: `"schema": "ibid\.history/v2"`},
		step{line: "history runs --metric char_f1 --format csv", out: `^first,second,[^,]*,first,char_f1,careful,`},
		step{line: "history runs --metric char_f1 --format svg", code: 2, err: `^ibid: the format svg is gone$`},
		step{line: "history runs --metric nothing", code: 2, err: `nothing`},

		step{line: "compare runs/first --base careful --gate diff(char_f1)[system=pointer]>=0", out: `^Against careful: `},
		step{line: "report runs/first -o one.html", err: `^hint: look at it: one\.html$`},
		step{line: "report runs/first runs/second -o two.html", err: `look at it`},
		step{line: "report runs -o site/ -q"},
		step{line: "report runs/none -o none.html", code: 2, err: `none`},
		step{line: "report runs/first --port 80", code: 2, err: `--serve`},
	)
	s.has("gates.xml", `<testsuite`, `failures="1"`)
	s.has("one.html", `<title>`, `Port Lindow`)
	s.has("two.html", `second`)
	s.has("site/index.html", `href="first/index\.html"`, `>pass<`)
}
