package schema

import (
	"reflect"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
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
	"github.com/waybill/waybill/projections"
)

// words are the closed sets that types of ours stand for; a test holds each against
// the constants of its type. Like all here it is made when it is first asked for:
// most calls of the program describe nothing.
var words = sync.OnceValue(func() map[reflect.Type][]string {
	sets := sets{}
	eventWords(sets)
	workflowWords(sets)
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
	add(sets, snapshot.Running, snapshot.Complete)
	add(sets, audit.Actions()...)
	add(sets, audit.OfStore, audit.OfSession, audit.OfRun, audit.OfArtifact, audit.OfWorkflow, audit.OfKeyring,
		audit.OfProposal)
	add(sets, audit.Succeeded, audit.Failed, audit.Open)
	add(sets, ports.SetAside, ports.KeepPrefix)
	add(sets, faultCodes()...)
	add(sets, fault.NotRetryable, fault.RetryableImmediate, fault.RetryableAfterMs)
	add(sets, engine.Statuses()...)
	add(sets, engine.PerformThenContinue, engine.AwaitConfirmation, engine.RehydrateOnly, engine.CompleteIntent)
	add(sets, engine.ReplayDiffers, engine.NotesTruncated, engine.VariableAbsent, engine.CompiledOtherwise,
		engine.ObservationsDropped,
		engine.RecommendationExceeded)
	add(sets, engine.KeysReady, engine.KeysMissing, engine.KeysUnusable)
	learningWords(sets)
	add(sets, engine.StepDone, engine.StepPending, engine.StepSkipped, engine.StepToCome)
	add(sets, engine.Imported, engine.ImportedAsNew, engine.Same, engine.Ahead, engine.Behind, "diverged")
	add(sets, engine.HeadSame, engine.HeadAhead, engine.HeadOther)
	add(sets, engine.Repairable, engine.NotNeeded, engine.Elsewhere, engine.Impossible)
	add(sets, redrive.Start, redrive.Fork, redrive.Ack, redrive.Checkpoint, redrive.Approve, redrive.Cancel,
		redrive.Close, redrive.Unknown)
	add(sets, resume.MatchedSessionID, resume.MatchedRunID, resume.MatchedHeadSHA, resume.MatchedBranch,
		resume.MatchedNotes,
		resume.MatchedWorkflowID, resume.RecencyFallback)
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

type sets map[reflect.Type][]string

func add[S ~string](to sets, all ...S) {
	for _, s := range all {
		to[reflect.TypeFor[S]()] = append(to[reflect.TypeFor[S]()], string(s))
	}
}

func eventWords(to sets) {
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

func learningWords(to sets) {
	add(to, feedback.Signals()...)
	add(to, feedback.Targets()...)
	add(to, projections.AnnotationCurrent, projections.AnnotationSuperseded, projections.AnnotationRetracted)
	add(to, proposal.Kinds()...)
	add(to, proposal.States()...)
	add(to, proposal.Moves()...)
	add(to, proposal.ApprovalGate, proposal.DirectRBAC)
	add(to, redact.Rules()...)
}

func workflowWords(to sets) {
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

func faultCodes() []fault.Code {
	out := make([]fault.Code, len(fault.Table))
	for i, row := range fault.Table {
		out[i] = row.Code
	}
	return out
}

// spelt are the types that are texts of one form.
var spelt = sync.OnceValue(func() map[reflect.Type]string {
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

// DigestForm is how a digest is spelt (R2).
const DigestForm = "^sha256:[0-9a-f]{64}$"

// IDForm is how an id with the prefix is spelt: 16 bytes in base32, so that the last
// letter has only two bits of freedom (R3).
func IDForm(prefix string) string { return "^" + prefix + "_[a-z2-7]{25}[aeimquy4]$" }
