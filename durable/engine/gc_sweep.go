package engine

import (
	"context"
	"errors"
	"strconv"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/ports"
)

// sweepMax is how many objects are removed while writers wait: some tenths of a
// second, well below what a writer waits for a lock.
const sweepMax = 4096

// errUsed says that a session is younger than it was when the plan was made.
var errUsed = errors.New("something new came meanwhile")

// sweep carries the plan out, sessions first: whatever a crash leaves of it refers to
// nothing that is gone.
func (c *cleanup) sweep(ctx context.Context) error {
	plan := c.report
	c.report.Sessions, c.report.Trash, c.report.Objects, c.report.Leftover = []GCSession{}, []GCTrash{}, []GCObjects{},
		[]GCLeftover{}
	defer c.addUp()
	for _, s := range plan.Sessions {
		if s.Reason != retention.Expired {
			continue
		}
		switch err := c.expire(ctx, s); {
		case err == nil:
			c.report.Sessions = append(c.report.Sessions, s)
		case !c.skip(s.SessionID.String(), err):
			return err
		}
	}
	for _, t := range plan.Trash {
		if err := c.g.Trash.Empty(ctx, t.Name); err != nil {
			return err
		}
		c.report.Trash = append(c.report.Trash, t)
	}
	for first, more := true, true; more; first = false {
		err := c.g.Retention.Alone(ctx, func(b ports.Broom) (err error) {
			if first {
				err = c.removeLeftovers(plan, b)
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

// expire moves a session to the trash unless somebody used or kept it meanwhile.
func (c *cleanup) expire(ctx context.Context, s GCSession) error {
	was := c.scan.sessions[s.SessionID].head
	n := Note{Actor: c.by.Actor, AtMs: c.by.AtMs, Reason: "nothing new for longer than sessions are kept"}
	unless := func() error {
		if err := c.g.checkNotKept(ctx, s.SessionID); err != nil {
			return err
		}
		v, err := c.g.Logs.Read(ctx, ports.Reading{Log: manifest.SessionEvents(s.SessionID), From: was, Locked: true},
			newSegmentProbe{})
		if err == nil && (v.Head != was || v.Health != manifest.Healthy) {
			err = errUsed
		}
		return err
	}
	what := audit.Act{Action: audit.Delete, Target: audit.Target{Kind: audit.OfSession, ID: s.SessionID.String()},
		Reason: n.Reason}
	return c.g.act(ctx, c.by, what, func() (map[string]string, error) {
		t, err := c.g.moveToTrash(ctx, s.SessionID, n, unless)
		return map[string]string{"trash": t.Name}, err
	})
}

// skips notes what somebody is at work with, or was. Anything else ends the cleanup.
func (c *cleanup) skip(what string, err error) bool {
	message := ""
	switch code := fault.CodeOf(err); {
	case errors.Is(err, errUsed), errors.Is(err, errStopReading), errors.Is(err, manifest.ErrNotOnChain):
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

func (c *cleanup) removeLeftovers(plan GCReport, b ports.Broom) error {
	for _, l := range plan.Leftover {
		gone, err := b.Leftover(l.Path)
		if err != nil {
			return err
		}
		if gone {
			c.report.Leftover = append(c.report.Leftover, l)
		} else {
			c.report.Skipped = append(c.report.Skipped, GCSkipped{l.Path, "somebody may be at work with it"})
		}
	}
	for _, s := range plan.Sessions {
		if s.Reason != retention.Unborn {
			continue
		}
		gone, err := b.Unborn(s.SessionID)
		if err != nil {
			return err
		}
		if gone {
			c.report.Sessions = append(c.report.Sessions, s)
		} else {
			c.report.Skipped = append(c.report.Skipped,
				GCSkipped{s.SessionID.String(), "it is about to begin, or holds more than a crash leaves"})
		}
	}
	return nil
}

// objects looks once more, now that nobody can commit, at what no log names, and
// removes some of that; more says that there may be more to remove.
func (c *cleanup) removeObjects(ctx context.Context, b ports.Broom) (more bool, err error) {
	c.scan.skip = func(ports.LogRoot) bool { return false } // what is still in the trash stays
	if err := c.scan.run(ctx, true); err != nil {
		return false, err
	}
	if len(c.scan.unclear) > 0 {
		c.report.SafeMode, c.report.Unclear = true, c.scan.unclear
		return false, nil
	}
	now := c.scan.sieve.Take(sweepMax)
	for _, o := range now {
		if err := b.Object(o.Kind, o.Ref); err != nil {
			return false, err
		}
		c.countRemoved(o)
	}
	return len(now) == sweepMax, nil
}

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

// details is what the audit log says about a cleanup.
func (r GCReport) details() map[string]string {
	objects := int64(0)
	for _, o := range r.Objects {
		objects += o.Count
	}
	return map[string]string{"sessions": strconv.Itoa(len(r.Sessions)), "trash": strconv.Itoa(len(r.Trash)),
		"objects": strconv.FormatInt(objects, 10), "freedBytes": strconv.FormatInt(r.FreedBytes, 10)}
}
