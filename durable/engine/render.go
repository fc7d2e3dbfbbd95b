package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/projections/runs"
)

// Answers collects what is recorded at a node: as an answer, and as the inputs of
// a decision.
type Answers struct {
	*session.Reader
	ledger    *ledger.Ledger
	described described
}

// AnswerAt renders a position: a pure function of the pinned workflow and the
// fold. The caller has brought the fold to the prefix that the answer describes
// (docs/design.md#answers).
func (n *Answers) AnswerAt(ctx context.Context, keys token.Keys, p session.Resolved) (Answer, error) {
	a, err := n.ShownAt(ctx, p)
	if err == nil {
		a.sign(keys.Current, p.TakesFacts() == nil)
	}
	return a, err
}

// ShownAt is AnswerAt without tokens and without the next call, for use cases that only display what was shown.
func (n *Answers) ShownAt(ctx context.Context, p session.Resolved) (Answer, error) {
	w, s, err := n.Load(ctx, p)
	if err != nil {
		return Answer{}, err
	}
	status, err := n.status(ctx, w, p.Run)
	if err != nil {
		return Answer{}, err
	}
	done, err := n.StepsDone(ctx, w, p.Run, p.Node)
	if err != nil {
		return Answer{}, err
	}
	sessionID, err := id.ParseSession(p.Fold.ID)
	if err != nil {
		return Answer{}, fault.Wrap(err, fault.Invariant, "the log's owner is no session id")
	}
	a := Answer{
		Session: SessionRef{sessionID, p.Run.ID}, NodeID: p.Node.ID, Status: status, IsComplete: s.IsComplete(),
		Paused:      session.PausedOf(p.Run),
		Workflow:    WorkflowRef{w.WorkflowID, w.Name, w.Hash(), n.Origins.SourceOf(ctx, sessionID, p.Run.Started)},
		Preferences: p.Node.Preferences, Warnings: []warning.Warning{}, PreferenceSources: p.Node.Sources, stepsDone: done,
		left: p.Node.AckedChildren > 0, vars: p.Node.Context, compiled: w.CompiledWarnings,
		SourceKind: p.Run.Started.WorkflowSourceKind, SourceRef: p.Run.Started.WorkflowSourceRef,
	}
	if a.approval, err = n.approvalAt(ctx, w, p, s); err != nil {
		return Answer{}, err
	}
	if a.results, err = n.resultsBefore(ctx, w, p); err != nil {
		return Answer{}, err
	}
	a.around.Choices, err = n.Choices(ctx, w, p, s)
	if err != nil && !fault.Is(err, fault.ArtifactErased) {
		return Answer{}, err
	}
	hosted, err := n.hostAt(ctx, w, s, p.Node)
	if err != nil {
		return Answer{}, err
	}
	if err := a.setPending(w, p, s, hosted); err != nil {
		return Answer{}, err
	}
	if a.Result, err = n.commandResult(ctx, a, p.Node); err != nil {
		return Answer{}, err
	}
	return a, nil
}

// commandResult returns the result that is recorded at the node of a pending
// command, for the reader of a blocked answer: nil without one, and for one that
// was erased or is none.
func (n *Answers) commandResult(ctx context.Context, a Answer, at *runs.Node) (*command.Brief, error) {
	for _, o := range slices.Backward(at.Outputs) {
		if !a.isCommand || o.Payload.ArtifactKind != command.Kind || !at.OfBranch(o) {
			continue
		}
		v, err := n.Artifact(ctx, o.Payload.SHA256)
		if fault.Is(err, fault.ArtifactErased) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		r, err := command.Decode(v)
		if err != nil {
			return nil, nil
		}
		brief := r.Brief(limits.ResultTailBytesMax)
		return &brief, nil
	}
	return nil, nil
}

// status is the status of a run at its preferred tip
// (docs/design.md#run-status).
func (n *Answers) status(ctx context.Context, w compile.Compiled, run *runs.Run) (runs.Status, error) {
	tip := run.Node(run.Tip)
	if tip == nil {
		return "", fault.New(fault.Invariant, "run %s has no tip", run.ID)
	}
	s, err := n.State(ctx, tip)
	if err != nil {
		return "", err
	}
	return run.StatusAt(tip.ID, session.TipState(w, tip, s)), nil
}

// setPending sets the pending step, its rendered prompt and the next intent.
// Without a pending step the run is complete.
func (a *Answer) setPending(w compile.Compiled, p session.Resolved, s snapshot.State, hosted *PendingHost) error {
	pending := s.PendingStep()
	if pending == nil {
		a.NextIntent = CompleteIntent
		a.warnTruncation(p)
		return nil
	}
	step, ok := w.Step(pending.StepID)
	if !ok {
		return fault.New(fault.Invariant, "the pinned workflow has no step %q, which the node's snapshot names",
			pending.StepID)
	}
	vars := interpreter.Variables(w, s, p.Node.Context)
	// The preamble is shown once, with the first step of the run.
	a.around.First, a.around.Capabilities = p.Node.Parent == nil, p.Node.Capabilities
	a.around.Results = prompt.Results(a.results.list, a.results.more, limits.ResultsBytesMax)
	if a.approval.required {
		a.around.Approval, a.around.Feedback = a.approval.promptApproval(p.Run.ID.String()), a.approval.feedback()
	}
	waits := WaitAt(w, s, p.Node)
	if waits != nil && waits.Unset == "" {
		a.around.Wait = prompt.Wait(p.Run.ID.String(), event.TimeText(waits.UntilMs))
	}
	needed := choices.Needed(w, step, vars, a.around.Choices)
	byHost := hosted != nil && len(needed) == 0
	text := prompt.Render(w, step, vars, a.around)
	title := a.heading(step, vars)
	// Absent variables are rendered visibly; the warning names them.
	for _, missing := range text.Warnings {
		a.Warnings = append(a.Warnings, warning.Warning{Code: warning.VariableAbsent, Message: missing})
	}
	a.Pending = &Pending{StepID: step.StepID, StepInstanceKey: pending.Key(),
		Title: title, Prompt: text.Prompt, RequireConfirmation: a.approval.confirmation(w, s, p.Node),
		Approval: PendingApprovalOf(a.approval.states), Wait: waits, Host: hosted}
	if text.Truncated {
		a.Warnings = append(a.Warnings, warning.Warning{Code: warning.TextTruncated, Message: fmt.Sprintf(
			"The prompt is longer than %d bytes with its values; the longest values are cut. Read them with the "+
				"commands of the run.", limits.PromptBytesMax)})
	}
	// A closed run takes no attempts, even for a step that needs confirmation.
	switch {
	case p.TakesFacts() != nil, p.Run.Paused(), waits != nil && waits.Unset == "":
		a.NextIntent = RehydrateOnly
	case a.Pending.AwaitsGuided(), a.approval.required && !a.approval.given:
		a.NextIntent = AwaitConfirmation
	case byHost:
		a.NextIntent = RehydrateOnly
	default:
		a.NextIntent = PerformThenContinue
	}
	if a.NextIntent != RehydrateOnly {
		a.warnRefused(p)
	}
	a.checkpoints = p.Run.CheckpointsAt(p.Node)
	a.AttemptID, a.CheckpointID = p.Node.NextAttempt(), NextCheckpoint(p.Node)
	a.Pending.OutputContract = contractOf(w, step)
	a.isCommand = step.Action != nil || waits != nil && waits.Unset == "" || byHost
	if c := a.Pending.OutputContract; c != nil && c.Required {
		a.artifactKinds = []string{c.ArtifactKind}
	}
	if len(step.AssessmentRefs) > 0 && !slices.Contains(a.artifactKinds, contract.AssessmentKind) {
		a.artifactKinds = append(a.artifactKinds, contract.AssessmentKind)
	}
	a.needed = needed
	a.collectInputs(needed, p.Node, vars)
	if waits != nil && waits.Unset != "" && !slices.Contains(a.missingInputs, waits.Unset) {
		a.missingInputs = append(a.missingInputs, waits.Unset)
	}
	a.warnTruncation(p)
	a.warnRecommendation(w, p)
	return nil
}

// heading returns the title of a step with its values, and adds the warnings about it.
func (a *Answer) heading(step compile.Step, vars canon.Value) string {
	h := prompt.Title(step.Title, vars)
	for _, missing := range h.Warnings {
		a.Warnings = append(a.Warnings, warning.Warning{Code: warning.VariableAbsent, Message: missing})
	}
	if h.Truncated {
		a.Warnings = append(a.Warnings, warning.Warning{Code: warning.TextTruncated, Message: fmt.Sprintf(
			"The title is longer than %d bytes with its values; the longest values are cut.", limits.StepTitleBytesMax)})
	}
	return h.Text
}

// contractOf describes a step's output contract, nil where it has none.
func contractOf(w compile.Compiled, step compile.Step) *OutputContract {
	c := step.OutputContract
	if c == nil {
		return nil
	}
	pack, _ := w.Contract(c.ContractRef)
	return &OutputContract{ContractRef: c.ContractRef, ArtifactKind: pack.ArtifactKind, Required: c.Required,
		Example: pack.For(step.Probe).Example}
}

// collectInputs collects the context keys that the step waits for: declared
// inputs without a value that is accepted, and keys that a refused attempt lacked, such as the list
// that the next loop iterates over.
func (a *Answer) collectInputs(needed []choices.Input, n *runs.Node, vars canon.Value) {
	for _, in := range needed[:min(len(needed), limits.InputsShownMax)] {
		a.missingInputs = append(a.missingInputs, in.ContextKey)
	}
	for _, gap := range n.OpenGaps {
		if gap.Pointer == nil || gap.Pointer.Kind != reason.AtContextKey ||
			len(a.missingInputs) >= limits.InputsShownMax || slices.Contains(a.missingInputs, gap.Pointer.Key) {
			continue
		}
		// A key that has a value by now is not requested again.
		if v, _ := condition.Lookup(vars, gap.Pointer.Key); v.IsNull() {
			a.missingInputs = append(a.missingInputs, gap.Pointer.Key)
		}
	}
}

// warnRecommendation warns about preferences that exceed what the workflow
// recommends. They are the user's choice and never refused
// (docs/design.md#preferences).
func (a *Answer) warnRecommendation(w compile.Compiled, p session.Resolved) {
	for _, e := range advance.Exceeds(w, p.Node.Preferences) {
		a.Warnings = append(a.Warnings, warning.Warning{Code: warning.RecommendationExceeded,
			Message: fmt.Sprintf("The run's %s is %s; the workflow recommends %s at most.", e.Key, e.Effective, e.Recommended)})
	}
}

// warnRefused warns when the last attempts at the node were all refused. The count is a
// function of the log's prefix; nothing is closed, since only a person can know whether the
// step can still succeed (docs/design.md#blocked-attempts).
func (a *Answer) warnRefused(p session.Resolved) {
	count := 0
	for _, attempt := range slices.Backward(p.Node.Attempts) {
		if attempt.Outcome.Kind != event.Blocked {
			break
		}
		count++
	}
	if count < limits.RefusalsInARow {
		return
	}
	run := p.Run.ID.String()
	ways := []fault.Suggestion{fault.Suggest("read the reasons (%s)", fault.Command{"runs", "show", run})}
	if slices.ContainsFunc(p.Node.OpenGaps, func(g runs.Gap) bool { return g.Reason == reason.NeedsApproval }) {
		ways = append(ways, fault.Suggest("approve the step (%s)", fault.Command{"approve", run}))
	}
	if p.Node.Parent != nil {
		ways = append(ways, fault.Suggest("try the step before in a new run (%s)",
			fault.Command{"fork", run, "--at", p.Node.Parent.String()}))
	}
	ways = append(ways, fault.Suggest("end the run (%s)", fault.Command{"runs", "cancel", run}))
	text := fault.Suggestion{Format: "The last %d attempts at this step were refused. Ask the user, who can ",
		Args: []any{count}}
	for _, way := range ways {
		text.Format, text.Args = text.Format+"%s, ", append(text.Args, way)
	}
	text.Format += "or hand in what is missing."
	refused := warning.Suggest(warning.RefusedRepeatedly, text)
	refused.Count = count
	a.Warnings = append(a.Warnings, refused)
}

// warnTruncation warns that notes of this node or its parent are shown cut, and
// says how to read them whole. In a log of an older version they were not kept:
// it records the cut by the marker at the end of the notes, which the engine
// alone appends.
func (a *Answer) warnTruncation(p session.Resolved) {
	for _, n := range []*runs.Node{p.Node, parentOf(p)} {
		if n == nil {
			continue
		}
		o, ok := n.Recap()
		if !ok || !strings.HasSuffix(o.Payload.NotesMarkdown, limits.TruncationMarker) {
			continue
		}
		message := fmt.Sprintf("The notes at node %s were longer than %d bytes and are cut; keep long texts in files.",
			n.ID, limits.NotesBytesMax)
		if whole, ok := n.WholeNotes(); ok {
			message = fmt.Sprintf("The notes at node %s have %d bytes: prompts show the first %d, and all of them are "+
				"kept; %s prints them.", n.ID, whole.Payload.ByteLength, limits.NotesBytesMax,
				fault.Command{"artifacts", "get", whole.Payload.SHA256.String()})
		}
		a.Warnings = append(a.Warnings, warning.Warning{Code: warning.NotesTruncated, Message: message})
	}
}

// parentOf is the parent of the node in the same run as the path left it, nil at the root.
func parentOf(p session.Resolved) *runs.Node { return p.Run.Before(p.Node) }

// sign adds the tokens and the next call. An answer about a run that takes no
// attempts has only a state token, and that of a paused one how it is resumed.
func (a *Answer) sign(key token.Key, open bool) {
	a.StateToken = token.MintState(key, token.State{SessionID: a.Session.SessionID, RunID: a.Session.RunID,
		NodeID: a.NodeID, WorkflowHash: a.Workflow.WorkflowHash})
	if a.Pending == nil || !open {
		return
	}
	if a.Status == runs.Paused {
		a.Next = &Next{Command: []string{"waybill", "runs", "resume", a.Session.RunID.String()}, Tool: "continue_workflow",
			Params: map[string]any{"stateToken": a.StateToken}}
		return
	}
	// Ack and checkpoint token name the same node with different ids.
	attempt := token.Attempt{SessionID: a.Session.SessionID, RunID: a.Session.RunID, NodeID: a.NodeID,
		AttemptID: a.AttemptID}
	a.AckToken = token.MintAck(key, attempt)
	attempt.AttemptID = a.CheckpointID
	a.CheckpointToken = token.MintCheckpoint(key, attempt)
	a.Next = a.nextCall()
}

// nextCall is the complete call for the pending step, with placeholders for
// what the caller has to supply.
func (a *Answer) nextCall() *Next {
	command := []string{"waybill", "continue", "--state", a.StateToken, "--ack", a.AckToken}
	params := map[string]any{"stateToken": a.StateToken, "ackToken": a.AckToken}
	if !a.approval.submitted {
		command = append(command, "--notes", "…")
		output := map[string]any{"notesMarkdown": "…"}
		// Of an artifact only the kind is filled in: an example that is copied
		// unread would be accepted as an answer.
		var artifacts []any
		for _, kind := range a.artifactKinds {
			command = append(command, "--artifact", "FILE")
			artifacts = append(artifacts, map[string]any{"kind": kind})
		}
		if artifacts != nil {
			output["artifacts"] = artifacts
		}
		params["output"] = output
	}
	if a.isCommand && a.Pending.Host != nil {
		command = []string{"waybill", "serve"}
		return &Next{Command: command, Tool: "continue_workflow", Params: map[string]any{"stateToken": a.StateToken}}
	}
	if a.isCommand {
		// Only 'waybill run' performs commands; the tool call can only read the
		// step.
		command = []string{"waybill", "run", "--run", a.Session.RunID.String()}
		if a.left {
			command = append(command, "--at", a.NodeID.String())
		}
		params = map[string]any{"stateToken": a.StateToken}
	}
	given := map[string]any{}
	for _, key := range a.missingInputs {
		command = append(command, "--set", key+"=…")
		given[key] = "…"
	}
	if len(given) > 0 && !a.isCommand {
		params["context"] = given
	}
	return &Next{Command: command, Tool: "continue_workflow", Params: params}
}

// warnReplay warns when a repeated attempt carries other content than the
// recorded one (docs/design.md#answers).
func (a *Answer) warnReplay(recorded, sent canon.Digest) {
	if !recorded.IsZero() && recorded != sent {
		a.warnDiffers("This attempt is recorded with other content; the recorded answer is returned and nothing was " +
			"stored.")
	}
}

// warnDiffers adds a REPLAY_DIFFERS warning.
func (a *Answer) warnDiffers(message string) {
	a.Warnings = append(a.Warnings, warning.Warning{Code: warning.ReplayDiffers, Message: message})
}

// warnRecorded adds the warnings that are recorded with an attempt or a start.
func (a *Answer) warnRecorded(list []event.DecisionWarning) {
	for _, w := range list {
		a.Warnings = append(a.Warnings, warning.Recorded(w))
	}
}

// answerOutcome renders the answer to a recorded attempt over the fold that
// ends with it: at the node it led to, or at the same node with the blockers.
// req is what the caller sent.
func (n *Answers) answerOutcome(ctx context.Context, keys token.Keys, p session.Resolved, done runs.Attempt,
	req advance.Request) (Answer, error) {
	o, digest := done.Outcome, req.Digest()
	results, err := n.LastChecks(ctx, p.Node)
	if err != nil {
		return Answer{}, err
	}
	if o.Kind == event.Advanced {
		child := p.Run.Node(*o.ToNodeID)
		if child == nil {
			return Answer{}, fault.New(fault.Invariant,
				"attempt recorded as advanced to node %s, which does not exist", o.ToNodeID)
		}
		p = p.AtNode(child)
	}
	a, err := n.AnswerAt(ctx, keys, p)
	if err != nil {
		return a, err
	}
	if o.Kind == event.Blocked {
		a.Blockers = check.Answered(o.Blockers.Blockers, results, a.Workflow.WorkflowHash)
	}
	a.warnRecorded(done.Warnings)
	a.warnElsewhere(results, session.StartedIn(p.Fold))
	call := warning.Call{Origin: id.FromAttempt(done.ID, id.OpAck)}
	if done.Request == digest {
		call.Request = req
	}
	err = n.warnSecrets(ctx, &a, p.Fold, call)
	// A repeated attempt with other content is answered, not refused.
	a.warnReplay(done.Request, digest)
	return a, err
}

// warnSecrets warns of secrets in what a call recorded, whose segment is the last one of the fold.
func (n *Answers) warnSecrets(ctx context.Context, a *Answer, f *runs.Fold, c warning.Call) error {
	found, err := warning.Secrets(ctx, n, a.Session.RunID, f.LastSegment(), c)
	a.Warnings = append(a.Warnings, found...)
	return err
}

// warnElsewhere warns of checks that ran in another folder than the run was started in. Runs travel, so
// that it is no reason to refuse the attempt; but the work that was checked is another one then.
func (a *Answer) warnElsewhere(results []check.Result, started canon.Digest) {
	for _, r := range results {
		if r.Elsewhere(started) {
			a.Warnings = append(a.Warnings, warning.Warning{Code: warning.CheckedElsewhere,
				Message: fmt.Sprintf("Check %q ran in another folder than the run was started in.", r.CheckID)})
		}
	}
}

// confirmation returns what the pending step waits for. A step that a person
// approves is not confirmed as well.
func (a approval) confirmation(w compile.Compiled, s snapshot.State, n *runs.Node) Confirmation {
	if a.required {
		return HumanApproval{compile.ConfirmApproval, a.given}
	}
	// Only the guided mode waits; the attempt that follows is the confirmation
	// (docs/design.md#requirements-on-the-caller).
	return GuidedConfirmation(n.Preferences.Autonomy == event.Guided && interpreter.NeedsConfirmation(w, s, n.Context))
}
