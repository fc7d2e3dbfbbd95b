package travel

import (
	"context"
	"fmt"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/ports"
)

// SecretWarning is the place of a suspected secret in a bundle, whose text is passed on as it is stored
// (docs/design.md#answers-about-redaction). It holds nothing of the secret.
type SecretWarning struct {
	Code    warning.Code `json:"code"`    // warning.SecretSuspected
	Pointer string       `json:"pointer"` // RFC 6901, in the bundle
	Rule    redact.Rule  `json:"rule"`
}

// secretWarningsMax bounds the warnings of one answer. Events behind the last one are not searched.
const secretWarningsMax = 100

// secretSearch searches the events of a bundle for secrets. It keeps places only.
type secretSearch struct {
	found redact.Findings
	full  bool
}

// warnings returns the places that were found.
func (s *secretSearch) warnings() (out []SecretWarning) {
	for _, f := range s.found.List() {
		if len(out) == secretWarningsMax {
			break
		}
		out = append(out, SecretWarning{warning.SecretSuspected, f.Pointer, f.Rule})
	}
	return out
}

// segment searches a segment of the log with a name, "" for the session's own: its notes, context, titles, goals
// and tags. Of a side log all members are searched, also those that this version does not know.
func (s *secretSearch) segment(name string, seg manifest.Segment) error {
	if s.full {
		return nil
	}
	if name == "" {
		for _, e := range seg.Events {
			s.event("/session/events/"+strconv.FormatInt(e.Index, 10)+"/data", e)
		}
	} else {
		at, i := "/session/logs/"+canon.EscapePointer(name)+"/events/", seg.First
		_ = eachLine(seg.Bytes, func(line []byte) error { // always nil
			if v, err := canon.Parse(line); err == nil {
				s.line(at+strconv.FormatInt(i, 10), v)
			}
			i++
			return nil
		})
	}
	s.full = len(s.found.List()) >= secretWarningsMax
	return nil
}

// line searches the members of a line that hold texts of callers.
func (s *secretSearch) line(at string, v canon.Value) {
	for _, name := range []string{"actor", "data"} {
		if m, ok := v.Get(name); ok {
			s.found.Value(at+"/"+name, m)
		}
	}
}

// event searches the data of an event of a session.
func (s *secretSearch) event(at string, e event.Event) {
	switch p := e.Data.(type) {
	case event.NodeOutputAppended:
		s.found.Text(at+"/payload/notesMarkdown", p.Payload.NotesMarkdown)
	case event.ContextSet:
		s.found.Value(at+"/context", p.Context)
	case event.RunStarted:
		s.found.Text(at+"/title", p.Title)
		s.found.Text(at+"/goal", p.Goal)
		for i, tag := range p.Tags {
			s.found.Text(at+"/tags/"+strconv.Itoa(i), tag)
		}
	}
}

// warnSuspected adds a sentence for each suspected secret in the annotations of the bundle, which are stored as they
// came.
func (m *importer) warnSuspected(ctx context.Context) error {
	name := feedback.Table.Name
	log := manifest.SessionSide(m.src.Session(), event.Opaque(name, "sessionId"))
	var search *secretSearch
	_, err := m.src.Read(ctx, ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor {
		search = &secretSearch{}
		return ports.VisitorFunc(func(seg manifest.Segment, _ manifest.Head) error { return search.segment(name, seg) })
	})
	if err != nil || search == nil {
		return err
	}
	for _, w := range search.warnings() {
		m.out.Warnings = append(m.out.Warnings, fmt.Sprintf("%s: %s (%s). Views do not show it; an export with --redact "+
			"removes it.", w.Code, w.Pointer, w.Rule))
	}
	return nil
}

// addedLog is a log that is written, with the first event of the source that may be added; name is "" for the session's own.
type addedLog struct {
	name  string
	log   manifest.Log
	first int64
}

// warnAdded adds a sentence for each suspected secret in what is added from another store, as an export names them.
func (m *importer) warnAdded(ctx context.Context, logs []addedLog) error {
	var search secretSearch
	for _, added := range logs {
		_, err := m.src.Read(ctx, ports.ReadRequest{Log: added.log}, ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
			if seg.First < added.first {
				return nil
			}
			return search.segment(added.name, seg)
		}))
		if err != nil {
			return err
		}
	}
	for _, w := range search.warnings() {
		m.out.Warnings = append(m.out.Warnings, fmt.Sprintf("%s: %s (%s). Both stores have it as it was recorded; an export "+
			"with --redact removes it.", w.Code, w.Pointer, w.Rule))
	}
	return nil
}
