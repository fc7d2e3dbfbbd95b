package schema

import (
	"reflect"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/notice"
	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/trial"
	"github.com/waybill/waybill/durable/engine/unattended"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/redrive"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/annotations"
	"github.com/waybill/waybill/projections/diff"
	"github.com/waybill/waybill/projections/runs"
)

// enum is a type that is a closed set, with its values. Their order has no meaning.
type enum struct {
	of     reflect.Type
	values []any
}

// enumOf returns the enum of the type of all. It is called once for each type: inlined it would be most of the package.
//
//go:noinline
func enumOf[S ~string](all ...S) enum {
	e := enum{of: reflect.TypeFor[S]()}
	for _, s := range all {
		e.values = append(e.values, string(s))
	}
	return e
}

// enums are all closed sets; a test compares each with the constants of its type. Like
// stringPatterns it is computed at the first use: most commands need no schema.
var enums = sync.OnceValue(func() map[reflect.Type][]any {
	sets := map[reflect.Type][]any{}
	for _, e := range slices.Concat(eventEnums(), workflowEnums(), learningEnums(), storeEnums(), engineEnums(),
		wireEnums()) {
		sets[e.of] = e.values
	}
	return sets
})

// eventEnums are the sets of events and reasons. Most are members of payloads; docs/format.md
// lists them with their meaning.
func eventEnums() []enum {
	return []enum{
		enumOf(event.Human, event.Agent, event.Engine),
		enumOf(event.Guided, event.FullAutoStopOnUserDeps, event.FullAutoNeverStop),
		enumOf(event.Conservative, event.Balanced, event.Aggressive),
		enumOf(event.SourceBundled, event.SourceUser, event.SourceProject, event.SourceRemote, event.SourcePlugin),
		enumOf(event.Advanced, event.Blocked),
		enumOf(event.Info, event.Warning, event.Critical),
		enumOf(event.ConditionMatchedLoosely, event.OutputUndeclared),
		enumOf(event.Unresolved, event.Resolves),
		enumOf(event.StepNode, event.CheckpointNode, event.BlockedAttemptNode),
		enumOf(event.AckedStepEdge, event.CheckpointEdge),
		enumOf(event.IdempotentReplay, event.IntentionalFork, event.NonTipAdvance, event.CheckpointCreated),
		enumOf(event.Recap, event.Artifact),
		enumOf(event.Approved, event.SentBack, event.Denied),
		enumOf(event.GuardRefused, event.GuardLetGo),
		enumOf(event.Notes, event.ArtifactRef),
		enumOf(event.OutcomeCancelled, event.OutcomeFailed),
		enumOf(event.SelectedNextStep, event.EvaluatedCondition, event.EnteredLoop, event.ExitedLoop,
			event.DetectedNonTipAdvance),
		enumOf(event.ContextInitial, event.ContextAgentDelta, event.ContextMerge),
		enumOf(append(event.DivergenceReasons(), event.ReplayDiverged, event.ReplaySourceMissing)...),
		enumOf(event.ForkModes()...),
		enumOf(event.ReplayDifferences()...),
		enumOf(event.FromUser, event.FromRecommendation, event.FromSystem),
		enumOf(reason.UserOnlyDependency, reason.ContractViolation, reason.CapabilityMissing, reason.Unexpected),
		enumOf(reason.AtContextKey, reason.AtContextBudget, reason.AtOutputContract, reason.AtCapability,
			reason.AtWorkflowStep),
		enumOf(reason.BlockerUserOnly, reason.BlockerMissingOutput, reason.BlockerInvalidOutput,
			reason.BlockerCapabilityUnknown,
			reason.BlockerCapabilityAbsent, reason.BlockerInvariant, reason.BlockerStorage),
	}
}

// learningEnums are the sets of annotations, proposals and redaction.
func learningEnums() []enum {
	return []enum{
		enumOf(feedback.Signals()...),
		enumOf(feedback.Targets()...),
		enumOf(annotations.Current, annotations.Superseded, annotations.Retracted),
		enumOf(proposal.Kinds()...),
		enumOf(proposal.States()...),
		enumOf(proposal.Moves()...),
		enumOf(proposal.ApprovalGate, proposal.DirectRBAC),
		enumOf(redact.Rules()...),
		enumOf(httpkeys.Scopes()...),
	}
}

// workflowEnums are the sets of workflow sources and compiled workflows. Sources have a second
// type here, since a workflow can also be an installed proposal.
func workflowEnums() []enum {
	return []enum{
		enumOf(source.SourceBundled, source.SourceUser, source.SourceProject, source.SourceRemote, source.SourcePlugin,
			source.SourceInstalled),
		enumOf(problem.Error, problem.Warning),
		enumOf(compile.CoordinatorEvalAsConfirmation, compile.ConditionBesideSource, compile.ArgumentUnused),
		enumOf(compile.While, compile.Until, compile.For, compile.ForEach),
		enumOf(compile.ByArtifact, compile.ByContext),
		enumOf(compile.ConfirmNever, compile.ConfirmAlways, compile.ConfirmIf, compile.ConfirmApproval),
		enumOf(compile.Authored, compile.TemplateInjected, compile.FeatureInjected),
		enumOf(compile.ScopeStep, compile.ScopeLoop, compile.ScopeWorkflow),
		enumOf(contract.Any, contract.Text, contract.Integer, contract.Number, contract.Boolean, contract.Array,
			contract.Object, contract.Map),
		enumOf(contract.Date, contract.DateTime, contract.UUID),
		enumOf(catalog.UsesReference, catalog.UsesFeature, catalog.UsesContract, catalog.UsesTemplate, catalog.UsesPrompt,
			catalog.UsesMetrics, catalog.UsesBinding),
		enumOf(trial.Runs, trial.Passed, trial.Leaves, trial.Skips, trial.Repeats, trial.Exceeded),
	}
}

// storeEnums are the sets of logs, control files and faults.
func storeEnums() []enum {
	var keys []config.Key
	for _, row := range config.Table {
		keys = append(keys, row.Key)
	}
	var codes []fault.Code
	for _, row := range fault.Table {
		codes = append(codes, row.Code)
	}
	return []enum{
		enumOf(keys...),
		// Verdicts over logs: health, severity and the codes of findings.
		enumOf(manifest.Healthy, manifest.CorruptTail, manifest.CorruptHead, manifest.UnknownVersion),
		enumOf(manifest.SeverityError, manifest.SeverityWarn),
		enumOf(manifest.UncommittedTail, manifest.OrphanSegment, manifest.UnknownEvents, manifest.ManifestDamaged,
			manifest.SegmentMissing,
			manifest.SegmentDamaged, manifest.LostTail, manifest.ObjectMissing, manifest.ObjectDamaged,
			manifest.DuplicateKey, manifest.EventIDMismatch,
			manifest.BrokenReference, manifest.LooseMode, manifest.UnknownFile, manifest.OrphanObject,
			manifest.SuspectMarker, manifest.ControlDamaged,
			manifest.ArtifactErased, manifest.AuditIncomplete, manifest.AuditUnfounded, manifest.AuditSessionMissing,
			manifest.ControlMissing,
			manifest.SourceRunMissing, manifest.PolicyUnconfirmed, manifest.PolicyUnrecorded,
			manifest.PolicyMismatch, manifest.SignatureInvalid, manifest.SignatureMissing),
		enumOf(manifest.ObjectKinds()...),
		// Snapshots, the audit log and repairs.
		enumOf(snapshot.Running, snapshot.Complete),
		enumOf(audit.Actions()...),
		enumOf(audit.OfStore, audit.OfSession, audit.OfRun, audit.OfArtifact, audit.OfWorkflow, audit.OfKeyring,
			audit.OfProposal),
		enumOf(audit.Succeeded, audit.Failed, audit.Open),
		enumOf(ports.MoveToQuarantine, ports.KeepPrefix),
		// Views.
		enumOf(views.Stdout, views.Stderr, views.BothStreams),
		enumOf(views.ArtifactStored, views.ArtifactErased, views.ArtifactForeign),
		enumOf(views.JSONContent, views.TextContent, views.BinaryContent),
		// Faults.
		enumOf(codes...),
		enumOf(fault.NotRetryable, fault.RetryableImmediate, fault.RetryableAfterMs),
		// Retention and the checks of doctor.
		enumOf(retention.Reasons...),
		enumOf(doctor.OK, doctor.Warn, doctor.Fail),
		enumOf(doctor.CheckBinary, doctor.CheckStore, doctor.CheckDatabase, doctor.CheckRights, doctor.CheckDurability, doctor.CheckOwner, doctor.CheckWrite, doctor.CheckLocks,
			doctor.CheckRename, doctor.CheckSync, doctor.CheckFilesystem, doctor.CheckSpace, doctor.CheckPrivacy,
			doctor.CheckClock, doctor.CheckKeyring, doctor.CheckSettings, doctor.CheckVerify, doctor.CheckLeftovers,
			doctor.CheckWorkflows, doctor.CheckGit, doctor.CheckTerminal),
	}
}

// engineEnums are the sets of answers of the engine.
func engineEnums() []enum {
	return []enum{
		// Status of runs, nextIntent, warnings and the state of the keyring.
		enumOf(lists.Statuses()...),
		enumOf(engine.PerformThenContinue, engine.AwaitConfirmation, engine.RehydrateOnly, engine.CompleteIntent),
		enumOf(warning.ReplayDiffers, warning.NotConfirmed, warning.NotesTruncated, warning.VariableAbsent, warning.TextTruncated,
			warning.CompiledWarning, warning.ObservationsDropped, warning.ConditionMatchedLoosely, warning.OutputUndeclared,
			warning.RefusedRepeatedly, warning.RecommendationExceeded,
			warning.CheckedElsewhere, warning.SecretSuspected,
			warning.WorkflowDrifted, warning.WorkflowIDLegacy, warning.WorkflowAliasUsed),
		enumOf(upkeep.KeysReady, upkeep.KeysMissing, upkeep.KeysUnusable),
		enumOf(runs.PreferenceOfNode, runs.PreferenceOfWorkflow, runs.PreferenceOfSession, runs.PreferenceOfFork,
			runs.PreferenceOfStore, runs.PreferenceByDefault),
		// Steps, results of imports, of verified heads and of repairs.
		enumOf(inbox.Kinds()...),
		enumOf(notice.Failed, notice.Approval, notice.Question, notice.Confirmation, notice.Blocked, notice.Wait,
			notice.Complete),
		enumOf(lists.Parts()...),
		enumOf(report.OfSteps, report.OfTimeline, report.OfGraph, report.OfAnnotations, report.OfSegments, report.OfTexts),
		enumOf(report.NotDecided, report.AccountsDiffer, report.SameAccount, report.KindsDiffer, report.NamesDiffer,
			report.SameName, report.NotRecorded),
		enumOf(lists.ByStatus, lists.ByWorkflow, lists.ByTitle, lists.ByBranch, lists.ByLabel, lists.ByText, lists.BySince),
		enumOf(unattended.DueComplete, unattended.DueWaiting, unattended.DueFailed, unattended.DueBusy, unattended.DueSkipped),
		enumOf(unattended.WorkEvents()...), enumOf(unattended.WorkOutcomes()...),
		enumOf(host.Completed, host.Failed, host.Waiting),
		enumOf(views.StepDone, views.StepPending, views.StepSkipped, views.StepToCome),
		enumOf(diff.OfStep, diff.OfOutcome, diff.OfOutputs, diff.OfContext),
		enumOf(diff.Done, diff.DoneWithGaps, diff.Pending, diff.Blocked, diff.Complete, diff.CompleteWithGaps, diff.Paused,
			diff.Cancelling, diff.Cancelled, diff.Failed),
		enumOf(travel.NewSession, travel.Same, travel.FastForward, travel.Ahead, travel.Diverged, travel.Behind),
		enumOf(verify.HeadSame, verify.HeadAhead, verify.HeadOther),
		enumOf(upkeep.Repairable, upkeep.NotNeeded, upkeep.Elsewhere, upkeep.Impossible),
		// Re-executed inputs, and why a run matches a search.
		enumOf(redrive.Start, redrive.Fork, redrive.Ack, redrive.Checkpoint, redrive.Approve, redrive.Cancel,
			redrive.Close, redrive.Pause, redrive.Resume, redrive.Turn, redrive.RunEvent, redrive.Depart, redrive.HandOver, redrive.Reclaim,
			redrive.Unknown),
		enumOf(resume.MatchedSessionID, resume.MatchedRunID, resume.MatchedHeadSHA, resume.MatchedBranch,
			resume.MatchedNotes, resume.MatchedWorkflowID, resume.RecencyFallback),
		enumOf(resume.InTitle, resume.InGoal, resume.InNotes, resume.InCheckpoint),
	}
}

// wireEnums are the sets of the OpenWOP protocol.
func wireEnums() []enum {
	return []enum{
		enumOf(openwop.Pending, openwop.Running, openwop.Paused, openwop.WaitingApproval, openwop.WaitingInput,
			openwop.WaitingExternal, openwop.Completed, openwop.Failed, openwop.Cancelling, openwop.Cancelled),
		enumOf(openwop.NodeIsRunning, openwop.NodeIsSuspended, openwop.NodeIsCompleted, openwop.NodeIsFailed,
			openwop.NodeIsCancelled),
		enumOf(openwop.ErrValidation, openwop.ErrUnauthenticated, openwop.ErrForbidden, openwop.ErrRunNotFound,
			openwop.ErrNotFound, openwop.ErrMethodNotAllowed, openwop.ErrConflict, openwop.ErrIdempotencyMismatch,
			openwop.ErrIdempotencyInFlight, openwop.ErrForceForbidden, openwop.ErrForceUnsupported, openwop.ErrTooLarge, openwop.ErrUnprocessable,
			openwop.ErrUnsupportedStreamMode, openwop.ErrUnsupportedMedia, openwop.ErrCapabilityNotProvided,
			openwop.ErrCapabilityRequired, openwop.ErrInterruptNotFound, openwop.ErrInterruptResolved,
			openwop.ErrInterruptExpired, openwop.ErrCorrelationMismatch, openwop.ErrUnavailable, openwop.ErrTooManyRequests, openwop.ErrInternal,
			openwop.ErrInvalidArgument, openwop.ErrUsageLeak, openwop.ErrReliabilityLeak, openwop.ErrMockForbidden, openwop.ErrMockUnsupported),
	}
}

// stringPatterns are the regular expressions of types that are encoded as strings of one form.
//
// They match exactly what the types accept: a schema must not accept a document that a reader
// refuses.
var stringPatterns = sync.OnceValue(func() map[reflect.Type]string {
	return map[reflect.Type]string{
		reflect.TypeFor[canon.Digest]():      DigestForm,
		reflect.TypeFor[openwop.EventType](): "^[a-z][A-Za-z0-9_-]*([.][A-Za-z0-9_-]+)+$",
		reflect.TypeFor[config.Account]():    "^uid:(0|[1-9][0-9]{0,9})$",
		reflect.TypeFor[id.Session]():        IDForm("sess"),
		reflect.TypeFor[id.Run]():            IDForm("run"),
		reflect.TypeFor[id.Node]():           IDForm("node"),
		reflect.TypeFor[id.Event]():          IDForm("evt"),
		reflect.TypeFor[id.Attempt]():        IDForm("attempt"),
		reflect.TypeFor[id.Output]():         IDForm("out"),
		reflect.TypeFor[id.Gap]():            IDForm("gap"),
		reflect.TypeFor[id.Change]():         IDForm("chg"),
		reflect.TypeFor[id.Trace]():          IDForm("trace"),
		reflect.TypeFor[id.CapObs]():         IDForm("capobs"),
		reflect.TypeFor[id.Divergence]():     IDForm("div"),
		reflect.TypeFor[id.Context]():        IDForm("ctx"),
		reflect.TypeFor[id.Annotation]():     IDForm("ann"),
		reflect.TypeFor[id.Proposal]():       IDForm("prop"),
		reflect.TypeFor[id.Bundle]():         IDForm("bundle"),
		reflect.TypeFor[id.Store]():          IDForm("store"),
	}
})

// DigestForm matches a digest (docs/design.md#hashes).
const DigestForm = "^sha256:[0-9a-f]{64}$"

// IDForm matches an id with the prefix: 16 bytes in base32, of which the last letter has only two
// significant bits (docs/design.md#ids).
func IDForm(prefix string) string { return "^" + prefix + "_[a-z2-7]{25}[aeimquy4]$" }
