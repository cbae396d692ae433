package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ibid/judge/judgetest"
)

// manual are the pages whose commands run, in this order: later ones use runs of earlier
// ones. The commands of docs/scale.md need a cluster.
var manual = []string{"README.md", "docs/tutorial.md", "docs/data.md", "docs/providers.md", "docs/annotation.md", "docs/judges.md", "docs/nightly.md", "docs/quotations.md", "docs/results.md"}

// TestREADME runs every command of the sh blocks of README and docs, in order. Those of the
// README make what they use in an empty folder; then it gets the files which the pages say a
// user has. A manual that is run cannot rot.
func TestREADME(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: builds the program")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "ibid"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	environ := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	environ = append(environ, readmeService(t, dir)...)
	for _, page := range manual {
		commands := commandsOf(t, page)
		if len(commands) < 3 {
			t.Fatalf("%s has %d commands; the test must have missed some", page, len(commands))
		}
		for _, line := range commands {
			cmd := exec.Command("sh", "-c", line)
			cmd.Dir = dir
			cmd.Env = environ
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: $ %s\n%v\n%s", page, line, err, out)
			}
		}
		if page == "README.md" {
			giveFiles(t, dir)
		}
	}
	t.Run("pandas", func(t *testing.T) { runPython(t, dir, "docs/results.md") })
}

// runPython runs the python blocks of a page with the first Python that has pandas.
func runPython(t *testing.T, dir, page string) {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import pandas").Run() != nil {
			continue
		}
		scripts := blocksOf(t, page, "python")
		if len(scripts) == 0 {
			t.Errorf("%s has no Python", page)
		}
		for _, script := range scripts {
			cmd := exec.Command(python, "-")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(script)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) == 0 {
				t.Errorf("%s:\n%s\n%v\n%s", page, script, err, out)
			}
		}
		return
	}
	t.Skip("no Python with pandas")
}

// blocksOf are the fenced blocks of a page that are of a language.
func blocksOf(t *testing.T, page, language string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split("\n"+string(text), "\n```") {
		if body, ok := strings.CutPrefix(part, language+"\n"); ok && i%2 == 1 {
			blocks = append(blocks, body)
		}
	}
	return blocks
}

// giveFiles puts the files into dir that the pages say a user has.
func giveFiles(t *testing.T, dir string) {
	t.Helper()
	samples := filepath.Join("..", "..", "dataset", "convert", "testdata")
	for name, from := range map[string]string{
		"answers.jsonl": filepath.Join("testdata", "readme", "answers.jsonl"),
		"export.json":   filepath.Join(samples, "label-studio", "export.json"),
	} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, from := range map[string]string{
		"recordings": filepath.Join("testdata", "readme", "recordings"),
		"annotated":  filepath.Join(samples, "brat"),
	} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
}

// readmeService starts a service with the model that the README asks, and
// returns the environment that leads to it and keeps the cache in dir.
func readmeService(t *testing.T, dir string) []string {
	t.Helper()
	model := judgetest.DefaultModels()[0]
	model.ID = "openai/gpt-5-mini"
	server := judgetest.NewServer(judgetest.ServerConfig{Models: []judgetest.Model{model}})
	t.Cleanup(server.Close)
	return []string{
		"IBID_JUDGE__BASE_URL=" + server.URL(), "OPENROUTER_API_KEY=" + judgetest.DefaultKey,
		"XDG_CACHE_HOME=" + filepath.Join(dir, "cache"), "HOME=" + dir,
	}
}

// commandsOf lists the lines of the sh blocks of a page.
func commandsOf(t *testing.T, page string) (commands []string) {
	t.Helper()
	for _, block := range blocksOf(t, page, "sh") {
		for line := range strings.Lines(block) {
			if line = strings.TrimSpace(line); line != "" {
				commands = append(commands, line)
			}
		}
	}
	return commands
}

// TestREADMETargets: the make commands that the README names exist.
func TestREADMETargets(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?m)(?:^|`)make ([a-z]+)").FindAllStringSubmatch(string(readme), -1)
	if len(found) < 3 {
		t.Fatalf("the README names %d make targets", len(found))
	}
	for _, m := range found {
		if !strings.Contains(string(makefile), "\n"+m[1]+":") {
			t.Errorf("README: make %s is no target", m[1])
		}
	}
}

// TestLinks: what the pages link to is there, the README is short, and the manual is all
// pages with commands.
func TestLinks(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"} {
		pages = append(pages, filepath.Join(root, name))
	}
	links := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root, page)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		if name == "docs/NOTICES.md" {
			continue // the words of others
		}
		if strings.Contains(string(text), "\n```sh\n") && !slices.Contains(manual, name) && name != "docs/scale.md" {
			t.Errorf("%s has commands and is not in the manual", name)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)|(?:src|srcset)="([^":]+)"`).FindAllStringSubmatch(string(text), -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1]+m[2])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if lines := strings.Count(string(text), "\n"); name == "README.md" && lines > 150 {
			t.Errorf("the README has %d lines, at most 150", lines)
		}
	}
	if links < 40 {
		t.Errorf("%d links were looked at", links)
	}
}
