package consent_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/consent/consenttest"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

const (
	now   = int64(1_790_000_000_000)
	nonce = "00112233445566778899aabbccddeeff"
)

var (
	plainKey = consenttest.New(1)
	touchKey = consenttest.NewSecurityKey(2)
)

// signersOf parses a setting, which may have errors the test does not expect.
func signersOf(t *testing.T, text string) []consent.Signer {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all, err := consent.ParseSigners(v)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// subject is the consent to a step in a store.
func subject(store, run string, policy byte) consent.Subject {
	return consent.NewSubject(consent.DecideStep, store, canon.Sum([]byte{policy}), consent.Text("run", run),
		consent.Text("decision", "approved"), consent.Text("reason", ""))
}

// give signs a subject at a moment.
func give(s consent.Subject, key consenttest.Key, atMs int64, namespace string) consent.Given {
	payload := s.Payload(atMs, nonce)
	return consent.Given{Signed: payload, Signature: key.Armoured(payload.JCS(), namespace)}
}

// TestCheck checks each signature that does not count, by its reason, beside those that do.
func TestCheck(t *testing.T) {
	one := subject("store_a", "run_a", 1)
	both := signersOf(t, `[{"principal":"ada","publicKey":"`+plainKey.Public()+` ada@host"},
		{"principal":"eve","publicKey":"`+touchKey.Public()+`"}]`)
	old := signersOf(t, `[{"principal":"ada","publicKey":"`+plainKey.Public()+`","validBefore":"2026-01-01T00:00:00Z"}]`)
	young := signersOf(t, `[{"principal":"ada","publicKey":"`+plainKey.Public()+`","validAfter":"2036-01-01T00:00:00Z"}]`)
	untouched := touchKey
	untouched.Untouched = true
	other := consenttest.New(3)
	for _, row := range []struct {
		name    string
		signers consent.Signers
		given   consent.Given
		want    consent.Why // "" counts
	}{
		{"a plain key", consent.Signers{List: both}, give(one, plainKey, now, "waybill"), ""},
		{"a security key", consent.Signers{List: both, Touch: true}, give(one, touchKey, now, "waybill"), ""},
		{"just in time", consent.Signers{List: both}, give(one, plainKey, now-limits.ConsentAgeMs, "waybill"), ""},
		{"a clock that is ahead", consent.Signers{List: both}, give(one, plainKey, now+limits.ConsentAheadMs, "waybill"), ""},
		{"another store", consent.Signers{List: both}, give(subject("store_b", "run_a", 1), plainKey, now, "waybill"), consent.WhySubject},
		{"another run", consent.Signers{List: both}, give(subject("store_a", "run_b", 1), plainKey, now, "waybill"), consent.WhySubject},
		{"another policy", consent.Signers{List: both}, give(subject("store_a", "run_a", 2), plainKey, now, "waybill"), consent.WhySubject},
		{"another namespace", consent.Signers{List: both}, give(one, plainKey, now, "git"), consent.WhyNamespace},
		{"too old", consent.Signers{List: both}, give(one, plainKey, now-limits.ConsentAgeMs-1, "waybill"), consent.WhyTime},
		{"of the future", consent.Signers{List: both}, give(one, plainKey, now+limits.ConsentAheadMs+1, "waybill"), consent.WhyTime},
		{"no signer", consent.Signers{List: both}, give(one, other, now, "waybill"), consent.WhySigner},
		{"without signers", consent.Signers{}, give(one, plainKey, now, "waybill"), consent.WhySigner},
		{"an expired key", consent.Signers{List: old}, give(one, plainKey, now, "waybill"), consent.WhyExpired},
		{"a key of the future", consent.Signers{List: young}, give(one, plainKey, now, "waybill"), consent.WhyExpired},
		{"without a touch", consent.Signers{List: both}, give(one, untouched, now, "waybill"), consent.WhyTouch},
		{"a plain key where a touch is required", consent.Signers{List: both, Touch: true}, give(one, plainKey, now, "waybill"),
			consent.WhyTouch},
		{"a changed text", consent.Signers{List: both}, consent.Given{Signed: one.Payload(now+1, nonce),
			Signature: give(one, plainKey, now, "waybill").Signature}, consent.WhyInvalid},
		{"no signature", consent.Signers{List: both}, consent.Given{Signed: one.Payload(now, nonce), Signature: "yes"},
			consent.WhyMalformed},
		{"a long signature", consent.Signers{List: both}, consent.Given{Signed: one.Payload(now, nonce),
			Signature: strings.Repeat("A", limits.SignatureBytesMax+1)}, consent.WhyMalformed},
		{"no payload", consent.Signers{List: both}, consent.Given{Signed: canon.OfString("yes"),
			Signature: give(one, plainKey, now, "waybill").Signature}, consent.WhyMalformed},
		{"a short nonce", consent.Signers{List: both}, func() consent.Given {
			payload := one.Payload(now, "00")
			return consent.Given{Signed: payload, Signature: plainKey.Armoured(payload.JCS(), "waybill")}
		}(), consent.WhyMalformed},
		{"one more member", consent.Signers{List: both}, func() consent.Given {
			payload := one.Payload(now, nonce).With("also", canon.OfBool(true))
			return consent.Given{Signed: payload, Signature: plainKey.Armoured(payload.JCS(), "waybill")}
		}(), consent.WhySubject},
	} {
		by, err := row.signers.Check(row.given, one, now)
		if row.want == "" {
			if err != nil || by.Principal == "" {
				t.Errorf("%s: %+v, %v", row.name, by, err)
			}
			continue
		}
		if !fault.Is(err, fault.SignatureRefused) || fault.Of(err).Details["why"] != string(row.want) {
			t.Errorf("%s: %v, want %s", row.name, err, row.want)
		}
	}
}

// TestOneFlippedByte flips each byte of a signature: none of them counts.
func TestOneFlippedByte(t *testing.T) {
	one := subject("store_a", "run_a", 1)
	signers := consent.Signers{List: signersOf(t, `[{"principal":"eve","publicKey":"`+touchKey.Public()+`"}]`)}
	given := give(one, touchKey, now, "waybill")
	counted := 0
	for i := range given.Signature {
		changed := given
		changed.Signature = given.Signature[:i] + string(given.Signature[i]^1) + given.Signature[i+1:]
		if _, err := signers.Check(changed, one, now); err == nil {
			counted++
			t.Logf("byte %d, %q", i, given.Signature[i])
		}
	}
	// The line ends of the armour are no part of the signature.
	if counted > strings.Count(given.Signature, "\n") {
		t.Errorf("%d changed signatures count", counted)
	}
}

// TestAllowedSigners reads files in OpenSSH's form, and what is written is read again.
func TestAllowedSigners(t *testing.T) {
	all, err := consent.ParseAllowedSigners("# people\n\nada " + plainKey.Public() + " ada@host\n" +
		`eve namespaces="git,waybill",valid-after="20260101Z",valid-before="202701010102Z" ` + touchKey.Public() + "\n" +
		`bob namespaces="git" ` + consenttest.New(3).Public() + "\n")
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"presence":"none","principal":"ada","publicKey":"` + plainKey.Public() + `"},` +
		`{"presence":"touch","principal":"eve","publicKey":"` + touchKey.Public() + `",` +
		`"validAfter":"2026-01-01T00:00:00Z","validBefore":"2027-01-01T01:02:00Z"}]`
	for i := range all {
		if all[i].Presence == "" {
			all[i].Presence = consent.None
		}
	}
	if diff := cmp.Diff(want, string(consent.SignersValue(all).JCS())); diff != "" {
		t.Error(diff)
	}
	again, err := consent.ParseAllowedSigners(consent.AllowedSigners(all))
	if err != nil || len(again) != 2 || again[1].ValidBefore != all[1].ValidBefore {
		t.Errorf("%+v, %v", again, err)
	}
	for _, bad := range []string{"", "ada", "ada ssh-ed25519 AAAA", "*@x " + plainKey.Public(), "ada,bob " + plainKey.Public(),
		"ada cert-authority " + plainKey.Public(), "ada no-such " + plainKey.Public(),
		`ada valid-after="20260101" ` + plainKey.Public(), `ada valid-after="20261301Z" ` + plainKey.Public(),
		"ada " + plainKey.Public() + "\nbob " + plainKey.Public(), `ada namespaces="git" ` + plainKey.Public(),
		strings.Repeat("#", limits.AllowedSignersBytesMax+1)} {
		if all, err := consent.ParseAllowedSigners(bad); err == nil {
			t.Errorf("%.60q was read: %+v", bad, all)
		}
	}
}

// TestSignersSetting refuses settings that are no signers, and names the place.
func TestSignersSetting(t *testing.T) {
	key := plainKey.Public()
	for bad, at := range map[string]string{
		`{}`:                    "",
		`[1]`:                   "0",
		`[{"principal":"ada"}]`: "0/publicKey",
		`[{"principal":"ada lovelace","publicKey":"` + key + `"}]`:                                    "0/principal",
		`[{"principal":"ada","publicKey":"` + key + `","presence":"touch"}]`:                          "0/presence",
		`[{"principal":"ada","publicKey":"` + key + `","presence":"maybe"}]`:                          "0/presence",
		`[{"principal":"ada","publicKey":"` + key + `","validAfter":"soon"}]`:                         "0/validAfter",
		`[{"principal":"ada","publicKey":7}]`:                                                         "0/publicKey",
		`[{"principal":"ada","publicKey":"` + key + `","more":"x"}]`:                                  "0",
		`[{"principal":"a","publicKey":"` + key + `"},{"principal":"b","publicKey":"` + key + ` x"}]`: "1/publicKey",
	} {
		v, err := canon.Parse([]byte(bad))
		if err != nil {
			t.Fatal(err)
		}
		_, err = consent.ParseSigners(v)
		if m, ok := err.(*consent.Mismatch); !ok || m.At != at {
			t.Errorf("%s: %v, want a mismatch at %q", bad, err, at)
		}
	}
}

// TestCheckReader: a message that is read counts as one in memory. An error of the reader says nothing about
// the signature, and the message of a key that is no signer is not read at all.
func TestCheckReader(t *testing.T) {
	signers := consent.Signers{List: signersOf(t, `[{"principal":"ada","publicKey":"`+plainKey.Public()+`"}]`)}
	message := strings.Repeat("a bundle ", 100_000)
	armoured := plainKey.Armoured([]byte(message), "waybill")
	want := consent.By{Principal: "ada", Fingerprint: plainKey.Fingerprint()}
	if by, err := signers.CheckReader(iotest.OneByteReader(strings.NewReader(message)), armoured, now); by != want || err != nil {
		t.Errorf("%+v, %v", by, err)
	}
	if by, err := consent.InspectReader(strings.NewReader(message), armoured); by.Fingerprint != want.Fingerprint || err != nil {
		t.Errorf("%+v, %v", by, err)
	}
	if by, err := signers.Judge(armoured, now); by != want || err != nil {
		t.Errorf("%+v, %v", by, err)
	}
	for _, check := range []func(io.Reader) error{
		func(r io.Reader) error { _, err := signers.CheckReader(r, armoured, now); return err },
		func(r io.Reader) error { _, err := consent.InspectReader(r, armoured); return err },
	} {
		if err := check(strings.NewReader(message[1:])); fault.Of(err).Details["why"] != string(consent.WhyInvalid) {
			t.Errorf("other bytes: %v", err)
		}
		if err := check(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(message)))); err != iotest.ErrTimeout {
			t.Errorf("a message that cannot be read: %v", err)
		}
	}
	other := consenttest.New(3)
	unread := iotest.ErrReader(errors.New("it was read"))
	if _, err := signers.CheckReader(unread, other.Armoured([]byte(message), "waybill"), now); fault.Of(err).Details["why"] !=
		string(consent.WhySigner) {
		t.Errorf("no signer: %v", err)
	}
	if _, err := signers.Judge(other.Armoured([]byte(message), "waybill"), now); !fault.Is(err, fault.SignatureRefused) {
		t.Errorf("no signer: %v", err)
	}
}
