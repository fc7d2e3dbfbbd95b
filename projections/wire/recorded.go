package wire

import (
	"cmp"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/redact"
)

// recorded drafts a run event that is recorded as such. One that must not be sent, of a damaged log or another version, is
// a vendor's fact about which nothing is known but its type.
func (s *segment) recorded(e event.Event, p event.RunEventRecorded, at *node) {
	kind, data := openwop.EventType(p.Type), s.withoutSecrets(p.Payload)
	if !kind.Recordable() || openwop.CheckPayload(kind, data) != nil {
		s.fact(e, openwop.VendorType("unknown"), at, payload(word("kind", short(p.Type))))
		return
	}
	if _, named := data.Get("nodeId"); named && p.NodeID == "" && at != nil && at.state != nil {
		data = data.With("nodeId", canon.OfString(at.state.id))
	}
	s.facts = append(s.facts, draft{kind: kind, node: cmp.Or(s.free("", p.NodeID).Value.Text(), nodeID(at)), payload: data, from: e,
		cause: s.free("", p.CausationID).Value.Text()})
}

// withoutSecrets redacts the texts of a payload. The names of its members are those of the protocol: a count of tokens is no
// secret.
func (l *Log) withoutSecrets(v canon.Value) canon.Value {
	switch v.Kind() {
	case canon.String:
		return canon.OfString(l.scrub(redact.Text(v.Text(), redact.Counts{})))
	case canon.Array:
		items := make([]canon.Value, v.Len())
		for i := range items {
			items[i] = l.withoutSecrets(v.Item(i))
		}
		return canon.OfList(items...)
	case canon.Object:
		members := make([]canon.Member, v.Len())
		for i := range members {
			members[i] = member(v.Key(i), l.withoutSecrets(v.Item(i)))
		}
		return canon.OfMembers(members...)
	}
	return v
}
