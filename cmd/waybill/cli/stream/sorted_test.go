package stream_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/waybill/waybill/cmd/waybill/cli/stream"
)

// TestSortedPassesPiecesInOrder: few of them, and as many as are kept compressed in several parts; made in order, backward
// and in any order, with an empty piece.
func TestSortedPassesPiecesInOrder(t *testing.T) {
	text := func(i int) string { return fmt.Sprint(strings.Repeat("text ", i%97), i) }
	orders := map[string]func(n int) []int{
		"any": rand.New(rand.NewPCG(1, 2)).Perm,
		"forward": func(n int) (out []int) {
			for i := range n {
				out = append(out, i)
			}
			return out
		},
		"backward": func(n int) (out []int) {
			for i := range n {
				out = append(out, n-1-i)
			}
			return out
		},
	}
	for name, order := range orders {
		for _, n := range []int{0, 1, 100, 20_000} {
			var s stream.Sorted
			var got, want strings.Builder
			size := 0
			for _, i := range order(n) {
				piece := []byte(text(i))
				if i == 7 {
					piece = nil
				}
				if err := s.Add(i, piece); err != nil {
					t.Fatal(err)
				}
				size += len(piece)
				clear(piece) // it is the caller's
			}
			if n == 20_000 && s.Size() > size/3 {
				t.Errorf("%s: %d of %d bytes are kept", name, s.Size(), size)
			}
			for i := range n {
				if i != 7 {
					want.WriteString(text(i))
				}
			}
			if err := s.Each(func(b []byte) error { got.Write(b); return nil }); err != nil || got.String() != want.String() {
				t.Errorf("%s, %d pieces: %d bytes, want %d, %v", name, n, got.Len(), want.Len(), err)
			}
		}
	}
}
