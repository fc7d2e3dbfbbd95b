package trial

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
	"github.com/waybill/waybill/ports"
)

// beginMs is the clock reading at which every case begins: 2026-01-01T00:00:00Z. Nothing of a case depends
// on the clock of the machine.
const beginMs = 1_767_225_600_000

// tickMs is how far the clock is set forward with each call.
const tickMs = 1000

// performerAccount is the account that performs the steps. People have accounts of their own.
const performerAccount = config.Account("uid:1000")

// firstPerson is the numeric id of the account of the first person.
const firstPerson = 2001

// player performs one case.
type player struct {
	w     compile.Compiled
	c     workflowtest.Case
	store engine.Store
	e     *engine.Engine
	clock int64

	people map[string]config.Account
	left   map[string][]workflowtest.Answer // the answers that were not taken yet
	visits map[string]int                   // answers that were taken, by step

	now      engine.Answer // the last answer
	path     []string
	shown    map[string]string // the last title and prompt of each step
	found    map[string][]bool // which of the expected texts a prompt of each step had
	blockers []Blocker         // of all attempts that were refused, each once
	refused  []Blocker         // of the last attempt, if it was refused
	implied  []Blocker         // those that people answered with a decision, for the coverage
	warnings []shownWarning    // each once
	status   string
	// stopped says why the run was left before its end, "" if it ended.
	stopped  string
	failures []Failure
}

// shownWarning is a warning of an answer.
type shownWarning struct{ code, message, path string }

// play performs a case. seed makes the ids of the run.
func (t Trial) play(ctx context.Context, c workflowtest.Case, seed int) (*player, error) {
	store := t.Store()
	p := &player{w: t.Workflow, c: c, store: store, e: engine.New(store), clock: beginMs, left: maps.Clone(c.Answers),
		visits: map[string]int{}, shown: map[string]string{}, found: map[string][]bool{}, people: map[string]config.Account{}}
	if err := p.bindPeople(ctx); err != nil {
		return p, err
	}
	begun, err := p.begin(ctx, seed)
	if err != nil || !begun {
		return p, err
	}
	for p.now.Pending != nil && p.stopped == "" && p.takes() {
		if err := p.visit(ctx); err != nil {
			return p, err
		}
	}
	p.unasked()
	return p, nil
}

// takes reports that the run takes attempts.
func (p *player) takes() bool { return !slices.Contains([]string{"failed", "cancelled"}, p.status) }

// caller is the caller of the next call, at the next moment.
func (p *player) caller(kind event.ActorKind, name string, account config.Account) engine.Caller {
	p.clock += tickMs
	return engine.Caller{Actor: event.Actor{Kind: kind, Ref: name}, AtMs: p.clock, Account: account}
}

// bindPeople binds the people of the case to accounts of their own, with each role that the workflow names, if
// the workflow says who approves or how many.
func (p *player) bindPeople(ctx context.Context) error {
	names, roles, most, bind := []string{}, []string{}, 1, false
	for _, id := range workflowtest.StepIDs(p.w) {
		step, _ := p.w.Step(id)
		for _, a := range p.c.Answers[id] {
			names = append(names, a.Decision.By...)
		}
		gate := step.RequireConfirmation
		if gate.Kind == compile.ConfirmApproval {
			roles, most = append(roles, gate.Approvers...), max(most, gate.Count)
			bind = bind || len(gate.Approvers) > 0 || gate.Count > 1
		}
	}
	for i := range most {
		names = append(names, unnamed(i))
	}
	slices.Sort(names)
	slices.Sort(roles)
	principals := canon.OfMembers()
	var words []canon.Value
	for _, r := range slices.Compact(roles) {
		words = append(words, canon.OfString(r))
	}
	for i, name := range slices.Compact(names) {
		uid := firstPerson + i
		p.people[name] = config.AccountOf(uid)
		principals = principals.With(name, canon.OfMembers(canon.Member{Name: "roles", Value: canon.OfList(words...)},
			canon.Member{Name: "uid", Value: canon.OfInt(int64(uid))}))
	}
	if !bind {
		return nil
	}
	s := engine.SettingsOf(p.e)
	change, err := s.PlanSet(ctx, string(config.Principals), string(principals.JCS()))
	if err == nil {
		_, err = s.ChangeConfig(ctx, p.caller(event.Human, unnamed(0), p.people[unnamed(0)]), change)
	}
	return err
}

// unnamed is the name of a person of whom a case gives none.
func unnamed(i int) string { return fmt.Sprintf("person-%d", i+1) }

// begin starts the run. A run that cannot begin is no error: the case may expect it.
func (p *player) begin(ctx context.Context, seed int) (begun bool, err error) {
	var s id.Seed
	binary.BigEndian.PutUint64(s[:], uint64(seed)+1)
	var prefs []event.PreferenceChange
	for _, key := range slices.Sorted(maps.Keys(p.c.Preferences)) {
		prefs = append(prefs, event.PreferenceChange{Key: key, Value: p.c.Preferences[key]})
	}
	a, err := p.e.Start(ctx, p.caller(event.Agent, "", performerAccount), s, engine.Start{Workflow: p.w,
		SourceKind: event.SourceProject, SourceRef: "test", Context: p.c.Context, Preferences: prefs})
	if fault.Is(err, fault.ValidationError) {
		f := fault.Of(err)
		p.status = workflowtest.Unreached
		found, _ := f.Details["blockers"].([]reason.Blocker)
		var all []Blocker
		for _, b := range found {
			all = append(all, blockerOf("", b))
		}
		p.refusedWith(all)
		p.stopped = f.Message
		return false, nil
	}
	if err != nil {
		return false, err
	}
	p.answered(a)
	p.shownNow()
	return true, nil
}

// answered takes an answer of the engine as the current one.
func (p *player) answered(a engine.Answer) {
	p.now, p.status = a, string(a.Status)
	for _, w := range a.Warnings {
		if shown := (shownWarning{string(w.Code), w.Message, w.Path}); !slices.Contains(p.warnings, shown) && len(p.warnings) < limits.TestAnswersMax {
			p.warnings = append(p.warnings, shown)
		}
	}
}

// shownNow records the pending step as shown. Of its prompts the last one is kept: a loop may show many, and
// large ones.
func (p *player) shownNow() {
	at := p.now.Pending
	if at == nil {
		return
	}
	p.path = append(p.path, at.StepID)
	text := at.Title + "\n" + at.Prompt
	p.shown[at.StepID] = text
	wants := p.c.Expect.Prompts[at.StepID]
	if p.found[at.StepID] == nil {
		p.found[at.StepID] = make([]bool, len(wants))
	}
	for i, want := range wants {
		p.found[at.StepID][i] = p.found[at.StepID][i] || strings.Contains(text, want)
	}
}

// refusedWith notes the blockers of an attempt that was refused.
func (p *player) refusedWith(found []Blocker) {
	p.refused = found
	for _, b := range found {
		if !slices.Contains(p.blockers, b) {
			p.blockers = append(p.blockers, b)
		}
	}
}

// visit takes the next answer to the pending step, and hands it in.
func (p *player) visit(ctx context.Context) error {
	id := p.now.Pending.StepID
	answers := p.left[id]
	if len(answers) == 0 {
		p.stopped = fmt.Sprintf("step %q is asked for answer %d, and the case has %d", id, p.visits[id]+1, p.visits[id])
		return nil
	}
	a := answers[0]
	p.left[id] = answers[1:]
	p.visits[id]++
	if a.Unconfirmed {
		p.stopped = fmt.Sprintf("step %q is not confirmed", id)
		return nil
	}
	step, _ := p.w.Step(id)
	node := p.now.NodeID
	h := handIn{player: p, step: step, answer: a}
	err := h.perform(ctx)
	// What the engine refuses of a request is the author's to correct.
	if f := fault.Of(err); err != nil && (fault.Is(err, fault.ValidationError) || fault.Is(err, fault.DecisionRefused) ||
		fault.Is(err, fault.RunWaiting) || fault.Is(err, fault.RunClosed)) {
		p.fail(Failure{What: "answers", Line: a.Line, Message: fmt.Sprintf("answer %d of step %q cannot be recorded: %s", p.visits[id], id, f.Message)})
		p.stopped = "an answer could not be recorded"
		return nil
	}
	if err != nil {
		return err
	}
	if p.now.NodeID != node {
		p.shownNow()
	}
	return nil
}

// fail adds a failure.
func (p *player) fail(f Failure) { p.failures = append(p.failures, f) }

// unasked reports the answers that no step asked for.
func (p *player) unasked() {
	for _, id := range slices.Sorted(maps.Keys(p.left)) {
		for i, a := range p.left[id] {
			n := p.visits[id] + i + 1
			why := "the run ended before"
			if p.visits[id] == 0 {
				why = "the step was not shown"
			}
			if p.stopped != "" {
				why = p.stopped
			}
			p.fail(Failure{What: "answers", Line: a.Line, Message: fmt.Sprintf("answer %d of step %q was never asked for: %s", n, id, why)})
		}
	}
}

// blockerOf is a blocker of a step.
func blockerOf(step string, b reason.Blocker) Blocker {
	return Blocker{Step: step, Code: b.Code, Message: b.Message, about: aboutOf(b)}
}

// onlyPerformer is the performer of a session that nothing else performs.
type onlyPerformer struct{}

// Hold implements ports.Performers.
func (onlyPerformer) Hold(context.Context, id.Session) (ports.Lease, error) {
	return ports.Lease{Release: func() error { return nil }}, nil
}

// waitForApproval reports that all blockers of an attempt for an approval of the step.
func waitForApproval(all []reason.Blocker, stepID string) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(b reason.Blocker) bool {
		return b.Code != reason.BlockerUserOnly || b.Pointer != reason.WorkflowStep(stepID)
	})
}
