//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// cut is the server whose power is cut. It waits for its disk; the tests of the package share it, one after the other.
var cut struct {
	once   sync.Once
	server *pgtest.Server
	err    error
	count  int
}

// removed removes that server, and returns the code of the tests of the package.
func removed(code int) int {
	if cut.server != nil {
		cut.server.Remove()
	}
	return code
}

// power does what suite.Power says to a server of its own. A commit is durable when its server answered it without a warning: one that
// waited for a replica is lost with the primary, unless one behind it was answered without.
type power struct {
	t      testing.TB
	server *pgtest.Server
	admin  *pgstore.Store // a handle for statements about the server

	sound string // a copy of the data from before the server warns; "": it did not, or a commit was acknowledged since
	next  string // the id of the next transaction when the server stopped warning
}

// newPower returns a bench whose power can be cut.
func newPower(t testing.TB) suite.Bench {
	p, open := newCut(t, pgstore.Options{ResolveMost: 300 * time.Millisecond})
	return suite.Bench{Open: func(wait time.Duration) suite.Store { return open(wait) }, Damage: damage(t, open(0)),
		Power: &suite.Power{Cut: p.cut, Weaken: p.weaken}}
}

// newCut makes a store on the server whose power is cut, and returns what opens it.
func newCut(t testing.TB, o pgstore.Options) (*power, func(time.Duration) *pgstore.Store) {
	t.Helper()
	pgtest.Shared(t) // skips the test where there are no programs of a server
	cut.once.Do(func() {
		if cut.server, cut.err = pgtest.New(); cut.err == nil {
			cut.err = cut.server.Start(durable()...)
		}
	})
	if cut.err != nil {
		t.Fatal(cut.err)
	}
	cut.count++
	address, err := pgstore.Parse(cut.server.URL("test_" + strconv.Itoa(cut.count)))
	if err == nil {
		_, err = pgstore.Init(t.Context(), address, pgstore.Options{LockWait: time.Minute}, pgstore.Roles{})
	}
	if err != nil {
		t.Fatal(err)
	}
	open := openAt(t, address, o)
	return &power{t: t, server: cut.server, admin: open(0)}, open
}

// durable are the settings of a server that waits for its disk. Its start after a crash syncs all files, for which Linux has a quick way.
func durable() []string {
	out := []string{"fsync=on", "full_page_writes=on"}
	if runtime.GOOS == "linux" {
		out = append(out, "recovery_init_sync_method=syncfs")
	}
	return out
}

// restart ends the server at once, calls do, and starts it again.
func (p *power) restart(do func() error) {
	p.t.Helper()
	p.server.Stop(true)
	err := do()
	if err == nil {
		err = p.server.Start(durable()...)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// cut implements suite.Power.
func (p *power) cut() {
	p.t.Helper()
	if p.sound != "" && p.nextID() != p.next {
		p.forget()
	}
	p.restart(func() error {
		if p.sound == "" {
			return nil
		}
		err := errors.Join(os.RemoveAll(p.server.Data()), os.Rename(p.sound, p.server.Data()))
		p.sound = ""
		return err
	})
}

// forget removes the copy of the data.
func (p *power) forget() {
	if err := os.RemoveAll(p.sound); err != nil {
		p.t.Fatal(err)
	}
	p.sound = ""
}

// nextID is the id of the next transaction that writes.
func (p *power) nextID() string {
	return strings.Join(p.admin.Texts(p.t, "select pg_snapshot_xmax(pg_current_snapshot())::text"), " ")
}

// replicas sets the replicas that a commit waits for, and returns when the server has the setting.
func (p *power) replicas(names string) {
	p.t.Helper()
	p.admin.Exec(p.t, "alter system set synchronous_standby_names = '"+names+"'")
	p.admin.Exec(p.t, "select pg_reload_conf()")
	for end := time.Now().Add(time.Minute); p.admin.Warns(p.t) != (names != ""); {
		if time.Now().After(end) {
			p.t.Fatalf("the server does not take its replicas to be %q", names)
		}
	}
}

// weaken implements suite.Power.
func (p *power) weaken() (restore func()) {
	p.t.Helper()
	p.restart(func() error {
		p.sound = p.server.Data() + ".sound"
		out, err := exec.Command("cp", "-a", p.server.Data(), p.sound).CombinedOutput()
		if err != nil {
			p.t.Logf("%s", out)
		}
		return err
	})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.admin.CancelWaits(ctx) }()
	p.t.Cleanup(stop)
	p.replicas("none_there")
	return func() {
		p.replicas("")
		stop()
		if err := <-ended; err != nil {
			p.t.Fatal(err)
		}
		p.next = p.nextID()
	}
}

// TestDurability runs the cases of the suite that cut the power, on a server that waits for its disk. Each case starts it again, so that
// they take longer than all other tests of the package.
func TestDurability(t *testing.T) {
	if testing.Short() {
		t.Skip("each case starts a server again")
	}
	t.Parallel()
	cases := sample.OneIn(t, 6)
	for _, c := range suite.Cases() {
		if (strings.Contains(c.Name, "power cut") || strings.Contains(c.Name, "acknowledge")) && cases.Try() {
			t.Run(c.Name, func(t *testing.T) { c.Run(t, newPower(t)) })
		}
	}
	t.Run("mutants", durabilityMutants)
}

// durabilityMutants: a store that does not wait for its replicas, or takes no notice of a warning, fails the case that is about it. It runs
// one of them, and all in an exhaustive run.
func durabilityMutants(t *testing.T) {
	const name = "what is not durable is not acknowledged, and confirmed when it is"
	some := sample.OneIn(t, 3)
	var mutants []storetest.Mutant
	for _, m := range []struct {
		what   string
		change func(*pgtest.Proxy)
	}{
		{"commits wait for nothing", func(p *pgtest.Proxy) { p.Change("else 'on' end, true)", "else 'off' end,true)") }},
		{"the barrier of a confirmation writes nothing", func(p *pgtest.Proxy) {
			p.Change("pg_logical_emit_message(true, 'waybill', '')::text", "pg_backend_pid()::text")
		}},
		{"the warning of a commit is ignored", (*pgtest.Proxy).Silence},
	} {
		if some.Try() {
			mutants = append(mutants, storetest.Mutant{Name: m.what, In: name,
				Setup: func(t testing.TB) suite.Bench { return changedPower(t, m.change) }})
		}
	}
	storetest.DetectMutants(t, newPower, mutants)
}

// changedPower is newPower for a store whose messages are changed on their way.
func changedPower(t testing.TB, change func(*pgtest.Proxy)) suite.Bench {
	o := pgstore.Options{ResolveMost: 300 * time.Millisecond}
	p, open := newCut(t, o)
	proxy, err := pgtest.NewProxy(p.server)
	fatal(t, err)
	t.Cleanup(proxy.Close)
	change(proxy)
	text, err := proxy.Through(open(0).Name())
	fatal(t, err)
	address, err := pgstore.Parse(text)
	fatal(t, err)
	changed := openAt(t, address, o)
	return suite.Bench{Open: func(wait time.Duration) suite.Store { return changed(wait) }, Power: &suite.Power{Cut: p.cut, Weaken: p.weaken}}
}
