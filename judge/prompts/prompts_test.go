package prompts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBuiltin(t *testing.T) {
	s := Builtin()
	for _, name := range Names() {
		filled := s.Fill(nil, name, func(b []byte, field string) []byte { return append(b, "["+field+" {{x}}]"...) })
		for _, f := range strings.Fields(known[name].must) {
			if !strings.Contains(string(filled), "["+f+" {{x}}]") {
				t.Errorf("%s: field %s is not filled once: %s", name, f, filled)
			}
		}
	}
	if len(s.Version()) != 12 || s.Version() != Builtin().Version() {
		t.Errorf("version %q", s.Version())
	}
}

func TestLoad(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"replaced", "repair.tmpl", "Again: {{ defect }}\r\n", ""},
		{"other files", "README.md", "{{x}}", ""},
		{"unknown prompt", "repairs.tmpl", "x", "repairs.tmpl: no prompt of that name"},
		{"unknown field", "repair.tmpl", "x {{defect}}\n{{claim}}", "repair.tmpl:2: unknown field {{claim}}; this prompt has {{defect}}"},
		{"missing field", "matrix-user.tmpl", "{{code}}", "has no field {{exhibits}}"},
		{"open brace", "repair.tmpl", "\n\n{{defect", "repair.tmpl:3: {{ without }}"},
		{"empty", "necessity.tmpl", "\n", "necessity.tmpl: is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Load(dir)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %s", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if changed := s.Version() != Builtin().Version(); changed != (tt.file == "repair.tmpl") {
				t.Errorf("version %s, built in %s", s.Version(), Builtin().Version())
			}
			if s.Text(MatrixSystem) != Builtin().Text(MatrixSystem) {
				t.Error("another prompt has changed")
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
