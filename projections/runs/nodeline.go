package runs

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// A saved node is one line of nodeFields fields separated by tabs. Most nodes of a long run have
// one attempt, one recap and nothing else: these are written without JSON, since a window of
// WindowNodes nodes is read and written at every step. Any other content of a field is canonical
// JSON, which never contains a raw tab or newline. The form is covered by SavedFormat.

const (
	// nodeFields is the number of fields of a line.
	nodeFields = 18
	// noField is the spelling of an empty field.
	noField = "-"
)

// errNodeLine reports a line of another form, or with an index outside of its table.
var errNodeLine = errors.New("projections: not a line of a saved node")

// nodeExtra holds the members that few nodes have, as the last field of the line.
type nodeExtra struct {
	Capabilities map[string]string `json:"capabilities,omitzero"`
	Checkpoints  []id.Node         `json:"checkpoints,omitzero"`
	OpenGaps     []Gap             `json:"openGaps"`
}

// appendNode appends the line of a node to dst. run is the index of its run in Session.Order,
// context the index of its context in savedHeader.Contexts.
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
	text(nodeText(n.Parent))
	text(nodeText(n.Above))
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
	if dst, err = canon.Append(dst, nodeExtra{n.Capabilities, n.Checkpoints, n.OpenGaps}); err != nil {
		return nil, err
	}
	return append(dst, '\n'), nil
}

// nodeText returns the text of an optional node id, "" for nil.
func nodeText(n *id.Node) string {
	if n == nil {
		return ""
	}
	return n.String()
}

// appendAttempts appends the attempts. A single accepted attempt is written as "attemptId index
// toNodeId request", anything else as a JSON array.
func appendAttempts(dst []byte, all []Attempt) ([]byte, error) {
	if len(all) == 0 {
		return append(dst, noField...), nil
	}
	a := all[0]
	// The short form has no place for blockers, a second attempt or a missing request.
	if len(all) > 1 || a.Outcome.Kind != event.Advanced || a.Outcome.Blockers != nil || a.Outcome.ToNodeID == nil ||
		a.Request.IsZero() {
		return canon.Append(dst, all)
	}
	dst = append(append(dst, a.ID.String()...), ' ')
	dst = append(strconv.AppendInt(dst, a.Index, 10), ' ')
	dst = append(append(dst, a.Outcome.ToNodeID.String()...), ' ')
	return append(dst, a.Request.String()...), nil
}

// appendOutputs appends the current outputs. A single recap is written as "outputId index attempt
// notes" with the notes as a JSON string, anything else as a JSON array.
func appendOutputs(dst []byte, all []Output) ([]byte, error) {
	if len(all) == 0 {
		return append(dst, noField...), nil
	}
	o := all[0]
	bare := event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: o.Payload.NotesMarkdown}
	// The short form is for notes only; artifacts and several outputs are written as JSON.
	if len(all) > 1 || o.Channel != event.Recap || o.Payload != bare {
		return canon.Append(dst, all)
	}
	dst = append(append(dst, o.ID.String()...), ' ')
	dst = append(strconv.AppendInt(dst, o.Index, 10), ' ')
	dst = append(strconv.AppendInt(dst, o.Attempt, 10), ' ')
	return canon.AppendString(dst, o.Payload.NotesMarkdown), nil
}

// fields reads the fields of a line, or the words of a field, from left to right. The first error
// is stored in err; reading continues with zero values.
type fields struct {
	rest []byte
	sep  byte
	err  error
}

// next returns the next field, empty after the last one.
func (f *fields) next() []byte {
	field, rest, found := bytes.Cut(f.rest, []byte{f.sep})
	if f.rest = rest; !found {
		f.rest = nil
	}
	return field
}

// text returns the next field, "" for noField.
func (f *fields) text() string {
	if s := f.next(); string(s) != noField {
		return string(s)
	}
	return ""
}

// number parses the next field as a decimal integer.
func (f *fields) number() int64 {
	v, err := strconv.ParseInt(string(f.next()), 10, 64)
	f.fail(err)
	return v
}

// fail stores the first error that is not nil.
func (f *fields) fail(err error) {
	if err != nil && f.err == nil {
		f.err = err
	}
}

// textUnmarshaler is implemented by ids and digests, which validate what they parse.
type textUnmarshaler interface{ UnmarshalText([]byte) error }

// parseInto parses the next field into out.
func (f *fields) parseInto(out textUnmarshaler) { f.fail(out.UnmarshalText(f.next())) }

// node parses the next field as an optional node id.
func (f *fields) node() *id.Node {
	s := f.next()
	if string(s) == noField {
		return nil
	}
	var n id.Node
	f.fail(n.UnmarshalText(s))
	return &n
}

// parseNode reads a line that appendNode wrote, without its newline. It returns the indices of run
// and context, which the caller has to check against its tables, and the first error.
func parseNode(line []byte) (run int, n *Node, context int, err error) {
	if bytes.Count(line, []byte{'\t'}) != nodeFields-1 {
		return 0, nil, 0, errNodeLine
	}
	f := &fields{rest: line, sep: '\t'}
	n = &Node{Attempts: []Attempt{}, Outputs: []Output{}, OpenGaps: []Gap{}}
	run = int(f.number())
	f.parseInto(&n.ID)
	n.Kind = event.NodeKind(f.text())
	n.Parent, n.Above = f.node(), f.node()
	f.parseInto(&n.SnapshotRef)
	n.CreatedIndex, n.CreatedAtMs, n.Depth, n.AckedChildren = f.number(), f.number(), f.number(), f.number()
	context = int(f.number())
	n.Preferences.Autonomy = event.Autonomy(f.text())
	n.Preferences.RiskPolicy = event.RiskPolicy(f.text())
	n.Approvals = f.number()
	n.Cut = f.text() != ""
	f.fail(n.parseAttempts(f.next()))
	f.fail(n.parseOutputs(f.next()))
	if rest := f.next(); string(rest) != noField {
		var r nodeExtra
		f.fail(canon.Unmarshal(rest, &r))
		n.Capabilities, n.Checkpoints, n.OpenGaps = r.Capabilities, r.Checkpoints, r.OpenGaps
	}
	return run, n, context, f.err
}

// parseAttempts reads what appendAttempts wrote.
func (n *Node) parseAttempts(b []byte) error {
	if string(b) == noField {
		return nil
	}
	if bytes.HasPrefix(b, []byte{'['}) {
		return canon.Unmarshal(b, &n.Attempts)
	}
	f := &fields{rest: b, sep: ' '}
	a := Attempt{Outcome: event.AdvanceOutcome{Kind: event.Advanced}}
	f.parseInto(&a.ID)
	a.Index = f.number()
	a.Outcome.ToNodeID = f.node()
	f.parseInto(&a.Request)
	n.Attempts = append(n.Attempts, a)
	return f.err
}

// parseOutputs reads what appendOutputs wrote.
func (n *Node) parseOutputs(b []byte) error {
	if string(b) == noField {
		return nil
	}
	if bytes.HasPrefix(b, []byte{'['}) {
		return canon.Unmarshal(b, &n.Outputs)
	}
	f := &fields{rest: b, sep: ' '}
	o := Output{Channel: event.Recap, Payload: event.OutputPayload{PayloadKind: event.Notes}}
	f.parseInto(&o.ID)
	o.Index, o.Attempt = f.number(), f.number()
	f.fail(canon.Unmarshal(f.rest, &o.Payload.NotesMarkdown))
	n.Outputs = append(n.Outputs, o)
	return f.err
}
