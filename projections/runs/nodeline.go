package runs

import (
	"bytes"
	"cmp"
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
	nodeFields = 20
	// noField is the spelling of an empty field.
	noField = "-"
)

// errNodeLine reports a line of another form, or with an index outside of its table.
var errNodeLine = errors.New("projections: not a line of a saved node")

// nodeLine writes or reads one line. Its methods pass one field each, in the order of the line:
// node describes the form once, for both directions.
type nodeLine struct {
	out     []byte // what was written
	rest    []byte // what is still to be read
	reading bool
	// sep is behind the next field, and empty is the spelling of an empty text: a tab and noField; a
	// space and nothing between the words of a field.
	sep   byte
	empty string
	err   error // the first one; reading continues with zero values
}

// nodeExtra holds the members that few nodes have, as the last field of the line.
type nodeExtra struct {
	Capabilities map[string]string `json:"capabilities,omitzero"`
	Checkpoints  []id.Node         `json:"checkpoints,omitzero"`
	Given        []string          `json:"given,omitzero"`
	Guarded      []GuardedChat     `json:"guarded,omitzero"`
	LastAtMs     int64             `json:"lastAtMs,omitzero"`
	Left         []Output          `json:"left,omitzero"`
	OpenGaps     []Gap             `json:"openGaps"`
}

// appendNode appends the line of a node to dst. run is the index of its run in Session.Order,
// context the index of its context in savedHeader.Contexts.
func appendNode(dst []byte, run int, n *Node, context int) ([]byte, error) {
	l, own := &nodeLine{out: dst, sep: '\t', empty: noField}, *n // the node itself is shared
	runIndex, contextIndex := int64(run), int64(context)
	l.node(&runIndex, &own, &contextIndex)
	l.out[len(l.out)-1] = '\n'
	return l.out, l.err
}

// parseNode reads a line that appendNode wrote, without its newline. It returns the indices of run
// and context, which the caller has to check against its tables, and the first error.
func parseNode(line []byte) (run int64, n *Node, context int64, err error) {
	if bytes.Count(line, []byte{'\t'}) != nodeFields-1 {
		return 0, nil, 0, errNodeLine
	}
	l := &nodeLine{rest: line, reading: true, sep: '\t'}
	n = &Node{Attempts: []Attempt{}, Outputs: []Output{}, OpenGaps: []Gap{}}
	l.node(&run, n, &context)
	return run, n, context, l.err
}

// node passes the fields of a node.
func (l *nodeLine) node(run *int64, n *Node, context *int64) {
	cut := map[bool]string{true: "cut"}[n.Cut]
	l.number(run)
	l.id(&n.ID)
	passText(l, &n.Kind)
	l.nodeID(&n.Parent)
	l.nodeID(&n.Above)
	l.id(&n.SnapshotRef)
	for _, number := range []*int64{&n.CreatedIndex, &n.CreatedAtMs, &n.Depth, &n.AckedChildren, context} {
		l.number(number)
	}
	passText(l, &n.Preferences.Autonomy)
	passText(l, &n.Preferences.RiskPolicy)
	passText(l, &n.Sources.Autonomy)
	passText(l, &n.Sources.RiskPolicy)
	l.number(&n.Approvals)
	passText(l, &cut)
	n.Cut = cut != ""
	l.attempts(&n.Attempts)
	l.outputs(&n.Outputs)
	extra := nodeExtra{n.Capabilities, n.Checkpoints, n.Given, n.Guarded, n.LastAtMs, n.Left, n.OpenGaps}
	l.json(&extra, n.LastAtMs == 0 &&
		len(n.Capabilities)+len(n.Checkpoints)+len(n.Given)+len(n.Guarded)+len(n.Left)+len(n.OpenGaps) == 0)
	n.Capabilities, n.Checkpoints, n.Given, n.Left = extra.Capabilities, extra.Checkpoints, extra.Given, extra.Left
	n.Guarded, n.OpenGaps, n.LastAtMs = extra.Guarded, extra.OpenGaps, extra.LastAtMs
}

// attempts passes the attempts. A single accepted attempt is written as "attemptId index toNodeId
// request", anything else as a JSON array.
func (l *nodeLine) attempts(all *[]Attempt) {
	a := Attempt{Outcome: event.AdvanceOutcome{Kind: event.Advanced}}
	if !l.reading && len(*all) == 1 {
		a = (*all)[0]
	}
	// The short form has no place for blockers, warnings, a second attempt or a missing request.
	if !l.short(len(*all) == 1 && a.Outcome.Kind == event.Advanced && a.Outcome.Blockers == nil &&
		a.Outcome.ToNodeID != nil && !a.Request.IsZero() && len(a.Warnings) == 0 && a.Account == "") {
		l.json(all, len(*all) == 0)
		return
	}
	l.sep, l.empty = ' ', ""
	l.id(&a.ID)
	l.number(&a.Index)
	l.nodeID(&a.Outcome.ToNodeID)
	l.sep, l.empty = '\t', noField
	l.id(&a.Request)
	if l.reading {
		*all = []Attempt{a}
	}
}

// outputs passes the current outputs. A single recap is written as "outputId index attempt notes"
// with the notes as a JSON string, anything else as a JSON array.
func (l *nodeLine) outputs(all *[]Output) {
	o := Output{Channel: event.Recap, Payload: event.OutputPayload{PayloadKind: event.Notes}}
	if !l.reading && len(*all) == 1 {
		o = (*all)[0]
	}
	// The short form is for notes only; artifacts and several outputs are written as JSON.
	bare := event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: o.Payload.NotesMarkdown}
	if !l.short(len(*all) == 1 && o.Channel == event.Recap && o.Payload == bare) {
		l.json(all, len(*all) == 0)
		return
	}
	l.sep, l.empty = ' ', ""
	l.id(&o.ID)
	l.number(&o.Index)
	l.number(&o.Attempt)
	l.sep, l.empty = '\t', noField
	l.json(&o.Payload.NotesMarkdown, false)
	if l.reading {
		*all = []Output{o}
	}
}

// short reports whether the next field has the short form of its kind: when writing, if it can have.
func (l *nodeLine) short(can bool) bool {
	if !l.reading {
		return can
	}
	return !bytes.HasPrefix(l.rest, []byte(noField+"\t")) && !bytes.HasPrefix(l.rest, []byte{'['})
}

// next returns the next field to read, empty after the last one.
func (l *nodeLine) next() (field []byte) {
	field, l.rest, _ = bytes.Cut(l.rest, []byte{l.sep})
	return field
}

// fail stores the first error that is not nil.
func (l *nodeLine) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// passText passes a text.
func passText[S ~string](l *nodeLine, s *S) {
	if !l.reading {
		l.out = append(append(l.out, cmp.Or(string(*s), l.empty)...), l.sep)
	} else if field := l.next(); string(field) != noField {
		*s = S(field)
	}
}

// number passes a decimal integer.
func (l *nodeLine) number(v *int64) {
	if !l.reading {
		l.out = append(strconv.AppendInt(l.out, *v, 10), l.sep)
		return
	}
	var err error
	*v, err = strconv.ParseInt(string(l.next()), 10, 64)
	l.fail(err)
}

// id passes an id or a digest, which validates what it parses.
func (l *nodeLine) id(v interface {
	String() string
	UnmarshalText([]byte) error
}) {
	if l.reading {
		l.fail(v.UnmarshalText(l.next()))
		return
	}
	text := v.String()
	passText(l, &text)
}

// nodeID passes an optional node id.
func (l *nodeLine) nodeID(n **id.Node) {
	switch {
	case l.reading && bytes.HasPrefix(l.rest, []byte{noField[0], l.sep}), !l.reading && *n == nil:
		var none string
		passText(l, &none)
		return
	case l.reading:
		*n = &id.Node{}
	}
	l.id(*n)
}

// json passes a value as canonical JSON, or noField for an empty one.
func (l *nodeLine) json(v any, empty bool) {
	switch {
	case l.reading:
		if field := l.next(); string(field) != noField {
			l.fail(canon.Unmarshal(field, v))
		}
		return
	case empty:
		l.out = append(l.out, noField...)
	default:
		var err error
		l.out, err = canon.Append(l.out, v)
		l.fail(err)
	}
	l.out = append(l.out, l.sep)
}
