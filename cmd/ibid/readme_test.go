package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ibid/judge/judgetest"
)

// TestREADME runs every command of the README's sh blocks, in order, in an empty
// folder that holds the files which the text says a user has. A manual that is
// run cannot rot.
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
	commands := readmeCommands(t)
	if len(commands) < 10 {
		t.Fatalf("the README has %d commands; the test must have missed some", len(commands))
	}
	environ := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	environ = append(environ, readmeService(t, dir)...)
	for _, line := range commands {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = environ
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("$ %s\n%v\n%s", line, err, out)
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

// readmeCommands lists the lines of the sh blocks.
func readmeCommands(t *testing.T) []string {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var commands []string
	inside := false
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		switch {
		case line == "```sh":
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && line != "":
			commands = append(commands, line)
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
