package openwop

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/pattern"
)

// protocolTypes is the closed catalog of types that the protocol owns. Types of hosts have a prefix that
// no entry has as its first segment.
var protocolTypes = []EventType{
	"run.started", "run.completed", "run.failed", "run.cancelled", "run.resuming", "run.paused", "run.resumed",
	"run.restored-from-snapshot", "run.dead_lettered", "node.started", "node.completed", "node.failed",
	"node.suspended", "node.suspend-failed", "node.resumed", "node.retried", "node.skipped", "node.cancelled",
	"approval.requested", "approval.received", "approval.granted", "approval.rejected", "approval.overridden",
	"clarification.requested", "clarification.resolved", "interrupt.requested", "interrupt.resolved",
	"channel.written", "artifact.created", "output.chunk", "variable.changed", "log.appended", "version.pinned",
	"workflow.restored", "workflow.loopback-limit", "workflow.stalled", "cap.breached", "lease.acquired",
	"lease.renewed", "lease.lost", "lease.handed-off", "replay.diverged", "replay.divergedAtRefusal",
	"agent.reasoned", "agent.reasoning.delta", "provider.usage", "prompt.composed", "agent.promptResolved",
	"model.capability.substituted", "model.capability.insufficient", "envelope.retry.attempted",
	"envelope.retry.exhausted", "envelope.refusal", "envelope.truncated", "envelope.nlToFormat.engaged",
	"envelope.recovery.applied", "agent.toolCalled", "agent.toolReturned", "agent.handoff", "agent.decided",
	"agent.verified", "agent.invocation.started", "agent.invocation.completed", "eval.started", "eval.scored",
	"eval.completed", "deployment.promoted", "deployment.rolled-back", "deployment.canary.adjusted",
	"deployment.state.changed", "roster.run.initiated", "tool.session.opened", "tool.session.closed",
	"egress.decided", "trigger.subscription.state.changed", "trigger.delivery.attempted", "budget.reserved",
	"budget.consumed", "budget.threshold.crossed", "budget.exhausted", "runOrchestrator.decided",
	"node.dispatched", "conversation.opened", "conversation.exchanged", "conversation.closed", "memory.compacted",
	"memory.written", "agent.memory.consolidated", "commitment.fired", "workspace.updated",
	"core.workflowChain.event", "core.workflowChain.confidence-escalated", "connector.authorized",
	"connector.auth_expired", "authorization.decided", "proposal.created", "proposal.activated", "goal.evaluated",
	"goal.closed", "import.applied", "voice.speech_start", "voice.transcript", "voice.endpoint_candidate",
	"voice.turn_commit", "voice.synthesis_chunk", "voice.barge_in", "voice.cancelled",
}

// ProtocolTypes returns the types of run events that the protocol owns, in the order of its catalog.
func ProtocolTypes() []EventType { return slices.Clone(protocolTypes) }

// VendorForm is the regular expression of types of hosts: dotted segments, of which the first is a prefix.
const VendorForm = `^[a-z][a-zA-Z0-9_-]*(\.[a-zA-Z0-9_-]+)+$`

// vendorForm matches VendorForm.
var vendorForm = pattern.New(VendorForm)

// reservedPrefixes are first segments that no host may use for types of its own.
var reservedPrefixes = []string{"openwop", "core", "community", "vendor", "private", "local"}

// Owned reports a type of the protocol's catalog.
func (t EventType) Owned() bool { return slices.Contains(protocolTypes, t) }

// Vendor reports a type that a host may define: two segments or more, and no reserved prefix.
func (t EventType) Vendor() bool {
	first, _, _ := strings.Cut(string(t), ".")
	return vendorForm.MatchString(string(t)) && !slices.Contains(reservedPrefixes, first)
}

// VendorType returns the type of Waybill for a fact. Characters that a type cannot have become underscores.
func VendorType(fact string) EventType {
	clean := strings.Map(func(r rune) rune {
		if r < 0x80 && vendorLetters[r] {
			return r
		}
		return '_'
	}, fact)
	return VendorPrefix + EventType(clean)
}

// vendorLetters are the characters of a segment.
var vendorLetters = func() (set [0x80]bool) {
	for _, r := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-" {
		set[r] = true
	}
	return set
}()
