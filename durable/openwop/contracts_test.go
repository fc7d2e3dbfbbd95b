package openwop_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/ports/porttest/openwoptest"
)

const digest = `"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`

// payloads has for each type with a contract payloads that fit, and counterparts: payloads that differ from one
// that fits in one place.
var payloads = map[openwop.EventType]struct{ fit, wrong []string }{
	openwop.RunStarted: {[]string{`{"workflowId":"w"}`, `{"workflowId":"w","tags":["a"],"metadata":{},"more":1}`},
		[]string{`{}`, `{"workflowId":""}`, `{"workflowId":"w","tags":"a"}`, `{"workflowId":"w","transport":"grpc"}`, `[]`}},
	openwop.RunCompleted: {[]string{`{}`, `{"outputs":{}}`}, []string{`{"outputs":[]}`, `{"durationMs":-1}`}},
	openwop.RunFailed: {[]string{`{"error":{"code":"c","message":"m"},"failedNodeId":"a"}`},
		[]string{`{}`, `{"error":{"code":"c"}}`, `{"error":{"code":"","message":"m"}}`, `{"error":"c"}`}},
	openwop.RunCancelled: {[]string{`{}`, `{"reason":"r","cancelledBy":"x","parentRunId":"p"}`},
		[]string{`{"reason":1}`, `{"parentRunId":""}`}},
	openwop.NodeStarted: {[]string{`{"nodeId":"a","typeId":"t","attempt":1}`},
		[]string{`{"nodeId":"a"}`, `{"typeId":"t"}`, `{"nodeId":"a","typeId":"t","attempt":1.5}`}},
	openwop.NodeCompleted: {[]string{`{"nodeId":"a"}`, `{"nodeId":"a","outputs":{"k":1}}`}, []string{`{}`, `{"nodeId":"a","outputs":1}`}},
	openwop.NodeFailed: {[]string{`{"nodeId":"a","error":{"code":"c","message":"m"},"attempts":1}`},
		[]string{`{"nodeId":"a"}`, `{"nodeId":"a","error":{"message":"m"}}`, `{"nodeId":"a","error":{"code":"c","message":"m"},"attempts":0}`}},
	openwop.NodeSuspended: {[]string{`{"nodeId":"a","interruptId":"i","kind":"low-confidence","key":"k"}`},
		[]string{`{"nodeId":"a"}`, `{"nodeId":"a","interruptId":"i","kind":"other"}`, `{"nodeId":"a","interruptId":""}`}},
	openwop.NodeResumed:   {[]string{`{"nodeId":"a","interruptId":"i"}`}, []string{`{}`, `{"nodeId":1}`}},
	openwop.NodeRetried:   {[]string{`{"nodeId":"a","attempt":2}`}, []string{`{"nodeId":"a"}`, `{"nodeId":"a","attempt":0}`}},
	openwop.NodeCancelled: {[]string{`{"nodeId":"a","reason":"r"}`}, []string{`{"reason":"r"}`}},
	openwop.ApprovalRequested: {[]string{`{"nodeId":"a","artifactId":"x","artifactType":"t","actions":["accept","reject"],"requiredApprovals":2}`},
		[]string{`{"nodeId":"a","artifactId":"x","artifactType":"t","actions":[]}`, `{"nodeId":"a","artifactId":"x","artifactType":"t"}`,
			`{"nodeId":"a","artifactId":"x","artifactType":"t","actions":["approve"]}`}},
	openwop.ApprovalReceived: {[]string{`{"nodeId":"a","action":"edit-accept","decidedBy":"p"}`}, []string{`{"nodeId":"a"}`, `{"nodeId":"a","action":"ask"}`}},
	openwop.ApprovalGranted: {[]string{`{"gateId":"g","principal":"p","quorumProgress":{"granted":0,"required":1}}`},
		[]string{`{"gateId":"g"}`, `{"gateId":"g","principal":"p","more":1}`, `{"gateId":"g","principal":"p","quorumProgress":{"required":0}}`}},
	openwop.ClarificationRequested: {[]string{`{"nodeId":"a","questions":[{"id":"k","question":"q","schema":{}}]}`},
		[]string{`{"nodeId":"a"}`, `{"nodeId":"a","questions":[{"id":"k"}]}`}},
	openwop.ClarificationResolved: {[]string{`{"nodeId":"a","answers":{}}`}, []string{`{"nodeId":"a"}`, `{"nodeId":"a","answers":[]}`}},
	openwop.InterruptRequested: {[]string{
		`{"kind":"approval","key":"k","data":{"artifactId":"a","artifactType":"t","title":"x","actions":["accept"]}}`,
		`{"kind":"clarification","key":"k","data":{"questions":[{"id":"k","question":"q"}]}}`,
		`{"kind":"external-event","key":"k","data":{"eventType":"e","correlation":{}}}`,
		`{"kind":"custom","key":"k","data":{"customKind":"c","payload":[1]},"resumeSchema":{},"timeoutMs":0}`,
		`{"kind":"conversation.start","key":"k","data":{"conversationId":"c","title":"t"}}`,
		`{"kind":"conversation.exchange","key":"k","data":{"conversationId":"c","prompt":"p","turnIndex":0}}`,
		`{"kind":"conversation.close","key":"k","data":{"conversationId":"c","reason":"r"}}`,
		`{"kind":"low-confidence","key":"k","data":{"agentId":"abc","threshold":0.7,"observed":0.2}}`},
		[]string{`{"kind":"other","key":"k","data":{}}`, `{"kind":"custom","data":{"customKind":"c"}}`,
			`{"kind":"custom","key":"k","data":{"customKind":"c"},"more":1}`, `{"kind":"custom","key":"k","data":{"customKind":"c","more":1}}`,
			`{"kind":"external-event","key":"k","data":{"eventType":"e","correlation":"x"}}`,
			`{"kind":"low-confidence","key":"k","data":{"agentId":"abc","threshold":1.1,"observed":0.2}}`,
			`{"kind":"clarification","key":"k","data":{"questions":[]}}`,
			`{"kind":"approval","key":"k","data":{"artifactId":"a","artifactType":"t","title":"x","actions":["accept","accept"]}}`}},
	openwop.InterruptResolved: {[]string{`{"nodeId":"a","interruptId":"i","kind":"custom"}`}, []string{`{"nodeId":"a"}`, `{"nodeId":"a","interruptId":"i","kind":"x"}`}},
	openwop.RunPaused:         {[]string{`{"reason":"r","drainPolicy":"immediate"}`, `{}`}, []string{`{"reason":1}`}},
	openwop.RunResumed:        {[]string{`{}`, `{"reason":"r"}`}, []string{`[]`}},
	openwop.VariableChanged:   {[]string{`{"name":"k","next":null}`}, []string{`{}`, `{"name":""}`}},
	openwop.ArtifactCreated:   {[]string{`{"artifactId":"a","artifactType":"t","nodeId":"n"}`}, []string{`{"artifactId":"a"}`, `{"artifactId":"","artifactType":"t"}`}},
	openwop.LoopbackLimit:     {[]string{`{"nodeId":"l","iterations":3,"limit":3}`}, []string{`{"nodeId":"l"}`, `{"nodeId":"l","iterations":0}`}},
	openwop.ProposalCreated: {[]string{`{"proposalId":"p","kind":"automation","sourceRunIds":[],"duplicateOf":null}`},
		[]string{`{"proposalId":"p","kind":"rule"}`, `{"proposalId":"p","kind":"automation","rationale":"r"}`}},
	openwop.ProposalActivated: {[]string{`{"proposalId":"p","kind":"automation","installedArtifactRef":"r","approvalId":"a"}`},
		[]string{`{"proposalId":"p","kind":"automation"}`, `{"proposalId":"p","kind":"automation","installedArtifactRef":"r","artifact":{}}`}},
	openwop.MessageChunk: {[]string{`{"nodeId":"a","runId":"r","chunk":"","isLast":false,"meta":{}}`},
		[]string{`{"nodeId":"a","chunk":"","isLast":true}`, `{"nodeId":"a","runId":"r","chunk":""}`, `{"nodeId":"a","runId":"r","chunk":"","isLast":true,"channel":"c"}`}},
	"cap.breached": {[]string{`{"kind":"node-executions","limit":1,"observed":2,"nodeId":"a"}`}, []string{`{"kind":"steps","limit":1,"observed":2}`, `{"kind":"schema","limit":-1,"observed":2}`}},
	"replay.diverged": {[]string{`{"sourceRunId":"r","atSequence":0,"divergenceKind":"extra","divergencePoint":"x"}`},
		[]string{`{"sourceRunId":"r"}`, `{"sourceRunId":"r","atSequence":0,"divergenceKind":"other"}`}},
	"replay.divergedAtRefusal": {[]string{`{"sourceRunId":"r","atSequence":0,"originalEnvelopeKind":"valid","replayEnvelopeKind":"refusal"}`},
		[]string{`{"sourceRunId":"r","atSequence":0,"originalEnvelopeKind":"valid"}`, `{"sourceRunId":"r","atSequence":0,"originalEnvelopeKind":"valid","replayEnvelopeKind":"refusal","more":1}`}},
	"node.dispatched":       {[]string{`{"childRunId":"r","childWorkflowId":"w","childStatus":"s"}`}, []string{`{"childRunId":"r"}`, `{"childRunId":"r","childWorkflowId":"w","more":1}`}},
	"agent.reasoned":        {[]string{`{"agentId":"abc","reasoning":"","verbosity":"off","causationHostId":"h"}`}, []string{`{"agentId":"ab","reasoning":""}`, `{"agentId":"abc"}`, `{"agentId":"abc","reasoning":"","causationHostId":""}`}},
	"agent.reasoning.delta": {[]string{`{"agentId":"abc","delta":"d","sequence":0}`}, []string{`{"agentId":"abc","delta":"d"}`, `{"agentId":"abc","delta":"d","sequence":-1}`}},
	"agent.toolCalled":      {[]string{`{"agentId":"abc","toolName":"t","callId":"c","inputs":3}`}, []string{`{"agentId":"abc","toolName":"t"}`, `{"agentId":"abc","toolName":"","callId":"c"}`}},
	"agent.toolReturned":    {[]string{`{"agentId":"abc","toolName":"t","callId":"c","error":{"code":"c","message":"m"}}`}, []string{`{"agentId":"abc","toolName":"t","callId":"c","error":{"code":"c"}}`}},
	"agent.handoff":         {[]string{`{"fromAgentId":"abc","toAgentId":"def"}`}, []string{`{"fromAgentId":"abc"}`}},
	"agent.decided":         {[]string{`{"agentId":"abc","decision":null,"confidence":1}`}, []string{`{"agentId":"abc"}`, `{"agentId":"abc","decision":1,"confidence":1.01}`}},
	"runOrchestrator.decided": {[]string{`{"agentId":"abc","decision":{"kind":"terminate","successCriteria":[{"key":"k","met":true}]}}`,
		`{"agentId":"abc","decision":{"kind":"next-worker","nextWorkerIds":["w"]}}`, `{"agentId":"abc","decision":{"kind":"ask-user","prompt":"p"}}`},
		[]string{`{"agentId":"abc","decision":{"kind":"next-worker","nextWorkerIds":[]}}`, `{"agentId":"abc","decision":{"kind":"other"}}`,
			`{"agentId":"abc","decision":{"kind":"ask-user","prompt":"p","more":1}}`, `{"agentId":"abc","decision":{"kind":"terminate"},"more":1}`}},
	"core.workflowChain.event": {[]string{`{"phase":"output.harvested","workerId":"w","parentRunId":"p","childRunId":"c","harvestedKeys":["k"]}`},
		[]string{`{"phase":"began","workerId":"w","parentRunId":"p"}`, `{"phase":"dispatch.began","workerId":"w"}`, `{"phase":"dispatch.began","workerId":"w","parentRunId":"p","more":1}`}},
	"core.workflowChain.confidence-escalated": {[]string{`{"confidence":0.1,"floor":0.5,"escalationKind":"clarify","parentRunId":"p","originalDecision":{"kind":"terminate"}}`},
		[]string{`{"confidence":0.1,"floor":0.4,"escalationKind":"clarify","parentRunId":"p"}`, `{"confidence":0.1,"floor":0.5,"escalationKind":"ask","parentRunId":"p"}`}},
	"conversation.opened":    {[]string{`{"conversationId":"c","openedBy":"x"}`}, []string{`{}`, `{"conversationId":""}`}},
	"conversation.exchanged": {[]string{`{"conversationId":"c","turnIndex":0,"outcome":1}`}, []string{`{"conversationId":"c"}`, `{"conversationId":"c","turnIndex":-1}`}},
	"conversation.closed":    {[]string{`{"conversationId":"c","turnCount":2}`}, []string{`{"turnCount":2}`, `{"conversationId":"c","turnCount":0.5}`}},
	"provider.usage": {[]string{`{"provider":"p","model":"m","inputTokens":0,"outputTokens":1,"costEstimateUsd":0.1,"currency":"EUR","cacheHit":true}`},
		[]string{`{"provider":"p","model":"m","inputTokens":0}`, `{"provider":"p","model":"m","inputTokens":0,"outputTokens":1,"currency":"eur"}`,
			`{"provider":"p","model":"m","inputTokens":0,"outputTokens":1,"credentialRef":"x"}`, `{"provider":"p","model":"m","inputTokens":0.5,"outputTokens":1}`}},
	"prompt.composed": {[]string{`{"nodeId":"a","refs":["prompt:writer@1.0.0"],"kind":"system+user","hash":` + digest + `,"variableHashes":{"k":` + digest + `},"contentTrust":"untrusted"}`},
		[]string{`{"nodeId":"a","refs":["writer"],"kind":"system+user","hash":` + digest + `}`, `{"nodeId":"a","refs":[],"kind":"both","hash":` + digest + `}`,
			`{"nodeId":"a","refs":[],"kind":"user-only","hash":"abc"}`, `{"nodeId":"a","refs":[],"kind":"user-only","hash":` + digest + `,"variableHashes":{"k":"v"}}`}},
	"agent.promptResolved": {[]string{`{"nodeId":"a","kind":"few-shot","chain":[{"layer":"node","applied":true,"source":"s"}],"resolved":null}`},
		[]string{`{"nodeId":"a","kind":"few-shot","chain":[]}`, `{"nodeId":"a","kind":"other","chain":[],"resolved":null}`, `{"nodeId":"a","kind":"user","chain":[{"layer":"x","applied":true}],"resolved":null}`}},
	"model.capability.substituted": {[]string{`{"nodeId":"a","originalProvider":"p","originalModel":"m","fallbackProvider":"p","fallbackModel":"m","missingCapabilities":["x"]}`},
		[]string{`{"nodeId":"a","originalProvider":"p","originalModel":"m","fallbackProvider":"p","missingCapabilities":["x"]}`,
			`{"nodeId":"a","originalProvider":"p","originalModel":"m","fallbackProvider":"p","fallbackModel":"m","missingCapabilities":["x","x"]}`}},
	"model.capability.insufficient": {[]string{`{"nodeId":"a","provider":"p","model":"m","missingCapabilities":[],"fallbackAttempted":false}`},
		[]string{`{"nodeId":"a","provider":"p","model":"m"}`, `{"nodeId":"a","provider":"p","model":"m","missingCapabilities":[],"more":1}`}},
	"memory.compacted": {[]string{`{"memoryRef":"r","outputId":"o","sourceCount":1,"trigger":"both","byteSize":0}`},
		[]string{`{"memoryRef":"r","outputId":"o","sourceCount":0,"trigger":"both","byteSize":0}`, `{"memoryRef":"r","outputId":"o","sourceCount":1,"trigger":"x","byteSize":0}`}},
	"envelope.retry.attempted": {[]string{`{"nodeId":"a","attempt":2,"reason":"x-host-a-b","previousError":null}`, `{"nodeId":"a","attempt":16,"reason":"refusal"}`},
		[]string{`{"nodeId":"a","attempt":17,"reason":"refusal"}`, `{"nodeId":"a","attempt":2,"reason":"other"}`, `{"nodeId":"a","attempt":2,"reason":"refusal","more":1}`}},
	"envelope.retry.exhausted": {[]string{`{"nodeId":"a","totalAttempts":1,"finalReason":"truncation","finalError":"e"}`},
		[]string{`{"nodeId":"a","totalAttempts":0,"finalReason":"truncation"}`, `{"nodeId":"a","totalAttempts":1}`}},
	"envelope.refusal":   {[]string{`{"nodeId":"a","provider":"p","model":"m","refusalText":null}`}, []string{`{"nodeId":"a","provider":"p"}`, `{"nodeId":"a","provider":"p","model":"m","refusalText":1}`}},
	"envelope.truncated": {[]string{`{"nodeId":"a","provider":"p","model":"m","stopReason":"length","outputTokenCount":null}`}, []string{`{"nodeId":"a","provider":"p","model":"m","stopReason":"end"}`, `{"nodeId":"a","provider":"p","model":"m","stopReason":"length","outputTokenCount":-1}`}},
	"envelope.nlToFormat.engaged": {[]string{`{"nodeId":"a","originalEnvelopeType":"t","fallbackCalls":1}`},
		[]string{`{"nodeId":"a"}`, `{"nodeId":"a","originalEnvelopeType":"t","fallbackCalls":0}`}},
	"envelope.recovery.applied": {[]string{`{"nodeId":"a","path":"jsonrepair","byteOffset":0}`}, []string{`{"nodeId":"a","path":"x"}`, `{"nodeId":"a","path":"custom","content":"c"}`}},
}

// value parses a literal of a test.
func value(t *testing.T, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(text, err)
	}
	return v
}

// TestPayloadsAreCheckedByTheirContract: each contract accepts what fits and refuses the counterparts.
func TestPayloadsAreCheckedByTheirContract(t *testing.T) {
	for _, name := range openwop.Contracted() {
		cases := payloads[name]
		if len(cases.fit) == 0 || len(cases.wrong) == 0 {
			t.Errorf("%s: no payload that fits, or no counterpart", name)
		}
		for _, text := range cases.fit {
			if err := openwop.CheckPayload(name, value(t, text)); err != nil {
				t.Errorf("%s %s: %v", name, text, err)
			}
		}
		for _, text := range cases.wrong {
			if err := openwop.CheckPayload(name, value(t, text)); err == nil {
				t.Errorf("%s accepts %s", name, text)
			}
		}
	}
	for name := range payloads {
		if !slices.Contains(openwop.Contracted(), name) {
			t.Errorf("%s has payloads and no contract", name)
		}
	}
}

// TestContractsMatchThePublishedSchemas: what a contract accepts is valid in the protocol, and what the
// contract refuses is valid there only where Waybill's contract is narrower.
func TestContractsMatchThePublishedSchemas(t *testing.T) {
	published := openwoptest.Published(t)
	// The data of another kind, the channel of a chunk and a negative limit are Waybill's own refusals.
	narrower := []string{`"channel":"c"`, `"customKind":"c","more"`, `"kind":"low-confidence"`, `"kind":"clarification","key"`}
	for name, cases := range payloads {
		schemaName := string(name)
		if name == openwop.MessageChunk {
			schemaName = "output.chunk"
		}
		for _, text := range cases.fit {
			if ok, err := published.CheckPayload(schemaName, []byte(text)); err != nil || !ok {
				t.Errorf("%s %s: %v %v", name, text, ok, err)
			}
		}
		for _, text := range cases.wrong {
			allowed := slices.ContainsFunc(narrower, func(part string) bool { return strings.Contains(text, part) })
			if _, err := published.CheckPayload(schemaName, []byte(text)); err == nil && !allowed {
				t.Errorf("%s: the published schema accepts %s", name, text)
			}
		}
	}
}

// TestTypesWithoutContractAreNotSent: a type of the protocol that Waybill has no contract of, and one of
// another host, are bugs of the sender; a type with Waybill's prefix has any object.
func TestTypesWithoutContractAreNotSent(t *testing.T) {
	for name, want := range map[openwop.EventType]bool{"waybill.checkpoint": true, "waybill.": false, "acme.x": false,
		"voice.transcript": false, "run.unknown": false, "core.x": false, "": false, "waybill": false} {
		if err := openwop.CheckPayload(name, canon.OfMembers()); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := openwop.CheckPayload("waybill.x", canon.OfList()); err == nil {
		t.Error("a payload that is no object")
	}
}

// TestTheCatalogOfTypesIsThePublishedOne compares the closed set, and the types of hosts.
func TestTheCatalogOfTypesIsThePublishedOne(t *testing.T) {
	published := openwoptest.Published(t)
	event := func(name string) []byte {
		return []byte(`{"eventId":"e","runId":"r","type":"` + name + `","payload":{},"timestamp":"2026-01-01T00:00:00.000Z","sequence":0}`)
	}
	if got, want := openwop.ProtocolTypes(), openwoptest.Types[openwop.EventType](published, t); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("%d types, %d are published", len(got), len(want))
	}
	for name, want := range map[string]bool{"acme.canvas.published": true, "waybill.gap_recorded": true, "Acme.x": false,
		"acme": false, "acme..x": false, "acme.é": false, "9acme.x": false} {
		if got := openwop.EventType(name).Vendor(); got != want {
			t.Errorf("%s: vendor %v", name, got)
		}
		if err := published.Check("run-event", event(name)); (err == nil) != want {
			t.Errorf("%s: the published schema says %v", name, err)
		}
	}
	for _, prefix := range []string{"openwop", "core", "community", "vendor", "private", "local"} {
		if openwop.EventType(prefix + ".x").Vendor() {
			t.Errorf("%s is a reserved prefix", prefix)
		}
	}
}

// TestVendorTypesAreSafe: any text is a valid type of Waybill.
func TestVendorTypesAreSafe(t *testing.T) {
	for fact, want := range map[string]openwop.EventType{"gap_recorded": "waybill.gap_recorded", "a.b c\n": "waybill.a_b_c_",
		"é": "waybill._"} {
		if got := openwop.VendorType(fact); got != want || !got.Vendor() {
			t.Errorf("%q: %q", fact, got)
		}
	}
}
