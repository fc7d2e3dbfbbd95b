// Package inbox lists what waits for a person in a store: paused runs, questions, confirmations, approvals, failed
// commands, other steps that are blocked, and proposals, each with the command that continues it.
// It appends nothing and signs no token.
//
// Start reading at Inbox.List.
package inbox

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/period"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Kind is why an item waits for a person, a closed set.
type Kind string

// The kinds. A run has one item at most: of the first kind in this order that applies.
const (
	Paused       Kind = "paused"       // the run was paused
	Failed       Kind = "failed"       // the pending command failed
	Approval     Kind = "approval"     // the outputs of the pending step need an approval
	Question     Kind = "question"     // an input of the pending step has no value
	Confirmation Kind = "confirmation" // the pending step needs a confirmation, or its command trust
	Blocked      Kind = "blocked"      // an attempt at the pending step was refused for another reason
	Proposal     Kind = "proposal"     // a proposal is neither applied nor rejected
)

// Item is one thing that waits for a person.
type Item struct {
	Kind Kind `json:"kind"`
	// RunID and SessionID are absent for a proposal, ProposalID for a run.
	RunID      id.Run      `json:"runId,omitzero"`
	SessionID  id.Session  `json:"sessionId,omitzero"`
	ProposalID id.Proposal `json:"proposalId,omitzero"`
	// Title names the run, as in the list of runs, or the proposal.
	Title string `json:"title"`
	// StepID is the pending step of the run.
	StepID string `json:"stepId,omitzero"`
	// SinceMs is since when the item waits, in milliseconds since 1970 UTC: the time at which a question or a
	// confirmation became pending, of the pause, of the last attempt that was refused or handed in output, of the decision
	// of a person that sent output back, or of the last record of a proposal.
	SinceMs int64 `json:"sinceMs"`
	// Imported reports a run that came with a bundle and was not continued in this store.
	Imported bool `json:"imported,omitzero"`
	Next     Next `json:"next"`

	granted bool   // a proposal has the approvals that it needs
	trust   string // the version of the workflow that a confirmation is about, "" if it is about a step
}

// Next is the call that continues an item.
type Next struct {
	Command []string `json:"command"`
}

// List is the document "inbox": a page of the items, the one that waits longest first.
type List struct {
	Items []Item `json:"items"`
	// NextCursor continues behind the page, absent on the last one.
	NextCursor string `json:"nextCursor,omitzero"`
	// Imported counts the items of imported runs that are left out.
	Imported int `json:"imported,omitzero"`
	// Excluded counts the items of other kinds, where none of the selected kinds waits.
	Excluded int `json:"excluded,omitzero"`
	// Unreadable are the sessions that could not be read, and may wait.
	Unreadable []views.Unreadable `json:"unreadable"`
}

// Words returns the arguments of the command that continues an item, which is named as given.
func (i Item) Words(name string) []string {
	switch {
	case i.Kind == Paused:
		return []string{"runs", "resume", name}
	case i.Kind == Approval:
		return []string{"approve", name}
	case i.Kind == Proposal && i.granted:
		return []string{"proposals", "apply", name}
	case i.Kind == Proposal:
		return []string{"proposals", "approve", name}
	case i.trust != "":
		return []string{"trust", i.trust}
	}
	return []string{"run", "--run", name}
}

// withNext returns an item with its next call.
func (i Item) withNext(name string) Item {
	i.Next = Next{append([]string{"waybill"}, i.Words(name)...)}
	return i
}

// Inbox lists what waits in one store. It is safe for concurrent use.
type Inbox struct {
	r        *session.Reader
	store    session.Source
	views    *views.Views
	learning *learning.Learning
	// Index has the runs that may wait, of sessions that did not change; nil: every session is read.
	Index index.Catalogue
}

// New returns the inbox of what r reads, which is s.
func New(r *session.Reader, s session.Source, v *views.Views, l *learning.Learning) Inbox {
	return Inbox{r: r, store: s, views: v, learning: l}
}

// List returns a page of what waits for a person in the runs of the store and in the proposals of a workspace.
// Each session is read once, unless the index says that nothing in it waits. Left out are runs that wait for a moment or for the host, those that were handed over,
// and those of another program or a newer version, which take no steps here. The errors are those of listing
// sessions and of reading proposals, and VALIDATION_ERROR for a malformed cursor.
func (b Inbox) List(ctx context.Context, q Query) (List, error) {
	after, err := parseCursor(q.Cursor)
	if err != nil {
		return List{}, err
	}
	out, err := session.Whole(b.store, func() (List, error) { return b.runs(ctx, &q) })
	if err != nil {
		return out, err
	}
	if err := b.proposals(ctx, q.Workspace, &out); err != nil {
		return out, err
	}
	sorting.By(out.Items, compare)
	return out.page(q, after), nil
}

// runs returns the items of all runs, in the order of the sessions.
func (b Inbox) runs(ctx context.Context, q *Query) (List, error) {
	out := List{Items: []Item{}, Unreadable: []views.Unreadable{}}
	all, err := b.mayWait(ctx, q, &out)
	if err != nil {
		return out, err
	}
	for _, s := range all {
		if err := ctx.Err(); err != nil {
			return out, fault.Wrap(err, fault.Interrupted, "reading was interrupted")
		}
		fold, v, err := b.r.ReadWindowed(ctx, s)
		switch {
		case err != nil:
		case v.Unborn(), v.Health == manifest.UnknownVersion:
			continue
		case v.Health != manifest.Healthy:
			err = fault.New(fault.StoreCorrupt, "its log is damaged: %s has the details",
				fault.Command{"verify", s.String()}.Line())
		default:
			err = b.session(ctx, s, fold, q, &out)
		}
		if err != nil {
			out.Unreadable = append(out.Unreadable, views.Unreadable{SessionID: s,
				Health: cmp.Or(v.Health, manifest.CorruptHead), Message: fault.Of(err).Message})
		}
	}
	return out, nil
}

// mayWait adds the items of the runs of which the catalogue knows enough, and returns the other sessions with runs that may wait for
// a person, and those that cannot be read, in order.
func (b Inbox) mayWait(ctx context.Context, q *Query, list *List) (out []id.Session, err error) {
	if b.Index == nil {
		return b.store.Sessions(ctx)
	}
	all, err := b.Index.Select(ctx, ports.BriefQuery{Open: true})
	for i := range all.Sessions {
		s := &all.Sessions[i]
		if items := (List{}); s.Keep && items.keptOf(ctx, s, q) {
			list.Items, list.Imported = append(list.Items, items.Items...), list.Imported+items.Imported
			continue
		}
		out = append(out, s.ID)
	}
	return out, err
}

// keptOf adds the items of all open runs of a session; false if it has to be read.
func (l *List) keptOf(ctx context.Context, s *index.Session, q *Query) bool {
	for i := range s.Runs {
		if r := &s.Runs[i]; r.Open && !l.kept(ctx, s.ID, r, q) {
			return false
		}
	}
	return true
}

// session adds the items of the runs of a session.
func (b Inbox) session(ctx context.Context, s id.Session, fold *runs.Fold, q *Query, out *List) error {
	asked := b.views.HandedOver == nil
	for _, runID := range fold.Order {
		r := fold.Runs[runID]
		if r.Closed != nil || r.CancelRequested != nil || r.Node(r.Tip) == nil {
			continue
		}
		row, err := b.views.SummaryOf(ctx, s, r, manifest.Healthy)
		if err != nil {
			return err
		}
		if !row.IsOpen() {
			continue
		}
		if !asked {
			if away, err := b.views.HandedOver(ctx, s, fold); err != nil || away {
				return err
			}
			asked = true
		}
		item := Item{RunID: runID, SessionID: s, Title: row.Title}
		if err := b.waitsFor(ctx, fold, row, q, &item); err != nil {
			return err
		}
		if item.Kind == "" {
			continue
		}
		item.SinceMs = cmp.Or(item.Kind.since(r), row.LastAtMs)
		if item.Imported, err = b.isImported(ctx, s, r); err != nil {
			return err
		}
		out.add(item, q)
	}
	return nil
}

// isImported reports that the last event of a run came with a bundle: it was not continued here.
func (b Inbox) isImported(ctx context.Context, s id.Session, r *runs.Run) (bool, error) {
	if b.views.Imported == nil {
		return false, nil
	}
	came, err := b.views.Imported(ctx, manifest.SessionEvents(s))
	return came.Has(r.LastIndex), err
}

// since is the time from which a run waits for a reason at its preferred tip, 0 if the log does not have it.
func (k Kind) since(r *runs.Run) int64 {
	n := r.Node(r.Tip)
	if k == Paused {
		return r.Pause.AtMs
	}
	if k == Question || k == Confirmation || len(n.Attempts) == 0 {
		return n.CreatedAtMs
	}
	at := n.Attempts[len(n.Attempts)-1].AtMs()
	if isSentBack(n) {
		at = max(at, n.LastAtMs)
	}
	return at
}

// proposals adds the open proposals of a workspace; none if proposals are turned off.
func (b Inbox) proposals(ctx context.Context, workspace string, out *List) error {
	for _, state := range []proposal.State{proposal.StateDraft, proposal.StateRevised} {
		list, err := b.learning.Proposals(ctx, learning.ProposalQuery{Workspace: workspace, State: state})
		if fault.Is(err, fault.CapabilityNotProvided) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, p := range list.Proposals {
			about := list.About[p.ID.String()]
			at, err := period.ParseInstant(p.UpdatedAt)
			if err != nil {
				return fault.New(fault.Invariant, "proposal %s was changed at %q: %v", p.ID, p.UpdatedAt, err)
			}
			item := Item{Kind: Proposal, ProposalID: p.ID, Title: cmp.Or(p.Title, string(p.Kind)+" "+p.ID.String()),
				SinceMs: at, granted: about.Approvals >= about.ApprovalsWant}
			out.Items = append(out.Items, item.withNext(p.ID.String()))
		}
	}
	return nil
}
