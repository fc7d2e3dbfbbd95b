package token_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/token"
)

var (
	key   = token.Key{1, 2, 3}
	old   = token.Key{4, 5, 6}
	keys  = token.Keys{Current: key}
	run   = id.NewRun(id.Seed{2})
	node  = id.RootNode(run)
	state = token.State{SessionID: id.NewSession(id.Seed{1}), RunID: run, NodeID: node,
		WorkflowHash: canon.Sum([]byte("w")), TokenKind: "state", TokenVersion: 1}
)

func attempt(kind string) token.Attempt {
	return token.Attempt{SessionID: state.SessionID, RunID: run, NodeID: node,
		AttemptID: id.NextAttempt(node, id.OpAck, 0), TokenKind: kind, TokenVersion: 1}
}

// sealed returns a token with any payload, signed with HMAC-SHA256 over the payload's bytes.
func sealed(k token.Key, prefix, payload string) string {
	mac := hmac.New(sha256.New, k[:])
	mac.Write([]byte(payload))
	b64 := base64.RawURLEncoding.EncodeToString
	return prefix + "." + b64([]byte(payload)) + "." + b64(mac.Sum(nil))
}

// TestGoldenTokens constructs tokens from their parts (docs/design.md#tokens).
func TestGoldenTokens(t *testing.T) {
	common := `"nodeId":"` + node.String() + `","runId":"` + run.String() + `","sessionId":"` +
		state.SessionID.String() + `"`
	withAttempt := `{"attemptId":"` + attempt("").AttemptID.String() + `",` + common
	tests := []struct{ name, got, want string }{
		{"state", token.MintState(key, state),
			sealed(key, "st.v1", `{`+common+`,"tokenKind":"state","tokenVersion":1,"workflowHash":"`+
				state.WorkflowHash.String()+`"}`)},
		{"ack", token.MintAck(key, attempt("")),
			sealed(key, "ack.v1", withAttempt+`,"tokenKind":"ack","tokenVersion":1}`)},
		{"checkpoint", token.MintCheckpoint(key, attempt("")),
			sealed(key, "chk.v1", withAttempt+`,"tokenKind":"checkpoint","tokenVersion":1}`)},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, tt.got, tt.want)
		}
		if len(tt.got) > limits.TokenBytesMax/4 {
			t.Errorf("%s has %d characters", tt.name, len(tt.got))
		}
	}
	const first = "ack.v1.eyJhdHRlbXB0SWQiOiJhdHRlbXB0X3E3cDRyaXVmeGI0dHVqaGFmcG43eGYydGdpIiwibm9kZUlkIjoibm9kZV9vc3Y3YXk3bnR1ZDdrY2FoYTNpaWxvZXFyZSIsInJ1bklkIjoicnVuX3EybjJ3Y3dieTZqM25va25kd3plbWlhZHRpIiwic2Vzc2lvbklkIjoic2Vzc19haWhnZTI1cWVsYjQzbnlvMnV6aGVvdW91ZSIsInRva2VuS2luZCI6ImFjayIsInRva2VuVmVyc2lvbiI6MX0.4CofhbEvhmOHx_YxgE535l06Svnh-SphvXlREzPcJrc"
	if got := token.MintAck(key, attempt("")); got != first {
		t.Errorf("got %s, want %s", got, first)
	}
}

func TestParseInvertsMint(t *testing.T) {
	if got, err := token.ParseState(keys, token.MintState(key, state)); err != nil || got != state {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := token.ParseAck(keys, token.MintAck(key, attempt(""))); err != nil || got != attempt("ack") {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := token.ParseCheckpoint(keys, token.MintCheckpoint(key, attempt(""))); err != nil ||
		got != attempt("checkpoint") {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestRotation: after a rotation exactly the previous key's tokens remain valid.
func TestRotation(t *testing.T) {
	byOld := token.MintAck(old, attempt(""))
	tests := []struct {
		name string
		keys token.Keys
		good bool
	}{
		{"before", token.Keys{Current: old}, true},
		{"once", token.Keys{Current: key, Previous: &old}, true},
		{"twice", token.Keys{Current: token.Key{9}, Previous: &key}, false},
		{"without previous", token.Keys{Current: key}, false},
	}
	for _, tt := range tests {
		_, err := token.ParseAck(tt.keys, byOld)
		if good := err == nil; good != tt.good || !good && !fault.Is(err, fault.TokenBadSignature) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestRefusals: every error, in order of precedence: form, version, scope, signature,
// payload.
func TestRefusals(t *testing.T) {
	st, ack, chk := token.MintState(key, state), token.MintAck(key, attempt("")), token.MintCheckpoint(key, attempt(""))
	payload := func(k token.Key, prefix, old, new string) string {
		raw, err := base64.RawURLEncoding.DecodeString(strings.Split(st, ".")[2])
		if err != nil {
			t.Fatal(err)
		}
		return sealed(k, prefix, strings.Replace(string(raw), old, new, 1))
	}
	tests := []struct {
		name, token string
		want        fault.Code
	}{
		{"nothing", "", fault.TokenInvalidFormat},
		{"a word", "hello", fault.TokenInvalidFormat},
		{"a prefix", "st", fault.TokenInvalidFormat},
		{"another prefix", "tok" + st[2:], fault.TokenInvalidFormat},
		{"another case", "ST" + st[2:], fault.TokenInvalidFormat},
		{"no version", "st." + st[6:], fault.TokenInvalidFormat},
		{"a newer version", "st.v2" + st[5:], fault.TokenUnsupportedVersion},
		{"a newer version of other parts", "st.v2.x", fault.TokenUnsupportedVersion},
		{"a longer version", "st.v11" + st[5:], fault.TokenUnsupportedVersion},
		{"cut before the signature", st[:strings.LastIndex(st, ".")], fault.TokenInvalidFormat},
		{"two tokens", st + "." + st, fault.TokenInvalidFormat},
		{"a space before", " " + st, fault.TokenInvalidFormat},
		{"a trailing line break", st + "\n", fault.TokenInvalidFormat},
		{"a line break inside", st[:100] + "\n" + st[100:], fault.TokenInvalidFormat},
		{"padding", st + "=", fault.TokenInvalidFormat},
		{"an empty signature", st[:strings.LastIndex(st, ".")+1], fault.TokenBadSignature},
		{"a cut signature", st[:len(st)-4], fault.TokenBadSignature},
		{"an ack token", ack, fault.TokenScopeMismatch},
		{"a checkpoint token", chk, fault.TokenScopeMismatch},
		{"an ack token badly signed", ack[:len(ack)-3] + "AAA", fault.TokenScopeMismatch},
		{"of another store", token.MintState(token.Key{7}, state), fault.TokenBadSignature},
		{"an ack payload", "st" + ack[3:], fault.TokenInvalidFormat},
		{"no payload", sealed(key, "st.v1", ""), fault.TokenInvalidFormat},
		{"an unknown member", payload(key, "st.v1", `{`, `{"a":1,`), fault.TokenInvalidFormat},
		{"another spelling", payload(key, "st.v1", `{`, `{ `), fault.TokenInvalidFormat},
		{"an id of another shape", payload(key, "st.v1", `"node_`, `"NODE_`), fault.TokenInvalidFormat},
		{"a payload of another kind", payload(key, "st.v1", `"state"`, `"ack"`), fault.TokenInvalidFormat},
		{"a payload of a newer version", payload(key, "st.v1", `"tokenVersion":1`, `"tokenVersion":2`),
			fault.TokenUnsupportedVersion},
		{"too long", st + strings.Repeat("A", limits.TokenBytesMax), fault.TokenInvalidFormat},
	}
	for _, tt := range tests {
		if got, err := token.ParseState(keys, tt.token); fault.CodeOf(err) != tt.want {
			t.Errorf("%s: got %+v, %v; want %s", tt.name, got, err, tt.want)
		}
	}
	for name, parse := range map[string]func(string) error{
		"ack":        func(s string) error { _, err := token.ParseAck(keys, s); return err },
		"checkpoint": func(s string) error { _, err := token.ParseCheckpoint(keys, s); return err },
	} {
		for other, s := range map[string]string{"state": st, "ack": ack, "checkpoint": chk} {
			if err := parse(s); other != name && !fault.Is(err, fault.TokenScopeMismatch) {
				t.Errorf("a %s token as %s: %v", other, name, err)
			}
		}
	}
	// An ack and a checkpoint payload have the same members: the kind keeps them apart.
	if _, err := token.ParseCheckpoint(keys, "chk"+ack[3:]); !fault.Is(err, fault.TokenInvalidFormat) {
		t.Errorf("an ack token renamed: %v", err)
	}
}

// TestMessagesQuoteSafely: quoted input is written to terminals and into JSON.
func TestMessagesQuoteSafely(t *testing.T) {
	for sent, want := range map[string]string{
		"\x1b[2J\xff":                 `"\x1b[2J\xff" is not a token`,
		strings.Repeat("é", 30):       `"` + strings.Repeat("é", 20) + `…" is not a token`,
		"x" + strings.Repeat("é", 30): `"x` + strings.Repeat("é", 19) + `…" is not a token`,
	} {
		if _, err := token.ParseState(keys, sent); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestZeroIDsAreNotMinted(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a token without ids is minted")
		}
	}()
	token.MintAck(key, token.Attempt{})
}

// TestTokenEncodingIsUnique: every change of a character, including the unused bits of the
// last ones, makes the token invalid.
func TestTokenEncodingIsUnique(t *testing.T) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.\n\r+/= "
	st := token.MintState(key, state)
	for i := range st {
		for _, c := range []byte(alphabet) {
			if c == st[i] {
				continue
			}
			if got, err := token.ParseState(keys, st[:i]+string(c)+st[i+1:]); err == nil {
				t.Fatalf("%c in place of character %d is accepted as %+v", c, i, got)
			}
		}
		for _, c := range "\n\r =A" {
			if _, err := token.ParseState(keys, st[:i]+string(c)+st[i:]); err == nil {
				t.Fatalf("%q before character %d is accepted", c, i)
			}
		}
		if _, err := token.ParseState(keys, st[:i]+st[i+1:]); err == nil {
			t.Fatalf("without character %d it is accepted", i)
		}
	}
}

// FuzzMalleability: every accepted token equals what Mint returns for it with one of the
// keys.
func FuzzMalleability(f *testing.F) {
	f.Add(token.MintState(key, state), 0, "A")
	f.Add(token.MintAck(key, attempt("")), 8, "\n")
	f.Add(token.MintCheckpoint(old, attempt("")), -1, "B")
	both := token.Keys{Current: key, Previous: &old}
	f.Fuzz(func(t *testing.T, s string, at int, insert string) {
		if at >= 0 && at <= len(s) {
			s = s[:at] + insert + s[at:]
		}
		var minted [2]string
		if got, err := token.ParseState(both, s); err == nil {
			minted = [2]string{token.MintState(key, got), token.MintState(old, got)}
		} else if got, err := token.ParseAck(both, s); err == nil {
			minted = [2]string{token.MintAck(key, got), token.MintAck(old, got)}
		} else if got, err := token.ParseCheckpoint(both, s); err == nil {
			minted = [2]string{token.MintCheckpoint(key, got), token.MintCheckpoint(old, got)}
		} else {
			return
		}
		if s != minted[0] && s != minted[1] {
			t.Fatalf("%q is accepted", s)
		}
	})
}

// TestClaimedRun: each kind names its run, also with a signature of another store; other texts name none.
func TestClaimedRun(t *testing.T) {
	for _, s := range []string{token.MintState(old, state), token.MintAck(key, attempt("ack")),
		token.MintCheckpoint(key, attempt("checkpoint"))} {
		if got, ok := token.ClaimedRun(s); !ok || got != run {
			t.Errorf("%s: got %v %v", s, got, ok)
		}
	}
	whole := token.MintState(key, state)
	for _, s := range []string{"", "st", "st.v1", "st.v2.x.y", whole[:len(whole)-60], "x" + whole, sealed(key, "st.v1", "{}"),
		sealed(key, "st.v1", `{"runId":"run_x"}`), sealed(key, "ack.v1", "[]"), strings.Repeat("st.v1.", 1<<16)} {
		if got, ok := token.ClaimedRun(s); ok {
			t.Errorf("%.40s: got %v", s, got)
		}
	}
}
