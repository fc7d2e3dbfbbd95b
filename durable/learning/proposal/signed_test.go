package proposal_test

import (
	"fmt"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	signedconsent "github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/consent/consenttest"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/store/config"
)

// TestGateWithSigners: with signers an approval counts only with the signature of one of them over exactly what it says,
// and each signer counts once, from any account.
func TestGateWithSigners(t *testing.T) {
	ada, bob, eve := consenttest.New(1), consenttest.New(2), consenttest.New(3)
	settings, err := canon.Parse([]byte(fmt.Sprintf(`{"proposalsQuorum":2,"principals":{"ada":{"roles":["reviewer"],"keys":[%q]},`+
		`"bob":{"roles":["reviewer"],"keys":[%q]},"guest":{"roles":["guest"],"keys":[%q]}},"signers":[{"principal":"ada","publicKey":%q},`+
		`{"principal":"bob","publicKey":%q},{"principal":"guest","publicKey":%q}]}`, ada.Fingerprint(), bob.Fingerprint(),
		consenttest.New(4).Fingerprint(), ada.Public(), bob.Public(), consenttest.New(4).Public())))
	if err != nil {
		t.Fatal(err)
	}
	conf, err := config.Read(settings)
	if err != nil {
		t.Fatal(err)
	}
	policy, digest := proposal.PolicyOf(conf), canon.Sum([]byte("artifact"))
	n := 0
	approval := func(name string, key consenttest.Key, change func(*proposal.Approval)) proposal.Approval {
		n++
		a := proposal.Approval{ID: id.EventOf("x", fmt.Sprint(n)), ArtifactSHA256: digest, Principal: name, Role: "reviewer", AtMs: 1,
			Place: proposal.Place{Store: "store"}, Terms: proposal.Terms{PolicyDigest: policy.Digest, Quorum: 2, Account: "uid:1"}}
		payload := a.Subject().Payload(1, fmt.Sprintf("%032x", n))
		a.Given = signedconsent.Given{Signed: payload, Signature: key.Armoured(payload.JCS(), signedconsent.Namespace)}
		if change != nil {
			change(&a)
		}
		return a
	}
	replacing := func(name string, key consenttest.Key) proposal.Approval {
		return approval(name, key, func(a *proposal.Approval) {
			a.Replaces = replacedFile("old")
			payload := a.Subject().Payload(1, fmt.Sprintf("%032x", n))
			a.Given = signedconsent.Given{Signed: payload, Signature: key.Armoured(payload.JCS(), signedconsent.Namespace)}
		})
	}
	other := replacing("bob", bob)
	other.Replaces = replacedFile("new")
	unnamed := replacing("bob", bob)
	unnamed.Replaces = proposal.Replaces{}
	by := func(name string, key consenttest.Key) proposal.Approval { return approval(name, key, nil) }
	adas := by("ada", ada)
	copied := adas
	copied.ID = id.EventOf("x", "copied")
	for name, row := range map[string]struct {
		all     []proposal.Approval
		have    int64
		granted bool
	}{
		"two signers of one account":    {[]proposal.Approval{adas, by("bob", bob)}, 2, true},
		"one signer, twice":             {[]proposal.Approval{adas, by("ada", ada)}, 1, false},
		"one text, twice":               {[]proposal.Approval{adas, copied}, 1, false},
		"one text under another name":   {[]proposal.Approval{adas, approval("ada", ada, func(a *proposal.Approval) { a.Given = adas.Given; a.Principal = "bob" })}, 1, false},
		"another name":                  {[]proposal.Approval{adas, by("bob", ada)}, 1, false},
		"not signed":                    {[]proposal.Approval{adas, approval("bob", bob, func(a *proposal.Approval) { a.Given = signedconsent.Given{} })}, 1, false},
		"by no signer":                  {[]proposal.Approval{adas, by("bob", eve)}, 1, false},
		"without the role":              {[]proposal.Approval{adas, by("guest", consenttest.New(4))}, 1, false},
		"of another store":              {[]proposal.Approval{adas, approval("bob", bob, func(a *proposal.Approval) { a.Place.Store = "other" })}, 1, false},
		"both of what it replaces":      {[]proposal.Approval{adas, replacing("bob", bob)}, 2, true},
		"another file that it replaces": {[]proposal.Approval{adas, other}, 1, false},
		"nothing that it replaces":      {[]proposal.Approval{adas, unnamed}, 1, false},
		"a replaced file not signed":    {[]proposal.Approval{adas, approval("bob", bob, func(a *proposal.Approval) { a.Replaces = replacedFile("old") })}, 1, false},
		"another reason":                {[]proposal.Approval{adas, approval("bob", bob, func(a *proposal.Approval) { a.Reason = "r" })}, 1, false},
		"another policy": {[]proposal.Approval{adas, approval("bob", bob, func(a *proposal.Approval) {
			a.PolicyDigest = canon.Sum([]byte("p"))
		})}, 1, false},
		"days later": {[]proposal.Approval{adas, approval("bob", bob, func(a *proposal.Approval) { a.AtMs += 48 * 3600 * 1000 })}, 1, false},
	} {
		g := policy.Gate(digest, row.all)
		if g.Have != row.have || g.Granted() != row.granted {
			t.Errorf("%s: %d approvals, granted %v: %+v", name, g.Have, g.Granted(), g.Void)
		}
	}
}
