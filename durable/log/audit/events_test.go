package audit_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

var (
	store   = id.NewStore(id.Seed{1})
	session = id.NewSession(id.Seed{2})
	run     = id.NewRun(id.Seed{3})
	fact    = id.EventOf(session.String(), "x")
	source  = audit.Source{EventID: fact, EventIndex: 7, RunID: run, SessionID: session}
	ofRun   = audit.Target{Kind: audit.OfRun, ID: run.String()}
	digest  = canon.Sum([]byte("w")).String()
)

// samples returns payloads of every kind, with and without their optional members.
func samples() []event.Payload {
	return []event.Payload{
		audit.Intend(audit.Act{Action: audit.GC, Target: audit.Target{Kind: audit.OfStore}}, 0),
		audit.Intend(audit.Act{Action: audit.Erase, Target: audit.Target{Kind: audit.OfArtifact, ID: digest},
			Reason: "a reason", Details: map[string]string{"a": "b"}}, 1),
		audit.Conclude(fact, map[string]string{"objects": "3"}, nil),
		audit.Conclude(fact, nil, fault.New(fault.StoreFull, "x")),
		audit.Record(audit.Act{Action: audit.Cancel, Target: ofRun, Reason: "r"}, source),
		audit.Record(audit.Act{Action: audit.Approve, Target: ofRun}, source),
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	log, kinds := manifest.StoreLog(store, audit.Table), map[string]bool{}
	for i, p := range samples() {
		e := event.New(store.String(), int64(i), event.Scope{}, event.Actor{Kind: event.Human, Ref: "ada"}, 5, p)
		seg, err := manifest.EncodeSegment(log, []event.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		back, err := manifest.DecodeSegment(log, int64(i), int64(i), seg.Bytes)
		if err != nil || back.Events[0].Foreign() || back.Events[0].Data.Kind() != p.Kind() {
			t.Errorf("%s: %v, %+v", seg.Bytes, err, back.Events)
		}
		again, err := audit.Table.AppendLine(nil, back.Events[0])
		if err != nil || !bytes.Equal(again, seg.Bytes) {
			t.Errorf("%s\n%s: %v", again, seg.Bytes, err)
		}
		kinds[p.Kind()] = true
	}
	for _, k := range audit.Table.Kinds() {
		if !kinds[k] {
			t.Errorf("no sample of %s", k)
		}
	}
}

func TestCheckRefusesInvalidRecords(t *testing.T) {
	long, many := strings.Repeat("x", limits.AuditTextBytesMax+1), map[string]string{}
	for i := range limits.AuditDetailsMax + 1 {
		many["a"+strings.Repeat("b", i)] = ""
	}
	toStore := audit.Target{Kind: audit.OfStore}
	for name, p := range map[string]event.Payload{
		"action":            audit.Intended{Action: "party", Target: toStore},
		"no action":         audit.Intended{Target: toStore},
		"ordinal":           audit.Intended{Action: audit.GC, Target: toStore, Ordinal: -1},
		"ordinal too large": audit.Intended{Action: audit.GC, Target: toStore, Ordinal: limits.EventIndexMax + 1},
		"target kind":       audit.Intended{Action: audit.GC, Target: audit.Target{Kind: "moon"}},
		"store with id":     audit.Intended{Action: audit.GC, Target: audit.Target{Kind: audit.OfStore, ID: "x"}},
		"session of another form": audit.Intended{Action: audit.Keep,
			Target: audit.Target{Kind: audit.OfSession, ID: "../x"}},
		"run of another form": audit.Intended{Action: audit.Keep,
			Target: audit.Target{Kind: audit.OfRun, ID: session.String()}},
		"artifact of another form": audit.Intended{Action: audit.Erase,
			Target: audit.Target{Kind: audit.OfArtifact, ID: "abc"}},
		"reason":         audit.Intended{Action: audit.GC, Target: toStore, Reason: long},
		"reason's bytes": audit.Intended{Action: audit.GC, Target: toStore, Reason: "\xff"},
		"detail": audit.Intended{Action: audit.GC, Target: toStore,
			Details: map[string]string{"a": long}},
		"detail's name": audit.Intended{Action: audit.GC, Target: toStore,
			Details: map[string]string{"a b": ""}},
		"details":             audit.Intended{Action: audit.GC, Target: toStore, Details: many},
		"outcome":             audit.Done{IntendedEventID: fact, Outcome: "soso"},
		"open is not stored":  audit.Done{IntendedEventID: fact, Outcome: audit.Open},
		"failed without code": audit.Done{IntendedEventID: fact, Outcome: audit.Failed},
		"done with code":      audit.Done{IntendedEventID: fact, Outcome: audit.Succeeded, Code: "X"},
		"code":                audit.Done{IntendedEventID: fact, Outcome: audit.Failed, Code: "it broke"},
		"of nothing":          audit.Done{Outcome: audit.Succeeded},
		"no source":           audit.Recorded{Action: audit.Cancel, Target: ofRun},
		"source's index": audit.Recorded{Action: audit.Cancel, Target: ofRun,
			Source: audit.Source{EventID: fact, SessionID: session, EventIndex: -1}},
	} {
		if err := p.Check(event.Scope{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, p := range samples() {
		if err := p.Check(event.Scope{}); err != nil {
			t.Errorf("%s: %v", p.Kind(), err)
		}
	}
}

func TestActCheck(t *testing.T) {
	ok := audit.Act{Action: audit.Keep, Target: audit.Target{Kind: audit.OfSession, ID: session.String()},
		Reason: strings.Repeat("x", limits.SummaryBytesMax)}
	if err := ok.Check(); err != nil {
		t.Error(err)
	}
	long, bytes, badTarget := ok, ok, ok
	long.Reason += "x"
	bytes.Reason = "\xff"
	badTarget.Target.ID = "x"
	for want, act := range map[fault.Code]audit.Act{fault.ValidationError: long, fault.Internal: badTarget} {
		if err := act.Check(); !fault.Is(err, want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := bytes.Check(); !fault.Is(err, fault.ValidationError) {
		t.Error(err)
	}
}

// canaries are secrets of which no record may contain one, in any text.
var canaries = []string{"sk-canary0123456789", "ghp_canary0123456789canary0123456789", "password=canary0123456789"}

func TestRecordsContainNoSecrets(t *testing.T) {
	for _, secret := range canaries {
		text := "because " + secret + " leaked"
		act := audit.Act{Action: audit.GC, Target: audit.Target{Kind: audit.OfStore}, Reason: text,
			Details: map[string]string{"x": text}}
		cancel := audit.Act{Action: audit.Cancel, Target: ofRun, Reason: text, Details: map[string]string{"x": text}}
		for _, p := range []event.Payload{audit.Intend(act, 0), audit.Conclude(fact, map[string]string{"x": text}, nil),
			audit.Record(cancel, source)} {
			line, err := audit.Table.AppendLine(nil,
				event.New(store.String(), 0, event.Scope{}, event.Actor{Kind: event.Agent}, 1, p))
			if err != nil || bytes.Contains(line, []byte("canary")) || !bytes.Contains(line, []byte("because ")) {
				t.Errorf("%v: %s", err, line)
			}
		}
	}
}

// Conclude and Record return valid records for any texts, since the action cannot be undone.
func TestConcludeAndRecordAcceptAnyText(t *testing.T) {
	// Markers are longer than the secrets, so a text may exceed its budget after redaction.
	text := strings.Repeat("sk-abcdef12 ", 400) + "\xff"
	details := map[string]string{"long": text, "not a name": "x", "": "y"}
	for i := range 2 * limits.AuditDetailsMax {
		details["d"+strings.Repeat("x", i)] = "z"
	}
	given := maps.Clone(details)
	done := audit.Conclude(fact, details, errors.New("of no code"))
	if err := done.Check(event.Scope{}); err != nil || done.Code != string(fault.Internal) || len(done.Details) == 0 {
		t.Error(err, done)
	}
	if !maps.Equal(details, given) {
		t.Error("the caller's details were changed")
	}
	rec := audit.Record(audit.Act{Action: audit.Cancel, Target: ofRun, Reason: text,
		Details: map[string]string{"long": text}}, source)
	if err := rec.Check(event.Scope{}); err != nil || strings.Contains(rec.Reason, "abcdef") {
		t.Error(err)
	}
}

// The dedupe key of an audit record depends on its source event only.
func TestRecordedDedupeKey(t *testing.T) {
	a := audit.Record(audit.Act{Action: audit.Cancel, Target: ofRun, Reason: "r"}, source)
	b := audit.Record(audit.Act{Action: audit.Cancel, Target: ofRun, Reason: "another redaction"}, source)
	if a.DedupeKey(store.String(), event.Scope{}) != b.DedupeKey(store.String(), event.Scope{}) {
		t.Error("two keys for one event")
	}
	other := source
	other.SessionID = id.NewSession(id.Seed{9})
	if c := audit.Record(audit.Act{Action: audit.Cancel, Target: ofRun}, other); c.DedupeKey("",
		event.Scope{}) == a.DedupeKey("", event.Scope{}) {
		t.Error("events of two sessions have one key")
	}
	other = source
	other.Log = audit.Annotations
	annotated := audit.Record(audit.Act{Action: audit.Annotate, Target: ofRun}, other)
	if key := annotated.DedupeKey("", event.Scope{}); key == a.DedupeKey("", event.Scope{}) ||
		strings.Contains(key, "/") ||
		annotated.Check(event.Scope{}) != nil {
		t.Errorf("event of a side log: %s, %v", key, annotated.Check(event.Scope{}))
	}
}
