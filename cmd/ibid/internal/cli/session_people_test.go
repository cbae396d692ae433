package cli

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// filled is a template as an annotator gives it back: change makes each of its lines.
func (s *session) filled(from, to string, change *strings.Replacer) {
	s.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		s.Fatal(err)
	}
	s.write(to, change.Replace(string(text)))
}

// TestAgreement: what annotators say of the sample is measured, decided about, and compared
// with what others say of it blindly.
func TestAgreement(t *testing.T) {
	s := newSession(t)
	s.steps(step{line: "init demo -q"})
	t.Chdir("demo")
	s.write("many.csv", "item,annotator,value\n1,ada,1\n1,ben,1\n2,ada,0\n2,ben,0\n3,ada,1\n3,ben,0\n4,ada,0\n4,ben,0\n5,ada,1\n5,ben,1\n6,ada,1\n6,ben,1\n")
	s.steps(
		step{line: "agree ibid.yaml", out: "^agreement of the annotators of ibid\\.yaml$\n^marked places +unreliable +char_jaccard +0\\.[0-9]+ \n^support +reliable +alpha_ordinal +0\\.946 "},
		step{line: "agree ibid.yaml --json", out: `"schema": "ibid\.agreement/v1"`},
		step{line: "agree ibid.yaml --format csv", out: `^char_jaccard,`},
		step{line: "agree many.csv", out: `^labels +undecided`},
		step{line: "agree many.csv --format markdown", out: `^agreement of all annotators$`},
		step{line: "agree many.csv --gate percent_agreement>=0.83", out: `^labels: .*percent_agreement 0\.833`},
		step{line: "agree many.csv --gate percent_agreement>=0.84", code: 3, out: `^labels: .*percent_agreement 0\.833`, err: `^ibid: warning: percent_agreement >= 0\.84: percent_agreement is 0\.833$`},
		step{line: "agree many.csv --gate beta>=0.5", code: 4, err: "there is no beta here, but "},
		step{line: "agree many.csv --gate alpha", code: 2, err: `want one of`},
		step{line: "agree many.csv --columns verdict=value", code: 2, err: "^ibid: many\\.csv: no column \"verdict\"$\n^hint: it has "},
		step{line: "agree ibid.yaml --gold one.jsonl --undecided majority", out: `^one\.jsonl: 23 questions with one truth, `},
		step{line: "agree ibid.yaml --gold two.jsonl --undecided median", code: 2, err: `it is one of leave, union, intersection, majority`},
		step{line: "agree none.parquet", code: 2, err: `^ibid: none\.parquet: no such file or directory$`},

		step{line: "sample ibid.yaml -o blind --seed s", out: "^second look: 3 of 24 questions that people annotated: 2 items of truth, then [0-9]+ items of labels$"},
		step{line: "sample ibid.yaml -o blind", code: 2, err: `^ibid: blind/items\.jsonl is there already$`},
		step{line: "sample ibid.yaml -o html --template page --n 3 --json", out: `"questions": 3`},
		step{line: "sample ibid.yaml -o studio --template label-studio --stratify lang", out: `^annotate with ibid annotate studio `},
		step{line: "sample ibid.yaml", code: 2, err: `^hint: add -o DIR$`},
		step{line: "sample ibid.yaml -o x --template word", code: 2, err: `^hint: templates are page, label-studio$`},
		step{line: "sample ibid.yaml -o x --purpose gold", code: 2, err: `^hint: purposes are truth, labels, both`},
		step{line: "sample ibid.yaml -o x --n 1 --fraction 0.5", code: 2, err: `do not go together$`},
		step{line: "sample ibid.yaml -o x --n 0", code: 2, err: `^ibid: --n must be at least 1$`},
		step{line: "sample ibid.yaml -o x --stratify colour", code: 2, err: `no question that could be drawn has a colour`},
		step{line: "agree blind", code: 2, err: `nobody has annotated yet`},
	)
	s.filled("blind/items.jsonl", "blind/cyd.jsonl", strings.NewReplacer(`"truth":null,"labels":[]`, `"truth":[],"labels":[]`, `"value":null`, `"value":1`))
	s.filled("blind/items.jsonl", "blind/dan.jsonl", strings.NewReplacer(`"truth":null,"labels":[]`, `"truth":[],"labels":[]`, `"value":null`, `"value":0`))
	s.steps(
		step{line: "agree blind", out: "^agreement on [0-9]+ items of ibid\\.yaml$\n^cyd [0-9]+ of [0-9]+ done; dan "},
		step{line: "agree blind --gold gold.jsonl --undecided union", out: `^gold\.jsonl: 2 questions with one truth, `},
	)
	s.filled("blind/cyd.jsonl", "blind/dan.jsonl", strings.NewReplacer("item-0001", "item-9999"))
	s.steps(step{line: "agree blind", code: 2, err: `"item-9999" is no item of the round`})
	s.has("html/annotate.html", "<script")
	s.has("studio/label_config.xml", "<View>")
}

// TestCalibration: a judge is measured against people, in a table and in a run, whose numbers
// are corrected by it.
func TestCalibration(t *testing.T) {
	s := demo(t)
	s.write("labels.csv", "item,annotator,value\n1,ada,1\n1,bot,0.9\n2,ada,1\n2,bot,0.8\n3,ada,0\n3,bot,0.1\n4,ada,0\n4,bot,0.6\n5,ada,1\n5,bot,0.2\n6,ada,0\n6,bot,0.3\n")
	s.steps(
		step{line: "calibrate labels.csv --judge-name bot", out: "^judge bot against people, labels\\.csv$\n^people yes +2 +1$\n^people no +1 +2$\n^sensitivity +0\\.667 "},
		step{line: "calibrate labels.csv --judge-name bot --json", out: `"schema": "ibid\.calibration/v1"`},
		step{line: "calibrate labels.csv --judge-name bot --format markdown --threshold 0.65", out: `^\| sensitivity \|`},
		step{line: "calibrate labels.csv", code: 2, err: `which annotator is the judge`},
		step{line: "calibrate labels.csv --judge-name Bot", code: 2, err: "no label is by \"Bot\"$\n^hint: did you mean bot\\?$"},
		step{line: "calibrate labels.csv --judge-name bot --threshold 70", code: 2, err: "reaches the threshold 70$\n^hint: they go up to 1: "},
		step{line: "calibrate labels.csv --judge-name nobody", code: 2, err: `no label is by "nobody"`},
		step{line: "calibrate labels.csv --judge-name bot --policy median", code: 2, err: `one of mean, majority, each`},
		step{line: "calibrate runs/none", code: 2, err: `runs/none is no run directory`},
		step{line: "calibrate runs/first", code: 2, err: "^ibid: runs/first: the labels are the judge$\n^hint: let another judge"},
		step{line: "run ibid.yaml --judge lexical --id words -q", code: 4, err: `gate without verdict`},
		step{line: "calibrate runs/words --dry-run", out: "^judge lexical-[0-9]+ against people, run words$\n^Says supported: 18 of "},
		step{line: "calibrate runs/words --dry-run --gate precision>=0.99", out: `^precision +1\.000`},
		step{line: "calibrate runs/words --dry-run --gate kappa>=0.1", code: 4, err: `^ibid: warning: kappa >= 0\.1: kappa of factual is undefined: no verdict$`},
		step{line: "calibrate labels.csv --judge-name bot --fit t.json", code: 4, err: "^ibid: no thresholds are fitted: 3 labels yes, 3 no, 6 documents; 10 of each are needed$"},
		step{line: "calibrate labels.csv --judge-name bot --bins 1", code: 2, err: "^ibid: the flag --bins is gone$"},
		step{line: "calibrate runs/first --judge-name bot", code: 2, err: "^ibid: --judge-name needs a table of labels$\n^hint: a run knows its judge$"},
	)
}

// TestAnnotate: the page is served to who is named, and what is refused is refused before.
func TestAnnotate(t *testing.T) {
	s := newSession(t)
	s.steps(step{line: "init demo -q"})
	t.Chdir("demo")
	s.steps(
		step{line: "sample ibid.yaml -o blind -q", out: `^second look: 3 of 24 `},
		step{line: "annotate blind", code: 2, err: `^ibid: nobody is named`},
		step{line: "annotate blind --annotator ../ada", code: 2, err: `cannot be the name`},
		step{line: "annotate blind --annotator zoe --port 70000", code: 2, err: `port 70000`},
		step{line: "annotate nothing --annotator ada", code: 2, err: `no such file`},
		step{line: "annotate answers.parquet --annotator ada", code: 2, err: `is no folder$`},
	)
	said := s.served("annotate blind --annotator zoe", func(base string) {
		if status, text := s.get(base); status != http.StatusOK || !strings.Contains(text, "<script") {
			t.Errorf("the page: status %d, %.80s", status, text)
		}
		s.steps(step{line: "annotate blind --annotator zoe", code: 2, err: "^ibid: zoe annotates here already"})
	})
	if !strings.Contains(said, " items open\n") {
		t.Errorf("at the end it says %q", said)
	}
	s.steps(
		step{line: "run ibid.yaml --id proposing -q", out: `^proposing: `},
		step{line: "sample ibid.yaml -o proposed --propose runs/proposing", out: `proposes marks for `},
		step{line: "sample ibid.yaml -o other --propose blind", code: 2, err: `no run directory`},
	)
}
