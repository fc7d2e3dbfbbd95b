package token

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// Interrupt is the payload of a token that permits to answer one interrupt of a run, "int.v1.<payload>.<signature>"
// (docs/design.md#openwop-interrupts). It follows from the log and the key, so that it is stored nowhere.
type Interrupt struct {
	// InterruptID names the request within the run, and NodeID the node, both as the run events do.
	InterruptID  string `json:"interruptId"`
	NodeID       string `json:"nodeId"`
	RunID        id.Run `json:"runId"`
	TokenKind    string `json:"tokenKind"`
	TokenVersion int64  `json:"tokenVersion"`
}

// The kind of the payload, by which it differs from that of every other token, and the prefix of the text.
const (
	interruptKind   = "interrupt"
	interruptPrefix = "int"
)

// MintInterrupt returns a signed token of an interrupt. TokenKind and TokenVersion are set here.
func MintInterrupt(k Key, i Interrupt) string {
	i.TokenKind, i.TokenVersion = interruptKind, 1
	return mint(k, interruptPrefix, i)
}

// ParseInterrupt decodes the token of an interrupt. Its one error is INTERRUPT_NOT_FOUND: who holds no valid token learns
// nothing about why.
func ParseInterrupt(keys Keys, s string) (Interrupt, error) {
	rest, ours := strings.CutPrefix(s, interruptPrefix+".v1.")
	first, second, _ := strings.Cut(rest, ".")
	payload, ok := decode(first)
	signature, signed := decode(second)
	var out Interrupt
	if len(s) > limits.TokenBytesMax || !ours || !ok || !signed || !verify(keys, payload, signature) ||
		canon.UnmarshalExact(payload, &out) != nil || out.TokenKind != interruptKind || out.TokenVersion != 1 {
		return Interrupt{}, fault.New(fault.InterruptNotFound, "the token is of no interrupt")
	}
	return out, nil
}
