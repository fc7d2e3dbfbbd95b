// Package lines reads the events of a run as they are stored, one after the other.
//
// It decodes what it has to, and describes nothing. Start reading at Each.
package lines

import (
	"bytes"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Events returns the stored events of a run and those of its session that
// belong to no run, unchanged and in order, with the verdict over the log. A
// damaged log yields the events of its valid prefix. ref is a run id, a unique
// prefix of one, or @last. Errors: RUN_NOT_FOUND, RUN_AMBIGUOUS.
func Events(ctx context.Context, r *session.Reader, ref string) (events []event.Event, v manifest.Verdict, err error) {
	found, err := session.Find(ctx, r, ref)
	if err != nil {
		return nil, v, err
	}
	v, err = session.Each(ctx, r, found.Session, func(seg manifest.Segment, _ manifest.Head) error {
		for _, e := range seg.Events {
			if e.Scope.RunID == found.Run || e.Scope.RunID.IsZero() {
				events = append(events, e)
			}
		}
		return nil
	})
	if err == nil && !slices.ContainsFunc(events, func(e event.Event) bool { return e.Scope.RunID == found.Run }) {
		err = found.NotRead()
	}
	return events, v, err
}

// Each passes the lines of what Events returns, one after the other, as they are stored and without their
// newlines. It is one pass over the log, in memory that does not depend on the log's length, and decodes only what
// the session's head cache does not describe. line is valid during the call.
func Each(ctx context.Context, r *session.Reader, ref string, each func(line []byte) error) (manifest.Verdict, error) {
	found, err := session.Find(ctx, r, ref)
	if err != nil {
		return manifest.Verdict{}, err
	}
	of, has := scopes(manifest.SessionEvents(found.Session), found.Run), false
	v, err := session.EachLine(ctx, r, found.Session, func(seg manifest.Segment, _ manifest.Head) error {
		rest := seg.Bytes
		for i := 0; len(rest) > 0; i++ {
			var line []byte
			line, rest, _ = bytes.Cut(rest, []byte{'\n'})
			run, err := of.run(seg, i, line)
			if err != nil {
				return err
			}
			if has = has || run == found.Run; run != found.Run && !run.IsZero() {
				continue
			}
			if err := each(line); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !has {
		err = found.NotRead()
	}
	return v, err
}

// lineScopes finds the runs of lines that were not decoded, by what follows the kind in every line of this program:
// the scope and the owner (docs/design.md#lines-and-files).
type lineScopes struct {
	log   manifest.Log
	own   id.Run
	owner []byte // the member, with the comma before it
	scope []byte // the end of the scope of an event of the run
}

// scopes returns the lineScopes of a log, for the lines of a run.
func scopes(log manifest.Log, run id.Run) lineScopes {
	return lineScopes{log, run, []byte(`,"` + log.Table.OwnerField + `":"` + log.Owner + `"`),
		[]byte(`"runId":"` + run.String() + `"}`)}
}

// run returns the run of the line at an index of a segment, the zero id for none.
func (s lineScopes) run(seg manifest.Segment, i int, line []byte) (id.Run, error) {
	if seg.Events != nil {
		return seg.Events[i].Scope.RunID, nil
	}
	// In a text its quotes would be escaped.
	if before, ok := bytes.CutSuffix(withoutEnd(line), s.owner); ok {
		if before, ok = bytes.CutSuffix(before, s.scope); ok && isScopeBegin(before) {
			return s.own, nil
		}
	}
	e, err := s.log.Table.DecodeLine(line)
	return e.Scope.RunID, err
}

// isScopeBegin reports a line up to the run of its scope: a node, if it has one, precedes the run.
func isScopeBegin(before []byte) bool {
	const scope, node, end = `,"scope":{`, `"nodeId":"node_`, `",`
	if at := len(before) - len(node) - 26 - len(end); at >= 0 && string(before[at:at+len(node)]) == node &&
		bytes.HasSuffix(before, []byte(end)) {
		before = before[:at]
	}
	return bytes.HasSuffix(before, []byte(scope))
}

// withoutEnd returns a line without what follows the owner: perhaps the time, and the version; nil for another line.
func withoutEnd(line []byte) []byte {
	rest, ok := bytes.CutSuffix(line, []byte(`,"v":1}`))
	if !ok {
		return nil
	}
	at := len(rest)
	for at > 0 && '0' <= rest[at-1] && rest[at-1] <= '9' {
		at--
	}
	if before, timed := bytes.CutSuffix(rest[:at], []byte(`,"timestampMs":`)); timed {
		return before
	}
	return rest
}
