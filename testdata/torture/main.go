//go:build unix

// Command torture runs a store in a PostgreSQL cluster of three nodes with quorum commit under writers and performers, while its primaries
// are killed, and compares at the end what the store has with what the callers received. It ends with 1 if something
// acknowledged is missing, something is recorded twice or although it was refused, or a log is not healthy.
//
//	go run ./testdata/torture [-kills N] [-seed N] [-patroni]
//
// A seed repeats the kinds, the order and the pauses of the faults, and not how they meet the work of the writers. Files: schedule.go
// (which faults), faults.go (how they are made), patroni.go (the same over a cluster that Patroni fails over by itself), load.go (who writes), ledger.go (what is compared).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports/porttest/pgtest"
)

func main() {
	kills := flag.Int("kills", 100, "how often the primary is lost")
	seed := flag.Uint64("seed", 1, "seed of the schedule")
	patroni := flag.Bool("patroni", false, "let Patroni and etcd fail over")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	run := ofServers
	if *patroni {
		run = ofPatroni
	}
	failed, err := torture(ctx, run, *kills, *seed)
	stop()
	switch {
	case errors.Is(err, pgtest.ErrMissing), errors.Is(err, errNoPatroni):
		fmt.Println("torture: skipped,", err)
	case err != nil:
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	case failed:
		os.Exit(1)
	}
}

// nodes is the size of the cluster.
const nodes = 3

// cluster is what is tortured.
type cluster interface {
	// URL returns the address of a schema, with the node with the index first in front.
	URL(schema string, first int, settings url.Values) string
	// run does the rounds, until the context ends.
	run(ctx context.Context, rounds []round) error
	// counted is what was done.
	counted() *chaos
	Remove()
}

// ofServers makes a cluster that this program fails over.
func ofServers() (cluster, error) {
	c, err := pgtest.NewCluster(nodes)
	if c == nil {
		return nil, err
	}
	return &chaos{Cluster: c, out: os.Stdout, counts: map[kind]int{}}, err
}

// torture does one schedule, and prints the table.
func torture(ctx context.Context, newCluster func() (cluster, error), kills int, seed uint64) (failed bool, err error) {
	start := time.Now()
	c, err := newCluster()
	if c != nil {
		defer c.Remove()
	}
	if err != nil {
		return false, err
	}
	l, err := newLoad(ctx, c.URL, seed)
	if err != nil {
		return false, err
	}
	working, end := context.WithCancel(ctx)
	defer end()
	if err := l.start(working); err != nil {
		return false, err
	}
	err = c.run(ctx, schedule(seed, kills))
	end()
	l.wg.Wait()
	if err != nil {
		return false, err
	}
	w, err := l.worker(0)
	if err != nil {
		return false, err
	}
	defer w.store.Close()
	r, err := l.ledger.compare(ctx, pgstore.Open(w.at, pgstore.Options{LockWait: time.Minute}))
	if err != nil {
		return false, err
	}
	print(c.counted(), l.ledger, r, seed, time.Since(start))
	return r.failed(), nil
}
