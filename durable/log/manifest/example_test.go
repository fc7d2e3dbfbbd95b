package manifest_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// The lines that commit a segment are a pure function of the log, its head and the
// segment; the head that follows names everything before it.
func ExampleGroup() {
	log := manifest.SessionEvents(id.NewSession(id.Seed{1}))
	segment, err := manifest.EncodeSegment(log, []event.Event{event.New(log.Owner, 0, event.Scope{},
		event.Actor{Kind: event.Engine}, 0, event.SessionCreated{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	group := manifest.Group(log, manifest.Head{}, segment)
	head := manifest.Head{}.After(group, segment)
	fmt.Println(segment.Name(), head.Next, head.Bytes == int64(len(group)))
	// Output:
	// 00000000-00000000.jsonl 1 true
}
