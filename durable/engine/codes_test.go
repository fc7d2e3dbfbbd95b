package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

// TestTokenOfAnotherWorkflow: a token that is signed and names another workflow than its run's is
// refused before anything is read or written.
func TestTokenOfAnotherWorkflow(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	keys, err := w.g.Store.Keys(context.Background(), ports.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	forged := token.MintState(keys.Current, token.State{SessionID: a.Session.SessionID, RunID: a.Session.RunID,
		NodeID: a.NodeID, WorkflowHash: canon.Sum([]byte("another"))})
	before := w.events(a)
	for _, ack := range []string{"", a.AckToken} {
		_, err := w.g.Continue(context.Background(), w.by(), engine.Continue{StateToken: forged, AckToken: ack})
		if !fault.Is(err, fault.TokenWorkflowHashMismatch) ||
			!strings.Contains(fault.Of(err).Message, a.Workflow.WorkflowHash.String()) {
			t.Errorf("with ack %q: %v", ack, err)
		}
	}
	if n := w.events(a); n != before {
		t.Errorf("%d events were recorded", n-before)
	}
}

// TestVerifyOfAnUnknownSession: it is not found, rather than healthy.
func TestVerifyOfAnUnknownSession(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(twoSteps)
	none := id.NewSession(id.Seed{77}).String()
	if _, err := w.process().VerifySession(context.Background(), none); !fault.Is(err, fault.SessionNotFound) ||
		!strings.Contains(err.Error(), none) {
		t.Error(err)
	}
}
