package consent_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/consent/consenttest"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

// FuzzParseAllowedSigners: no file panics, and signers that are read are the same in both forms.
func FuzzParseAllowedSigners(f *testing.F) {
	for _, text := range []string{"", "# only\n", "ada " + plainKey.Public() + "\n", "ada,bob " + plainKey.Public(),
		`eve namespaces="git,waybill",valid-after="20260101Z" ` + touchKey.Public(), `a valid-before="9" ssh-ed25519 AAAA`,
		"ada cert-authority " + plainKey.Public(), "ada \"", "\x00 \xff", "* " + plainKey.Public()} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := consent.ParseAllowedSigners(text)
		if err != nil {
			return
		}
		again, err := consent.ParseSigners(consent.SignersValue(all))
		if err != nil || len(again) != len(all) {
			t.Fatalf("%q: %d of %d signers: %v", text, len(again), len(all), err)
		}
		file, err := consent.ParseAllowedSigners(consent.AllowedSigners(again))
		if err != nil || len(file) != len(again) {
			t.Fatalf("%q: %d of %d signers: %v", text, len(file), len(again), err)
		}
		for i := range file {
			if file[i].PublicKey != again[i].PublicKey || file[i].Principal != again[i].Principal {
				t.Fatalf("%q: %+v, %+v", text, file[i], again[i])
			}
		}
	})
}

// FuzzCheckSignature: no text is a signature by a signer but those that the signer made.
func FuzzCheckSignature(f *testing.F) {
	message := subject("store_a", "run_a", 1).Payload(now, nonce).JCS()
	for _, key := range []consenttest.Key{plainKey, touchKey, consenttest.New(9)} {
		f.Add(key.Armoured(message, "waybill"))
		f.Add(key.Armoured(message, "git"))
		f.Add(key.Armoured([]byte("other"), "waybill"))
	}
	f.Add("-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n")
	f.Add(strings.Repeat("A", limits.SignatureBytesMax+1))
	signers := consent.Signers{List: []consent.Signer{}}
	for _, line := range []string{"ada " + plainKey.Public(), "eve " + touchKey.Public()} {
		one, err := consent.ParseAllowedSigners(line)
		if err != nil {
			f.Fatal(err)
		}
		signers.List = append(signers.List, one...)
	}
	f.Fuzz(func(t *testing.T, armoured string) {
		by, err := signers.CheckSignature(message, armoured, now)
		if err != nil {
			if !fault.Is(err, fault.SignatureRefused) || fault.Of(err).Details["why"] == nil {
				t.Fatalf("%v", err)
			}
			return
		}
		if by.Principal == "" || !signers.Has(plainKey.Public()) || by.Fingerprint != plainKey.Fingerprint() &&
			by.Fingerprint != touchKey.Fingerprint() {
			t.Fatalf("%+v", by)
		}
		if _, err := signers.CheckSignature([]byte("other"), armoured, now); err == nil {
			t.Fatal("the signature is over two texts")
		}
	})
}

// TestSignersRoundTrip: signers of the setting are the same after they were written in either form.
func TestSignersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items []canon.Value
		for i := range rapid.IntRange(1, limits.SignersMax).Draw(t, "signers") {
			key := consenttest.New(byte(i))
			if rapid.Bool().Draw(t, "security key") {
				key = consenttest.NewSecurityKey(byte(i))
			}
			m := canon.OfMembers(consent.Text("principal", rapid.StringMatching(`[a-z][a-z0-9@.-]{0,20}`).Draw(t, "name")),
				consent.Text("publicKey", key.Public()))
			if rapid.Bool().Draw(t, "bounded") {
				m = m.With("validBefore", canon.OfString(rapid.SampledFrom([]string{"2026-12-31T00:00:00Z",
					"2030-01-02T03:04:05Z"}).Draw(t, "at")))
			}
			items = append(items, m)
		}
		all, err := consent.ParseSigners(canon.OfList(items...))
		if err != nil {
			t.Skip() // a name that looks like a secret
		}
		again, err := consent.ParseSigners(consent.SignersValue(all))
		if err != nil || !consent.SignersValue(again).Equal(consent.SignersValue(all)) {
			t.Fatalf("%v: %s", err, consent.SignersValue(again).JCS())
		}
		file, err := consent.ParseAllowedSigners(consent.AllowedSigners(all))
		if err != nil || len(file) != len(all) {
			t.Fatalf("%d of %d: %v", len(file), len(all), err)
		}
		for i := range file {
			if file[i].PublicKey != all[i].PublicKey || file[i].ValidBefore != all[i].ValidBefore {
				t.Fatalf("%+v, %+v", file[i], all[i])
			}
		}
	})
}
