package serve

import (
	"context"
	"slices"
	"sync"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/infra/httpserver"
	"github.com/waybill/waybill/ports"
)

// noticesMax bounds the notices that are kept for streams that have not sent them yet.
const noticesMax = 256

// notices are the facts about proposals since the server started: streams send them while they are open.
type notices struct {
	store     *cli.Store
	workspace string

	mu    sync.Mutex
	begun bool  // the log of proposals was read once: what it had then is no news
	known int   // events of the log of proposals that were read
	first int64 // number of all[0]
	all   []notice
	// wakes are called when there is more in all, by what stops each.
	wakes map[*func()]func()
}

// notice is a message, and the runs that it is about; none for all.
type notice struct {
	httpserver.Notification
	runs []id.Run
}

// last is the number of the next notice.
func (n *notices) last() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.first + int64(len(n.all))
}

// since returns the notices from a number on that are about a run, and the number of the next one.
func (n *notices) since(seen int64, run id.Run) (out []httpserver.Notification, next int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := max(seen-n.first, 0); i < int64(len(n.all)); i++ {
		if one := n.all[i]; len(one.runs) == 0 || slices.Contains(one.runs, run) {
			out = append(out, one.Notification)
		}
	}
	return out, n.first + int64(len(n.all))
}

// watch has wake called when there are more notices, until stop is called. It must not block.
func (n *notices) watch(wake func()) (stop func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wakes == nil {
		n.wakes = map[*func()]func(){}
	}
	key := &wake
	n.wakes[key] = wake
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.wakes, key)
	}
}

// follow reads what is recorded about proposals until ctx ends.
func (n *notices) follow(ctx context.Context) {
	changes := ports.WaiterOf(n.store.Ports, proposal.LogOf(id.Store{}))
	defer changes.Close()
	for {
		n.read(ctx)
		if changes.Wait(ctx) != nil {
			return
		}
	}
}

// read keeps the facts about proposals that are new since the last reading, and wakes the streams. The first reading has none,
// and so has a log that cannot be read: the routes of proposals report it.
func (n *notices) read(ctx context.Context) {
	list, err := n.store.ProposalEvents(ctx, n.workspace)
	if err != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	news := list.Events[min(n.known, len(list.Events)):]
	begun := n.begun
	n.begun, n.known = true, len(list.Events)
	if !begun || len(news) == 0 {
		return
	}
	for _, e := range news {
		n.all = append(n.all, noticeOf(e))
	}
	if over := len(n.all) - noticesMax; over > 0 {
		n.all, n.first = slices.Clone(n.all[over:]), n.first+int64(over)
	}
	for _, wake := range n.wakes {
		wake()
	}
}

// noticeOf is a fact about a proposal as clients of the protocol read it.
func noticeOf(e learning.ProposalEvent) notice {
	return notice{httpserver.Notification{Type: openwop.EventType(e.Type), Payload: e.Payload, AtMs: e.AtMs}, e.SourceRunIDs}
}
