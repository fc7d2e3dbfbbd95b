package decision_test

import (
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/consent/consenttest"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/decision"
)

var (
	adaKey = consenttest.New(1)
	bobKey = consenttest.New(2)
)

// signersOf returns signers from pairs of a principal and a key.
func signersOf(t *testing.T, keys map[string]consenttest.Key) consent.Signers {
	t.Helper()
	var items []canon.Value
	for name, key := range keys {
		items = append(items, canon.OfMembers(consent.Text("principal", name), consent.Text("publicKey", key.Public())))
	}
	list, err := consent.ParseSigners(canon.OfList(items...))
	if err != nil {
		t.Fatal(err)
	}
	return consent.Signers{List: list}
}

// placeOf is a node of a store.
func placeOf(t *testing.T, random byte) decision.Place {
	t.Helper()
	store := id.NewStore(id.Seed{random})
	return decision.Place{Store: store, Session: id.KeyedSession(store, "s"), Run: id.KeyedRun(store, "r")}
}

// signed signs a decision at a place.
func signed(r decision.Record, at decision.Place, key consenttest.Key) decision.Record {
	payload := r.Subject(at).Payload(r.AtMs, "00112233445566778899aabbccddeeff")
	r.Given = consent.Given{Signed: payload, Signature: key.Armoured(payload.JCS(), consent.Namespace)}
	return r
}

// TestSignedDecision: a signature counts for the decision, the reason, the place, the policy and the outputs
// that it is over, however the record that repeats them is rewritten.
func TestSignedDecision(t *testing.T) {
	at, signers := placeOf(t, 1), signersOf(t, map[string]consenttest.Key{"ada": adaKey})
	r := approved("ada", "x", 1_790_000_000_000).Record
	r.PolicyDigest = canon.Sum([]byte("policy"))
	r = signed(r, at, adaKey)
	if by, err := r.Signer(signers, at); err != nil || by.Principal != "ada" {
		t.Fatalf("%+v, %v", by, err)
	}
	for name, change := range map[string]func(*decision.Record){
		"decision":                   func(r *decision.Record) { r.Decision = event.Denied },
		"reason":                     func(r *decision.Record) { r.Reason = "other" },
		"outputs":                    func(r *decision.Record) { r.Outputs = about("y").Outputs },
		"outputs and what was shown": func(r *decision.Record) { r.Bound = about("y"); r.ShownDigest = r.Bound.Digest() },
		"outputs beside what was shown": func(r *decision.Record) {
			r.ShownDigest = r.Bound.Digest()
			r.Bound = about("y")
		},
		"step":      func(r *decision.Record) { r.StepInstanceKey = "other" },
		"snapshot":  func(r *decision.Record) { r.SnapshotRef = canon.Sum([]byte("other")) },
		"policy":    func(r *decision.Record) { r.PolicyDigest = canon.Sum([]byte("other")) },
		"time":      func(r *decision.Record) { r.AtMs += 48 * 3600 * 1000 },
		"signature": func(r *decision.Record) { r.Signature = signed(*r, placeOf(t, 2), adaKey).Signature },
		"key":       func(r *decision.Record) { *r = signed(*r, at, bobKey) },
		"none":      func(r *decision.Record) { r.Given = consent.Given{} },
	} {
		changed := r
		change(&changed)
		by, err := changed.Signer(signers, at)
		if err == nil || name != "none" && !fault.Is(err, fault.SignatureRefused) {
			t.Errorf("%s: signed by %+v, %v", name, by, err)
		}
	}
	for name, other := range map[string]decision.Place{"store": {Store: placeOf(t, 2).Store, Session: at.Session, Run: at.Run},
		"session": {Store: at.Store, Session: placeOf(t, 2).Session, Run: at.Run},
		"run":     {Store: at.Store, Session: at.Session, Run: placeOf(t, 2).Run}} {
		if _, err := r.Signer(signers, other); !fault.Is(err, fault.SignatureRefused) {
			t.Errorf("another %s: %v", name, err)
		}
	}
}

// TestSamePersonOfSignatures: signed decisions are of one person if one name signed them, from any account;
// one that is not signed is judged by accounts.
func TestSamePersonOfSignatures(t *testing.T) {
	record := func(by, account string, isSigned bool) decision.Record {
		r := approved(account, "x", 1).Record
		r.By = by
		if isSigned {
			r = signed(r, placeOf(t, 1), adaKey)
		}
		return r
	}
	for _, row := range []struct {
		name string
		a, b decision.Record
		want bool
	}{
		{"two signers, one account", record("ada", "1", true), record("bob", "1", true), false},
		{"one signer, two accounts", record("ada", "1", true), record("ada", "2", true), true},
		{"one of them is not signed, one account", record("ada", "1", true), record("bob", "1", false), true},
		{"one of them is not signed, two accounts", record("ada", "1", true), record("ada", "2", false), false},
	} {
		if got := decision.SamePerson(row.a, row.b); got != row.want {
			t.Errorf("%s: the same person: %v", row.name, got)
		}
		if got := decision.SamePerson(row.b, row.a); got != row.want {
			t.Errorf("%s, the other way: the same person: %v", row.name, got)
		}
	}
}
