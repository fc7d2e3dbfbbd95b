package upkeep

import (
	"context"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/ports"
)

// Note records who decided something, when and why. It is the content of the
// control files keep and trash.json and, with more members, of tombstones.
type Note struct {
	Actor  event.Actor `json:"actor"`
	AtMs   int64       `json:"atMs"`
	Reason string      `json:"reason,omitzero"`
}

// noteVersion is the version of control files with a Note.
const noteVersion = 1

// newNote checks and redacts a reason: it is stored where secrets must not be
// (docs/design.md#redaction). It returns the places of the request at which secrets were.
// VALIDATION_ERROR if the reason is longer than limits.SummaryBytesMax or not valid UTF-8.
func newNote(by engine.Caller, why string) (Note, []redact.Finding, error) {
	if len(why) > limits.SummaryBytesMax || !utf8.ValidString(why) {
		return Note{}, nil, fault.New(fault.ValidationError,
			"the reason has %d bytes; at most %d of valid UTF-8 are allowed", len(why), limits.SummaryBytesMax)
	}
	var found redact.Findings
	// A marker may be longer than the secret that it replaces.
	why = reason.Truncate(found.Text("/reason", why), limits.SummaryBytesMax)
	return Note{Actor: by.Actor, AtMs: by.AtMs, Reason: why}, found.List(), nil
}

// noteOf decodes a note from a control file, nil if the file has another
// content.
func noteOf(c ports.Control) *Note {
	var n Note
	if c.Data.IsNull() || canon.DecodeKnown(c.Data, &n) != nil {
		return nil
	}
	return &n
}

// data encodes the note for its control file.
func (n Note) data() canon.Value {
	v, err := canon.ValueOf(n)
	if err != nil {
		panic("engine: " + err.Error()) // cannot happen: all members have a JSON form
	}
	return v
}

// KeepRequest requests to keep a session, or with Off to stop keeping it.
type KeepRequest struct {
	// Ref is a session id, run id, prefix of a run id, or @last.
	Ref    string
	Off    bool
	Reason string
}

// KeptSession is the document "kept": whether cleanups and deletions spare a
// session, and who decided so.
type KeptSession struct {
	SessionID id.Session `json:"sessionId"`
	Kept      bool       `json:"kept"`
	Note      *Note      `json:"note,omitzero"`
	Already   bool       `json:"already"` // no change was necessary
	// Redactions are the places of the request from which a secret was removed.
	Redactions []redact.Finding `json:"redactions,omitzero"`
}

// KeepSession exempts a session from retention and deletion
// (docs/design.md#retention). A session that is kept already retains its first
// note. Each change is an audited act.
func (u *Upkeep) KeepSession(ctx context.Context, by engine.Caller, req KeepRequest) (KeptSession, error) {
	s, err := u.e.ResolveSession(ctx, req.Ref)
	if err != nil {
		return KeptSession{}, err
	}
	n, redactions, err := newNote(by, req.Reason)
	if err != nil {
		return KeptSession{}, err
	}
	current, err := u.keepNote(ctx, s)
	if err != nil && !fault.Is(err, fault.StoreCorrupt) {
		return KeptSession{}, err
	}
	unreadable := err != nil // a mark that cannot be read counts, and is replaced
	// Already in the requested state: no act is recorded.
	if kept := current != nil || unreadable; kept != req.Off && !unreadable {
		return KeptSession{SessionID: s, Kept: kept, Note: current, Already: true, Redactions: redactions}, nil
	}
	out := KeptSession{SessionID: s, Kept: !req.Off, Redactions: redactions}
	what := audit.Act{Action: audit.Keep, Target: audit.Target{Kind: audit.OfSession, ID: s.String()}, Reason: n.Reason}
	if req.Off {
		what.Details = map[string]string{"kept": "false"}
	}
	err = u.ledger.Act(ctx, by, what, func() (map[string]string, error) {
		if req.Off {
			return nil, u.store.DropSessionControl(ctx, s, ports.KeepFile)
		}
		if unreadable {
			if err := u.store.DropSessionControl(ctx, s, ports.KeepFile); err != nil {
				return nil, err
			}
		}
		return nil, u.store.UpdateSessionControl(ctx, s, ports.KeepFile,
			func(old ports.Control) (ports.Control, error) {
				if have := noteOf(old); have != nil { // a concurrent call was first
					out.Note, out.Already = have, true
					return old, nil
				}
				out.Note = &n
				return ports.Control{V: noteVersion, Data: n.data()}, nil
			})
	})
	return out, err
}

// keepNote reads the note of a session's keep mark, nil without a mark. A mark
// that cannot be read is STORE_CORRUPT; callers that remove sessions treat it
// as a mark.
func (u *Upkeep) keepNote(ctx context.Context, s id.Session) (*Note, error) {
	c, err := u.store.SessionControl(ctx, s, ports.KeepFile)
	if err != nil || c.Data.IsNull() {
		return nil, err
	}
	if n := noteOf(c); n != nil {
		return n, nil
	}
	return &Note{}, nil // of a newer version, which counts as kept
}

// checkNotKept refuses with SESSION_KEPT a session with a keep mark.
func (u *Upkeep) checkNotKept(ctx context.Context, s id.Session) error {
	n, err := u.keepNote(ctx, s)
	if err != nil && !fault.Is(err, fault.StoreCorrupt) {
		return err
	}
	if n == nil && err == nil {
		return nil
	}
	f := fault.New(fault.SessionKept, "session %s is kept", s).With("sessionId", s.String()).
		Suggest("Remove the mark with %s if it may be deleted.", fault.Command{"sessions", "keep", "--off", s.String()})
	if n != nil && n.Reason != "" {
		f.Message += ": " + n.Reason
	}
	return f
}
