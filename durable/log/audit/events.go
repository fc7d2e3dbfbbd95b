package audit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/pattern"
)

// Table is the closed union of the events of the audit log, which is stored in the directory
// "audit".
var Table = event.NewTable("audit", "storeId",
	event.Row[Intended](event.NoScope),
	event.Row[Done](event.NoScope),
	event.Row[Recorded](event.NoScope),
)

// Intended records an action before it is executed. Reason and the values of Details are redacted
// (docs/design.md#redaction); see Intend.
type Intended struct {
	Action  Action            `json:"action"`
	Details map[string]string `json:"details,omitzero"`
	// Ordinal is the index of the event itself. It is part of the data because the dedupe key is
	// made of data only, and one action may be intended many times.
	Ordinal int64  `json:"ordinal"`
	Reason  string `json:"reason,omitzero"`
	Target  Target `json:"target"`
	// Given is the consent to a change of what decides who may do what. Additive.
	consent.Given
}

// Kind is "action_intended".
func (Intended) Kind() string { return "action_intended" }

// DedupeKey allows one event per index of the log.
func (i Intended) DedupeKey(owner string, _ event.Scope) string {
	return "action_intended:" + owner + ":" + strconv.FormatInt(i.Ordinal, 10)
}

// Check returns an error for an invalid ordinal, action, target, reason or details.
func (i Intended) Check(event.Scope) error {
	if i.Ordinal < 0 || i.Ordinal > limits.EventIndexMax {
		return fmt.Errorf("ordinal %d is no index of an event", i.Ordinal)
	}
	return cmp.Or(i.Given.Check(), checkAct(i.Action, i.Target, i.Reason, i.Details))
}

// Outcome is the closed set of outcomes of an intended action.
type Outcome string

// The outcomes. Open is never stored: it is the outcome of an intention without a Done, which a
// crash during the action leaves.
const (
	Succeeded Outcome = "done"
	Failed    Outcome = "failed"
	Open      Outcome = "open"
)

// Done records the outcome of an intention: that it succeeded, or the code of the fault with
// which it failed.
type Done struct {
	Code            string            `json:"code,omitzero"`
	Details         map[string]string `json:"details,omitzero"`
	IntendedEventID id.Event          `json:"intendedEventId"`
	Outcome         Outcome           `json:"outcome"`
	// Policy is what DetailSettings would state, where that is too long for a detail. Additive.
	Policy canon.Value `json:"policy,omitzero"`
}

// Kind is "action_done".
func (Done) Kind() string { return "action_done" }

// DedupeKey allows one event per intention.
func (d Done) DedupeKey(string, event.Scope) string {
	return "action_done:" + d.IntendedEventID.String()
}

// faultCode is the form of fault codes. Newer versions may have codes that this one does not know.
var faultCode = pattern.New(`^[A-Z][A-Z0-9_]{0,63}$`)

// Check returns an error for an outcome that is not stored, a failure without a code, a code
// without a failure, and invalid details.
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

// Recorded is the audit record of an event of another log (docs/design.md#side-logs): it repeats
// in one place what is committed there. Its envelope has the actor and time of that event.
type Recorded struct {
	Action  Action            `json:"action"`
	Details map[string]string `json:"details,omitzero"`
	Reason  string            `json:"reason,omitzero"`
	Source  Source            `json:"source"`
	Target  Target            `json:"target"`
}

// Source identifies the event that a record is about: one of a session's log, of its annotations,
// or of the store's proposals.
type Source struct {
	EventID    id.Event   `json:"eventId"`
	EventIndex int64      `json:"eventIndex"`
	Log        string     `json:"log,omitzero"` // annotations, proposals, or "" for a session's own
	RunID      id.Run     `json:"runId,omitzero"`
	SessionID  id.Session `json:"sessionId,omitzero"` // of a session's logs
}

// The side logs whose events have audit records.
const (
	Annotations = "annotations"
	Proposals   = "proposals"
)

// Root returns the directory of the log that contains the event, relative to the store.
func (s Source) Root() string {
	switch {
	case s.SessionID.IsZero():
		return s.Log
	case s.Log == "":
		return "sessions/" + s.SessionID.String()
	}
	return "sessions/" + s.SessionID.String() + "/" + s.Log
}

// check returns an error unless s identifies an event: proposals belong to the store, the other
// two logs to a session.
func (s Source) check() error {
	ofStore, ofSession := s.Log == Proposals, s.Log == "" || s.Log == Annotations
	switch {
	case ofStore && !s.SessionID.IsZero():
		return errors.New("source names a session beside a log of the store")
	case !ofStore && (!ofSession || s.SessionID.IsZero()), s.EventID.IsZero(), s.EventIndex < 0,
		s.EventIndex > limits.EventIndexMax:
		return errors.New("source names no event of a log")
	}
	return nil
}

// Kind is "action_recorded".
func (Recorded) Kind() string { return "action_recorded" }

// DedupeKey allows one record per event, so that completing the audit log twice adds nothing.
// Slashes, which keys must not contain, are replaced.
func (r Recorded) DedupeKey(string, event.Scope) string {
	from := strings.ReplaceAll(strings.TrimPrefix(r.Source.Root(), "sessions/"), "/", ":")
	return "action_recorded:" + from + ":" + r.Source.EventID.String()
}

// Check returns an error for an invalid source, action, target, reason or details.
func (r Recorded) Check(event.Scope) error {
	return cmp.Or(r.Source.check(), checkAct(r.Action, r.Target, r.Reason, r.Details))
}

// checkAct checks the parts that Intended and Recorded have in common.
func checkAct(a Action, t Target, reason string, details map[string]string) error {
	if !slices.Contains(Actions(), a) {
		return fmt.Errorf("unknown action %q", a)
	}
	return cmp.Or(t.Check(), checkText("reason", reason), checkDetails(details))
}

// checkText returns an error for a text that is too long or not UTF-8.
func checkText(what, s string) error {
	if len(s) > limits.AuditTextBytesMax || !utf8.ValidString(s) {
		return fmt.Errorf("%s of %d bytes: want at most %d of UTF-8", what, len(s), limits.AuditTextBytesMax)
	}
	return nil
}

// detailName is the form of the names of details.
var detailName = pattern.New(`^[a-z][A-Za-z0-9]{0,31}$`)

// checkDetails checks details in the order of their names, so that the error does not depend on
// the order of the map.
func checkDetails(details map[string]string) error {
	if len(details) > limits.AuditDetailsMax {
		return fmt.Errorf("%d details: want at most %d", len(details), limits.AuditDetailsMax)
	}
	for _, name := range slices.Sorted(maps.Keys(details)) {
		if !detailName.MatchString(name) {
			return fmt.Errorf("%q is no name of a detail", name)
		}
		if err := checkText("detail "+name, details[name]); err != nil {
			return err
		}
	}
	return nil
}

// LogOf is the audit log of a store.
func LogOf(s id.Store) manifest.Log { return manifest.StoreLog(s, Table) }
