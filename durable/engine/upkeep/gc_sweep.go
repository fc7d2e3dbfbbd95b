package upkeep

import (
	"context"
	"errors"
	"strconv"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/ports"
)

// sweepMax bounds how many objects are removed while writers are blocked: it
// takes some tenths of a second, well below the time that a writer waits for a
// lock.
const sweepMax = 4096

// errUsed reports that a session received events since the plan was made.
var errUsed = errors.New("it received new events meanwhile")

// sweep executes the plan, sessions first: after a crash at any point, no
// remaining log refers to a removed object. The report then lists what was
// removed.
func (c *cleanup) sweep(ctx context.Context) error {
	// From here on the report lists what was done.
	plan := c.report
	c.report.Sessions, c.report.Trash, c.report.Objects, c.report.Leftover, c.report.Logs = []GCSession{}, []GCTrash{},
		[]GCObjects{}, []GCLeftover{}, []GCLog{}
	defer c.addUp()
	all := int64(len(plan.Sessions) + len(plan.Trash))
	for _, o := range plan.Objects {
		c.objects += o.Count
	}
	for i, s := range plan.Sessions {
		c.progress(GCRemovesSessions, int64(i), all)
		if s.Reason != retention.Expired {
			continue
		}
		if err := stopped(ctx); err != nil {
			return err
		}
		switch err := c.expire(ctx, s); {
		case err == nil:
			c.report.Sessions = append(c.report.Sessions, s)
		case !c.skip(s.SessionID.String(), err):
			return err
		}
	}
	for i, t := range plan.Trash {
		c.progress(GCRemovesSessions, int64(len(plan.Sessions)+i), all)
		if err := stopped(ctx); err != nil {
			return err
		}
		if err := c.u.store.Empty(ctx, t.Name); err != nil {
			return err
		}
		c.report.Trash = append(c.report.Trash, t)
	}
	// Objects are removed in portions; writers can proceed between two of them.
	for first, more := true, true; more; first = false {
		if err := stopped(ctx); err != nil {
			return err
		}
		err := c.u.store.Exclusive(ctx, func(b ports.Sweeper) (err error) {
			if first {
				err = c.removeLeftovers(ctx, plan, b)
			}
			if err == nil && first {
				err = c.removeLogs(ctx, plan, b)
			}
			if err == nil {
				more, err = c.removeObjects(ctx, b)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// stopped returns INTERRUPTED if the caller has ended the cleanup. What was removed so far is complete.
func stopped(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fault.Wrap(err, fault.Interrupted, "the cleanup was interrupted")
	}
	return nil
}

// expire moves a session to the trash unless it was used or kept since the plan
// was made.
func (c *cleanup) expire(ctx context.Context, s GCSession) error {
	was := c.scan.sessions[s.SessionID].head
	n := Note{Actor: c.by.Actor, AtMs: c.by.AtMs, Reason: "nothing new for longer than sessions are kept"}
	unless := func() error {
		if err := c.u.checkNotKept(ctx, s.SessionID); err != nil {
			return err
		}
		v, err := c.u.store.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(s.SessionID), From: was,
			Locked: true},
			session.StopAtFirst)
		if err == nil && (v.Head != was || v.Health != manifest.Healthy) {
			err = errUsed
		}
		return err
	}
	what := audit.Act{Action: audit.Delete, Target: audit.Target{Kind: audit.OfSession, ID: s.SessionID.String()},
		Reason: n.Reason}
	return c.u.ledger.Act(ctx, c.by, what, func() (map[string]string, error) {
		t, err := c.u.moveToTrash(ctx, s.SessionID, n, unless)
		return map[string]string{"trash": t.Name}, err
	})
}

// skip records an entry that is in use and returns true. Any other error
// returns false and ends the cleanup.
func (c *cleanup) skip(what string, err error) bool {
	message := ""
	switch code := fault.CodeOf(err); {
	case errors.Is(err, errUsed), errors.Is(err, session.ErrStopReading), errors.Is(err, manifest.ErrNotOnChain):
		message = errUsed.Error()
	case code == fault.SessionLocked || code == fault.RunBusy || code == fault.SessionKept ||
		code == fault.SessionNotFound:
		message = fault.Of(err).Message
	default:
		return false
	}
	c.report.Skipped = append(c.report.Skipped, GCSkipped{what, message})
	return true
}

// removeLeftovers removes temporary files and sessions without events. Entries
// that an active process may own are skipped.
func (c *cleanup) removeLeftovers(ctx context.Context, plan GCReport, b ports.Sweeper) error {
	for _, l := range plan.Leftover {
		gone, err := b.RemoveLeftover(ctx, l.Path)
		if err != nil {
			return err
		}
		if gone {
			c.report.Leftover = append(c.report.Leftover, l)
		} else {
			c.report.Skipped = append(c.report.Skipped, GCSkipped{l.Path, "a process may be using it"})
		}
	}
	for _, s := range plan.Sessions {
		if s.Reason != retention.Unborn {
			continue
		}
		gone, err := b.RemoveUnborn(ctx, s.SessionID)
		if err != nil {
			return err
		}
		if gone {
			c.report.Sessions = append(c.report.Sessions, s)
		} else {
			c.report.Skipped = append(c.report.Skipped,
				GCSkipped{s.SessionID.String(), "a process may be creating it, or it has unexpected files"})
		}
	}
	return nil
}

// removeObjects repeats the scan while no process can commit, and removes a
// portion of the objects that no log refers to. more reports that others may
// remain.
func (c *cleanup) removeObjects(ctx context.Context, b ports.Sweeper) (more bool, err error) {
	c.scan.skip = func(ports.LogRoot) bool { return false } // what is in the trash now remains
	if err := c.scan.run(ctx, true); err != nil {
		return false, err
	}
	if err := c.checkDescriptors(); err != nil {
		return false, err
	}
	if len(c.scan.unclear) > 0 {
		c.report.SafeMode, c.report.Unclear = true, c.scan.unclear
		return false, nil
	}
	now := c.scan.sieve.TakeUnreferenced(sweepMax)
	for _, o := range now {
		if err := b.RemoveObject(ctx, o.Kind, o.Ref); err != nil {
			return false, err
		}
		c.countRemoved(o)
		c.removed++
		c.progress(GCRemovesObjects, c.removed, c.objects)
	}
	return len(now) == sweepMax, nil
}

// countRemoved adds a removed object to the report.
func (c *cleanup) countRemoved(o retention.Object) {
	for _, row := range countObjects([]retention.Object{o}) {
		for i := range c.report.Objects {
			if have := &c.report.Objects[i]; have.Kind == row.Kind && have.Reason == row.Reason {
				have.Count, have.Bytes, row.Count = have.Count+1, have.Bytes+row.Bytes, 0
			}
		}
		if row.Count > 0 {
			c.report.Objects = append(c.report.Objects, row)
		}
	}
}

// details are the details of the cleanup in the audit log.
func (r GCReport) details() map[string]string {
	objects := int64(0)
	for _, o := range r.Objects {
		objects += o.Count
	}
	return map[string]string{"sessions": strconv.Itoa(len(r.Sessions)), "trash": strconv.Itoa(len(r.Trash)),
		"objects": strconv.FormatInt(objects, 10), "freedBytes": strconv.FormatInt(r.FreedBytes, 10)}
}
