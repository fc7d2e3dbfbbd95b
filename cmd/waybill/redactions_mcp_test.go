package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestMCPEchoesNoSecret gives a secret to the server of agents in each place of a call that is refused, as the name of the
// client, and as the goal of a run. No line has it, and nothing in the store.
func TestMCPEchoesNoSecret(t *testing.T) {
	for _, c := range plantedSecrets() {
		p := newPlanter(t)
		calls := []string{
			`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":SECRET,"version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":"m","method":SECRET,"params":{}}`,
			`{"jsonrpc":"2.0","id":"d","method":"ping","params":{SECRET:1,SECRET:2}}`,
			`{"jsonrpc":"2.0","id":"t","method":"tools/call","params":{"name":SECRET,"arguments":{}}}`,
			`{"jsonrpc":"2.0","id":"u","method":"tools/call","params":SECRET}`,
		}
		for i, tool := range []string{
			`"inspect_workflow","arguments":{"workflowId":SECRET}`, `"inspect_workflow","arguments":{SECRET:SECRET}`,
			`"start_workflow","arguments":{"workflowId":SECRET}`, `"start_workflow","arguments":{SECRET:SECRET}`,
			`"start_workflow","arguments":{"workflowId":"wr.demo","context":SECRET}`, `"resume_session","arguments":{"runId":SECRET}`,
			`"continue_workflow","arguments":{"stateToken":SECRET,"ackToken":SECRET}`, `"continue_workflow","arguments":{SECRET:1}`,
			`"start_workflow","arguments":{"workflowId":"wr.demo","goal":SECRET}`,
		} {
			calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d","method":"tools/call","params":{"name":%s}}`, i, tool))
		}
		_, out, errOut := p.call(strings.ReplaceAll(strings.Join(calls, "\n")+"\n", "SECRET", quoted(c.text)), "mcp", "--log-level", "debug")
		if strings.Contains(out+errOut, c.needle) {
			t.Errorf("printed %q:\n%s%s", c.needle, out, errOut)
		}
		if n := strings.Count(out, "\n"); n != len(calls)-1 || !strings.Contains(out, `"redactions":[{"pointer":"/goal","rule":"`) {
			t.Errorf("%d calls, %d lines: %s", len(calls), n, out)
		}
		p.holdsNone("home", c)
	}
}
