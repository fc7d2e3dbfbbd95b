package warning

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/advance"
)

// Call names what one start, attempt or checkpoint recorded, by the origin of its ids.
type Call struct {
	Origin id.Origin
	// Request is what the caller sent, if that is what is recorded; else it is empty. It gives the
	// artifacts their places, since they are stored in the order of their digests.
	Request advance.Request
}

// Objects reads the bytes of artifacts.
type Objects interface {
	Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error)
}

// sentPart is one part of the document that a caller sent, as it is recorded.
type sentPart struct {
	pointer     string
	bytes       []byte
	contentType string
	artifact    canon.Digest // zero unless the part is an artifact
}

// suspicion is the place of a secret, and the artifact that holds it, if one does.
type suspicion struct {
	redact.Finding
	artifact canon.Digest
}

// Secrets returns the warnings about what a call of a run recorded and redaction would replace. It
// reads the events of the segment, and not the request, so that a repeated call gets the same warnings
// (docs/design.md#warnings-about-secrets).
func Secrets(ctx context.Context, from Objects, run id.Run, segment []event.Event, c Call) ([]Warning, error) {
	parts, err := c.parts(ctx, from, segment)
	if err != nil {
		return nil, err
	}
	var all []suspicion
	left := limits.SecretsReadBytesMax
	for _, p := range parts {
		if !p.artifact.IsZero() { // the others have limits of their own
			p.bytes = p.bytes[:min(len(p.bytes), left)]
			left -= len(p.bytes)
		}
		for _, f := range p.findings() {
			all = append(all, suspicion{f, p.artifact})
		}
	}
	var out []Warning
	for i := range all[:min(len(all), limits.SecretWarningsMax)] {
		more := 0
		if i == limits.SecretWarningsMax-1 {
			more = len(all) - limits.SecretWarningsMax
		}
		out = append(out, all[i].warning(run, more))
	}
	return out, nil
}

// warning describes a suspicion with what a person can do; more is the number of further places that it
// stands for.
func (s suspicion) warning(run id.Run, more int) Warning {
	at := reason.Truncate(s.Pointer, limits.SecretPointerBytesMax)
	text := fault.Suggest("What was sent at %s may be a secret (%s), and is stored as it is. If it is one, revoke it; ",
		at, s.Rule)
	if s.artifact.IsZero() {
		text.Format += "%s writes a bundle without it."
		text.Args = append(text.Args, fault.Command{"export", run.String(), "--redact"})
	} else {
		text.Format += "%s removes the artifact."
		text.Args = append(text.Args, fault.Command{"artifacts", "erase", s.artifact.String(), "--reason", "TEXT"})
	}
	if more > 0 {
		text.Format += " The same applies to %d more places."
		text.Args = append(text.Args, more)
	}
	w := Suggest(SecretSuspected, text)
	w.Pointer, w.Rule, w.Count = at, s.Rule, more
	return w
}

// parts returns the document that a caller sent, as it is recorded: context, notes and artifacts, in
// this order. An artifact that was erased has no bytes, unless the caller sends them again.
func (c Call) parts(ctx context.Context, from Objects, segment []event.Event) ([]sentPart, error) {
	vars, outputs := c.in(segment)
	delta := sentPart{pointer: "/context", bytes: vars.JCS(), contentType: "application/json"}
	notes := sentPart{pointer: "/output/notesMarkdown", contentType: event.FullNotesType}
	sent := c.Request.Sent()
	places := make([]event.OutputPayload, len(sent))
	for i, a := range sent {
		places[i] = a.Payload()
	}
	artifacts := map[int]sentPart{}
	for _, p := range outputs {
		if p.PayloadKind == event.Notes {
			notes.bytes = []byte(p.NotesMarkdown)
			continue
		}
		i := slices.Index(places, p)
		var data []byte
		var err error
		switch {
		case i >= 0 && i < len(sent):
			data = sent[i].Bytes
		case p.IsFullNotes() && c.Request.Notes != "":
			data = []byte(c.Request.Notes)
		default:
			data, err = from.Object(ctx, manifest.Artifact, p.SHA256)
		}
		if err != nil && !fault.Is(err, fault.ArtifactErased) {
			return nil, err
		}
		if p.IsFullNotes() {
			if err == nil {
				notes.bytes = data
			}
			continue
		}
		if i < 0 { // a result of a check, or other content than the caller sends now
			i, places = len(places), append(places, p)
		}
		artifacts[i] = sentPart{pointer: "/output/artifacts/" + strconv.Itoa(i), bytes: data, contentType: p.ContentType,
			artifact: p.SHA256}
	}
	parts := []sentPart{delta, notes}
	for _, i := range slices.Sorted(maps.Keys(artifacts)) {
		parts = append(parts, artifacts[i])
	}
	return parts, nil
}

// in returns the context and the outputs that events record, without the artifact that the engine adds
// about preferences.
func (c Call) in(segment []event.Event) (vars canon.Value, outputs []event.OutputPayload) {
	byID := map[id.Output]event.OutputPayload{}
	for _, e := range segment {
		switch p := e.Data.(type) {
		case event.ContextSet:
			if p.ContextID == c.Origin.Context(0) {
				vars = p.Context
			}
		case event.NodeOutputAppended:
			byID[p.OutputID] = p.Payload
		}
	}
	// A segment that came with a bundle can have other attempts too; ids tell them apart.
	for i := 0; ; i++ {
		p, ok := byID[c.Origin.Output(i)]
		if !ok {
			return vars, outputs
		}
		if p.ArtifactKind != advance.RecommendationKind {
			outputs = append(outputs, p)
		}
	}
}

// findings returns the places of secrets in a part: in JSON those of its values, in a text the whole. An artifact
// that was cut is no JSON, and read as text.
func (p sentPart) findings() []redact.Finding {
	var found redact.Findings
	found.Bytes(p.pointer, p.bytes, p.contentType)
	return found.List()
}
