package token_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/token"
)

// TestInterruptTokens: a token is read with the current and the previous key of its store; any other text, and one changed
// character, is none, and every refusal is the same.
func TestInterruptTokens(t *testing.T) {
	run := id.NewRun(id.Seed{1})
	want := token.Interrupt{InterruptID: "l@0::wait:2", NodeID: "l@0::wait", RunID: run}
	text := token.MintInterrupt(token.Key{1}, want)
	want.TokenKind, want.TokenVersion = "interrupt", 1
	previous := token.Key{1}
	for _, keys := range []token.Keys{{Current: token.Key{1}}, {Current: token.Key{2}, Previous: &previous}} {
		if got, err := token.ParseInterrupt(keys, text); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
	keys := token.Keys{Current: token.Key{1}}
	refused := func(text string, keys token.Keys) {
		t.Helper()
		got, err := token.ParseInterrupt(keys, text)
		if f := fault.Of(err); err == nil || f.Code != fault.InterruptNotFound || f.Message != "the token is of no interrupt" || got != (token.Interrupt{}) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	refused(text, token.Keys{Current: token.Key{2}})
	for i := range text {
		for _, c := range []byte("A_-.b") {
			if other := []byte(text); other[i] != c {
				other[i] = c
				refused(string(other), keys)
			}
		}
		refused(text[:i], keys)
	}
	node := id.RootNode(run)
	session := id.NewSession(id.Seed{2})
	ack := token.MintAck(token.Key{1}, token.Attempt{SessionID: session, RunID: run, NodeID: node, AttemptID: id.NextAttempt(node, id.OpAck, 0)})
	for _, other := range []string{"", ack, "int" + strings.TrimPrefix(ack, "ack"), text + "A", text + strings.Repeat("A", 5000), strings.ToUpper(text)} {
		refused(other, keys)
	}
	for _, read := range []func(token.Keys, string) error{
		func(k token.Keys, s string) error { _, err := token.ParseState(k, s); return err },
		func(k token.Keys, s string) error { _, err := token.ParseAck(k, s); return err },
		func(k token.Keys, s string) error { _, err := token.ParseCheckpoint(k, s); return err },
	} {
		for _, prefix := range []string{"int", "st", "ack", "chk"} {
			if read(keys, prefix+strings.TrimPrefix(text, "int")) == nil {
				t.Errorf("the token of an interrupt is read as one of kind %s", prefix)
			}
		}
	}
}
