package openwop

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Resolution is the request to answer an interrupt: a closed object whose resumeValue has the form that the interrupt says.
type Resolution struct {
	ResumeValue canon.Value `json:"resumeValue"`
	// Signed and Signature are the consent of a signer to a decision about a step that a person approves: what was
	// signed, and the armoured SSHSIG over its canonical JSON.
	Signed    canon.Value `json:"signed,omitzero"`
	Signature string      `json:"signature,omitzero"`
}

// resolutionShape is the form of the request.
var resolutionShape = shape.Object{What: "a request to answer an interrupt", Fields: fields{
	{"resumeValue", shape.Anything{}, required}, {"signed", anyObject, optional},
	{"signature", shape.Text{Min: 1, Max: limits.SignatureBytesMax}, optional}}}

// DecodeResolution reads a request to answer an interrupt. VALIDATION_ERROR as of DecodeCreateRun.
func DecodeResolution(v canon.Value) (out Resolution, err error) {
	problems := check(resolutionShape, v)
	if len(problems) > 0 {
		return out, invalid(problems)
	}
	_, signed := v.Get("signed")
	if _, signature := v.Get("signature"); signed != signature {
		return out, invalid([]problem.Problem{{Pointer: "/signature", Message: "signed and signature belong together"}})
	}
	return out, canon.Decode(v, &out)
}

// Resolved is the answer to a resolution: the state of the run after it.
type Resolved struct {
	RunID       string `json:"runId"`
	NodeID      string `json:"nodeId"`
	InterruptID string `json:"interruptId"`
	Status      Status `json:"status"`
}

// OpenInterrupt describes an interrupt that waits for an answer.
type OpenInterrupt struct {
	RunID        string        `json:"runId"`
	NodeID       string        `json:"nodeId"`
	InterruptID  string        `json:"interruptId"`
	Kind         InterruptKind `json:"kind"`
	Key          string        `json:"key"` // of the run, the node and the number of its requests
	ResumeSchema canon.Value   `json:"resumeSchema"`
	Data         canon.Value   `json:"data"`
	RequestedAt  string        `json:"requestedAt"`
	ExpiresAt    string        `json:"expiresAt,omitzero"`
}

// Callback is how another system answers an interrupt of a run without a key.
type Callback struct {
	InterruptToken string `json:"interruptToken"`
	CallbackURL    string `json:"callbackUrl"`
}
