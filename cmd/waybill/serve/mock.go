package serve

import (
	"context"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/openwop"
	hoststep "github.com/waybill/waybill/durable/run/host"
)

// mocks are what tests of the protocol set for the mock provider, and what it was asked. They are no facts of a run: a server
// that is started again has none.
type mocks struct {
	mu       sync.Mutex
	programs map[string][]canon.Value
	budgets  map[string]int64
}

// mocksMax bounds the nodes that are remembered.
const mocksMax = 1000

// take returns the program of a node, which is used once.
func (m *mocks) take(node string) []canon.Value {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.programs[node]
	delete(m.programs, node)
	return out
}

// asked notes the budget of a call.
func (m *mocks) asked(r hoststep.Result) {
	tokens := r.Outputs.At("/maxTokens")
	if tokens.Kind() != canon.Number {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.budgets == nil || len(m.budgets) >= mocksMax {
		m.budgets = map[string]int64{}
	}
	m.budgets[r.StepInstanceKey] = int64(tokens.Float())
}

// Program implements httpserver.Host.
func (h *host) Program(_ context.Context, in openwop.MockProgram) error {
	h.mocks.mu.Lock()
	defer h.mocks.mu.Unlock()
	if h.mocks.programs == nil || len(h.mocks.programs) >= mocksMax {
		h.mocks.programs = map[string][]canon.Value{}
	}
	h.mocks.programs[in.NodeID] = in.Program
	return nil
}

// Budget implements httpserver.Host.
func (h *host) Budget(_ context.Context, node string) (tokens int64, ok bool) {
	h.mocks.mu.Lock()
	defer h.mocks.mu.Unlock()
	tokens, ok = h.mocks.budgets[node]
	return tokens, ok
}
