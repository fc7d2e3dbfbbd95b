package token

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// TestPeek: a token and its run are recognized without its key; other texts and payloads are not.
func TestPeek(t *testing.T) {
	run, _ := id.ParseRun("run_" + strings.Repeat("a", 26))
	node, _ := id.ParseNode("node_" + strings.Repeat("a", 26))
	session, _ := id.ParseSession("sess_" + strings.Repeat("a", 26))
	text := MintState(Key{1}, State{NodeID: node, RunID: run, SessionID: session, WorkflowHash: canon.Sum(nil)})
	if kind, got := Peek(text); kind != "state" || got != run {
		t.Errorf("%q, %v", kind, got)
	}
	payload := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	for text, want := range map[string]string{
		"": "", "run_a": "", "st.v1.a": "", "st.v9." + payload("{}") + "." + payload("x"): "", "st.v1.%.%": "",
		"ack.v1." + payload("no json") + "." + payload("x"):     "",
		"ack.v1." + payload(`{"runId":7}`) + "." + payload("x"): "ack",
		"chk.v1." + payload(`[]`) + "." + payload("x"):          "checkpoint",
	} {
		if kind, got := Peek(text); kind != want || !got.IsZero() {
			t.Errorf("%q: %q, %v; want %q and no run", text, kind, got, want)
		}
	}
}
