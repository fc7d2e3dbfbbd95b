//go:build unix

package process

import (
	"runtime"
	"testing"

	"github.com/waybill/waybill/durable/limits"
)

func TestLargeOutputUsesConstantMemory(t *testing.T) {
	const megabytes = 100
	r := &Runner{}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	out := attempt(t, r, sh("yes waybill | head -c 104857600"))
	runtime.ReadMemStats(&after)
	if out.OutputBytes != megabytes<<20 || len(out.OutputHead) != limits.StreamHeadBytesMax ||
		len(out.OutputTail) != limits.StreamTailBytesMax {
		t.Fatalf("%d bytes, head %d, tail %d", out.OutputBytes, len(out.OutputHead), len(out.OutputTail))
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes were allocated for an output of %d MiB", used, megabytes)
	}
}

func BenchmarkTrue(b *testing.B) {
	r := &Runner{}
	defer r.Close()
	c := sh("true")
	c.Argv = []string{"true"}
	for b.Loop() {
		if out, err := r.Try(b.Context(), c); err != nil || !out.OK() {
			b.Fatal(out, err)
		}
	}
}
