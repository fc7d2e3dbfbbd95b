package consent

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"io"
	"slices"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

// The hash functions of SSHSIG have to be linked.
var _, _ = sha256.New, sha512.New

// Signers are the keys whose signatures count, and what a signature has to show. The zero Signers
// has none: then consent is not signed.
type Signers struct {
	List []Signer
	// Touch lets only signatures of security keys count that show a touch.
	Touch bool
}

// IsZero reports that no signer is set.
func (s Signers) IsZero() bool { return len(s.List) == 0 }

// Digest identifies the signers and what their signatures have to show.
func (s Signers) Digest() canon.Digest {
	return canon.Sum(canon.OfList(SignersValue(s.List), canon.OfBool(s.Touch)).JCS())
}

// Has reports that a public key, as authorized_keys has it, is that of a signer.
func (s Signers) Has(public string) bool {
	key, _ := publicKey(public)
	return key != nil && s.of(key) >= 0
}

// of returns the index of the signer with a key, -1 if there is none.
func (s Signers) of(key ssh.PublicKey) int {
	return slices.IndexFunc(s.List, func(one Signer) bool { return bytes.Equal(one.key.Marshal(), key.Marshal()) })
}

// Why is the closed set of reasons why a signature is refused. The words are in the details of the fault.
type Why string

// The reasons.
const (
	WhyMalformed Why = "malformed" // no armoured SSHSIG, or no payload
	WhyNamespace Why = "namespace" // signed for another program
	WhyInvalid   Why = "invalid"   // the signature is not over these bytes
	WhySigner    Why = "signer"    // the key is no signer
	WhyExpired   Why = "expired"   // the key is out of its time
	WhyTouch     Why = "touch"     // no touch where one is required
	WhyTime      Why = "time"      // the payload is too old, or of the future
	WhySubject   Why = "subject"   // signed for something else: detail "differs" names the member
	WhyUsed      Why = "used"      // the text counted before
)

// Refused returns the fault SIGNATURE_REFUSED for a reason.
func Refused(why Why, format string, args ...any) *fault.Fault {
	return fault.New(fault.SignatureRefused, format, args...).With("why", string(why)).
		Suggest("Nothing was stored. Print the bytes to sign with --payload, and sign exactly these.")
}

// By is who made a signature.
type By struct {
	Principal   string `json:"principal"`
	Fingerprint string `json:"fingerprint"`
	Touched     bool   `json:"touched,omitzero"` // the signature shows a touch of the key
}

// Check returns who signed a consent to a subject. atMs is the moment at which it counts, in
// milliseconds since 1970: the payload may be limits.ConsentAgeMs older and limits.ConsentAheadMs
// younger. The fault is SIGNATURE_REFUSED, with the reason in its detail "why".
//
// That the text did not count before has to be checked by the caller, who knows the log.
func (s Signers) Check(g Given, subject Subject, atMs int64) (By, error) {
	if !IsPayload(g.Signed) {
		return By{}, Refused(WhyMalformed, "the signed text is no payload of a consent")
	}
	if name := subject.difference(g.Signed); name != "" {
		return By{}, differs(name).With("differs", name)
	}
	by, err := s.CheckSignature(g.Signed.JCS(), g.Signature, g.SignedAtMs())
	if err != nil {
		return By{}, err
	}
	if age := atMs - g.SignedAtMs(); age > limits.ConsentAgeMs || age < -limits.ConsentAheadMs {
		return By{}, Refused(WhyTime, "the signed text is of another time: it counts for %d hours after it was made",
			limits.ConsentAgeMs/3_600_000)
	}
	return by, nil
}

// differs says for what else a text was signed.
func differs(name string) *fault.Fault {
	what := map[string]string{memberOperation: "operation", memberStore: "store", "session": "session", "run": "run",
		"node": "state of the run", "proposal": "proposal", memberPolicy: "policy: the settings were changed since"}[name]
	if what == "" {
		return Refused(WhySubject, "the signature is for something else: %s is not the same", name)
	}
	return Refused(WhySubject, "the signature is for another %s", what)
}

// CheckSignature returns who signed a message at a moment, which decides about bounds of time.
func (s Signers) CheckSignature(message []byte, armoured string, atMs int64) (By, error) {
	return s.CheckReader(bytes.NewReader(message), armoured, atMs)
}

// CheckReader is CheckSignature for a message that is read, such as a bundle, which may be larger than memory.
// Errors of the reader are returned as they are.
func (s Signers) CheckReader(message io.Reader, armoured string, atMs int64) (By, error) {
	sig, by, err := read(armoured)
	if err == nil {
		by, err = s.judge(sig, by, atMs)
	}
	if err == nil {
		err = verify(message, sig, by)
	}
	return by, err
}

// Judge is CheckSignature without the message: it returns whose signature it would be.
func (s Signers) Judge(armoured string, atMs int64) (By, error) {
	sig, by, err := read(armoured)
	if err != nil {
		return by, err
	}
	return s.judge(sig, by, atMs)
}

// judge completes who signed, or says why signatures of that key do not count.
func (s Signers) judge(sig *sshsig.Signature, by By, atMs int64) (By, error) {
	i := s.of(sig.PublicKey)
	if i < 0 {
		return by, Refused(WhySigner, "the key %s is no signer, or is none any more", by.Fingerprint).
			With("fingerprint", by.Fingerprint).
			Suggest("Nothing was stored. See the signers with %s.", fault.Command{"config", "get", "signers"})
	}
	signer := s.List[i]
	by.Principal = signer.Principal
	if !signer.valid(atMs) {
		return by, Refused(WhyExpired, "the key %s of %s does not count at the time of the signature", by.Fingerprint,
			by.Principal).With("fingerprint", by.Fingerprint)
	}
	if (s.Touch || signer.Presence == Touch) && !by.Touched {
		return by, Refused(WhyTouch, "the signature of %s shows no touch of a security key, which is required", by.Principal).
			With("fingerprint", by.Fingerprint)
	}
	return by, nil
}

// Inspect returns who signed a message, if the signature is one over it, of any key.
// The principal is "".
func Inspect(message []byte, armoured string) (By, error) {
	return InspectReader(bytes.NewReader(message), armoured)
}

// InspectReader is Inspect for a message that is read. Errors of the reader are returned as they are.
func InspectReader(message io.Reader, armoured string) (By, error) {
	sig, by, err := read(armoured)
	if err == nil {
		err = verify(message, sig, by)
	}
	return by, err
}

// read decodes a signature and checks its namespace.
func read(armoured string) (*sshsig.Signature, By, error) {
	if len(armoured) > limits.SignatureBytesMax {
		return nil, By{}, Refused(WhyMalformed, "the signature has %d bytes; at most %d are allowed", len(armoured),
			limits.SignatureBytesMax)
	}
	sig, err := sshsig.Unarmor([]byte(armoured))
	if err != nil {
		return nil, By{}, Refused(WhyMalformed, "this is no signature of ssh-keygen -Y sign")
	}
	by := By{Fingerprint: ssh.FingerprintSHA256(sig.PublicKey), Touched: touched(sig)}
	if sig.Namespace != Namespace {
		return nil, by, Refused(WhyNamespace, "the signature is for another namespace than %s", Namespace).
			With("fingerprint", by.Fingerprint)
	}
	return sig, by, nil
}

// verify checks the signature itself. That of a security key without a touch never verifies.
func verify(message io.Reader, sig *sshsig.Signature, by By) error {
	if err := checkTouched(sig, by); err != nil {
		return err
	}
	source := &failing{r: message}
	err := sshsig.Verify(source, sig, sig.PublicKey, sig.HashAlgorithm, Namespace)
	switch {
	case source.err != nil:
		return source.err // nothing is known about the signature
	case err != nil:
		return Refused(WhyInvalid, "the signature by the key %s is not over these bytes", by.Fingerprint).
			With("fingerprint", by.Fingerprint)
	}
	return nil
}

// failing is a reader that keeps its error.
type failing struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// checkTouched refuses the signature of a security key that shows no touch.
func checkTouched(sig *sshsig.Signature, by By) error {
	if !isSecurityKey(sig.PublicKey) || by.Touched {
		return nil
	}
	return Refused(WhyTouch, "the signature of the key %s shows no touch of the security key", by.Fingerprint).
		With("fingerprint", by.Fingerprint)
}

// isSecurityKey reports a key that lives in a security key.
func isSecurityKey(key ssh.PublicKey) bool {
	return key.Type() == ssh.KeyAlgoSKED25519 || key.Type() == ssh.KeyAlgoSKECDSA256
}

// touched reports the user-present flag of a security key's signature: the first byte behind its blob
// (OpenSSH, PROTOCOL.u2f).
func touched(sig *sshsig.Signature) bool {
	const userPresent = 0x01
	return isSecurityKey(sig.PublicKey) && len(sig.Signature.Rest) > 0 && sig.Signature.Rest[0]&userPresent != 0
}

// Parse reads a stored consent from the members "signed" and "signature" of an object; the zero Given
// if it has neither.
func Parse(v canon.Value) (g Given) {
	signature, _ := v.Get("signature")
	g.Signature = signature.Text()
	g.Signed, _ = v.Get("signed")
	return g
}
