package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"ibid/judge/judgetest"
)

// served gives a command that serves pages, calls visit with their address, and ends the
// command as a user does. It returns what was said.
func (s *session) served(line string, visit func(base string)) string {
	s.Helper()
	ctx, end := context.WithCancelCause(s.Context())
	r, w := io.Pipe()
	var stderr strings.Builder
	ended := make(chan int)
	go func() {
		code := Main(ctx, Process{Args: strings.Fields(line), Environ: s.environ, Stdout: w, Stderr: &stderr})
		w.Close()
		ended <- code
	}()
	out := bufio.NewReader(r)
	var said strings.Builder
	for {
		text, err := out.ReadString('\n')
		said.WriteString(text)
		if address, ok := strings.CutPrefix(strings.TrimSpace(text), "open "); ok {
			visit(address)
			break
		}
		if err != nil {
			s.Fatalf("ibid %s: exit code %d, %s%s", line, <-ended, said.String(), stderr.String())
		}
	}
	end(Interrupted())
	rest, err := io.ReadAll(out)
	if code := <-ended; code != ExitOK || err != nil {
		s.Errorf("ibid %s: exit code %d, %v, %s", line, code, err, stderr.String())
	}
	return said.String() + string(rest)
}

// get fetches a page.
func (s *session) get(address string) (status int, text string) {
	s.Helper()
	resp, err := http.Get(address)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// TestServe: a folder of runs in the browser has its list, each run, its rows and a search of
// them; what is not there is not found.
func TestServe(t *testing.T) {
	s := demo(t)
	s.steps(
		step{line: "report --serve runs/first", code: 2, err: "^ibid: runs/first is a run, not a folder of runs$\n^hint: ibid report --serve runs$"},
		step{line: "report --serve nowhere", code: 2, err: `no such folder`},
	)
	s.served("report --serve", func(base string) {
		for path, want := range map[string]string{
			"":                  "first",
			"first/index.html":  "Port Lindow",
			"first/rows":        "q-01",
			"first/rows?q=q-01": "3 answers of first",
		} {
			if status, text := s.get(base + path); status != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("%s: status %d, without %q", path, status, want)
			}
		}
		if status, text := s.get(base + "none/index.html"); status != http.StatusNotFound || !strings.Contains(text, "ibid: ") {
			t.Errorf("a run that is not there: status %d, %s", status, text)
		}
	})
}

const someLines = `{"id": "1", "query": "q", "answer": "The tower was built in 1889 [1].", "citations": [{"doc": "tower", "start": 0, "end": 9}], "truth": [{"doc": "tower", "start": 0, "end": 9}], "tags": {"lang": "de"}}
{"id": "2", "query": "q", "answer": "It is high.", "citations": [{"doc": "tower", "start": 2, "end": 9}], "truth": [{"doc": "tower", "start": 0, "end": 9}], "tags": {"lang": "en"}}
{"doc": "tower", "text": "The tower was built in 1889."}
`

// TestData: other formats become datasets, rows are scored for engines, and runs are made of
// ranges of rows and of rows that are scored already.
func TestData(t *testing.T) {
	s := newSession(t)
	s.write("a.jsonl", someLines)
	s.write("bad.jsonl", "{\"id\": \"1\"\n")
	s.write("a.csv", "id,query,answer\n1,q,a\n2,q,b\n")
	s.write("settings.yaml", "dataset: a.parquet\njudge: none\nslices: [lang]\n")
	s.write("run.yaml", "judge: none\n")
	s.steps(
		step{line: "import jsonl a.jsonl -o a.parquet --docs d.parquet", out: `2 rows`},
		step{line: "import jsonl a.jsonl -o b.parquet --docs e.parquet --json", out: `"schema": "ibid\.import/v`},
		step{line: "import auto a.csv -o c.parquet", out: `2 rows`},
		step{line: "import jsonl - -o stdin.parquet -q", code: 4, stdin: someLines, err: "^ibid: left out: -:3:1: a document, and no place for documents was given \\(--docs\\)$\n^ibid: 1 records could not be read"},
		step{line: "import jsonl a.jsonl", code: 2, err: "^ibid: import needs a file to write to$\n^hint: add -o dataset\\.parquet$"},
		step{line: "import jsonl bad.jsonl -o bad.parquet", code: 2, err: "^ibid: none of the records of bad\\.jsonl could be read: bad\\.jsonl:1:11: truncated: .* \\(sign no_record_left\\)$\n^hint: nothing was written"},
		step{line: "import jsonl none.jsonl -o none.parquet", code: 2, err: `^ibid: none\.jsonl: no such file or directory$`},
		step{line: "import jsnl a.jsonl -o x.parquet", code: 2, err: `^hint: did you mean jsonl\?$`},
		step{line: "import", code: 2, err: `^ibid: requires at least 2 arg`},

		step{line: "run a.jsonl --judge none --id foreign -q", out: `^foreign: .* of 2 answers fail`},
		step{line: "run settings.yaml --documents d.parquet --id whole -q", out: `^whole: .* of 2 answers fail`},
		step{line: "score settings.yaml --rows 0:1 -o parts/0 --set rows_per_part=1", err: "^ibid: parts/0 has the rows 0 to 0 of a run$\n^hint: when all rows are scored: ibid summary DIR... -o runs/NAME$"},
		step{line: "summary parts/0 -o runs/all", code: 4, err: "^ibid: rows are missing: 1:2$\n^hint: score them: ibid score RUN.yaml --rows 1:2 -o DIR$"},
		step{line: "score settings.yaml --rows 1: -o parts/1 -q --set rows_per_part=1"},
		step{line: "summary parts/0 parts/1 -o runs/all -q", out: `^all: .* of 2 answers fail`},
		step{line: "summary parts/0 parts/1 -o runs/all", out: `^all: .* of 2 answers fail`, err: `^ibid: runs/all is complete already; nothing was done$`},
		step{line: "score settings.yaml --rows 3:2 -o parts/2", code: 2, err: `^hint: such as --rows 16384:32768$`},

		step{line: "summary runs/whole -o runs/again -q", out: `^again: .* of 2 answers fail`},
		step{line: "summary runs/whole -o runs/again", out: `^again: .* of 2 answers fail`, err: `^ibid: runs/again is complete already; nothing was done$`},
		step{line: "rescore runs/again", code: 2, err: "^ibid: it was made of rows, which have no texts$\n^hint: evaluate it again: ibid run$"},

		step{line: "score run.yaml --without documents -o rows.arrow", stdin: strings.Join(strings.Split(someLines, "\n")[:2], "\n")},
		step{line: "score run.yaml --schema spark", out: "^`id` STRING, `system` STRING, `row` BIGINT, "},
		step{line: "score run.yaml", code: 2, err: "^ibid: standard input: empty$\n^hint: send an Arrow IPC stream"},
		step{line: "score run.yaml --table people", code: 2, err: `people`},

		step{line: "__complete gate ru", out: "^runs/foreign$\n^runs/whole$", err: `^Completion ended`},
		step{line: "__complete show runs/whole --by l", out: `^lang$`, err: `^Completion ended`},
		step{line: "__complete show runs/whole 1", out: `^1/default$`, err: `^Completion ended`},
		step{line: "__complete run --set mark_", out: `^mark_scope=`, err: `^Completion ended`},
		step{line: "__complete run --set mark_scope=p", out: `^mark_scope=paragraph$`, err: `^Completion ended`},
		step{line: "__complete run --judge l", out: `^lexical$`, err: `^Completion ended`},
		step{line: "__complete run --gate char_f", out: `^char_f1$`, err: `^Completion ended`},
		step{line: "__complete import j", out: `^jsonl\b`, err: `^Completion ended`},
		step{line: "__complete sample --template l", out: `^label-studio$`, err: `^Completion ended`},
		step{line: "__complete help met", out: `^metrics\b`, err: `^Completion ended`},
		step{line: "completion bash", out: `bash completion`},
	)
}

// TestFetch: pages that answers cite are fetched once, and what could not be had decides how
// it ends.
func TestFetch(t *testing.T) {
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/tower":
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			io.WriteString(w, "The tower was built in 1889.")
		default:
			http.NotFound(w, r)
		}
	}))
	defer pages.Close()
	s := newSession(t)
	line := `{"id": "%d", "query": "q", "answer": "a", "citations": [{"doc": "` + pages.URL + `%s"}]}` + "\n"
	s.write("good.jsonl", fmt.Sprintf(line+line, 1, "/tower", 2, "/gone"))
	s.write("none.jsonl", `{"id": "1", "query": "q", "answer": "a", "citations": [{"doc": "tower"}]}`)
	const private = ` --allow-private --delay 0s`
	s.steps(
		step{line: "fetch good.jsonl -o sources.parquet" + private, out: "^sources\\.parquet: 2 URLs cited, 2 asked for this time, archive sources\\.archive$\n^ok 1, unreadable 0, dead 1, \n^dead: .*/gone: HTTP 404$", err: `^ibid: warning: --allow-private: `},
		step{line: "fetch good.jsonl -o sources.parquet --json" + private, out: `"fetched": 0`, err: `^ibid: warning: `},
		step{line: "fetch none.jsonl -o x.parquet", code: 2, err: "cites no URL$\n^hint: documents with other names come with --documents$"},
		step{line: "fetch good.jsonl", code: 2, err: `-o`},
		step{line: "fetch missing.jsonl -o x.parquet", code: 2, err: `no such file`},
		step{line: "fetch good.jsonl -o good.jsonl", code: 2, err: `^ibid: good\.jsonl is both read and written$`},
		step{line: "import jsonl good.jsonl -o good.parquet -q"},
		step{line: "run good.parquet --documents sources.parquet --judge none --id x -q", out: `^x: .* of 2 answers fail`},
	)
}

// TestModelJudge: a run that asks a model pays once, a forecast says what is left, and the
// store of answers is looked at, cut and emptied.
func TestModelJudge(t *testing.T) {
	server := judgetest.NewServer(judgetest.ServerConfig{})
	defer server.Close()
	s := newSession(t)
	s.environ = []string{"IBID_JUDGE__BASE_URL=" + server.URL(), "OPENROUTER_API_KEY=" + judgetest.DefaultKey, "IBID_JUDGE__CACHE=judge.sqlite"}
	s.write("a.jsonl", someLines)
	const asked = " --documents d.parquet --judge openrouter --model fake/judge"
	s.steps(
		step{line: "import jsonl a.jsonl -o a.parquet --docs d.parquet -q"},
		step{line: "cache stat", code: 2, err: `^ibid: judge\.sqlite: there is no judge cache$`},
		step{line: "run a.parquet --dry-run" + asked, out: "^rows +2; 2 have claims\n^error rows +0$\n^kept +no answers yet$\n^calls +2 to fake/judge$\n^cost +about \\$0\\.00"},
		step{line: "run a.parquet --dry-run --json" + asked, out: `"schema": "ibid\.dryrun/v1"`},
		step{line: "run a.parquet --id x -q" + asked, out: `^judge  fake/judge \(openrouter\)`},
		step{line: "run a.parquet --dry-run" + asked, out: "^kept +2 answers in judge\\.sqlite$\n^calls +0 to fake/judge$\n^cost +\\$0$"},
		step{line: "show runs/x 1 --prompt", out: `The tower was built in 1889`},
		step{line: "cache stat", out: "^file +judge\\.sqlite$\n^answers +2, from 20\n^calls on record +2 \\(ok 2\\)$\n^they cost +\\$0\\.00"},
		step{line: "cache stat --json", out: "\"schema\": \"ibid\\.cache/v1\"\n\"entries\": 2,$"},
		step{line: "cache prune", code: 2, err: "^ibid: --older-than: \"\" is not an age above 0$\n^hint: write an age such as 90d or 36h$"},
		step{line: "cache prune --older-than 1d --dry-run", out: `^would remove 0 answers and 0 calls; `},
		step{line: "cache prune --older-than 1d --json", out: `"entries": 0,$`},
		step{line: "cache clear", code: 2, err: `^ibid: judge\.sqlite has 2 answers that cost \$0\.00[0-9]+; clear removes them only with --yes$`},
		step{line: "cache clear --yes", out: `^removed 2 answers and 2 calls; `},
		step{line: "cache stat --cache redis://127.0.0.1", code: 2, err: `^ibid: judge\.cache: answers are no longer kept in a Redis server: name a file here, and share a run among machines with ibid score and ibid summary$`},
		step{line: "cache nothing", code: 2, err: `^ibid: unknown cache command "nothing"$`},
	)
	s.environ[1] = "OPENROUTER_API_KEY=wrong"
	s.steps(step{line: "run a.parquet --id refused -q --cache other.sqlite" + asked, code: 4, err: "the key is refused\n^hint: .*OPENROUTER_API_KEY.*; then go on with: ibid run a\\.parquet --id refused "})
}

// TestHelp: each topic, and each metric, has its page; a slip is told what was meant.
func TestHelp(t *testing.T) {
	s := newSession(t)
	for topic, want := range map[string]string{
		"metrics": "^  char_f1 .*: ", "settings": `^ +judge\.kind: `, "columns": "^rows\\.parquet", "formats": "jsonl", "claims": "claim", "gates": "char_f1 >= 0", "signs": "no_row_left",
		"exit-codes": "130", "prompts": "code of", "verifiers": "minicheck", "environment": "OPENROUTER_API_KEY", "char_f1": "char_f1", "run": "--judge",
	} {
		s.steps(step{line: "help " + topic, out: want})
	}
	s.steps(
		step{line: "help metrix", code: 2, err: "^ibid: unknown topic \"metrix\"$\n^hint: did you mean metrics\\?$"},
		step{line: "", out: `^ibid evaluates citation accuracy`},
		step{line: "--version", out: `test`},
	)
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("help has written %v, %v", entries, err)
	}
}
