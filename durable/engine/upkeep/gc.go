package upkeep

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/ports"
)

// GCRequest selects what a cleanup does. Without Apply it only reports.
type GCRequest struct {
	Apply bool
	// EmptyTrash removes sessions from the trash regardless of their age.
	EmptyTrash bool
	// Progress is called at times with how many logs were read, or sessions or objects removed, of how many; nil: not
	// called.
	Progress func(part GCPart, done, all int64)
}

// GCPart is a part of a cleanup.
type GCPart string

// The parts of a cleanup, in their order.
const (
	GCReadsLogs       GCPart = "logs"
	GCRemovesSessions GCPart = "sessions" // and those in the trash
	GCRemovesObjects  GCPart = "objects"
)

// GCReport is the document "gc": what would be removed and why, or what was
// removed. In safe mode nothing is removed, and Unclear lists the reasons.
type GCReport struct {
	Applied  bool `json:"applied"`
	SafeMode bool `json:"safeMode"`
	// Unread reports that entries of the store could not be read as what their names
	// say, so that not even a plan was made.
	Unread  bool      `json:"-"`
	Unclear []Unclear `json:"unclear"`
	// Sessions that expired are moved to the trash.
	Sessions []GCSession  `json:"sessions"`
	Trash    []GCTrash    `json:"trash"` // removed permanently
	Objects  []GCObjects  `json:"objects"`
	Leftover []GCLeftover `json:"leftovers"`
	// Logs of the store are removed as a whole, once nothing in them counts any more.
	Logs    []GCLog     `json:"logs"`
	Skipped []GCSkipped `json:"skipped"` // in use by a process
	// FreedBytes counts what is removed permanently, TrashedBytes what is moved
	// to the trash.
	FreedBytes   int64 `json:"freedBytes"`
	TrashedBytes int64 `json:"trashedBytes"`
}

// GCSession is a session to be moved to the trash, or one without events to be
// removed.
type GCSession struct {
	SessionID id.Session       `json:"sessionId"`
	Reason    retention.Reason `json:"reason"`
	LastAtMs  int64            `json:"lastAtMs"`
	Bytes     int64            `json:"bytes"` // size of its directory
}

// GCTrash is a session to be removed from the trash.
type GCTrash struct {
	Name        string           `json:"name"`
	SessionID   id.Session       `json:"sessionId"`
	Reason      retention.Reason `json:"reason"`
	TrashedAtMs int64            `json:"trashedAtMs"`
	Bytes       int64            `json:"bytes"`
}

// GCObjects counts the objects of one kind to be removed for one reason.
type GCObjects struct {
	Kind   manifest.ObjectKind `json:"kind"`
	Reason retention.Reason    `json:"reason"`
	Count  int64               `json:"count"`
	Bytes  int64               `json:"bytes"`
}

// GCLeftover is a temporary file or directory of an interrupted operation.
type GCLeftover struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// GCLog is a log of the store to be removed: that of answers to idempotency keys, if all of them are too old.
type GCLog struct {
	Path   string           `json:"path"`
	Reason retention.Reason `json:"reason"`
	Events int64            `json:"events"`
	Bytes  int64            `json:"bytes"` // size of its directory

	log  manifest.Log
	head manifest.Head
}

// GCSkipped is an entry that could not be removed this time.
type GCSkipped struct {
	What    string `json:"what"`
	Message string `json:"message"`
}

// IsEmpty reports that the plan is empty.
func (r GCReport) IsEmpty() bool {
	return len(r.Sessions)+len(r.Trash)+len(r.Objects)+len(r.Leftover)+len(r.Logs) == 0
}

// cleanup is one call of GC.
type cleanup struct {
	u      *Upkeep
	by     engine.Caller
	before ports.Failures
	scan   *logScan
	report GCReport
	// progress is that of the request.
	progress func(part GCPart, done, all int64)
	// removed of objects that were to be removed are.
	removed, objects int64
}

// GC finds what is not needed any more (docs/design.md#retention): sessions
// without activity for longer than the retention, sessions that were in the
// trash long enough, and objects that no log refers to. With req.Apply it
// removes them, sessions before objects: in the other order a crash could leave
// a session whose objects are gone.
//
// If any log cannot be read or understood, or a link or file is in place of a
// directory of logs, it may refer to anything, so the report is in safe mode and
// nothing is removed. STORE_FOREIGN if the store belongs to another program;
// POLICY_UNCONFIRMED if the retention was not confirmed and req.Apply is set;
// STORE_IO if the process had no file descriptor left for what the plan was made from.
func (u *Upkeep) GC(ctx context.Context, by engine.Caller, req GCRequest) (GCReport, error) {
	c := &cleanup{u: u, by: by, before: u.store.Failures(), report: GCReport{Unclear: []Unclear{},
		Sessions: []GCSession{}, Trash: []GCTrash{}, Objects: []GCObjects{}, Leftover: []GCLeftover{}, Logs: []GCLog{},
		Skipped: []GCSkipped{}}}
	// Before anything else is read: a directory in place of which there is a link cannot be.
	if req.Progress == nil {
		req.Progress = func(GCPart, int64, int64) {}
	}
	c.progress = req.Progress
	c.scan = &logScan{u: u}
	if err := c.scan.findUnread(ctx); err != nil {
		return c.report, err
	}
	if err := c.checkDescriptors(); err != nil {
		return c.report, err
	}
	if len(c.scan.unclear) > 0 {
		c.report.Unread = true
		c.enterSafeMode()
		return c.report, nil
	}
	conf, err := u.retention(ctx, req.Apply)
	if err != nil {
		return c.report, err
	}
	policy := retention.Policy{RetentionDays: conf.RetentionDays(), TrashDays: conf.TrashDays(),
		EmptyTrash: req.EmptyTrash, NowMs: by.AtMs}
	if err := c.plan(ctx, policy); err != nil || !req.Apply || c.report.SafeMode || c.report.IsEmpty() {
		c.report.Applied = err == nil && req.Apply && !c.report.SafeMode
		if err == nil && req.Apply && c.report.SafeMode {
			err = c.refuseForeign(ctx)
		}
		return c.report, err
	}
	act := audit.Act{Action: audit.GC, Target: audit.Target{Kind: audit.OfStore}}
	err = u.ledger.Act(ctx, by, act, func() (map[string]string, error) {
		err := c.sweep(ctx)
		return c.report.details(), err
	})
	c.report.Applied = err == nil && !c.report.SafeMode
	return c.report, err
}

// retention returns the configuration that decides what is not needed any more. What is removed
// depends on the retention that a person confirmed; a report does not.
func (u *Upkeep) retention(ctx context.Context, apply bool) (config.Config, error) {
	if apply {
		return u.settings.Confirmed(ctx)
	}
	return u.settings.Config(ctx)
}

// refuseForeign returns STORE_FOREIGN for a store of another program. Its logs
// are unclear to this version without being damaged, so neither a repair nor
// waiting would end safe mode.
func (c *cleanup) refuseForeign(ctx context.Context) error {
	store, err := c.u.store.StoreID(ctx, ports.ReadOnly)
	if err == nil && store.IsZero() {
		err = fault.New(fault.StoreForeign, "the store was written by another program: nothing of it is removed")
	}
	return err
}

// plan fills in the report. It changes nothing and takes no lock.
func (c *cleanup) plan(ctx context.Context, policy retention.Policy) error {
	survey, err := c.u.store.Survey(ctx)
	if err != nil {
		return err
	}
	weights := folderBytes(survey.Places)
	trashed, err := c.u.store.TrashEntries(ctx)
	if err != nil {
		return err
	}
	// Decided first, because objects that only such a session refers to are
	// removed with it.
	leaves := map[string]bool{}
	for _, t := range trashed {
		if why := policy.Trash(retention.Trashed{Name: t.Name, AtMs: t.AtMs}); why != "" {
			leaves[t.Name] = true
			c.report.Trash = append(c.report.Trash, GCTrash{t.Name, t.Session, why, t.AtMs, weights[t.Root]})
		}
	}
	if c.scan, err = c.u.newScan(ctx, func(r ports.LogRoot) bool { return leaves[r.TrashName] }); err != nil {
		return err
	}
	c.scan.progress = c.progress
	if err := c.scan.run(ctx, false); err != nil {
		return err
	}
	if err := c.checkDescriptors(); err != nil {
		return err
	}
	// One unclear log is enough: it may refer to any object.
	if len(c.scan.unclear) > 0 {
		c.enterSafeMode()
		return nil
	}
	for _, s := range c.scan.order {
		if why := policy.Session(c.scan.sessions[s].Session); why != "" {
			c.report.Sessions = append(c.report.Sessions,
				GCSession{s, why, c.scan.sessions[s].LastAtMs, weights["sessions/"+s.String()]})
		}
	}
	for _, l := range survey.Leftovers {
		c.report.Leftover = append(c.report.Leftover, GCLeftover{l.Place, l.Bytes})
	}
	c.report.Objects = countObjects(c.scan.sieve.Unreferenced())
	if err := c.planLogs(ctx, policy.NowMs, weights); err != nil {
		return err
	}
	c.addUp()
	return nil
}

// checkDescriptors returns STORE_IO if the process had no file descriptor left since
// the cleanup began: a log is not unclear for that, and a mark in a session's
// directory that was not read may keep the session.
func (c *cleanup) checkDescriptors() error { return session.Unavailable(c.u.store, c.before) }

// enterSafeMode empties the plan and reports why.
func (c *cleanup) enterSafeMode() {
	r := &c.report
	r.SafeMode, r.Unclear = true, c.scan.unclear
	r.Sessions, r.Trash, r.Objects, r.Leftover, r.Logs = []GCSession{}, []GCTrash{}, []GCObjects{}, []GCLeftover{}, []GCLog{}
	c.addUp()
}

// addUp sums the sizes of the report's rows.
func (c *cleanup) addUp() {
	r := &c.report
	r.FreedBytes, r.TrashedBytes = 0, 0
	for _, s := range r.Sessions {
		if s.Reason == retention.Expired {
			r.TrashedBytes += s.Bytes
		} else {
			r.FreedBytes += s.Bytes
		}
	}
	for _, t := range r.Trash {
		r.FreedBytes += t.Bytes
	}
	for _, o := range r.Objects {
		r.FreedBytes += o.Bytes
	}
	for _, l := range r.Leftover {
		r.FreedBytes += l.Bytes
	}
	for _, l := range r.Logs {
		r.FreedBytes += l.Bytes
	}
}

// countObjects groups objects by kind and reason, in a fixed order.
func countObjects(all []retention.Object) []GCObjects {
	out := []GCObjects{}
	for _, o := range all {
		why := retention.Orphan
		if o.Erased {
			why = retention.Erased
		}
		at := slices.IndexFunc(out, func(row GCObjects) bool { return row.Kind == o.Kind && row.Reason == why })
		if at < 0 {
			at = len(out)
			out = append(out, GCObjects{Kind: o.Kind, Reason: why})
		}
		out[at].Count++
		out[at].Bytes += o.Bytes
	}
	sorting.By(out, func(a, b GCObjects) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// folderBytes returns the size of each place including everything below it,
// by its name.
func folderBytes(places []ports.PlaceUsage) map[string]int64 {
	out := map[string]int64{}
	for _, f := range places {
		for at := f.Place; ; at = at[:strings.LastIndexByte(at, '/')] {
			out[at] += f.Bytes
			if !strings.Contains(at, "/") {
				break
			}
		}
	}
	return out
}
