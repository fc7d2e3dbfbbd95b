package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/adapters"
)

// TestTraceCountsEachMomentOnce: a phase does not count what was entered in it, and phases that end in another order than
// they began do not count twice.
func TestTraceCountsEachMomentOnce(t *testing.T) {
	now := time.UnixMilli(0)
	pass := func(ms int) { now = now.Add(time.Duration(ms) * time.Millisecond) }
	var out bytes.Buffer
	p := &Process{Clock: func() time.Time { return now }}
	ctx, ended := p.Traced(context.Background(), zerolog.New(&out).Level(zerolog.DebugLevel))
	pass(1)
	append1 := ports.Enter(ctx, ports.Appending)
	pass(2)
	sync := ports.Enter(ctx, ports.Syncing)
	pass(4)
	sync()
	pass(8)
	append1()
	one := ports.Enter(ctx, ports.Reading)
	two := ports.Enter(ctx, ports.Reading)
	pass(16)
	one()
	pass(32)
	two()
	pass(64)
	ended("some call")
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"call": "some call", "appendUs": 10e3, "appendCount": 1.0, "syncUs": 4e3, "syncCount": 1.0,
		"readUs": 48e3, "readCount": 2.0, "totalUs": 127e3, "message": "timing", "level": "debug", "trace": got["trace"]}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %v, want %v", name, got[name], value)
		}
	}
	if id, ok := got["trace"].(string); !ok || len(id) != 16 {
		t.Errorf("the id is %v", got["trace"])
	}
}

// TestNothingIsMeasuredAboveDebug: the context stays as it is, and no clock is read.
func TestNothingIsMeasuredAboveDebug(t *testing.T) {
	p := &Process{Clock: func() time.Time { t.Error("the clock was read"); return time.Time{} }}
	ctx := context.Background()
	got, ended := p.Traced(ctx, zerolog.New(&bytes.Buffer{}).Level(zerolog.InfoLevel))
	ports.Enter(got, ports.Reading)()
	if ended("x"); got != ctx {
		t.Error("another context")
	}
}

func BenchmarkEnterUnmeasured(b *testing.B) {
	ctx := context.WithValue(context.Background(), &b, 1)
	for b.Loop() {
		ports.Enter(ctx, ports.Reading)()
	}
}

// TestTraceContract: the trace passes the suite of the port.
func TestTraceContract(t *testing.T) {
	tr := &trace{now: time.Now, mark: time.Now(), spent: map[ports.Phase]time.Duration{}, times: map[ports.Phase]int{}}
	adapters.Trace(t, tr, func(p ports.Phase) int { return tr.times[p] })
}
