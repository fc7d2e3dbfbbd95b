package byteset_test

import (
	"testing"

	"github.com/waybill/waybill/durable/redact/byteset"
)

func TestSpanEndsAtFirstOtherByte(t *testing.T) {
	letters := byteset.Of(byteset.Letters)
	for s, want := range map[string]int{"": 0, "abc": 3, "ab1c": 2, "1": 0, "Zz\u00e9": 2} {
		if got := byteset.Span(s, 0, letters); got != want {
			t.Errorf("%q: got %d, not %d", s, got, want)
		}
	}
}

// Visible bytes are neither white space nor control bytes; those of a text are left out.
func TestVisibleBut(t *testing.T) {
	set := byteset.VisibleBut(`"<`)
	for b, want := range map[byte]bool{'a': true, 0xc3: true, ' ': false, '\n': false, 0x7f: false, '"': false, '<': false} {
		if set[b] != want {
			t.Errorf("%q: got %v", b, set[b])
		}
	}
}

func TestReadsAreCountedWhileTestAsks(t *testing.T) {
	n := 0
	byteset.Reads = &n
	byteset.Span("aaa", 0, byteset.Of("a"))
	byteset.Reads = nil
	byteset.Span("aaa", 0, byteset.Of("a"))
	if n != 4 {
		t.Errorf("%d bytes were counted, not 4", n)
	}
}
