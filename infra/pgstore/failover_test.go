//go:build unix

package pgstore_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/fixture"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// wait lets commits wait for replicas, which there are none of; "": for none.
func (p *power) wait(names string) {
	p.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.admin.CancelWaits(ctx) }()
	p.replicas(names)
	stop()
	if err := <-ended; err != nil {
		p.t.Fatal(err)
	}
}

// waiting starts an append whose commit waits for a replica. The result comes when its connection is lost.
func (p *power) waiting(s *pgstore.Store, r *fixture.SessionFixture) (ended chan error) {
	p.t.Helper()
	p.wait("none_there")
	ended = make(chan error, 1)
	go func() {
		ended <- ports.WithHealthySession(context.Background(), s, s, r.Log, manifest.Head{}, ports.Skip,
			func(w ports.Witness, v manifest.Verdict) error {
				_, err := s.Append(context.Background(), w, v.Head, r.Start())
				return err
			})
	}()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		found := p.admin.Texts(p.t, "select pid::text from pg_stat_activity where wait_event = 'SyncRep'")
		if len(found) > 0 {
			return ended
		}
		if time.Now().After(end) {
			p.t.Fatal("no commit waits for a replica")
		}
	}
}

// TestKilledServer kills all processes of the server while a commit waits, as the loss of its machine does: the client gets the end of
// the connection and no error of the server. The commit is in the log of the server: the append is acknowledged, and not refused.
func TestKilledServer(t *testing.T) {
	p, open := newCut(t, pgstore.Options{CommitMost: time.Minute, ResolveMost: time.Minute})
	s, r := open(time.Second), fixture.NewSessionFixture(1)
	ended := p.waiting(s, r)
	p.admin.Exec(t, "alter system set synchronous_standby_names = ''") // for the next start
	p.server.Kill()
	if err := p.server.Start(durable()...); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("an append that is recorded: %v", err)
	}
	v, err := s.Read(t.Context(), ports.ReadRequest{Log: r.Log}, ports.Skip)
	if err != nil || v.Head.IsZero() {
		t.Errorf("the log is %+v, %v", v, err)
	}
}

// TestOldPrimary asks a server whose commits no replica has: it may be a primary that another one has replaced, and does not know what that
// has. It must not say that something is not recorded.
func TestOldPrimary(t *testing.T) {
	p, open := newCut(t, pgstore.Options{CommitMost: 200 * time.Millisecond, ResolveMost: time.Second})
	s, r := open(time.Second), fixture.NewSessionFixture(1)
	elsewhere := manifest.Head{}.After([]byte("a group"), manifest.Segment{Last: 2})
	if err := s.Confirm(t.Context(), r.Log, elsewhere); !errors.Is(err, manifest.ErrNotOnChain) {
		t.Errorf("the primary: %v; want ErrNotOnChain", err)
	}
	p.wait("none_there")
	t.Cleanup(func() { p.wait("") })
	if err := s.Confirm(t.Context(), r.Log, elsewhere); !fault.Is(err, fault.StoreUnreachable) {
		t.Errorf("a server without replicas: %v; want STORE_UNREACHABLE", err)
	}
}

// TestAddressOfSeveralSockets: the servers of an address may differ by their ports only.
func TestAddressOfSeveralSockets(t *testing.T) {
	a, err := pgstore.Parse("postgres:///db?host=/run/x,/run/x,/run/x&port=5432,5433,5434&user=waybill&schema=s")
	if err != nil {
		t.Fatal(err)
	}
	b, err := pgstore.Parse("postgres:///db?host=/run/x,/run/x&port=5432,5433&user=waybill&schema=s")
	if err != nil || a.Key() == b.Key() || a.Schema() != "s" || strings.Contains(a.Key(), "/") {
		t.Errorf("the keys are %s and %s, %v", a.Key(), b.Key(), err)
	}
}

// TestTorture runs the shortest schedule of 'make torture-pg', which prints its table and fails if a promise is broken. It is a
// test of 'make exhaustive' only.
func TestTorture(t *testing.T) {
	if !sample.Exhaustive() {
		t.Skip("a cluster of three servers is for WAYBILL_EXHAUSTIVE")
	}
	cmd := exec.Command("go", "run", "./testdata/torture", "-kills", "2", "-seed", "1")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
