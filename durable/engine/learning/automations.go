package learning

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/startkey"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/installable"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/ports"
)

// AutomationList is the document "automations": the installed automations of a
// workspace, by their ids.
type AutomationList struct {
	Automations []AutomationRow `json:"automations"`
	// AtMs is the time they were evaluated for.
	AtMs   int64           `json:"atMs"`
	Health manifest.Health `json:"health"` // of the log of proposals
}

// AutomationRow is one automation, evaluated at a time.
type AutomationRow struct {
	AutomationID string      `json:"automationId"`
	Ref          string      `json:"ref"`
	ProposalID   id.Proposal `json:"proposalId"`
	WorkflowID   string      `json:"workflowId"`
	// Source is that of the workflow which the id means now, as it is shown beside the id. The caller
	// fills it, who knows what workflows there are.
	Source   string               `json:"source,omitzero"`
	Title    string               `json:"title,omitzero"`
	Schedule installable.Schedule `json:"schedule"`
	Context  canon.Value          `json:"context,omitzero"`
	Enabled  bool                 `json:"enabled"`
	// Due reports that the schedule fired since the installation, and that no
	// run of its workflow was started for its latest time. Several missed times
	// are due as one.
	Due           bool  `json:"due"`
	ScheduledAtMs int64 `json:"scheduledAtMs,omitzero"` // latest time in the past
	NextAtMs      int64 `json:"nextAtMs,omitzero"`      // next time, if enabled
	// StartKey is the idempotency key for starting the run of that time:
	// however often it is used, one session is started.
	StartKey  string     `json:"startKey,omitzero"`
	SessionID id.Session `json:"sessionId,omitzero"` // started for that time
	// Problem is the reason why it cannot be evaluated, or cannot be started.
	Problem string `json:"problem,omitzero"`
}

// Automations evaluates the installed automations at a time. The engine has no
// timer: the caller starts what is due.
func (l *Learning) Automations(ctx context.Context, times ports.Schedules, workspace string,
	atMs int64) (AutomationList,
	error) {
	out := AutomationList{Automations: []AutomationRow{}, AtMs: atMs}
	if _, err := l.settings.Provided(ctx, config.Proposals, config.Config.Proposals); err != nil {
		return out, err
	}
	store, err := l.store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return out, err
	}
	list, err := l.Installed(ctx, workspace)
	if err != nil {
		return out, err
	}
	out.Health = list.Health
	started := starts{l: l, store: store}
	if started.trash, err = l.store.TrashEntries(ctx); err != nil {
		return out, err
	}
	for _, i := range list.Installed {
		if i.Slot.Kind == proposal.Automation {
			out.Automations = append(out.Automations, evaluateAutomation(ctx, times, started, i, atMs))
		}
	}
	return out, nil
}

// starts finds what was started under keys.
type starts struct {
	l     *Learning
	store id.Store
	trash []ports.TrashEntry
}

// find returns the session of a workflow that was started under a key, zero if
// there is none. One in the trash was started nevertheless. A session that
// cannot be read counts, so that nothing is started twice; err says that it
// could not. START_KEY_TAKEN: the key names something else.
func (s starts) find(ctx context.Context, key, workflowID string) (id.Session, error) {
	session := id.KeyedSession(s.store, key)
	_, ok, err := s.l.e.Starts().Find(ctx, key, workflowID)
	switch {
	case fault.Is(err, fault.StartKeyTaken):
		return id.Session{}, err
	case ok || err != nil:
		return session, err
	}
	for _, t := range s.trash {
		if t.Session != session {
			continue
		}
		ok, err := s.l.e.Starts().FindDeleted(ctx, t, key, workflowID)
		if ok || err != nil && !fault.Is(err, fault.StartKeyTaken) {
			return session, err
		}
	}
	return id.Session{}, nil
}

// evaluateAutomation evaluates one automation. A malformed artifact or schedule
// is reported in the row, so that it does not hide the others.
func evaluateAutomation(ctx context.Context, times ports.Schedules, started starts, i InstalledArtifact,
	atMs int64) AutomationRow {
	row := AutomationRow{AutomationID: i.Slot.ID, Ref: i.Ref, ProposalID: i.ProposalID}
	auto, err := installable.AutomationOf(i.Value)
	if err != nil {
		row.Problem = fault.Of(err).Message
		return row
	}
	row.WorkflowID, row.Title, row.Schedule, row.Context, row.Enabled = auto.WorkflowID, auto.Title, auto.Schedule,
		auto.Context, auto.Enabled
	last, fired, err := times.LastBefore(auto.Schedule.Cron, auto.Schedule.Timezone, atMs)
	if err != nil {
		row.Problem = fault.Of(err).Message
		return row
	}
	if next, ok, err := times.NextAfter(auto.Schedule.Cron, auto.Schedule.Timezone, atMs); err == nil && ok &&
		auto.Enabled {
		row.NextAtMs = next
	}
	// Times before the installation are not caught up on.
	if !fired || last <= i.AtMs {
		return row
	}
	// The session id follows from the key, so a start can be found without a
	// record of it.
	row.ScheduledAtMs, row.StartKey = last, automationKey(i, last, auto.WorkflowID)
	row.SessionID, err = started.find(ctx, row.StartKey, auto.WorkflowID)
	if err != nil {
		row.Problem = fault.Of(err).Message
	}
	if row.SessionID.IsZero() {
		// What an older version started. A key of that form is not used again,
		// so it does not matter if something else took it.
		if row.SessionID, err = started.find(ctx, automationKey(i, last, ""), auto.WorkflowID); err != nil &&
			!fault.Is(err, fault.StartKeyTaken) {
			row.Problem = fault.Of(err).Message
		}
	}
	row.Due = auto.Enabled && row.SessionID.IsZero()
	return row
}

// automationKey is the start key for what an automation starts at one time. The
// workflow is a part of it, because a revision of the automation may name
// another one; the workspace, because two workspaces may install automations of
// the same id. Without a workflow it is the key of versions that left it out; no
// name of a workspace contains the colon.
func automationKey(i InstalledArtifact, firedMs int64, workflowID string) string {
	words := []string{i.Slot.ID, event.TimeText(firedMs)}
	if workflowID != "" {
		words = append(words, "workflow:"+workflowID)
	}
	if i.Workspace != "" {
		words = append(words, i.Workspace)
	}
	key := startkey.AutomationPrefix + strings.Join(words, "/")
	if len(key) > engine.StartKeyBytesMax {
		return startkey.AutomationPrefix + canon.Sum([]byte(key)).String()
	}
	return key
}
