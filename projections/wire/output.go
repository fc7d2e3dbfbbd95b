package wire

import (
	"cmp"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/wait"
)

// HostResultKind is the artifact kind of the result of a host step, which only a host performs.
const HostResultKind = "wr.host_result"

// output drafts what an output says. Results of performers and decisions of people have no event of an
// artifact: their bytes contain times, so that their digests differ between equal runs. What came of a
// result is the end of its node.
func (s *segment) output(e event.Event, p event.NodeOutputAppended, at *node) {
	switch o := p.Payload; {
	case p.Decision != nil || o.ArtifactKind == event.ApprovalKind:
		s.decision(e, p, at)
	case o.PayloadKind == event.Notes:
		s.fact(e, openwop.VendorType("notes"), at,
			payload(word("sha256", canon.Sum([]byte(o.NotesMarkdown)).String()), ofNode(at)))
		s.artifact = cmp.Or(s.artifact, &o)
	case o.ArtifactKind == command.Kind:
		s.results.command = true
	case o.ArtifactKind == HostResultKind:
		s.results.host = true
	case o.ArtifactKind == check.Kind, o.ArtifactKind == wait.Kind, o.ArtifactKind == event.DecisionKind:
	default:
		s.fact(e, openwop.ArtifactCreated, at, payload(word("artifactId", artifactID(o)), word("artifactType", artifactType(o)),
			ofNode(at)))
		if s.artifact == nil || s.artifact.PayloadKind == event.Notes {
			s.artifact = &o
		}
	}
}

// artifactID identifies an output by its bytes.
func artifactID(o event.OutputPayload) string {
	if o.PayloadKind == event.Notes {
		return canon.Sum([]byte(o.NotesMarkdown)).String()
	}
	return cmp.Or(o.SHA256.String(), "inline") // another program stores small artifacts in their events
}

// artifactType names what an output is.
func artifactType(o event.OutputPayload) string {
	if o.PayloadKind == event.Notes {
		return string(event.Notes)
	}
	return cmp.Or(short(o.ArtifactKind), short(o.ContentType), "artifact")
}

// decision drafts the decision of a person about a step, once for the artifacts that it consists of.
func (s *segment) decision(e event.Event, p event.NodeOutputAppended, at *node) {
	if s.decided || at == nil {
		return
	}
	s.decided = true
	d := event.StepDecision{Decision: event.Approved, By: actorText(e.Actor)} // of a version without decisions
	if p.Decision != nil {
		d = *p.Decision
	}
	action := "accept"
	switch d.Decision {
	case event.SentBack:
		action = "refine"
	case event.Denied:
		action, s.denied = "reject", &d
	}
	s.fact(e, openwop.ApprovalReceived, at, payload(word("nodeId", at.id), word("action", action),
		s.free("decidedBy", d.By), s.free("comment", d.Reason)))
	if at.open != nil && at.open.kind == openwop.ApprovalInterrupt {
		at.open.received = action == "accept"
	}
}
