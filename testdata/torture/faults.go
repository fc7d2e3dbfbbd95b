//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/waybill/waybill/ports/porttest/pgtest"
)

// chaos does what the schedule says to a cluster.
type chaos struct {
	*pgtest.Cluster
	out      io.Writer
	counts   map[kind]int
	rewound  int // losers that were rewound
	copied   int // losers that got a copy
	signals  int // connections that were terminated, and waits that were cancelled
	promoted time.Duration
}

// counted implements cluster.
func (c *chaos) counted() *chaos { return c }

// run implements cluster.
func (c *chaos) run(ctx context.Context, rounds []round) error {
	start := time.Now()
	for i, r := range rounds {
		if err := c.round(ctx, r); err != nil {
			return fmt.Errorf("round %d (%s; %s): %w", i+1, r.minor, r.loss, err)
		}
		fmt.Fprintf(c.out, "%4d of %d  %5.0f s  n%d is the primary; %s", i+1, len(rounds), time.Since(start).Seconds(), c.Primary+1, r.loss)
		if r.minor != none {
			fmt.Fprintf(c.out, "; before it %s", r.minor)
		}
		fmt.Fprintln(c.out)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// standbys are the nodes that are not the primary, the second one in front if second.
func (c *chaos) standbys(second bool) (out []int) {
	for i := range c.Nodes {
		if i != c.Primary {
			out = append(out, i)
		}
	}
	if second {
		out[0], out[1] = out[1], out[0]
	}
	return out
}

// round does one round. It returns with all nodes up.
func (c *chaos) round(ctx context.Context, r round) error {
	pause(ctx, r.before)
	c.counts[r.minor]++
	if err := c.minor(ctx, r); err != nil {
		return err
	}
	pause(ctx, r.between)
	old := c.Primary
	c.counts[r.loss]++
	if err := c.lose(ctx, r); err != nil {
		return err
	}
	start := time.Now()
	if err := c.FailOver(); err != nil {
		return err
	}
	c.promoted += time.Since(start)
	if err := c.comeBack(ctx, r, old); err != nil {
		return err
	}
	c.Nodes[old].Kill()
	copied, err := c.Rewind(old, r.copied)
	if copied {
		c.copied++
	} else {
		c.rewound++
	}
	return err
}

// lose ends or freezes the primary. The standbys run when it returns.
func (c *chaos) lose(ctx context.Context, r round) error {
	primary := c.Nodes[c.Primary]
	switch r.loss {
	case frozen:
		return primary.Freeze()
	case lagging:
		return c.stopped(r, c.standbys(r.second)[:1], func() error {
			pause(ctx, r.lossFor/2)
			primary.Kill()
			return nil
		})
	case unreplicated:
		return c.stopped(r, c.standbys(false), func() error {
			err := c.signalFor(ctx, r.lossFor, primary, cancelWaits)
			primary.Kill()
			return err
		})
	}
	primary.Kill()
	return nil
}

// comeBack lets the old primary answer for a while beside the new one, where the round says so.
func (c *chaos) comeBack(ctx context.Context, r round, old int) error {
	switch r.loss {
	case frozen:
		pause(ctx, r.lossFor/2)
		c.Nodes[old].Thaw()
		pause(ctx, r.lossFor/2)
	case revived:
		if err := c.Start(old); err != nil {
			return err
		}
		// Connections that are lost are made again, and the first node that says it is the primary is taken.
		return c.signalFor(ctx, r.lossFor, c.Nodes[c.Primary], terminateOne)
	default:
		pause(ctx, r.between)
	}
	return nil
}

// minor does the fault of a round that leaves the primary.
func (c *chaos) minor(ctx context.Context, r round) error {
	primary, all := c.Nodes[c.Primary], c.standbys(r.second)
	wait := func() error { pause(ctx, r.minorMost); return nil }
	switch r.minor {
	case oneStandby:
		return c.stopped(r, all[:1], wait)
	case allStandbys:
		r.minorMost += lockWait + commitMost + resolveMost
		return c.stopped(r, all, wait)
	case cancelled:
		if !r.killedMinor {
			return c.signalFor(ctx, r.minorMost, primary, cancelWaits)
		}
		r.killedMinor = false
		return c.stopped(r, all, func() error { return c.signalFor(ctx, r.minorMost, primary, cancelWaits) })
	case terminated:
		return c.signalFor(ctx, r.minorMost, primary, terminateOne)
	}
	return nil
}

// stopped calls do while standbys are killed or frozen. A standby that does not run does not lose its place: it follows again.
func (c *chaos) stopped(r round, standbys []int, do func() error) error {
	for _, i := range standbys {
		if r.killedMinor {
			c.Nodes[i].Kill()
		} else if err := c.Nodes[i].Freeze(); err != nil {
			return err
		}
	}
	err := do()
	for _, i := range standbys {
		if !r.killedMinor {
			c.Nodes[i].Thaw()
		} else if started := c.Start(i); started != nil {
			return started
		}
	}
	return err
}

// The queries that end what clients wait for.
const (
	cancelWaits = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"

	terminateOne = "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and " +
		"application_name like 'waybill:%' order by random() limit 1"
)

// signalFor runs a query about connections again and again.
func (c *chaos) signalFor(ctx context.Context, d time.Duration, on *pgtest.Server, query string) error {
	for end := time.Now().Add(d); time.Now().Before(end); {
		done, err := on.Text(query)
		if err != nil {
			return err
		}
		c.signals += len(done)
		pause(ctx, 10*time.Millisecond)
	}
	return nil
}
