package audit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/consent/consenttest"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
)

var adaKey, bobKey = consenttest.New(1), consenttest.New(2)

// policyText is the canonical text of settings with signers, each a key of ada, and more members.
func policyText(t *testing.T, more string, keys ...consenttest.Key) string {
	t.Helper()
	var list []string
	for i, key := range keys {
		list = append(list, fmt.Sprintf(`{"presence":"none","principal":"ada%d","publicKey":%q}`, i, key.Public()))
	}
	v, err := canon.Parse([]byte(`{` + more + `"signers":[` + strings.Join(list, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return string(v.JCS())
}

// changeTo is the act that changes the settings to those of a text.
func changeTo(text string) audit.Act {
	return audit.Act{Action: audit.Configure, Target: audit.Target{Kind: audit.OfStore},
		Details: map[string]string{audit.DetailPolicyAfter: canon.Sum([]byte(text)).String()}}
}

// outcome are the details of an outcome with the settings of a text.
func outcome(text string) map[string]string {
	return map[string]string{audit.DetailPolicy: canon.Sum([]byte(text)).String(), audit.DetailSettings: text}
}

// sign signs an act under the settings of a text. Each n gives another text.
func sign(act audit.Act, under string, key consenttest.Key, n int) consent.Given {
	payload := act.Subject(auditStore.String(), canon.Sum([]byte(under)), canon.Value{}).Payload(1, fmt.Sprintf("%032x", n))
	return consent.Given{Signed: payload, Signature: key.Armoured(payload.JCS(), consent.Namespace)}
}

// begin records an intention with a consent.
func (a *acts) begin(act audit.Act, given consent.Given) id.Event {
	act.Consent = given
	return a.add(audit.Intend(act, int64(len(a.events))))
}

// TestConfirmedWithSigners: with a signer in force only an outcome that a signer signed, and that states what was
// signed, changes what is confirmed.
func TestConfirmedWithSigners(t *testing.T) {
	before := policyText(t, "", adaKey)
	after := policyText(t, `"proposalsQuorum":2,`, adaKey)
	open := `{"proposalsQuorum":2}`
	for name, test := range map[string]struct {
		make     func(*acts)
		want     string
		unsigned int64
	}{
		"nothing": {func(*acts) {}, before, 0},
		"signed": {func(a *acts) {
			a.conclude(a.begin(changeTo(after), sign(changeTo(after), before, adaKey, 1)), nil, outcome(after))
		}, after, 0},
		"not signed": {func(a *acts) {
			a.conclude(a.begin(changeTo(open), consent.Given{}), nil, outcome(open))
		}, before, 1},
		"by another key": {func(a *acts) {
			a.conclude(a.begin(changeTo(open), sign(changeTo(open), before, bobKey, 1)), nil, outcome(open))
		}, before, 1},
		"under another policy": {func(a *acts) {
			a.conclude(a.begin(changeTo(after), sign(changeTo(after), open, adaKey, 1)), nil, outcome(after))
		}, before, 1},
		"for another act": {func(a *acts) {
			a.conclude(a.begin(changeTo(open), sign(changeTo(after), before, adaKey, 1)), nil, outcome(open))
		}, before, 1},
		"another outcome": {func(a *acts) {
			a.conclude(a.begin(changeTo(after), sign(changeTo(after), before, adaKey, 1)), nil, outcome(open))
		}, before, 1},
		"an outcome that trusts too": {func(a *acts) {
			details := outcome(after)
			details[audit.DetailTrusted] = canon.Sum([]byte("list")).String()
			a.conclude(a.begin(changeTo(after), sign(changeTo(after), before, adaKey, 1)), nil, details)
		}, before, 1},
		// Without the settings no signer would be known, and none be required.
		"an outcome without the settings": {func(a *acts) {
			details := outcome(after)
			delete(details, audit.DetailSettings)
			a.conclude(a.begin(changeTo(after), sign(changeTo(after), before, adaKey, 1)), nil, details)
		}, before, 1},
		"an outcome with other settings": {func(a *acts) {
			details := outcome(after)
			details[audit.DetailSettings] = open
			a.conclude(a.begin(changeTo(after), sign(changeTo(after), before, adaKey, 1)), nil, details)
		}, before, 1},
		"one text for two acts": {func(a *acts) {
			given := sign(changeTo(after), before, adaKey, 1)
			a.conclude(a.begin(changeTo(after), given), nil, outcome(after))
			a.conclude(a.begin(changeTo(before), sign(changeTo(before), after, adaKey, 2)), nil, outcome(before))
			a.conclude(a.begin(changeTo(after), given), nil, outcome(after))
		}, before, 1},
		"a text of an act that failed, again": {func(a *acts) {
			given := sign(changeTo(after), before, adaKey, 1)
			a.begin(changeTo(after), given)
			a.conclude(a.begin(changeTo(after), given), nil, outcome(after))
		}, before, 1},
		"an intention of before the signers": {func(a *acts) { a.conclude(a.early, nil, outcome(open)) }, before, 1},
		"by a signer who was removed": {func(a *acts) {
			bobs := policyText(t, "", bobKey)
			a.conclude(a.begin(changeTo(bobs), sign(changeTo(bobs), before, adaKey, 1)), nil, outcome(bobs))
			a.conclude(a.begin(changeTo(before), sign(changeTo(before), bobs, adaKey, 2)), nil, outcome(before))
		}, policyText(t, "", bobKey), 1},
	} {
		a := &acts{T: t}
		a.early = a.begin(changeTo(open), consent.Given{})
		a.conclude(a.begin(changeTo(before), consent.Given{}), nil, outcome(before)) // the first signers
		test.make(a)
		got := a.confirmed()
		if got.Settings != test.want || got.Unsigned != test.unsigned || got.Policy != canon.Sum([]byte(test.want)) ||
			got.Signers().IsZero() || !got.Trusted.IsZero() {
			t.Errorf("%s: %d unsigned, settings %s, want %d and %s", name, got.Unsigned, got.Settings, test.unsigned, test.want)
		}
	}
}

// TestEpochs: signers that were in force are known, others are not, and an installation is judged by those in force when
// it was recorded.
func TestEpochs(t *testing.T) {
	adas, bobs := policyText(t, "", adaKey), policyText(t, "", bobKey)
	record := func(a *acts, name string) id.Event {
		of := id.EventOf("x", name)
		a.add(audit.Recorded{Action: audit.Apply, Details: map[string]string{audit.DetailInstalled: name},
			Target: audit.Target{Kind: audit.OfStore}, Source: audit.Source{EventID: of, Log: audit.Proposals}})
		return of
	}
	a := &acts{T: t}
	first := record(a, "first")
	a.conclude(a.begin(changeTo(adas), consent.Given{}), nil, outcome(adas))
	second := record(a, "second")
	a.conclude(a.begin(changeTo(bobs), sign(changeTo(bobs), adas, adaKey, 1)), nil, outcome(bobs))
	third := record(a, "third")
	got := a.confirmed()
	for _, row := range []struct {
		of        id.Event
		name      string
		ada, bob  bool
		noSigners bool
	}{{first, "first", false, false, true}, {second, "second", true, false, false}, {third, "third", false, true, false},
		{id.EventOf("x", "unknown"), "unknown", false, true, false}, {first, "other", false, true, false}} {
		signers := got.InstallSettings(row.of, row.name).Signers()
		if signers.Has(adaKey.Public()) != row.ada || signers.Has(bobKey.Public()) != row.bob || signers.IsZero() != row.noSigners ||
			got.IsInstalledUnsigned(row.of, row.name) != row.noSigners {
			t.Errorf("%s: %+v", row.name, signers)
		}
	}
	if !got.HadSigners() || !got.KnowsSigners(got.Signers().Digest()) || got.KnowsSigners(consent.Signers{Touch: true}.Digest()) ||
		!got.KnowsSigners(got.InstallSettings(second, "second").Signers().Digest()) {
		t.Errorf("epochs: %q", got.Epochs)
	}
}
