package audit_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	auditview "github.com/waybill/waybill/projections/audit"
)

// acts builds the events of an audit log and folds them.
type acts struct {
	*testing.T
	events []event.Event
	early  id.Event // an intention without an outcome, in tests of signers
}

func (a *acts) add(p event.Payload) id.Event {
	e := event.New(auditStore.String(), int64(len(a.events)), event.Scope{}, person, 1, p)
	a.events = append(a.events, e)
	return e.ID
}

func (a *acts) intend(action audit.Action) id.Event {
	target := audit.Target{Kind: audit.OfStore}
	if action == audit.Trust || action == audit.Untrust {
		target = audit.Target{Kind: audit.OfWorkflow, ID: canon.Sum(nil).String()}
	}
	return a.add(audit.Intend(audit.Act{Action: action, Target: target}, int64(len(a.events))))
}

func (a *acts) conclude(intended id.Event, failure error, details map[string]string) {
	a.add(audit.Conclude(intended, details, failure))
}

// confirmed folds the events as a saved ledger, loaded after each of them, and as a history.
func (a *acts) confirmed() auditview.Confirmed {
	a.Helper()
	l, h := auditview.NewLedger(), auditview.NewHistory(auditLog)
	for _, e := range a.events {
		seg := manifest.Segment{Events: []event.Event{e}}
		_, _ = l.Visit(seg, manifest.Head{}), h.Visit(seg, manifest.Head{})
		doc, err := l.Save()
		if err == nil {
			l, err = auditview.LoadLedger(doc)
		}
		if err != nil {
			a.Fatal(err)
		}
	}
	if l.Confirmed.Policy != h.Confirmed.Policy || l.Confirmed.Trusted != h.Confirmed.Trusted ||
		l.Confirmed.Settings != h.Confirmed.Settings {
		a.Errorf("the saved ledger has %+v, the history %+v", l.Confirmed, h.Confirmed)
	}
	return l.Confirmed
}

// TestConfirmed: only the outcome of a successful configure, trust or untrust confirms anything, and
// the last one counts.
func TestConfirmed(t *testing.T) {
	one, two := canon.Sum([]byte(`{"proposalsQuorum":2}`)), canon.Sum([]byte("two"))
	policy := func(d canon.Digest) map[string]string { return map[string]string{audit.DetailPolicy: d.String()} }
	for name, test := range map[string]struct {
		make func(*acts)
		want canon.Digest
	}{
		"nothing":    {func(*acts) {}, canon.Digest{}},
		"a change":   {func(a *acts) { a.conclude(a.intend(audit.Configure), nil, policy(one)) }, one},
		"only begun": {func(a *acts) { a.intend(audit.Configure) }, canon.Digest{}},
		"failed": {func(a *acts) {
			a.conclude(a.intend(audit.Configure), fault.New(fault.StoreIO, "x"), policy(one))
		}, canon.Digest{}},
		"no details": {func(a *acts) { a.conclude(a.intend(audit.Configure), nil, nil) }, canon.Digest{}},
		"no digest": {func(a *acts) {
			a.conclude(a.intend(audit.Configure), nil, map[string]string{"policy": "x"})
		}, canon.Digest{}},
		"an import": {func(a *acts) { a.conclude(a.intend(audit.Import), nil, policy(one)) }, canon.Digest{}},
		"a repair":  {func(a *acts) { a.conclude(a.intend(audit.Repair), nil, policy(one)) }, canon.Digest{}},
		"no intent": {func(a *acts) { a.conclude(id.EventOf("x", "y"), nil, policy(one)) }, canon.Digest{}},
		"the last": {func(a *acts) {
			a.conclude(a.intend(audit.Configure), nil, policy(one))
			a.conclude(a.intend(audit.Configure), nil, policy(two))
		}, two},
		"twice ended": {func(a *acts) {
			i := a.intend(audit.Configure)
			a.conclude(i, nil, policy(one))
			a.conclude(i, nil, policy(two))
		}, one},
		"entangled": {func(a *acts) {
			first, second := a.intend(audit.Configure), a.intend(audit.Configure)
			a.conclude(second, nil, policy(two))
			a.conclude(first, nil, policy(one))
		}, one},
		"a fact with such details": {func(a *acts) {
			a.add(audit.Recorded{Action: audit.Configure, Details: policy(one), Target: audit.Target{Kind: audit.OfStore},
				Source: audit.Source{EventID: id.EventOf("x", "y"), Log: audit.Proposals}})
		}, canon.Digest{}},
	} {
		a := &acts{T: t}
		if test.make(a); a.confirmed().Policy != test.want {
			t.Errorf("%s: %s, want %s", name, a.confirmed().Policy, test.want)
		}
	}
}

// TestConfirmedText: the text of a policy is kept where it is that of the digest, and trust and
// policy are confirmed apart.
func TestConfirmedText(t *testing.T) {
	a := &acts{T: t}
	text := `{"proposalsQuorum":2}`
	a.conclude(a.intend(audit.Configure), nil,
		map[string]string{audit.DetailPolicy: canon.Sum([]byte(text)).String(), audit.DetailSettings: text})
	if got := a.confirmed(); got.Settings != text {
		t.Errorf("the text is %q", got.Settings)
	}
	list := canon.Sum([]byte("list"))
	a.conclude(a.intend(audit.Trust), nil, map[string]string{audit.DetailTrusted: list.String()})
	if got := a.confirmed(); got.Settings != text || got.Trusted != list {
		t.Errorf("after a trust: %+v", got)
	}
	a.conclude(a.intend(audit.Configure), nil,
		map[string]string{audit.DetailPolicy: list.String(), audit.DetailSettings: text})
	if got := a.confirmed(); got.Settings != "" || got.Trusted != list {
		t.Errorf("the text of another policy: %+v", got)
	}
}

// TestConfirmedForgetsOldIntentions: the saved list of intentions without an outcome is bounded, and
// the newest of them can still get one.
func TestConfirmedForgetsOldIntentions(t *testing.T) {
	a := &acts{T: t}
	for range 200 {
		a.intend(audit.Trust)
	}
	newest := a.intend(audit.Configure)
	if n := len(a.confirmed().Open); n > 64 {
		t.Errorf("%d intentions are kept", n)
	}
	a.conclude(newest, nil, map[string]string{audit.DetailPolicy: canon.Sum([]byte(strings.Repeat("x", 3))).String()})
	if a.confirmed().Policy.IsZero() {
		t.Error("the newest intention got no outcome")
	}
}
