// Command release makes the files of a release: for each system an archive of the program
// with its licences, a bill of materials (CycloneDX), and checksums. It publishes nothing.
// The same commit gives the same bytes, which -again shows with a second build from nothing.
//
//	go run ./deploy/release -version v1.0.0 -o dist
//	go run ./deploy/release -sbom dist/ibid    # the bill of a program that is there
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// systems are those that a release is made for, as GOOS/GOARCH.
const systems = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// beside are the files that go along with the program.
var beside = []string{"LICENSE", "README.md", "CHANGELOG.md", "docs/NOTICES.md"}

func main() {
	version := flag.String("version", "devel", "version that the program says")
	out := flag.String("o", "dist", "folder for the files")
	only := flag.String("systems", systems, "systems, as GOOS/GOARCH with commas between")
	again := flag.Bool("again", false, "build the first system again with an empty build cache and compare")
	sbom := flag.String("sbom", "", "write the bill of materials of this program to standard output, and nothing else")
	flag.Parse()
	var err error
	if *sbom != "" {
		var bill []byte
		if bill, err = billOf(*sbom, *version); err == nil {
			_, err = os.Stdout.Write(bill)
		}
	} else {
		err = release(*version, *out, strings.Split(*only, ","), *again)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(version, out string, systems []string, again bool) error {
	when, err := commitTime()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	var sums strings.Builder
	write := func(name string, data []byte) error {
		sum := sha256.Sum256(data)
		fmt.Fprintf(&sums, "%x  %s\n", sum, name)
		fmt.Printf("%10d  %.12x  %s\n", len(data), sum, name)
		return os.WriteFile(filepath.Join(out, name), data, 0o666)
	}
	for i, system := range systems {
		goos, arch, ok := strings.Cut(system, "/")
		if !ok {
			return fmt.Errorf("%q is not GOOS/GOARCH", system)
		}
		program, bill, err := build(version, goos, arch, "")
		if err != nil {
			return err
		}
		if again && i == 0 {
			if err := sameAgain(version, goos, arch, program); err != nil {
				return err
			}
		}
		base := fmt.Sprintf("ibid_%s_%s_%s", strings.TrimPrefix(version, "v"), goos, arch)
		archive, ending := tarGz, ".tar.gz"
		if goos == "windows" {
			archive, ending = zipped, ".zip"
		}
		data, err := archive(base, program, when)
		if err != nil {
			return err
		}
		if err := write(base+ending, data); err != nil {
			return err
		}
		if err := write(base+".cdx.json", bill); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(out, "checksums.txt"), []byte(sums.String()), 0o666)
}

// commitTime is when the commit was made: the date of every file of the release.
func commitTime() (time.Time, error) {
	text, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("git log: %w", err)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// build makes the program, and says what it is made of. The usual build cache is "".
func build(version, goos, arch, cache string) (program, bill []byte, err error) {
	dir, err := os.MkdirTemp("", "ibid-release-*")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "ibid")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+version, "-o", file, "./cmd/ibid")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+arch)
	if cache != "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+cache)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, nil, fmt.Errorf("%s/%s: %w", goos, arch, err)
	}
	if program, err = os.ReadFile(file); err != nil {
		return nil, nil, err
	}
	bill, err = billOf(file, version)
	return program, bill, err
}

func sameAgain(version, goos, arch string, program []byte) error {
	cache, err := os.MkdirTemp("", "ibid-cache-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	second, _, err := build(version, goos, arch, cache)
	if err != nil {
		return err
	}
	if !bytes.Equal(program, second) {
		return fmt.Errorf("%s/%s: two builds differ: %x, %x", goos, arch, sha256.Sum256(program), sha256.Sum256(second))
	}
	fmt.Printf("%s/%s: two builds, one SHA-256: %x\n", goos, arch, sha256.Sum256(second))
	return nil
}

// tarGz packs the program and what goes along with it into a folder of that name.
func tarGz(base string, program []byte, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	err = eachFile("ibid", program, func(name string, mode int64, data []byte) error {
		h := &tar.Header{Name: path.Join(base, name), Mode: mode, Size: int64(len(data)), ModTime: when, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		_, err := t.Write(data)
		return err
	})
	if err == nil {
		err = t.Close()
	}
	if err == nil {
		err = z.Close()
	}
	return out.Bytes(), err
}

func zipped(base string, program []byte, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	err := eachFile("ibid.exe", program, func(name string, _ int64, data []byte) error {
		w, err := z.CreateHeader(&zip.FileHeader{Name: path.Join(base, name), Method: zip.Deflate, Modified: when})
		if err != nil {
			return err
		}
		_, err = io.Copy(w, bytes.NewReader(data))
		return err
	})
	if err == nil {
		err = z.Close()
	}
	return out.Bytes(), err
}

func eachFile(name string, program []byte, each func(name string, mode int64, data []byte) error) error {
	if err := each(name, 0o755, program); err != nil {
		return err
	}
	for _, file := range beside {
		data, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			return err
		}
		if err := each(path.Base(file), 0o644, data); err != nil {
			return err
		}
	}
	return nil
}

// A component is a part of a program in CycloneDX.
type component struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	Version string   `json:"version"`
	PURL    string   `json:"purl,omitempty"`
	Hashes  []digest `json:"hashes,omitempty"`
}

type digest struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// billOf writes the bill of materials of a program: the modules that the linker noted in it.
func billOf(file, version string) ([]byte, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	program, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	parts := []component{{Type: "library", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"), PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version})
	}
	bill := map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata": map[string]any{"component": component{
			Type: "application", Name: "ibid", Version: version,
			Hashes: []digest{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(program))}},
		}},
		"components": parts,
	}
	out, err := json.MarshalIndent(bill, "", "  ")
	return append(out, '\n'), err
}
