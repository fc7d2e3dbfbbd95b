package notice

import (
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/projections/runs"
)

// TestOf: a person is notified once for each reason, of ends but of no cancellation, and of each result of a command.
func TestOf(t *testing.T) {
	waits := func(k inbox.Kind) State { return State{Status: runs.Blocked, Waits: k} }
	for name, c := range map[string]struct {
		r             Recorded
		before, after State
		want          Kind
	}{
		"work of an agent":      {Recorded{Entered: true}, State{}, State{Status: runs.InProgress}, ""},
		"question":              {Recorded{Entered: true}, State{}, waits(inbox.Question), Question},
		"another question":      {Recorded{Entered: true}, waits(inbox.Question), waits(inbox.Question), Question},
		"wait":                  {Recorded{Entered: true}, State{}, State{Status: runs.InProgress, UntilMs: 7}, Wait},
		"refused":               {Recorded{Refused: true}, State{}, waits(inbox.Blocked), Blocked},
		"refused again":         {Recorded{Refused: true}, waits(inbox.Blocked), waits(inbox.Blocked), ""},
		"refused as known":      {Recorded{Refused: true}, waits(inbox.Question), waits(inbox.Question), ""},
		"now an approval":       {Recorded{Refused: true}, waits(inbox.Blocked), waits(inbox.Approval), Approval},
		"waits no more":         {Recorded{Refused: true}, waits(inbox.Blocked), State{Status: runs.InProgress}, ""},
		"command failed":        {Recorded{Refused: true}, State{}, waits(inbox.Failed), Failed},
		"command failed again":  {Recorded{Refused: true}, waits(inbox.Failed), waits(inbox.Failed), Failed},
		"complete":              {Recorded{Entered: true}, State{}, State{Status: runs.CompleteStatus}, Complete},
		"complete with gaps":    {Recorded{Entered: true}, State{}, State{Status: runs.CompleteWithGaps}, Complete},
		"a fact after that":     {Recorded{}, State{}, State{Status: runs.CompleteStatus}, ""},
		"an approval of two":    {Recorded{}, waits(inbox.Approval), waits(inbox.Approval), ""},
		"denied":                {Recorded{Closed: event.OutcomeFailed}, State{}, State{Status: runs.Failed}, Failed},
		"cancelled":             {Recorded{Closed: event.OutcomeCancelled}, State{}, State{Status: runs.Cancelled}, ""},
		"refused and cancelled": {Recorded{Refused: true, Closed: event.OutcomeCancelled}, State{}, State{}, ""},
	} {
		if got := Of(c.r, c.before, c.after); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestRecordedBy: only events after which a run may wait or has ended count, each append once for each run.
func TestRecordedBy(t *testing.T) {
	seed := id.Seed{1}
	s, one, two := id.NewSession(seed), id.NewRun(seed), id.NewRun(id.Seed{2})
	scope := func(r id.Run) event.Scope { return event.Scope{RunID: r, NodeID: id.RootNode(r)} }
	plan := func(of event.Scope, data ...event.Payload) (p manifest.Plan) {
		p.Log = manifest.SessionEvents(s)
		for i, d := range data {
			p.Events = append(p.Events, event.Event{Index: int64(5 + i), Scope: of, Data: d})
		}
		return p
	}
	node := event.NodeCreated{NodeKind: event.StepNode, WorkflowHash: canon.Sum(nil)}
	refused := event.AdvanceRecorded{Outcome: event.BlockedBy(reason.Report{})}
	both := plan(scope(one), event.ContextSet{}, node, event.NodeOutputAppended{})
	both.Events = append(both.Events, event.Event{Index: 8, Scope: scope(two), Data: refused},
		event.Event{Index: 9, Scope: scope(two), Data: event.RunClosed{Outcome: event.OutcomeFailed}})
	elsewhere := both
	elsewhere.Log.Root = "annotations"
	for name, c := range map[string]struct {
		p    manifest.Plan
		want []Recorded
	}{
		"two runs": {both, []Recorded{{Session: s, Run: one, Entered: true, First: 5, Last: 9},
			{Session: s, Run: two, Refused: true, Closed: event.OutcomeFailed, First: 5, Last: 9}}},
		"checkpoint": {plan(scope(one), event.NodeCreated{NodeKind: event.CheckpointNode}, event.NodeOutputAppended{}), nil},
		"accepted":   {plan(scope(one), event.AdvanceRecorded{Outcome: event.AdvancedTo(id.RootNode(one))}), nil},
		"others": {plan(scope(one), event.RunCancelRequested{}, event.GuardNoted{}, event.PreferencesChanged{},
			event.SessionHandedOver{}), nil},
		"another log": {elsewhere, nil},
		"nothing":     {plan(scope(one)), nil},
	} {
		if got := RecordedBy(c.p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
