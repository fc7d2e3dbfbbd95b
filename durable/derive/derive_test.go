package derive_test

import (
	"encoding/hex"
	"sync"
	"testing"

	"github.com/waybill/waybill/durable/derive"
	"pgregory.net/rapid"
)

// Bytes16 returns pinned values: ids in stored logs consist of them.
func TestBytes16(t *testing.T) {
	tests := []struct {
		context string
		parts   []string
		want    string
	}{
		{"waybill test", nil, "e36dd5b3961d6b9ece8545b4d34e5fe0"},
		{"waybill test", []string{""}, "3e2355dcb189f3295f473a1e8cd7c426"},
		{"waybill test", []string{"ab", "c"}, "dc61c18ab5fc9c8172a1d9886f9e0ecd"},
		{"waybill test", []string{"a", "bc"}, "e023f10d06cf9b335d31dbfa53076c07"},
		{"waybill test", []string{"abc"}, "0885f266255110626b5ceb1ee8e782b6"},
		{"waybill other test", []string{"abc"}, "5f43bf7b1212c13be8737aa0383b5094"},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		b := derive.Bytes16(tt.context, tt.parts...)
		got := hex.EncodeToString(b[:])
		if got != tt.want {
			t.Errorf("%q %q: got %s, want %s", tt.context, tt.parts, got, tt.want)
		}
		if seen[got] {
			t.Errorf("%q %q: %s is the result for other parts", tt.context, tt.parts, got)
		}
		seen[got] = true
	}
}

// Pooled hashers return the same values when goroutines share them, for several contexts.
func TestBytes16Concurrent(t *testing.T) {
	contexts := []string{"waybill test", "waybill other test"}
	var want [2][16]byte
	for i, c := range contexts {
		want[i] = derive.Bytes16(c, "abc")
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 200 {
				if got := derive.Bytes16(contexts[i%2], "abc"); got != want[i%2] {
					t.Errorf("%s: got %x, want %x", contexts[i%2], got, want[i%2])
				}
				derive.Bytes16(contexts[i%2], "something longer", "in between")
			}
		})
	}
	all.Wait()
}

func TestBytes16DelimitsParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("a\x00\x01")), 0, 3, -1), 0, 3)
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		same := len(a) == len(b)
		for i := range min(len(a), len(b)) {
			same = same && a[i] == b[i]
		}
		if got := derive.Bytes16("waybill test", a...) == derive.Bytes16("waybill test", b...); got != same {
			t.Fatalf("%q and %q: same bytes %v", a, b, got)
		}
	})
}

// A seal depends on context, secret and data, and on nothing else.
func TestSeal(t *testing.T) {
	seal := derive.Seal("waybill test", []byte("secret"), []byte("data"))
	for what, other := range map[string][derive.SealBytes]byte{
		"context": derive.Seal("waybill test 2", []byte("secret"), []byte("data")),
		"secret":  derive.Seal("waybill test", []byte("secret2"), []byte("data")),
		"data":    derive.Seal("waybill test", []byte("secret"), []byte("data2")),
	} {
		if seal == other {
			t.Errorf("another %s does not change the seal", what)
		}
	}
	if again := derive.Seal("waybill test", []byte("secret"), []byte("data")); again != seal {
		t.Error("the same input has two seals")
	}
}
