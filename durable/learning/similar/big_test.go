package similar_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/learning/similar"
	"github.com/waybill/waybill/durable/limits"
)

// big returns the most expensive artifacts of four megabytes: many words, a name of half the
// size, one word, many objects.
func big(tb testing.TB) map[string]canon.Value {
	tb.Helper()
	const half = limits.SourceBytesMax / 2
	r := rand.New(rand.NewPCG(1, 2))
	name := strings.Repeat("n", half)
	var objects, numbers []canon.Value
	for i := range half / 8 {
		objects = append(objects, canon.OfMembers(canon.Member{Name: fmt.Sprint("k", i), Value: canon.OfBool(true)}))
		numbers = append(numbers, canon.OfInt(int64(i)))
	}
	return map[string]canon.Value{
		"words":   canon.OfString(words(r, 2*half/7, 1_000_000)),
		"letters": canon.OfString(strings.Repeat("a ", half)),
		"a long name": canon.OfMembers(canon.Member{Name: name,
			Value: canon.OfList(append(numbers, canon.OfString(words(r, half/7, 1_000_000)))...)}),
		"a long word":    canon.OfString("a b c d " + name + name + " e f g h"),
		"many objects":   canon.OfList(objects...),
		"without spaces": canon.OfString(strings.Repeat("\u4e00\u4e8c", half/3)),
	}
}

// TestBig: a name or a word is hashed once. If it were hashed for each shingle, this test
// would take hours.
func TestBig(t *testing.T) {
	all := big(t)
	signatures := map[string]similar.Signature{}
	for name, v := range all {
		signatures[name] = similar.SignatureOf(v)
	}
	for a, x := range signatures {
		for b, y := range signatures {
			if p := x.Percent(y); a != b && p > 10 || a == b && p != 100 {
				t.Errorf("%s and %s: %d", a, b, p)
			}
		}
	}
}

func BenchmarkOf(b *testing.B) {
	for name, v := range big(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				similar.SignatureOf(v)
			}
		})
	}
}

func BenchmarkPercent(b *testing.B) {
	all := big(b)
	x, y := similar.SignatureOf(all["words"]), similar.SignatureOf(all["a long name"])
	for b.Loop() {
		x.Percent(y)
	}
}
