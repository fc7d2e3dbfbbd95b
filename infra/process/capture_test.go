package process

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/rand"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/command"
)

const keptBytes = limits.StreamHeadBytesMax

func TestCaptureKeepsHeadAndTail(t *testing.T) {
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + i%26 + i/(1<<14)%3*2)
		}
		return string(b)
	}
	for _, n := range []int{0, 1, keptBytes - 1, keptBytes, keptBytes + 1,
		2*keptBytes - 1, 2 * keptBytes, 2*keptBytes + 1, 7*keptBytes + 12345} {
		for _, chunk := range []int{1 << 20, 4096, 777, keptBytes + 5} {
			all := letters(n)
			c := newCapture(nil)
			for rest := all; rest != ""; {
				k := min(chunk, len(rest))
				c.stdout().Write([]byte(rest[:k]))
				rest = rest[k:]
			}
			out := c.outcome()
			wantHead := all[:min(n, keptBytes)]
			wantTail := all[len(wantHead):]
			wantTail = wantTail[max(0, len(wantTail)-keptBytes):]
			if out.OutputHead != wantHead || out.OutputTail != wantTail {
				t.Errorf("%d bytes in pieces of %d: head of %d, tail of %d bytes are not the output's", n, chunk,
					len(out.OutputHead), len(out.OutputTail))
			}
			if out.OutputBytes != int64(n) || out.OutputDigest != canon.Sum([]byte(all)) {
				t.Errorf("%d bytes in pieces of %d: counted %d, digest %s", n, chunk, out.OutputBytes, out.OutputDigest)
			}
		}
	}
}

func TestCaptureSplitsNoCharacter(t *testing.T) {
	for shift := range 4 {
		for _, n := range []int{keptBytes/4 + 2, keptBytes/2 + 3, keptBytes} {
			all := strings.Repeat("x", shift) + strings.Repeat("😀", n)
			c := newCapture(nil)
			c.stdout().Write([]byte(all))
			out := c.outcome()
			if strings.ContainsRune(out.OutputHead+out.OutputTail, utf8.RuneError) {
				t.Errorf("shift %d, %d characters: a character was cut in two", shift, n)
			}
			if !strings.HasPrefix(all, out.OutputHead) || !strings.HasSuffix(all, out.OutputTail) {
				t.Errorf("shift %d, %d characters: head or tail is not the output's", shift, n)
			}
			if len(all) <= 2*keptBytes-4 && out.OutputHead+out.OutputTail != all {
				t.Errorf("shift %d, %d characters: %d of %d bytes kept where all fit", shift, n,
					len(out.OutputHead+out.OutputTail), len(all))
			}
		}
	}
}

func TestCaptureOfBinaryOutputIsTextForJSON(t *testing.T) {
	noise := make([]byte, 3*keptBytes)
	rand.New(rand.NewSource(1)).Read(noise)
	for name, b := range map[string][]byte{"noise": noise, "continuations": bytes.Repeat([]byte{0x80}, 3*keptBytes),
		"zeros": make([]byte, 3*keptBytes)} {
		c := newCapture(nil)
		c.stdout().Write(b)
		out := c.outcome()
		c.stderr().Write(b)
		both := c.outcome()
		v, err := canon.ValueOf(command.Result{ArgvDigest: canon.Sum(nil), Kind: command.Kind,
			OutputDigest: out.OutputDigest,
			Stdout:       &out.Stdout, Stderr: &both.Stderr})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := len(v.JCS()); n > 1<<20 {
			t.Errorf("%s: the artifact has %d bytes, more than docs/design.md#limits allows", name, n)
		}
		if out.OutputDigest != canon.DigestOf(sha256.Sum256(b)) {
			t.Errorf("%s: the digest is not that of the original bytes", name)
		}
	}
}

// TestCaptureCountsWhatIsLeftOut: also of bytes that are not UTF-8, whose text has another length.
func TestCaptureCountsWhatIsLeftOut(t *testing.T) {
	noise := make([]byte, 5*keptBytes)
	rand.New(rand.NewSource(1)).Read(noise)
	for name, all := range map[string][]byte{"noise": noise, "invalid": bytes.Repeat([]byte{0xff}, len(noise)),
		"text": bytes.Repeat([]byte("x"), len(noise))} {
		for _, n := range []int{1, keptBytes, keptBytes + 9, 2 * keptBytes, 2*keptBytes + 9, len(noise)} {
			c := newCapture(nil)
			c.stderr().Write(all[:n])
			want := int64(max(n-2*keptBytes, 0))
			// A character that a cut divides is left out as a whole.
			if got := c.outcome().Stderr.LeftOut(); got < want || got > want+2*utf8.UTFMax || want == 0 && got != 0 {
				t.Errorf("%s: of %d bytes %d are left out, want %d", name, n, got, want)
			}
		}
	}
}

type failingWriter struct{ calls int }

func (w *failingWriter) Write([]byte) (int, error) { w.calls++; return 0, errors.New("gone") }

func TestCaptureContinuesAfterTeeFails(t *testing.T) {
	w := &failingWriter{}
	c := newCapture(w)
	c.stdout().Write([]byte("one"))
	c.stdout().Write([]byte("two"))
	if out := c.outcome(); out.OutputHead != "onetwo" || w.calls != 1 {
		t.Errorf("kept %q after %d writes", out.OutputHead, w.calls)
	}
}
