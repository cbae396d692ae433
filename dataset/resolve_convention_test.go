package dataset

import (
	"testing"

	"ibid/metrics/token"
)

func TestConventionNames(t *testing.T) {
	for _, e := range []SpanEnd{Exclusive, Inclusive} {
		if got, err := ParseSpanEnd(e.String()); got != e || err != nil {
			t.Errorf("ParseSpanEnd(%q) = %v, %v", e, got, err)
		}
	}
	for _, b := range []OffsetBase{FromDocument, FromPage} {
		if got, err := ParseOffsetBase(b.String()); got != b || err != nil {
			t.Errorf("ParseOffsetBase(%q) = %v, %v", b, got, err)
		}
	}
	if _, err := ParseSpanEnd("open"); err == nil {
		t.Error(`ParseSpanEnd("open") succeeds`)
	}
	if _, err := ParseOffsetBase("pages"); err == nil {
		t.Error(`ParseOffsetBase("pages") succeeds`)
	}
}

func TestNeedDocuments(t *testing.T) {
	for unit, want := range map[token.Unit]bool{token.CodePoint: false, token.UTF16: true, token.Byte: true} {
		c := Conventions{OffsetUnit: unit, AnswerOffsetUnit: token.Byte}
		if got := c.NeedDocuments(); got != want {
			t.Errorf("NeedDocuments() with unit %v = %v, want %v", unit, got, want)
		}
	}
}
