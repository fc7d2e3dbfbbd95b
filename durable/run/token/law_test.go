package token_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/token"
)

// TestTokensRoundTrip: a minted token is read with the current and the previous key, and only
// by its own parser; one changed character invalidates it.
func TestTokensRoundTrip(t *testing.T) {
	seeds := rapid.Custom(func(t *rapid.T) (s id.Seed) {
		copy(s[:], rapid.SliceOfN(rapid.Byte(), len(s), len(s)).Draw(t, "seed"))
		return s
	})
	rapid.Check(t, func(rt *rapid.T) {
		session, run := id.NewSession(seeds.Draw(rt, "session")), id.NewRun(seeds.Draw(rt, "run"))
		node := id.RootNode(run)
		attempt := id.NextAttempt(node, id.OpAck, rapid.IntRange(0, 1000).Draw(rt, "attempt"))
		var current, before token.Key
		copy(current[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, "key"))
		copy(before[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, "key before"))
		keys := token.Keys{Current: current, Previous: &before}
		by := rapid.SampledFrom([]token.Key{current, before}).Draw(rt, "by")

		st := token.State{SessionID: session, RunID: run, NodeID: node, WorkflowHash: canon.Sum([]byte(run.String()))}
		at := token.Attempt{SessionID: session, RunID: run, NodeID: node, AttemptID: attempt}
		minted := []string{token.MintState(by, st), token.MintAck(by, at), token.MintCheckpoint(by, at)}
		for i, s := range minted {
			gotState, err0 := token.ParseState(keys, s)
			gotAck, err1 := token.ParseAck(keys, s)
			gotPoint, err2 := token.ParseCheckpoint(keys, s)
			for j, err := range []error{err0, err1, err2} {
				if (err == nil) != (i == j) {
					rt.Fatalf("token %d read as %d: %v", i, j, err)
				}
			}
			st.TokenKind, st.TokenVersion, at.TokenVersion = "state", 1, 1
			at.TokenKind = map[int]string{1: "ack", 2: "checkpoint"}[i]
			if i == 0 && gotState != st || i == 1 && gotAck != at || i == 2 && gotPoint != at {
				rt.Fatalf("%s is read as %+v %+v %+v", s, gotState, gotAck, gotPoint)
			}
			k := rapid.IntRange(0, len(s)-1).Draw(rt, "at")
			other := []byte(s)
			other[k] = rapid.SampledFrom([]byte("ABab01-_.")).Draw(rt, "to")
			if string(other) != s && reads(keys, string(other)) {
				rt.Fatalf("%s is read like %s", other, s)
			}
		}
		if other := (token.Keys{Current: token.Key{1}}); current != other.Current && before != other.Current &&
			reads(other, minted[0]) {
			rt.Fatal("accepted with a key that did not sign it")
		}
	})
}

func reads(keys token.Keys, s string) bool {
	_, err0 := token.ParseState(keys, s)
	_, err1 := token.ParseAck(keys, s)
	_, err2 := token.ParseCheckpoint(keys, s)
	return err0 == nil || err1 == nil || err2 == nil
}
