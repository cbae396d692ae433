package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"ibid"
	"ibid/dataset"
	"ibid/dataset/disk"
	"ibid/dataset/parquet"
)

// A Damage is why a file is not as it was written.
type Damage string

func (d Damage) Error() string { return string(d) }

// Damaged is the error of a file that has a [Damage].
func Damaged(path, why string) error {
	return &ibid.Error{File: path, Err: Damage(why), Hint: "it was damaged or edited after it was written: restore it from a copy, or make it again, a run with ibid run … --fresh"}
}

// The last member of a JSON file that carries its own digest: what is between has 64
// hex digits, the SHA-256 of the file without this member.
const (
	digestBegins = ",\n  \"sha256\": \""
	digestEnds   = "\"\n}\n"
	digestLength = 2 * sha256.Size
)

// WriteJSON replaces the file at path by v, which is an object of at least one member,
// as JSON that ends with the digest of itself.
func WriteJSON(path string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	text := b.Bytes()
	rest := text[:len(text)-len("\n}\n")]
	sealed := fmt.Appendf(nil, "%s%s%s%s", rest, digestBegins, hexDigest(text), digestEnds)
	return dataset.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(sealed)
		return err
	})
}

// ReadJSON reads the object in the file at path into v. sealed is false if it carries no
// digest; the error wraps a [Damage] if it has another one.
func ReadJSON(path string, v any) (sealed bool, err error) {
	data, err := disk.ReadFile(path)
	if err != nil {
		return false, err
	}
	if sealed, err = checkDigest(path, data); err != nil {
		return sealed, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return sealed, fmt.Errorf("%s: %w", path, err)
	}
	return sealed, nil
}

// checkDigest compares the digest that a file carries with what is in it. What is half a
// digest was one.
func checkDigest(path string, data []byte) (sealed bool, err error) {
	at := len(data) - len(digestEnds) - digestLength
	begin := at - len(digestBegins)
	if begin < 0 {
		return false, nil
	}
	digest := string(data[at : at+digestLength])
	named := string(data[begin:at]) == digestBegins
	_, notHex := hex.DecodeString(digest)
	switch {
	case !named && notHex != nil:
		return false, nil
	case !named || string(data[at+digestLength:]) != digestEnds,
		hexDigest(append(bytes.Clone(data[:begin]), "\n}\n"...)) != digest:
		return true, Damaged(path, "its content does not have the digest that it ends with")
	}
	return true, nil
}

func hexDigest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// resultFiles are the files of a run directory that commands read as results.
var resultFiles = []string{
	RowsFile, CitationsFile, ClaimsFile, VerdictsFile, CallsFile, SummaryFile, AgreementFile, CalibrationFile, DisagreementsFile, TextsFile, AnswersFile,
}

// fileDigest is the SHA-256 of a file or, of Parquet, of its footer, which has the
// checksums of all pages: a large file is not read for its digest.
func fileDigest(path string) (string, error) {
	if strings.HasSuffix(path, ".parquet") {
		footer, err := parquet.Footer(path)
		return hexDigest(footer), err
	}
	data, err := disk.ReadFile(path)
	return hexDigest(data), err
}

// digestFiles finds the digests of the result files in dir.
func digestFiles(dir string) (map[string]string, error) {
	digests := make(map[string]string)
	for _, name := range resultFiles {
		digest, err := fileDigest(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		digests[name] = digest
	}
	return digests, nil
}

// checkFiles compares the result files in dir with their digests. One that is gone is
// missed by whoever reads it.
func (m *Manifest) checkFiles(dir string) error {
	for _, name := range resultFiles {
		want := m.Files[name]
		if want == "" {
			continue
		}
		path := filepath.Join(dir, name)
		digest, err := fileDigest(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case digest != want:
			return Damaged(path, "is not the file that the run wrote: "+ManifestFile+" has another digest of it")
		}
	}
	return nil
}

// Change lets change write the named result files of the finished run in dir anew, or
// remove them, and records their digests. If the process ends meanwhile, the run has no
// digests of them rather than wrong ones.
func Change(dir string, names []string, change func() error) error {
	m, err := ReadManifest(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		delete(m.Files, name)
	}
	if err := m.write(dir); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	now, err := digestFiles(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if digest, ok := now[name]; ok {
			m.Files[name] = digest
		}
	}
	return m.write(dir)
}
