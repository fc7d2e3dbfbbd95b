package unattended

import (
	"context"

	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// absent is the person of a program: it is never present, so that no question is asked. A step that needs a person stops
// the execution of the run, and the run waits.
type absent struct{}

var _ ports.Person = absent{}

func (absent) Present() bool    { return false }
func (absent) CanConsent() bool { return false }

func (absent) Notes(context.Context, ports.NotesQuestion) (string, error) {
	return "", ports.ErrPersonStopped
}

func (absent) Ask(context.Context, ports.Question) (string, error) { return "", ports.ErrPersonStopped }

func (absent) File(context.Context, ports.FileQuestion) (advance.Artifact, error) {
	return advance.Artifact{}, ports.ErrPersonStopped
}

func (absent) Confirm(context.Context, string) (bool, error) { return false, ports.ErrPersonStopped }

func (absent) Approve(context.Context, ports.ApproveQuestion) (ports.ApprovalAnswer, error) {
	return ports.ApprovalRefused, ports.ErrPersonStopped
}

func (absent) Trust(context.Context, ports.TrustQuestion) (ports.TrustAnswer, error) {
	return ports.TrustRefused, ports.ErrPersonStopped
}
