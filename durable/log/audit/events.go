package audit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/pattern"
)

// Table is the closed union of the audit log: the store's, in its folder "audit".
var Table = event.NewTable("audit", "storeId",
	event.Row[Intended](event.NoScope),
	event.Row[Done](event.NoScope),
	event.Row[Recorded](event.NoScope),
)

// Intended says what somebody is about to do, and is committed before anything is
// done. Reason and the values of Details were redacted (R30); see Intend.
type Intended struct {
	Action  Action            `json:"action"`
	Details map[string]string `json:"details,omitzero"`
	// Ordinal is the index of the event itself. It stands in the data because the
	// dedupeKey is made of data alone, and the same act may be intended many times.
	Ordinal int64  `json:"ordinal"`
	Reason  string `json:"reason,omitzero"`
	Target  Target `json:"target"`
}

// Kind is "action_intended".
func (Intended) Kind() string { return "action_intended" }

// DedupeKey allows one per place in the log.
func (i Intended) DedupeKey(owner string, _ event.Scope) string {
	return "action_intended:" + owner + ":" + strconv.FormatInt(i.Ordinal, 10)
}

// Check refuses what is in no closed set, and texts over budget.
func (i Intended) Check(event.Scope) error {
	if i.Ordinal < 0 || i.Ordinal > limits.EventIndexMax {
		return fmt.Errorf("ordinal %d is no index of an event", i.Ordinal)
	}
	return checkAct(i.Action, i.Target, i.Reason, i.Details)
}

// Outcome is the closed set of what became of an act.
type Outcome string

// The outcomes. Open is never stored: it is an intention that nothing follows, which
// is what a crash in between leaves.
const (
	Succeeded Outcome = "done"
	Failed    Outcome = "failed"
	Open      Outcome = "open"
)

// Done says what became of an intention: that it was carried out, or the code of the
// fault that it failed with.
type Done struct {
	Code            string            `json:"code,omitzero"`
	Details         map[string]string `json:"details,omitzero"`
	IntendedEventID id.Event          `json:"intendedEventId"`
	Outcome         Outcome           `json:"outcome"`
}

// Kind is "action_done".
func (Done) Kind() string { return "action_done" }

// DedupeKey allows one per intention.
func (d Done) DedupeKey(string, event.Scope) string {
	return "action_done:" + d.IntendedEventID.String()
}

var faultCode = pattern.New(`^[A-Z][A-Z0-9_]{0,63}$`)

// Check refuses an outcome that is not stored, a failure without its code and a code
// without a failure.
func (d Done) Check(event.Scope) error {
	switch {
	case d.IntendedEventID.IsZero():
		return errors.New("intendedEventId is missing")
	case d.Outcome != Succeeded && d.Outcome != Failed:
		return fmt.Errorf("unknown outcome %q", d.Outcome)
	case (d.Outcome == Failed) != (d.Code != ""):
		return fmt.Errorf("outcome %q with the code %q", d.Outcome, d.Code)
	case d.Code != "" && !faultCode.MatchString(d.Code):
		return fmt.Errorf("%q is no code of a fault", d.Code)
	}
	return checkDetails(d.Details)
}

// Recorded is the line of a fact that another log holds (R10): it says once more,
// in one place for the store, what is committed there. The envelope has the fact's
// actor and time.
type Recorded struct {
	Action  Action            `json:"action"`
	Details map[string]string `json:"details,omitzero"`
	Reason  string            `json:"reason,omitzero"`
	Source  Source            `json:"source"`
	Target  Target            `json:"target"`
}

// Source names the event that a line is about: of a session's own log, of its
// annotations, or of the store's proposals.
type Source struct {
	EventID    id.Event   `json:"eventId"`
	EventIndex int64      `json:"eventIndex"`
	Log        string     `json:"log,omitzero"` // annotations, proposals, or "" for a session's own
	RunID      id.Run     `json:"runId,omitzero"`
	SessionID  id.Session `json:"sessionId,omitzero"` // of a session's logs
}

// The side logs whose facts have lines.
const (
	Annotations = "annotations"
	Proposals   = "proposals"
)

// Root is the folder of the log that holds the event, relative to the store.
func (s Source) Root() string {
	switch {
	case s.SessionID.IsZero():
		return s.Log
	case s.Log == "":
		return "sessions/" + s.SessionID.String()
	}
	return "sessions/" + s.SessionID.String() + "/" + s.Log
}

func (s Source) check() error {
	named := s.Log == Proposals
	if !named {
		named = (s.Log == "" || s.Log == Annotations) && !s.SessionID.IsZero()
	} else if !s.SessionID.IsZero() {
		return errors.New("source names a session beside a log of the store")
	}
	if !named || s.EventID.IsZero() || s.EventIndex < 0 || s.EventIndex > limits.EventIndexMax {
		return errors.New("source names no event of a log")
	}
	return nil
}

// Kind is "action_recorded".
func (Recorded) Kind() string { return "action_recorded" }

// DedupeKey allows one per fact, so that completing twice adds nothing. Keys hold no
// slashes.
func (r Recorded) DedupeKey(string, event.Scope) string {
	from := strings.ReplaceAll(strings.TrimPrefix(r.Source.Root(), "sessions/"), "/", ":")
	return "action_recorded:" + from + ":" + r.Source.EventID.String()
}

// Check refuses what is in no closed set, texts over budget and a fact without a name.
func (r Recorded) Check(event.Scope) error {
	if err := r.Source.check(); err != nil {
		return err
	}
	return checkAct(r.Action, r.Target, r.Reason, r.Details)
}

func checkAct(a Action, t Target, reason string, details map[string]string) error {
	if !slices.Contains(Actions(), a) {
		return fmt.Errorf("unknown action %q", a)
	}
	if err := t.Check(); err != nil {
		return err
	}
	if len(reason) > limits.AuditTextBytesMax || !utf8.ValidString(reason) {
		return fmt.Errorf("reason of %d bytes: want at most %d of UTF-8", len(reason), limits.AuditTextBytesMax)
	}
	return checkDetails(details)
}

var detailName = pattern.New(`^[a-z][A-Za-z0-9]{0,31}$`)

func checkDetails(details map[string]string) error {
	if len(details) > limits.AuditDetailsMax {
		return fmt.Errorf("%d details: want at most %d", len(details), limits.AuditDetailsMax)
	}
	for _, name := range slices.Sorted(maps.Keys(details)) {
		if !detailName.MatchString(name) {
			return fmt.Errorf("%q is no name of a detail", name)
		}
		if v := details[name]; len(v) > limits.AuditTextBytesMax || !utf8.ValidString(v) {
			return fmt.Errorf("detail %s of %d bytes: want at most %d of UTF-8", name, len(v), limits.AuditTextBytesMax)
		}
	}
	return nil
}
