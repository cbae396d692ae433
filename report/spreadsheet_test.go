package report

import (
	"bytes"
	"encoding/csv"
	"reflect"
	"testing"
)

func TestSpreadsheet(t *testing.T) {
	cells := map[string]string{
		"=1+1": "'=1+1", "+cmd|'/c'": "'+cmd|'/c'", "-2+3": "'-2+3", "@SUM(1)": "'@SUM(1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "-": "'-",
		"-0.25": "-0.25", "+3": "+3", "-1e-9": "-1e-9", "": "", "a=b": "a=b", " =1": " =1", `=a"b,c`: `'=a"b,c`, "=a\nb": "'=a\nb", `"=1"`: `"=1"`,
	}
	for cell, want := range cells {
		var in, out bytes.Buffer
		w := csv.NewWriter(&in)
		if err := w.WriteAll([][]string{{cell, cell}, {"x", cell}}); err != nil {
			t.Fatal(err)
		}
		s := NewSpreadsheet(&out)
		for _, b := range in.Bytes() { // in any portions
			if _, err := s.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := csv.NewReader(&out).ReadAll()
		if want := [][]string{{want, want}, {"x", want}}; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q becomes %q, %v, want %q", cell, got, err, want)
		}
	}
}
