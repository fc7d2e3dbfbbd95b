package projections

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// A saved node is a line of fields with tabs between them. Nearly every node of a
// long run has one attempt, one recap and nothing else: such ones are spelled
// without JSON, since 64 of them are read and written at every step. What is
// anything else stands as JCS in the same field.

const (
	nodeFields = 18
	noField    = "-"
)

var errNodeLine = errors.New("projections: no line of a saved node")

// nodeRest is what few nodes have.
type nodeRest struct {
	Capabilities map[string]string `json:"capabilities,omitzero"`
	Checkpoints  []id.Node         `json:"checkpoints,omitzero"`
	OpenGaps     []Gap             `json:"openGaps"`
}

// appendNode writes a node of the run at a place, whose context stands at another.
func appendNode(dst []byte, run int, n *Node, context int) (_ []byte, err error) {
	text := func(s string) {
		if s == "" {
			s = noField
		}
		dst = append(append(dst, s...), '\t')
	}
	number := func(v int64) { dst = append(strconv.AppendInt(dst, v, 10), '\t') }
	number(int64(run))
	text(n.ID.String())
	text(string(n.Kind))
	text(textOf(n.Parent))
	text(textOf(n.Above))
	text(n.SnapshotRef.String())
	number(n.CreatedIndex)
	number(n.CreatedAtMs)
	number(n.Depth)
	number(n.AckedChildren)
	number(int64(context))
	text(string(n.Preferences.Autonomy))
	text(string(n.Preferences.RiskPolicy))
	number(n.Approvals)
	text(map[bool]string{true: "cut"}[n.Cut])
	if dst, err = appendAttempts(dst, n.Attempts); err != nil {
		return nil, err
	}
	dst = append(dst, '\t')
	if dst, err = appendOutputs(dst, n.Outputs); err != nil {
		return nil, err
	}
	dst = append(dst, '\t')
	if len(n.Capabilities) == 0 && len(n.Checkpoints) == 0 && len(n.OpenGaps) == 0 {
		return append(dst, noField+"\n"...), nil
	}
	if dst, err = canon.Append(dst, nodeRest{n.Capabilities, n.Checkpoints, n.OpenGaps}); err != nil {
		return nil, err
	}
	return append(dst, '\n'), nil
}

func textOf(n *id.Node) string {
	if n == nil {
		return ""
	}
	return n.String()
}

// appendAttempts: one accepted attempt is "attemptId index toNodeId request".
func appendAttempts(dst []byte, all []Attempt) ([]byte, error) {
	if len(all) == 0 {
		return append(dst, noField...), nil
	}
	a := all[0]
	if len(all) > 1 || a.Outcome.Kind != event.Advanced || a.Outcome.Blockers != nil || a.Outcome.ToNodeID == nil ||
		a.Request.IsZero() {
		return canon.Append(dst, all)
	}
	dst = append(append(dst, a.ID.String()...), ' ')
	dst = append(strconv.AppendInt(dst, a.Index, 10), ' ')
	dst = append(append(dst, a.Outcome.ToNodeID.String()...), ' ')
	return append(dst, a.Request.String()...), nil
}

// appendOutputs: one recap is "outputId index attempt notes", the notes as a JSON string.
func appendOutputs(dst []byte, all []Output) ([]byte, error) {
	if len(all) == 0 {
		return append(dst, noField...), nil
	}
	o := all[0]
	bare := event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: o.Payload.NotesMarkdown}
	if len(all) > 1 || o.Channel != event.Recap || o.Payload != bare {
		return canon.Append(dst, all)
	}
	dst = append(append(dst, o.ID.String()...), ' ')
	dst = append(strconv.AppendInt(dst, o.Index, 10), ' ')
	dst = append(strconv.AppendInt(dst, o.Attempt, 10), ' ')
	return canon.AppendString(dst, o.Payload.NotesMarkdown), nil
}

// fields reads one line; the first that does not fit is remembered.
type fields struct {
	rest []byte
	sep  byte
	err  error
}

func (f *fields) next() []byte {
	field, rest, found := bytes.Cut(f.rest, []byte{f.sep})
	if f.rest = rest; !found {
		f.rest = nil
	}
	return field
}

func (f *fields) text() string {
	if s := f.next(); string(s) != noField {
		return string(s)
	}
	return ""
}

func (f *fields) number() int64 {
	v, err := strconv.ParseInt(string(f.next()), 10, 64)
	f.failed(err)
	return v
}

func (f *fields) failed(err error) {
	if err != nil && f.err == nil {
		f.err = err
	}
}

type parsed interface{ UnmarshalText([]byte) error }

func (f *fields) into(out parsed) { f.failed(out.UnmarshalText(f.next())) }

func (f *fields) node() *id.Node {
	s := f.next()
	if string(s) == noField {
		return nil
	}
	var n id.Node
	f.failed(n.UnmarshalText(s))
	return &n
}

// parseNode undoes appendNode.
func parseNode(line []byte) (run int, n *Node, context int, err error) {
	if bytes.Count(line, []byte{'\t'}) != nodeFields-1 {
		return 0, nil, 0, errNodeLine
	}
	f := &fields{rest: line, sep: '\t'}
	n = &Node{Attempts: []Attempt{}, Outputs: []Output{}, OpenGaps: []Gap{}}
	run = int(f.number())
	f.into(&n.ID)
	n.Kind = event.NodeKind(f.text())
	n.Parent, n.Above = f.node(), f.node()
	f.into(&n.SnapshotRef)
	n.CreatedIndex, n.CreatedAtMs, n.Depth, n.AckedChildren = f.number(), f.number(), f.number(), f.number()
	context = int(f.number())
	n.Preferences.Autonomy = event.Autonomy(f.text())
	n.Preferences.RiskPolicy = event.RiskPolicy(f.text())
	n.Approvals = f.number()
	n.Cut = f.text() != ""
	f.failed(n.parseAttempts(f.next()))
	f.failed(n.parseOutputs(f.next()))
	if rest := f.next(); string(rest) != noField {
		var r nodeRest
		f.failed(canon.Unmarshal(rest, &r))
		n.Capabilities, n.Checkpoints, n.OpenGaps = r.Capabilities, r.Checkpoints, r.OpenGaps
	}
	return run, n, context, f.err
}

func (n *Node) parseAttempts(b []byte) error {
	if string(b) == noField {
		return nil
	}
	if bytes.HasPrefix(b, []byte{'['}) {
		return canon.Unmarshal(b, &n.Attempts)
	}
	f := &fields{rest: b, sep: ' '}
	a := Attempt{Outcome: event.AdvanceOutcome{Kind: event.Advanced}}
	f.into(&a.ID)
	a.Index = f.number()
	a.Outcome.ToNodeID = f.node()
	f.into(&a.Request)
	n.Attempts = append(n.Attempts, a)
	return f.err
}

func (n *Node) parseOutputs(b []byte) error {
	if string(b) == noField {
		return nil
	}
	if bytes.HasPrefix(b, []byte{'['}) {
		return canon.Unmarshal(b, &n.Outputs)
	}
	f := &fields{rest: b, sep: ' '}
	o := Output{Channel: event.Recap, Payload: event.OutputPayload{PayloadKind: event.Notes}}
	f.into(&o.ID)
	o.Index, o.Attempt = f.number(), f.number()
	f.failed(canon.Unmarshal(f.rest, &o.Payload.NotesMarkdown))
	n.Outputs = append(n.Outputs, o)
	return f.err
}
