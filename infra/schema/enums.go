package schema

import (
	"reflect"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/redrive"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/annotations"
)

// enums are the values of the types that are closed sets; a test compares each with the constants
// of its type. Like stringPatterns it is computed at the first use: most commands need no schema.
//
// The order of the values of a type has no meaning.
var enums = sync.OnceValue(func() map[reflect.Type][]string {
	sets := sets{}
	addEventEnums(sets)
	addWorkflowEnums(sets)
	// Verdicts over logs: health, severity and the codes of findings.
	add(sets, manifest.Healthy, manifest.CorruptTail, manifest.CorruptHead, manifest.UnknownVersion)
	add(sets, manifest.SeverityError, manifest.SeverityWarn)
	add(sets, manifest.UncommittedTail, manifest.OrphanSegment, manifest.UnknownEvents, manifest.ManifestDamaged,
		manifest.SegmentMissing,
		manifest.SegmentDamaged, manifest.LostTail, manifest.ObjectMissing, manifest.ObjectDamaged,
		manifest.DuplicateKey, manifest.EventIDMismatch,
		manifest.BrokenReference, manifest.LooseMode, manifest.UnknownFile, manifest.OrphanObject,
		manifest.SuspectMarker, manifest.ControlDamaged,
		manifest.ArtifactErased, manifest.AuditIncomplete, manifest.AuditUnfounded, manifest.AuditSessionMissing,
		manifest.ControlMissing,
		manifest.SourceRunMissing)
	add(sets, manifest.ObjectKinds()...)
	// Snapshots, the audit log and repairs.
	add(sets, snapshot.Running, snapshot.Complete)
	add(sets, audit.Actions()...)
	add(sets, audit.OfStore, audit.OfSession, audit.OfRun, audit.OfArtifact, audit.OfWorkflow, audit.OfKeyring,
		audit.OfProposal)
	add(sets, audit.Succeeded, audit.Failed, audit.Open)
	add(sets, ports.MoveToQuarantine, ports.KeepPrefix)
	// Faults.
	add(sets, faultCodes()...)
	add(sets, fault.NotRetryable, fault.RetryableImmediate, fault.RetryableAfterMs)
	// Answers of the engine: status of runs, nextIntent, warnings and the state of the keyring.
	add(sets, views.Statuses()...)
	add(sets, engine.PerformThenContinue, engine.AwaitConfirmation, engine.RehydrateOnly, engine.CompleteIntent)
	add(sets, engine.ReplayDiffers, engine.NotesTruncated, engine.VariableAbsent, engine.CompiledWarning,
		engine.ObservationsDropped,
		engine.RecommendationExceeded)
	add(sets, upkeep.KeysReady, upkeep.KeysMissing, upkeep.KeysUnusable)
	addLearningEnums(sets)
	// Steps, results of imports, of verified heads and of repairs.
	add(sets, views.StepDone, views.StepPending, views.StepSkipped, views.StepToCome)
	add(sets, travel.Imported, travel.ImportedAsNew, travel.Same, travel.Ahead, travel.Behind, "diverged")
	add(sets, verify.HeadSame, verify.HeadAhead, verify.HeadOther)
	add(sets, upkeep.Repairable, upkeep.NotNeeded, upkeep.Elsewhere, upkeep.Impossible)
	// Re-executed inputs, and why a run matches a search.
	add(sets, redrive.Start, redrive.Fork, redrive.Ack, redrive.Checkpoint, redrive.Approve, redrive.Cancel,
		redrive.Close, redrive.Unknown)
	add(sets, resume.MatchedSessionID, resume.MatchedRunID, resume.MatchedHeadSHA, resume.MatchedBranch,
		resume.MatchedNotes,
		resume.MatchedWorkflowID, resume.RecencyFallback)
	// Retention, the checks of doctor and the keys of config.json.
	add(sets, retention.Reasons...)
	add(sets, doctor.OK, doctor.Warn, doctor.Fail)
	add(sets, doctor.CheckBinary, doctor.CheckStore, doctor.CheckOwner, doctor.CheckWrite, doctor.CheckLocks,
		doctor.CheckRename, doctor.CheckSync,
		doctor.CheckFilesystem, doctor.CheckSpace, doctor.CheckPrivacy, doctor.CheckClock, doctor.CheckKeyring,
		doctor.CheckSettings,
		doctor.CheckVerify, doctor.CheckLeftovers, doctor.CheckWorkflows, doctor.CheckGit, doctor.CheckTerminal)
	for _, row := range config.Table {
		add(sets, row.Key)
	}
	return sets
})

// sets maps a string type to its values.
type sets map[reflect.Type][]string

// add appends values to the set of their type.
func add[S ~string](to sets, all ...S) {
	for _, s := range all {
		to[reflect.TypeFor[S]()] = append(to[reflect.TypeFor[S]()], string(s))
	}
}

// addEventEnums adds the sets of events and reasons.
//
// Most are members of payloads; docs/format.md lists them with their meaning.
func addEventEnums(to sets) {
	add(to, event.Human, event.Agent, event.Engine)
	add(to, event.Guided, event.FullAutoStopOnUserDeps, event.FullAutoNeverStop)
	add(to, event.Conservative, event.Balanced, event.Aggressive)
	add(to, event.SourceBundled, event.SourceUser, event.SourceProject, event.SourceRemote, event.SourcePlugin)
	add(to, event.Advanced, event.Blocked)
	add(to, event.Info, event.Warning, event.Critical)
	add(to, event.Unresolved, event.Resolves)
	add(to, event.StepNode, event.CheckpointNode, event.BlockedAttemptNode)
	add(to, event.AckedStepEdge, event.CheckpointEdge)
	add(to, event.IdempotentReplay, event.IntentionalFork, event.NonTipAdvance, event.CheckpointCreated)
	add(to, event.Recap, event.Artifact)
	add(to, event.Notes, event.ArtifactRef)
	add(to, event.OutcomeCancelled, event.OutcomeFailed)
	add(to, event.SelectedNextStep, event.EvaluatedCondition, event.EnteredLoop, event.ExitedLoop,
		event.DetectedNonTipAdvance)
	add(to, event.ContextInitial, event.ContextAgentDelta, event.ContextMerge)
	add(to, event.DivergenceReasons()...)
	add(to, event.FromUser, event.FromRecommendation, event.FromSystem)
	add(to, reason.UserOnlyDependency, reason.ContractViolation, reason.CapabilityMissing, reason.Unexpected)
	add(to, reason.AtContextKey, reason.AtContextBudget, reason.AtOutputContract, reason.AtCapability,
		reason.AtWorkflowStep)
	add(to, reason.BlockerUserOnly, reason.BlockerMissingOutput, reason.BlockerInvalidOutput,
		reason.BlockerCapabilityUnknown,
		reason.BlockerCapabilityAbsent, reason.BlockerInvariant, reason.BlockerStorage)
}

// addLearningEnums adds the sets of annotations, proposals and redaction.
func addLearningEnums(to sets) {
	add(to, feedback.Signals()...)
	add(to, feedback.Targets()...)
	add(to, annotations.Current, annotations.Superseded, annotations.Retracted)
	add(to, proposal.Kinds()...)
	add(to, proposal.States()...)
	add(to, proposal.Moves()...)
	add(to, proposal.ApprovalGate, proposal.DirectRBAC)
	add(to, redact.Rules()...)
}

// addWorkflowEnums adds the sets of workflow sources and compiled workflows.
//
// Sources have a second type here, since a workflow can also be an installed proposal.
func addWorkflowEnums(to sets) {
	add(to, source.SourceBundled, source.SourceUser, source.SourceProject, source.SourceRemote, source.SourcePlugin,
		source.SourceInstalled)
	add(to, problem.Error, problem.Warning)
	add(to, compile.CoordinatorEvalAsConfirmation, compile.ConditionBesideSource, compile.ArgumentUnused)
	add(to, compile.While, compile.Until, compile.For, compile.ForEach)
	add(to, compile.ByArtifact, compile.ByContext)
	add(to, compile.ConfirmNever, compile.ConfirmAlways, compile.ConfirmIf, compile.ConfirmApproval)
	add(to, compile.Authored, compile.TemplateInjected, compile.FeatureInjected)
	add(to, compile.ScopeStep, compile.ScopeLoop, compile.ScopeWorkflow)
	add(to, contract.Any, contract.Text, contract.Integer, contract.Number, contract.Boolean, contract.Array,
		contract.Object, contract.Map)
	add(to, contract.DateTime, contract.UUID)
}

// faultCodes are all codes of the table of faults.
func faultCodes() []fault.Code {
	out := make([]fault.Code, len(fault.Table))
	for i, row := range fault.Table {
		out[i] = row.Code
	}
	return out
}

// stringPatterns are the regular expressions of types that are encoded as strings of one form.
//
// They match exactly what the types accept: a schema must not accept a document that a reader
// refuses.
var stringPatterns = sync.OnceValue(func() map[reflect.Type]string {
	return map[reflect.Type]string{
		reflect.TypeFor[canon.Digest]():  DigestForm,
		reflect.TypeFor[id.Session]():    IDForm("sess"),
		reflect.TypeFor[id.Run]():        IDForm("run"),
		reflect.TypeFor[id.Node]():       IDForm("node"),
		reflect.TypeFor[id.Event]():      IDForm("evt"),
		reflect.TypeFor[id.Attempt]():    IDForm("attempt"),
		reflect.TypeFor[id.Output]():     IDForm("out"),
		reflect.TypeFor[id.Gap]():        IDForm("gap"),
		reflect.TypeFor[id.Change]():     IDForm("chg"),
		reflect.TypeFor[id.Trace]():      IDForm("trace"),
		reflect.TypeFor[id.CapObs]():     IDForm("capobs"),
		reflect.TypeFor[id.Divergence](): IDForm("div"),
		reflect.TypeFor[id.Context]():    IDForm("ctx"),
		reflect.TypeFor[id.Annotation](): IDForm("ann"),
		reflect.TypeFor[id.Proposal]():   IDForm("prop"),
		reflect.TypeFor[id.Bundle]():     IDForm("bundle"),
		reflect.TypeFor[id.Store]():      IDForm("store"),
	}
})

// DigestForm matches a digest (docs/design.md#hashes).
const DigestForm = "^sha256:[0-9a-f]{64}$"

// IDForm matches an id with the prefix: 16 bytes in base32, of which the last letter has only two
// significant bits (docs/design.md#ids).
func IDForm(prefix string) string { return "^" + prefix + "_[a-z2-7]{25}[aeimquy4]$" }
