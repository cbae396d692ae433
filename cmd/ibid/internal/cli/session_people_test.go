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
		step{line: "agree many.csv --gate percent_agreement>=0.83", out: `^labels +percent_agreement +0\.833`},
		step{line: "agree many.csv --gate percent_agreement>=0.84", code: 3, out: `^labels +percent_agreement +0\.833`, err: `^ibid: warning: percent_agreement >= 0\.84: percent_agreement is 0\.833$`},
		step{line: "agree many.csv --gate beta>=0.5", code: 4, err: "there is no beta here, but "},
		step{line: "agree many.csv --gate alpha", code: 2, err: `want one of`},
		step{line: "agree many.csv --columns verdict=value", code: 2, err: "^ibid: many\\.csv: no column \"verdict\"$\n^hint: it has "},
		step{line: "agree ibid.yaml --adjudicate majority -o one.parquet", out: `^one\.parquet: 72 rows, `},
		step{line: "agree ibid.yaml --adjudicate median -o two.parquet", code: 2, err: `not one of majority, union, intersection, best`},
		step{line: "agree ibid.yaml --adjudicate majority -o answers.parquet", code: 2, err: "is both read and written$\n^hint: write to another file"},
		step{line: "agree none.parquet", code: 2, err: `^ibid: none\.parquet: no such file or directory$`},

		step{line: "sample ibid.yaml -o blind --seed s", out: "^drew 8 of 72 annotated rows$\n^give people blind/template\\.jsonl and keep blind/key\\.json$"},
		step{line: "sample ibid.yaml -o blind", code: 2, err: `^ibid: blind/key\.json is there already$`},
		step{line: "sample ibid.yaml -o html --template html --n 3 --json", out: `"items": 3`},
		step{line: "sample ibid.yaml -o studio --template label-studio --stratify lang", out: `^give people studio/tasks\.json and studio/label_config\.xml and keep `},
		step{line: "sample ibid.yaml -o first --purpose both --n 2", out: `^drew 2 of 24 questions: 2 items of truth, then [0-9]+ of labels$`},
		step{line: "sample ibid.yaml", code: 2, err: `^hint: add -o DIR$`},
		step{line: "sample ibid.yaml -o x --template word", code: 2, err: `^hint: templates are html, jsonl, label-studio$`},
		step{line: "sample ibid.yaml -o x --purpose gold", code: 2, err: `^hint: purposes are truth, labels, both`},
		step{line: "sample ibid.yaml -o x --n 1 --fraction 0.5", code: 2, err: `do not go together$`},
		step{line: "sample ibid.yaml -o x --n 0", code: 2, err: `^ibid: --n must be at least 1$`},
		step{line: "sample ibid.yaml -o x --stratify colour", code: 2, err: `no annotated row has a colour`},
		step{line: "agree --blind blind/key.json", code: 2, err: `nothing was filled in`},
	)
	s.filled("blind/template.jsonl", "blind/ada.jsonl", strings.NewReplacer(`"truth":null`, `"truth":[]`, `"value":null`, `"value":1`))
	s.filled("blind/template.jsonl", "blind/ben.jsonl", strings.NewReplacer(`"truth":null`, `"truth":[]`, `"value":null`, `"value":0`))
	s.filled("blind/ada.jsonl", "wrong.jsonl", strings.NewReplacer("item-0001", "item-9999"))
	s.steps(
		step{line: "agree --blind blind/key.json --filled blind/ada.jsonl", out: `^agreement of 8 rows with answers\.parquet, annotated blindly$`},
		step{line: "agree --blind blind/key.json --filled blind/ada.jsonl --filled blind/ben.jsonl", out: "^marked places +unreliable.* +char_jaccard +0\\.138 "},
		step{line: "agree --blind blind/key.json --filled wrong.jsonl", code: 2, err: `"item-9999" is no item of the sample`},
		step{line: "agree --blind blind/key.json --adjudicate union -o gold.jsonl", out: `^gold\.jsonl: `},
		step{line: "agree --blind blind/key.json --adjudicate best -o gold.jsonl", code: 2, err: `not one of decided, union, intersection`},
	)
	s.has("html/annotate.html", "<script")
	s.has("studio/label_config.xml", "<View>")
}

// TestCalibration: a judge is measured against people, in a table and in a run, whose numbers
// are corrected by it.
func TestCalibration(t *testing.T) {
	s := demo(t)
	s.write("labels.csv", "item,annotator,value\n1,ada,1\n1,bot,0.9\n2,ada,1\n2,bot,0.8\n3,ada,0\n3,bot,0.1\n4,ada,0\n4,bot,0.6\n5,ada,1\n5,bot,0.2\n6,ada,0\n6,bot,0.3\n")
	s.steps(
		step{line: "calibrate labels.csv --judge bot", out: "^judge bot against people, labels\\.csv$\n^people yes +2 +1$\n^people no +1 +2$\n^sensitivity +0\\.667 \n^best threshold: "},
		step{line: "calibrate labels.csv --judge bot --json", out: `"schema": "ibid\.calibration/v1"`},
		step{line: "calibrate labels.csv --judge bot --format markdown --threshold 0.65", out: `^\| sensitivity \|`},
		step{line: "calibrate labels.csv", code: 2, err: `which annotator is the judge`},
		step{line: "calibrate labels.csv --judge-name Bot", code: 2, err: "no label is by \"Bot\"$\n^hint: did you mean bot\\?$"},
		step{line: "calibrate labels.csv --judge bot --threshold 70", code: 2, err: "reaches the threshold 70$\n^hint: they go up to 1: "},
		step{line: "calibrate labels.csv --judge nobody", code: 2, err: `no label is by "nobody"`},
		step{line: "calibrate labels.csv --judge bot --policy median", code: 2, err: `one of mean, majority, each`},
		step{line: "calibrate runs/none", code: 2, err: `runs/none is no run directory`},
		step{line: "calibrate runs/first", code: 2, err: "^ibid: runs/first: the labels are the judge$\n^hint: let another judge"},
		step{line: "run ibid.yaml --judge lexical --id words -q", code: 4, err: `gate without verdict`},
		step{line: "calibrate runs/words --dry-run", out: "^judge lexical-[0-9]+ against people, run words$\n^Says supported: 19 of "},
		step{line: "calibrate runs/words --dry-run --gate precision>=0.99", out: `^precision +1\.000`},
		step{line: "calibrate runs/words --dry-run --gate kappa>=0.1", code: 4, err: `^ibid: warning: kappa >= 0\.1: kappa of factual is undefined: no verdict$`},
		step{line: "calibrate runs/first --fit weights.json", code: 2, err: "^ibid: the flag --fit is gone$"},
		step{line: "calibrate labels.csv --judge bot --bins 1", code: 2, err: "^ibid: the flag --bins is gone$"},
		step{line: "calibrate runs/first --judge bot", code: 2, err: "^ibid: --judge-name needs a table of labels$\n^hint: a run knows its judge$"},
	)
}

// TestAnnotate: the page is served to who is named, and what is refused is refused before.
func TestAnnotate(t *testing.T) {
	s := newSession(t)
	s.steps(step{line: "init demo -q"})
	t.Chdir("demo")
	s.steps(
		step{line: "sample ibid.yaml -o blind -q", out: `^drew 8 of 72 `},
		step{line: "annotate blind", code: 2, err: `^ibid: nobody is named`},
		step{line: "annotate blind --annotator ../ada", code: 2, err: `cannot be the name`},
		step{line: "annotate blind --annotator ada --share 3/2", code: 2, err: `no part 3 of 2`},
		step{line: "annotate blind --annotator ada --overlap 1.5", code: 2, err: `from 0 to 1`},
		step{line: "annotate blind --annotator ada --purpose gold", code: 2, err: `purpose`},
		step{line: "annotate blind --annotator ada --port 70000", code: 2, err: `port 70000`},
		step{line: "annotate blind --annotator lead --adjudicate", code: 2, err: `no item was finished by two`},
		step{line: "annotate nothing --annotator ada", code: 2, err: `no such file`},
		step{line: "annotate answers.parquet --annotator ada", code: 2, err: `^hint: add -o DIR$`},
	)
	said := s.served("annotate blind --annotator ada", func(base string) {
		if status, text := s.get(base); status != http.StatusOK || !strings.Contains(text, "<script") {
			t.Errorf("the page: status %d, %.80s", status, text)
		}
		s.steps(step{line: "annotate blind --annotator ada", code: 2, err: "^ibid: ada annotates here already"})
	})
	if !strings.Contains(said, "ada.jsonl: 0 items\n") {
		t.Errorf("at the end it says %q", said)
	}
	s.steps(step{line: "run ibid.yaml --id proposing -q", out: `^run proposing: `})
	said = s.served("annotate blind --annotator cora --propose runs/proposing", func(base string) {
		if status, _ := s.get(base); status != http.StatusOK {
			t.Errorf("the page with proposals: status %d", status)
		}
	})
	if !strings.Contains(said, "proposes marks for ") {
		t.Errorf("with proposals it says %q", said)
	}
	s.steps(step{line: "annotate blind --annotator cora --propose blind", code: 2, err: `no run directory`})
	s.served("annotate answers.parquet --documents documents.parquet --annotator ada -o gold", func(base string) {
		if status, _ := s.get(base); status != http.StatusOK {
			t.Errorf("the page of a dataset: status %d", status)
		}
	})
	s.has("gold/template.jsonl", `"id":"item-0001"`)
}
