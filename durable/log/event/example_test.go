package event_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

func ExampleTable_AppendLine() {
	session := id.NewSession(id.Seed{1})
	e := event.New(session.String(), 0, event.Scope{}, event.Actor{Kind: event.Human, Ref: "sam"}, 1767225600000,
		event.SessionCreated{})
	line, err := event.Domain.AppendLine(nil, e)
	fmt.Printf("%s%v\n", line, err)
	// Output:
	// {"actor":{"kind":"human","ref":"sam"},"data":{},"dedupeKey":"session_created:sess_aihge25qelb43nyo2uzheououe","eventId":"evt_jmx6jzm7hadjc7ylj6bcpqneha","eventIndex":0,"kind":"session_created","sessionId":"sess_aihge25qelb43nyo2uzheououe","timestampMs":1767225600000,"v":1}
	// <nil>
}
