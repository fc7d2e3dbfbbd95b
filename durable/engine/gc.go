package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/ports"
)

// GCRequest says what a cleanup is to do; without Apply it only looks.
type GCRequest struct {
	Apply      bool
	EmptyTrash bool // whatever its age
}

// GCReport is the document "gc": what would go and why, or what went. In safe mode
// nothing goes, and Unclear says what has to be cleared up first.
type GCReport struct {
	Applied  bool         `json:"applied"`
	SafeMode bool         `json:"safeMode"`
	Unclear  []Unclear    `json:"unclear"`
	Sessions []GCSession  `json:"sessions"` // expired ones go to the trash
	Trash    []GCTrash    `json:"trash"`    // for good
	Objects  []GCObjects  `json:"objects"`
	Leftover []GCLeftover `json:"leftovers"`
	Skipped  []GCSkipped  `json:"skipped"` // somebody was at work there
	// FreedBytes counts what is gone for good; what only goes to the trash is in
	// TrashedBytes.
	FreedBytes   int64 `json:"freedBytes"`
	TrashedBytes int64 `json:"trashedBytes"`
}

// GCSession is a session that goes.
type GCSession struct {
	SessionID id.Session       `json:"sessionId"`
	Reason    retention.Reason `json:"reason"`
	LastAtMs  int64            `json:"lastAtMs"`
	Bytes     int64            `json:"bytes"` // of its folder
}

// GCTrash is a session that leaves the trash.
type GCTrash struct {
	Name        string           `json:"name"`
	SessionID   id.Session       `json:"sessionId"`
	Reason      retention.Reason `json:"reason"`
	TrashedAtMs int64            `json:"trashedAtMs"`
	Bytes       int64            `json:"bytes"`
}

// GCObjects counts the objects of a kind that go.
type GCObjects struct {
	Kind   manifest.ObjectKind `json:"kind"`
	Reason retention.Reason    `json:"reason"`
	Count  int64               `json:"count"`
	Bytes  int64               `json:"bytes"`
}

// GCLeftover is what a crash left of something on its way.
type GCLeftover struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// GCSkipped is what could not go this time.
type GCSkipped struct {
	What    string `json:"what"`
	Message string `json:"message"`
}

// Nothing reports that there is nothing to remove.
func (r GCReport) Nothing() bool {
	return len(r.Sessions)+len(r.Trash)+len(r.Objects)+len(r.Leftover) == 0
}

// cleanup is one call of GC.
type cleanup struct {
	g      *Engine
	by     Caller
	scan   *logScan
	report GCReport
}

// GC finds what nobody needs any more (locks section 2.2): sessions that have not
// been touched for long, what lay in the trash long enough, objects that no log
// names. With Apply it removes that, sessions before objects, never the reverse.
func (g *Engine) GC(ctx context.Context, by Caller, req GCRequest) (GCReport, error) {
	c := &cleanup{g: g, by: by, report: GCReport{Unclear: []Unclear{}, Sessions: []GCSession{}, Trash: []GCTrash{},
		Objects:  []GCObjects{},
		Leftover: []GCLeftover{}, Skipped: []GCSkipped{}}}
	conf, err := g.config(ctx)
	if err != nil {
		return c.report, err
	}
	policy := retention.Policy{RetentionDays: conf.RetentionDays(), TrashDays: conf.TrashDays(),
		EmptyTrash: req.EmptyTrash, NowMs: by.AtMs}
	if err := c.plan(ctx, policy); err != nil || !req.Apply || c.report.SafeMode || c.report.Nothing() {
		c.report.Applied = err == nil && req.Apply && !c.report.SafeMode
		if err == nil && req.Apply && c.report.SafeMode {
			err = c.refuseForeign(ctx)
		}
		return c.report, err
	}
	act := audit.Act{Action: audit.GC, Target: audit.Target{Kind: audit.OfStore}}
	err = g.act(ctx, by, act, func() (map[string]string, error) {
		err := c.sweep(ctx)
		return c.report.details(), err
	})
	c.report.Applied = err == nil && !c.report.SafeMode
	return c.report, err
}

// ours refuses a store of another program by that name, where something is to go:
// nothing of it is damaged, and so no repair and no waiting helps.
func (c *cleanup) refuseForeign(ctx context.Context) error {
	store, err := c.g.Identity.StoreID(ctx, ports.ReadOnly)
	if err == nil && store.IsZero() {
		err = fault.New(fault.StoreForeign, "the store was written by another program: nothing of it is removed")
	}
	return err
}

func (g *Engine) config(ctx context.Context) (config.Config, error) {
	if g.Controls == nil {
		return config.Config{}, nil
	}
	return Settings{Controls: g.Controls}.Config(ctx)
}

// plan finds what goes. It changes nothing and takes no lock.
func (c *cleanup) plan(ctx context.Context, policy retention.Policy) error {
	survey, err := c.g.Retention.Survey(ctx)
	if err != nil {
		return err
	}
	weights := folderBytes(survey.Folders)
	trashed, err := c.g.Trash.Trashed(ctx)
	if err != nil {
		return err
	}
	// What leaves the trash is decided first: what it alone needs goes with it.
	leaves := map[string]bool{}
	for _, t := range trashed {
		if why := policy.Trash(retention.Trashed{Name: t.Name, AtMs: t.AtMs}); why != "" {
			leaves[t.Name] = true
			c.report.Trash = append(c.report.Trash, GCTrash{t.Name, t.Session, why, t.AtMs, weights[t.Root]})
		}
	}
	if c.scan, err = c.g.newScan(ctx, func(r ports.LogRoot) bool { return leaves[r.Trash] }); err != nil {
		return err
	}
	if err := c.scan.run(ctx, false); err != nil {
		return err
	}
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
		c.report.Leftover = append(c.report.Leftover, GCLeftover{l.Path, l.Bytes})
	}
	c.report.Objects = countObjects(c.scan.sieve.Left())
	c.addUp()
	return nil
}

// safe turns the report into one of safe mode: nothing is said to go.
func (c *cleanup) enterSafeMode() {
	r := &c.report
	r.SafeMode, r.Unclear = true, c.scan.unclear
	r.Sessions, r.Trash, r.Objects, r.Leftover = []GCSession{}, []GCTrash{}, []GCObjects{}, []GCLeftover{}
	c.addUp()
}

// count adds up what the rows of the report say.
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
}

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
	slices.SortFunc(out, func(a, b GCObjects) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// weigh adds up folders with all that lies below each, by path.
func folderBytes(folders []ports.Folder) map[string]int64 {
	out := map[string]int64{}
	for _, f := range folders {
		for at := f.Path; ; at = at[:strings.LastIndexByte(at, '/')] {
			out[at] += f.Bytes
			if !strings.Contains(at, "/") {
				break
			}
		}
	}
	return out
}
