package rewrite

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/redact"
)

// envelope lists the members of a line that identify the event. They consist of ids and
// closed words; redacting them would break references.
var envelope = map[string]bool{"dedupeKey": true, "eventId": true, "eventIndex": true, "ignorable": true, "kind": true,
	"scope":     true,
	"sessionId": true, "storeId": true, "timestampMs": true, "v": true}

// OpaqueLine redacts one line of a side log, without its newline. The meaning of the line's
// table is not needed. A line without secrets is returned unchanged. An error means that the
// line is not an event, or that it became too long.
func (r *Redaction) OpaqueLine(line []byte) ([]byte, error) {
	v, err := lineOf(line)
	if err != nil {
		return nil, err
	}
	return r.line(line, v)
}

// line redacts all members of v outside the envelope; line is the encoding of v.
func (r *Redaction) line(line []byte, v canon.Value) ([]byte, error) {
	before := r.counts.Total()
	members := make([]canon.Member, v.Len())
	for i := range members {
		members[i] = canon.Member{Name: v.Key(i), Value: v.Item(i)}
		if !envelope[v.Key(i)] {
			members[i].Value = redact.Value(v.Item(i), r.counts)
		}
	}
	// Unchanged bytes, also of a line that is not canonical.
	if r.counts.Total() == before {
		return line, nil
	}
	out, err := canon.OfMembers(members...).AppendJCS(nil)
	if err == nil && len(out) >= limits.LineBytesMax {
		err = fmt.Errorf("rewrite: a line of %d bytes after redaction: want less than %d", len(out),
			limits.LineBytesMax)
	}
	return out, err
}

// foreign redacts an event of another program: all members outside the envelope, and a
// reference to an artifact in the position where Waybill's events have it.
func (r *Redaction) foreign(e event.Event) (event.Event, error) {
	line, err := event.Domain.AppendLine(nil, e)
	if err != nil {
		return e, err
	}
	line = line[:len(line)-1]
	v, err := canon.Parse(line)
	if err != nil {
		return e, err
	}
	v, moved, err := r.foreignArtifact(v)
	if err != nil {
		return e, err
	}
	if moved {
		line = v.JCS()
	}
	if line, err = r.line(line, v); err != nil {
		return e, err
	}
	return event.Domain.DecodeLine(line)
}

// foreignArtifact replaces the reference in data.payload by that of the redacted artifact;
// moved reports whether it changed.
func (r *Redaction) foreignArtifact(v canon.Value) (_ canon.Value, moved bool, err error) {
	data, _ := v.Get("data")
	payload, _ := data.Get("payload")
	text := func(name string) string { m, _ := payload.Get(name); return m.Text() }
	ref, err := canon.ParseDigest(text("sha256"))
	if err != nil {
		return v, false, nil
	}
	a, changed, err := r.artifact(ref, text("contentType"))
	if err != nil || !changed {
		return v, false, err
	}
	payload = payload.With("sha256", canon.OfString(a.ref.String())).With("byteLength", canon.OfInt(a.bytes))
	return v.With("data", data.With("payload", payload)), true, nil
}
