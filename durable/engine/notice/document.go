package notice

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// DocumentKind is the kind of the document that the command of notifications gets.
const DocumentKind = "notify"

// Notice is the data of the document: one fact about a run.
type Notice struct {
	Kind       Kind       `json:"kind"`
	RunID      id.Run     `json:"runId"`
	SessionID  id.Session `json:"sessionId"`
	WorkflowID string     `json:"workflowId"`
	// Title names the run, as in the list of runs.
	Title  string      `json:"title"`
	Status runs.Status `json:"status"`
	// StepID is the step that waits for a person.
	StepID string `json:"stepId,omitzero"`
	// UntilMs is the moment until which the pending step waits.
	UntilMs int64 `json:"untilMs,omitzero"`
	// AtMs is the time of the fact, in milliseconds since 1970 UTC.
	AtMs int64      `json:"atMs"`
	Next inbox.Next `json:"next"`
}

// Document returns the JSON text of the document. Characters that a terminal executes or hides are escaped.
func (n Notice) Document() ([]byte, error) {
	data, err := canon.Marshal(n)
	if err != nil {
		return nil, err
	}
	text := `{"v":1,"kind":"` + DocumentKind + `","data":` + string(data) + "}\n"
	return invisible.EscapeJSON([]byte(text)), nil
}

// next returns the call that continues the run, or shows it.
func (n Notice) next() inbox.Next {
	switch n.Kind {
	case Wait:
		return inbox.Next{Command: []string{"waybill", "due", "--run"}}
	case Question, Confirmation, Approval, Blocked, Failed:
		if n.Status == runs.InProgress || n.Status == runs.Blocked {
			words := inbox.Item{Kind: inbox.Kind(n.Kind)}.Words(n.RunID.String())
			return inbox.Next{Command: append([]string{"waybill"}, words...)}
		}
	}
	return inbox.Next{Command: []string{"waybill", "runs", "show", n.RunID.String()}}
}

// Notices makes the notices of one store. It is safe for concurrent use.
type Notices struct {
	r     *session.Reader
	views *views.Views
	inbox inbox.Inbox
}

// New returns the notices of what r reads.
func New(r *session.Reader, v *views.Views, b inbox.Inbox) Notices { return Notices{r, v, b} }

// After returns what a person is notified of after an append, false if of nothing. It describes the run as it was
// when the append had been made, without what was recorded since. Errors are those of reading.
func (n Notices) After(ctx context.Context, rec Recorded) (Notice, bool, error) {
	h := n.r.NewHistory(rec.Session)
	if err := h.Healthy(h.ReadSaved(ctx)); err != nil {
		return Notice{}, false, err
	}
	now := h
	var err error
	if h.Fold.Next != rec.Last+1 {
		if now, err = n.prefix(ctx, h, rec.Last); err != nil {
			return Notice{}, false, err
		}
	}
	out, after, err := n.at(ctx, now, rec)
	if err != nil {
		return out, false, err
	}
	var before State
	// The states around an attempt that was refused are compared; a node that was entered is new.
	if rec.Refused && !rec.Entered && rec.Closed == "" && after.Waits != inbox.Failed {
		earlier, err := n.prefix(ctx, h, rec.First-1)
		if err != nil {
			return out, false, err
		}
		if _, before, err = n.at(ctx, earlier, rec); err != nil {
			return out, false, err
		}
	}
	if out.Kind = Of(rec, before, after); out.Kind == "" {
		return out, false, nil
	}
	out.Next = out.next()
	return out, true, nil
}

// prefix returns the history that ends with the segment of an event.
func (n Notices) prefix(ctx context.Context, h *session.History, last int64) (*session.History, error) {
	return h.Prefix(ctx, func(seg manifest.Segment) bool { return seg.Last >= last })
}

// at returns what a history says of a run, and the state of the run there.
func (n Notices) at(ctx context.Context, h *session.History, rec Recorded) (out Notice, state State, err error) {
	r := h.Fold.Runs[rec.Run]
	if r == nil || r.Node(r.Tip) == nil {
		return out, state, nil // it was not started yet
	}
	row, err := n.views.SummaryOf(ctx, rec.Session, r, manifest.Healthy)
	if err != nil {
		return out, state, err
	}
	out = Notice{RunID: rec.Run, SessionID: rec.Session, WorkflowID: row.WorkflowID, Title: row.Title, Status: row.Status,
		UntilMs: row.WaitUntilMs, AtMs: row.LastAtMs}
	state = State{Status: row.Status, UntilMs: row.WaitUntilMs}
	state.Waits, out.StepID, err = n.inbox.WaitsFor(ctx, h.Fold, row)
	return out, state, err
}
