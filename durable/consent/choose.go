package consent

import (
	"github.com/waybill/waybill/durable/canon"
)

// Choose returns the consent that an armoured signature gives, which does not contain what was signed: the
// text among candidates, canonical JSON of payloads, that it is over. A text of a subject that make returns
// for its moment comes first; another one is returned too, so that the check can say what it is for. The
// fault is SIGNATURE_REFUSED; errors of make are returned as they are.
func Choose(candidates [][]byte, armoured string, make func(atMs int64) (Subject, error)) (Given, error) {
	sig, by, err := read(armoured)
	if err == nil {
		err = checkTouched(sig, by)
	}
	if err != nil {
		return Given{}, err
	}
	var other Given
	for _, text := range candidates {
		payload, err := canon.Parse(text)
		if err != nil || !IsPayload(payload) {
			continue
		}
		if _, err := Inspect(payload.JCS(), armoured); err != nil {
			continue
		}
		given := Given{Signed: payload, Signature: armoured}
		subject, err := make(given.SignedAtMs())
		if err != nil {
			return Given{}, err
		}
		if subject.IsOf(payload) {
			return given, nil
		}
		other = given
	}
	if other.IsSigned() {
		return other, nil
	}
	return Given{}, Refused(WhyInvalid, "the signature is over none of the texts that were printed for this store")
}
