package controlfile

import (
	"bytes"
	"errors"
	"testing"
)

type sample struct {
	Name string `json:"name"`
	N    int64  `json:"n"`
}

func encoded(t *testing.T) []byte {
	t.Helper()
	d, err := New("sample", 1, sample{"x", 7})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecodeThenEncodeGivesSameBytes(t *testing.T) {
	b := encoded(t)
	d, err := Decode(b, "sample")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(d)
	if err != nil || !bytes.Equal(again, b) {
		t.Fatalf("decode then encode: %s, want %s (%v)", again, b, err)
	}
	const want = `{"data":{"n":7,"name":"x"},"kind":"sample","sha256":"sha256:b2f4a1` // and more of the digest
	if !bytes.HasPrefix(b, []byte(want[:50])) {
		t.Fatalf("the encoding changed: %s", b)
	}
}

func TestFlippedOrTruncatedBytesAreDamage(t *testing.T) {
	b := encoded(t)
	for i := range b {
		flipped := bytes.Clone(b)
		flipped[i] ^= 0x01
		if d, err := Decode(flipped, "sample"); !errors.Is(err, ErrDamaged) && d.V == 1 {
			t.Fatalf("byte %d flipped: accepted as %+v", i, d)
		}
		if _, err := Decode(b[:i], "sample"); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	if _, err := Decode(b, "other"); !errors.Is(err, ErrDamaged) {
		t.Fatalf("another kind: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"data":{},"kind":"sample","sha256":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","v":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(b, "sample")
		if err != nil {
			return
		}
		again, err := Encode(d)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("two encodings of one document: %q and %q (%v)", b, again, err)
		}
	})
}
