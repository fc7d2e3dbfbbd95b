package rewrite

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/redact"
)

// envelope lists the members of a line that say which event it is. They are made of ids
// and words, and what they name would be lost with them.
var envelope = map[string]bool{"dedupeKey": true, "eventId": true, "eventIndex": true, "ignorable": true, "kind": true,
	"scope":     true,
	"sessionId": true, "storeId": true, "timestampMs": true, "v": true}

// OpaqueLine is one line of a side log, without its newline, without its secrets. What
// the lines of its table mean need not be known. A line without any comes back as it is.
// An error says that the line is no event, or that it became too long.
func (r *Redaction) OpaqueLine(line []byte) ([]byte, error) {
	v, err := canon.Parse(line)
	if err != nil {
		return nil, err
	}
	if v.Kind() != canon.Object {
		return nil, fmt.Errorf("rewrite: a line of a side log is %s: want an object", v.Kind())
	}
	return r.line(line, v)
}

func (r *Redaction) line(line []byte, v canon.Value) ([]byte, error) {
	before := r.counts.Total()
	members := make([]canon.Member, v.Len())
	for i := range members {
		members[i] = canon.Member{Name: v.Key(i), Value: v.Item(i)}
		if !envelope[v.Key(i)] {
			members[i].Value = redact.Value(v.Item(i), r.counts)
		}
	}
	if r.counts.Total() == before {
		return line, nil
	}
	out, err := canon.OfMembers(members...).AppendJCS(nil)
	if err == nil && len(out) >= limits.LineBytesMax {
		err = fmt.Errorf("rewrite: a line of %d bytes without its secrets: want less than %d", len(out),
			limits.LineBytesMax)
	}
	return out, err
}

// foreign redacts an event of another program: all that is no part of its envelope, and
// the artifact that it refers to, where it says so as ours do.
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

// foreignArtifact lets data.payload name the artifact that stands for the old one.
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
	payload = payload.With("sha256", canon.OfString(a.is.String())).With("byteLength", canon.OfInt(a.bytes))
	return v.With("data", data.With("payload", payload)), true, nil
}
