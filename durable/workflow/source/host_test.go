package source

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/problem"
)

// hosted is a host step with more members of its action and of itself.
func hosted(typeID, action, members string) string {
	return `, {"id": "a", "title": "T", "action": {"kind": "host", "typeId": "` + typeID + `"` + action + `}` + members + `}`
}

// TestHostStepsThatAreRefused: a type of the closed set, a configuration of the type, and nothing beside it that the host
// does not hand in.
func TestHostStepsThatAreRefused(t *testing.T) {
	const at, config = "/steps/1/action", "/steps/1/action/config"
	checkRows(t, problem.Error, []row{
		{"", `, {"id": "a", "title": "T", "action": {"kind": "host"}}`, at + "/typeId", `"core.noop"`, "Write"},
		{"", hosted("core.nop", "", ""), at + "/typeId", `got "core.nop"`, `"core.noop"`},
		{"", hosted("core.http", "", ""), at + "/typeId", `got "core.http"`, ""},
		{"", hosted("core.noop", `, "argv": ["a"]`, ""), at + "/argv", "a host step has no key", "Remove"},
		{"", hosted("core.noop", `, "config": []`, ""), config, "the config of core.noop", "Write"},
		{"", hosted("core.noop", `, "config": {"delayMs": 1}`, ""), config + "/delayMs", "has no key", "Remove"},
		{"", hosted("core.identity", `, "config": {"a": 1}`, ""), config + "/a", "has no key", "Remove"},
		{"", hosted("core.delay", `, "config": {"delayMs": 60001}`, ""), config + "/delayMs", "from 0 to 60000", "Write"},
		{"", hosted("core.delay", `, "config": {"delayMs": -1}`, ""), config + "/delayMs", "from 0 to 60000", "Write"},
		{"", hosted("core.delay", `, "config": {"delayMs": 1.5}`, ""), config + "/delayMs", "a whole number", "Write"},
		{"", hosted("core.delay", `, "config": {"delayMs": "1"}`, ""), config + "/delayMs", "a whole number", "Write"},
		{"", hosted("core.delay", `, "config": {"delayMs": 1, "defaultMs": 1}`, ""), config + "/defaultMs", "has no default", "Keep"},
		{"", hosted("core.fail", `, "config": {"code": "a b"}`, ""), config + "/code", "a code such as", "Write"},
		{"", hosted("core.fail", `, "config": {"message": "`+strings.Repeat("m", 129)+`"}`, ""), config + "/message", "1 to 128", "Write"},
		{"", hosted("core.interrupt", `, "config": "x"`, ""), config, "the config of core.interrupt", "Write"},
		{"", hosted("core.interrupt", "", ""), at, `lacks "config"`, "Add"},
		{"", hosted("core.interrupt", `, "config": {"correlation": {}}`, ""), config, `lacks "eventType"`, "Add"},
		{"", hosted("core.interrupt", `, "config": {"kind": "approval", "eventType": "e", "correlation": {}}`, ""), config + "/kind", `got "approval"`, ""},
		{"", hosted("core.interrupt", `, "config": {"eventType": "e", "correlation": {}, "timeoutMs": 0}`, ""), config + "/timeoutMs", "from 1", "Write"},
		{"", hosted("core.approvalGate", `, "config": {"quorum": 2}`, ""), config + "/quorum", "has no key", "Remove"},
		{"", hosted("core.approvalGate", `, "config": {"actions": ["edit"]}`, ""), config + "/actions/0", `got "edit"`, "edit-accept"},
		{"", hosted("core.approvalGate", `, "config": {"requiredApprovals": 10}`, ""), config + "/requiredApprovals", "from 1 to 9", "Write"},
		{"", hosted("core.approvalGate", `, "config": {"requiredApprovals": 2, "actions": ["accept", "refine"]}`, ""), config + "/actions",
			"no refine", "Keep"},
		{"", hosted("core.approvalGate", `, "config": {"requiredApprovals": 2, "approvers": ["a"]}`, ""), config + "/approvers",
			"names 1 approvers", "Name"},
		{"", hosted("core.approvalGate", "", `, "requireConfirmation": {"kind": "human_approval"}`), "/steps/1/requireConfirmation",
			"asks already", "before or behind"},
		{"", hosted("core.clarificationGate", "", ""), at, `lacks "config"`, "Add"},
		{"", hosted("core.clarificationGate", `, "config": {"questions": [{"id": "a b", "question": "q"}]}`, ""), config + "/questions/0/id",
			"a context key", "Write"},
		{"", hosted("core.clarificationGate", `, "config": {"questions": [{"id": "a", "question": "q"}]}`, `, "inputs": [{"contextKey": "k",
			"reason": "needs_user_artifact", "description": "d"}]`), "/steps/1/inputs", "asks already", "before or behind"},
		{"", hosted("core.noop", "", `, "notesRequired": true`), "/steps/1/notesRequired", "hands in nothing but", "before or behind"},
		{"", hosted("core.noop", "", `, "outputContract": {"contractRef": "wr.contracts.loop_control"}`), "/steps/1/outputContract",
			"hands in nothing but", "before or behind"},
		{"", hosted("core.noop", "", `, "checks": [{"id": "c", "argv": ["compare", "a"]}]`), "/steps/1/checks", "hands in nothing but", "before"},
		{"", hosted("core.noop", "", `, "validationCriteria": {"type": "contains", "value": "x", "message": "m"}`),
			"/steps/1/validationCriteria", "hands in nothing but", "before"},
		{"", hosted("core.noop", "", `, "outputs": {"a": "stdout"}`), "/steps/1/outputs", "outputs are what a command sets", "action"},
		{"", hosted("core.identity", "", "") + `, {"id": "b", "title": "T", "prompt": "p", "inputs": [{"contextKey": "k",
			"reason": "needs_user_artifact", "description": "d", "choicesFrom": {"step": "a", "pointer": ""}}]}`,
			"/steps/2/inputs/0/choicesFrom/step", "or the host performs it", "hands in an artifact"},
	})
}

// TestHostSteps: each type is accepted, with a prompt, a gate, a condition and inputs beside it.
func TestHostSteps(t *testing.T) {
	for _, good := range []string{hosted("core.noop", "", ""), hosted("core.noop", `, "config": {}`, `, "checks": [], "notesRequired": false`),
		hosted("core.identity", "", `, "prompt": "p", "requireConfirmation": {"kind": "human_approval"}`),
		hosted("core.delay", `, "config": {"delayMs": 0}`, ""), hosted("core.delay", `, "config": {"defaultMs": 60000}`, ""),
		hosted("core.fail", `, "config": {"code": "a.b-c_D", "message": "It failed."}`, ""),
		hosted("core.approvalGate", "", ""), hosted("core.approvalGate", `, "config": {"requiredApprovals": 2, "approvers": ["a", "b"],
			"rejectionPolicy": "majority", "contextKey": "k", "timeoutMs": 1, "actions": ["accept", "reject", "ask"]}`, ""),
		hosted("core.clarificationGate", `, "config": {"questions": [{"id": "a", "question": "q", "choices": ["x"]}]}`, ""),
		hosted("core.interrupt", `, "config": {"eventType": "e", "correlation": {"a": 1}}`, ""),
		hosted("core.interrupt", `, "config": {"kind": "conversation.exchange", "prompt": "p"}`, ""), hosted("core.ai.callPrompt", `, "config": {"any": {"thing": []}}`, ""),
		hosted("core.conformance.requiresMissing", "", "")} {
		src, found := parse(file("", good))
		if !src.Valid || len(found) != 0 {
			t.Fatalf("%s: %v", good, found)
		}
		s := src.Steps[1]
		if s.Host == nil || s.Action != nil || s.Wait != nil || s.Host.Check() != nil {
			t.Errorf("%s: %+v", good, s.Host)
		}
	}
}
