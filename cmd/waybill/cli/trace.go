package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/waybill/waybill/ports"
)

// trace measures the phases of one call. It implements ports.Trace.
type trace struct {
	id    string
	now   func() time.Time
	began time.Time

	mu    sync.Mutex
	open  []*entered // the last one counts
	mark  time.Time  // when the present one began to count
	spent map[ports.Phase]time.Duration
	times map[ports.Phase]int
}

// entered is a phase that was entered and not left.
type entered struct{ phase ports.Phase }

// Traced returns a context in which the phases of a call are measured, and what writes them to the log, with the name of
// the call, when it has ended: one record at level debug with an id, and for each phase its duration in microseconds. It
// contains nothing of what the call sends or gets. At higher levels nothing is measured.
func (p *Process) Traced(ctx context.Context, log zerolog.Logger) (context.Context, func(call string)) {
	if log.GetLevel() > zerolog.DebugLevel || p.Clock == nil {
		return ctx, func(string) {}
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // an id of zeros is no harm
	t := &trace{id: hex.EncodeToString(random[:]), now: p.Clock, spent: map[ports.Phase]time.Duration{},
		times: map[ports.Phase]int{}}
	t.began = t.now()
	t.mark = t.began
	return ports.WithTrace(ctx, t), func(call string) { t.write(log, call) }
}

// Enter implements ports.Trace. The time of a phase does not include that of phases that were entered in it.
func (t *trace) Enter(p ports.Phase) (leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count()
	e := &entered{p}
	t.open = append(t.open, e)
	t.times[p]++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.count()
		// Phases of one call that run at the same time may end in any order.
		if i := slices.Index(t.open, e); i >= 0 {
			t.open = slices.Delete(t.open, i, i+1)
		}
	}
}

// count adds the time since the mark to the phase that was entered last.
func (t *trace) count() {
	now := t.now()
	if n := len(t.open); n > 0 {
		t.spent[t.open[n-1].phase] += now.Sub(t.mark)
	}
	t.mark = now
}

// write writes the record. Phases that were not entered are left out.
func (t *trace) write(log zerolog.Logger, call string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count()
	record := log.Debug().Str("trace", t.id).Str("call", call)
	for _, p := range ports.Phases {
		if t.times[p] > 0 {
			record.Int64(string(p)+"Us", t.spent[p].Microseconds()).Int(string(p)+"Count", t.times[p])
		}
	}
	record.Int64("totalUs", t.mark.Sub(t.began).Microseconds()).Msg("timing")
}
