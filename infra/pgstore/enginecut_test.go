//go:build unix

package pgstore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// engineCase is a use case of the engine, over a store whose connections are cut.
type engineCase struct {
	name string
	// prepare makes what the call needs over the same store, without cuts.
	prepare func(t testing.TB, g *enginetest.Engine) engine.Answer
	// call is the use case. What it returns is the same whenever it has no error.
	call func(g *enginetest.Engine, a engine.Answer) (any, error)
	// again is how the call is refused when its change is made already; "": it is answered.
	again fault.Code
	// views: the call changes nothing.
	views bool
	// made is an error that says that the change was made; "": none.
	made fault.Code
	// parts: an error may come after a change, since the call has several.
	parts bool
}

// cutWay is how a connection is cut.
type cutWay struct{ forward, lasting bool }

// played is what became of a use case.
type played struct {
	before, after, again string // what the store has before the call, behind it, and behind a second one
	messages             int
	answer               string // of a call without an error
	err                  error
}

// engineOver returns the engine over a store, as the commands have it. What is random is the same for one process.
func engineOver(t testing.TB, a pgstore.Address, process byte) (*enginetest.Engine, *pgstore.Store) {
	s := pgstore.Open(a, pgstore.Options{LockWait: 5 * time.Second, Random: rand.NewChaCha8([32]byte{process}), ResolveMost: 300 * time.Millisecond,
		Who: ports.Holder{Host: "host", PID: os.Getpid()*10 + int(process)}})
	t.Cleanup(func() { _ = s.Close() })
	g := enginetest.Over(s)
	enginetest.Catalogued(g, s)
	return g, s
}

// contentOf describes what a store has of sessions, with their trash and side logs, and of what is erased and kept.
func contentOf(t testing.TB, admin *pgstore.Store) string {
	return strings.Join(slices.Concat(
		admin.Texts(t, "select place || ' ' || owner || ' ' || name || ' ' || digest || ' ' || next::text from @.logs where place = 'session' order by root"),
		admin.Texts(t, "select place || ' ' || owner || ' ' || digest || ' ' || next::text from @.logs where place = 'trash' order by owner, digest"),
		admin.Texts(t, "select 'erased ' || ref from @.tombstones order by ref"),
		admin.Texts(t, "select place || ' ' || md5(content) from @.controls where place not like '%trash%' order by place")), "\n")
}

// play performs a use case whose connection is cut at a message; at -1: at none. The same call is made again afterwards, by another process.
func (u engineCase) play(t testing.TB, at int, way cutWay) (out played) {
	t.Helper()
	ctx, a := context.Background(), pgstore.Empty(t)
	direct, admin := engineOver(t, a, 1)
	answer := u.prepare(t, direct)
	direct.Ledger().WritePending(ctx)
	out.before = contentOf(t, admin)
	p, err := pgtest.NewProxy(pgtest.Shared(t))
	fatal(t, err)
	defer p.Close()
	name, err := p.Through(a.Name())
	fatal(t, err)
	through, err := pgstore.Parse(name)
	fatal(t, err)
	far, cutOff := engineOver(t, through, 2)
	if way.lasting {
		p.WatchLasting(at, way.forward)
	} else {
		p.Watch(at, way.forward)
	}
	got, err := u.call(far, answer)
	out.messages, out.err = p.Count(), err
	if err == nil {
		text, err := json.Marshal(got)
		fatal(t, err)
		out.answer = string(text)
	}
	_ = cutOff.Close()
	p.Cut()
	awaitGone(t, admin)
	out.after = contentOf(t, admin)
	// A lease that the call could not release ends by itself.
	admin.Exec(t, "update @.leases set until = clock_timestamp()")
	same, _ := engineOver(t, a, 3)
	if _, err := u.call(same, answer); err != nil && (u.again == "" || !fault.Is(err, u.again)) {
		t.Errorf("the same call again: %v", err)
	}
	same.Ledger().WritePending(ctx)
	out.again = contentOf(t, admin)
	if v, err := direct.Verify(ctx); err != nil || !v.OK {
		t.Errorf("verify: %v, %+v", err, v)
	}
	if v, err := direct.AuditVerify(ctx); err != nil || !v.OK {
		t.Errorf("the audit log: %v, %+v", err, v)
	}
	return out
}

// awaitGone waits until the server has ended all that a process began which is cut off: a commit may still be under way.
func awaitGone(t testing.TB, admin *pgstore.Store) {
	name := fmt.Sprintf("waybill:%d:host", os.Getpid()*10+2)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		// Those of other tests of this process that run at the same time use other schemas; their ends are waited for too.
		left := admin.Texts(t, "select pid::text from pg_stat_activity where application_name = $1 and datname = current_database()", name)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the server still has the connections %v", left)
		}
	}
}

// cutWays are the ways in turn: a statement has more messages than there are ways.
var cutWays = []cutWay{{false, false}, {true, true}, {true, false}, {false, true}}

// TestCutUseCases: a connection is cut at each message of each use case of the engine; before it or behind it, alone or with all others and for
// good. The store is then as before the use case or as after it, and the answer says which, or that it is unknown. The same call again has
// the result of one that was not cut, and changes nothing a second time.
func TestCutUseCases(t *testing.T) {
	t.Parallel()
	pgtest.Shared(t)
	cases, some := sample.OneIn(t, 4), sample.OneIn(t, 300)
	for _, u := range engineCases() {
		if !cases.Try() {
			continue
		}
		t.Run(u.name, func(t *testing.T) {
			whole := u.play(t, -1, cutWay{})
			if whole.err != nil || (whole.after == whole.before) != u.views || whole.again != whole.after || whole.messages < 20 {
				t.Fatalf("%v, %d messages; the store has\n%s\nbefore it had\n%s\nafter a second call it has\n%s", whole.err, whole.messages,
					whole.after, whole.before, whole.again)
			}
			for at := range whole.messages {
				if some.Try() {
					u.check(t, whole, at, cutWays[at%len(cutWays)])
				}
			}
		})
	}
}

// check checks one cut.
func (u engineCase) check(t *testing.T, whole played, at int, way cutWay) {
	where := fmt.Sprintf("message %d of %d, passed on: %v, for good: %v", at, whole.messages, way.forward, way.lasting)
	t.Run(where, func(t *testing.T) {
		got := u.play(t, at, way)
		code := fault.CodeOf(got.err)
		made := got.err == nil || code == fault.StoreAnswerUnread || u.made != "" && code == u.made
		switch {
		case got.before != whole.before:
			t.Errorf("the store had\n%s\nwant\n%s", got.before, whole.before)
		case got.after != whole.before && got.after != whole.after:
			t.Errorf("%v: the store is neither as before nor as after:\n%s\nbefore:\n%s\nafter:\n%s", got.err, got.after, whole.before, whole.after)
		case made && got.after != whole.after:
			t.Errorf("%v: nothing was recorded", got.err)
		case got.err == nil && got.answer != whole.answer:
			t.Errorf("the answer is %s, want %s", got.answer, whole.answer)
		case !made && code != fault.StoreOutcomeUnknown && got.after != whole.before && !u.parts:
			t.Errorf("%v: it was recorded", got.err)
		case !made && code != fault.StoreUnreachable && code != fault.StoreOutcomeUnknown:
			t.Errorf("another answer: %v", got.err)
		}
		if got.again != whole.after {
			t.Errorf("%v, and after the same call again the store has\n%s\nwant\n%s", got.err, got.again, whole.after)
		}
	})
}
