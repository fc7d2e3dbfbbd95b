package bundle_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
)

// TestWrongCalls: every invalid call is an error, immediately and at Close.
func TestWrongCalls(t *testing.T) {
	zero, one := event(t, 0, "note", `{}`), event(t, 1, "note", `{}`)
	put := func(w *bundle.Writer, kind manifest.ObjectKind, v string) error {
		return w.Object(kind, canon.Sum([]byte(v)), int64(len(v)), strings.NewReader(v))
	}
	gone := func(w *bundle.Writer, v string) error { return w.Erased(canon.Sum([]byte(v)), tombstone(v)) }
	first, second := "x", "y"
	if digest(first) > digest(second) {
		first, second = second, first
	}
	for name, do := range map[string]func(w *bundle.Writer) error{
		"event twice": func(w *bundle.Writer) error {
			_ = w.Event([]byte(zero))
			return w.Event(
				[]byte(zero))
		},
		"event of another index": func(w *bundle.Writer) error { return w.Event([]byte(one)) },
		"event of another session": func(
			w *bundle.Writer) error {
			return w.Event([]byte(strings.Replace(zero, session, "sess_b", 1)))
		},
		"event with a newline": func(w *bundle.Writer) error { return w.Event([]byte(zero + "\n")) },
		"event with a space": func(
			w *bundle.Writer) error {
			return w.Event([]byte(strings.Replace(zero, `"v":`, `"v": `, 1)))
		},
		"event with a case collision": func(w *bundle.Writer) error {
			return w.Event([]byte(strings.Replace(zero, `"v":1`, `"v":1,"vV":1,"vv":1`, 1)))
		},
		"event that is a list": func(w *bundle.Writer) error { return w.Event([]byte(`[]`)) },
		"event too deep": func(w *bundle.Writer) error {
			return w.Event([]byte(event(t, 0, "x", strings.Repeat("[", 61)+strings.Repeat("]", 61))))
		},
		"event too deep, by canon": func(w *bundle.Writer) error {
			return w.Event([]byte(event(t, 0, "x", `{"é":`+strings.Repeat("[", 60)+strings.Repeat("]", 60)+`}`)))
		},
		"event too long": func(w *bundle.Writer) error {
			return w.Event([]byte(event(t, 0, "x", `"`+strings.Repeat("x", 1<<20)+`"`)))
		},
		"event after records": func(w *bundle.Writer) error {
			_ = w.Event([]byte(zero))
			_ = w.Record([]byte(segment(t, 0, 0, 0)))
			return w.Event([]byte(one))
		},
		"record of another index":   func(w *bundle.Writer) error { return w.Record([]byte(segment(t, 1, 0, 0))) },
		"record of other bounds":    func(w *bundle.Writer) error { return w.Record([]byte(segment(t, 0, 1, 1))) },
		"records that do not cover": func(w *bundle.Writer) error { _ = w.Event([]byte(zero)); return w.Close() },
		"record after snapshots": func(w *bundle.Writer) error {
			_ = put(w, manifest.Snapshot, "{}")
			return w.Record([]byte(segment(t, 0, 0, 0)))
		},
		"snapshot after workflow": func(w *bundle.Writer) error {
			_ = put(w, manifest.Workflow, "{}")
			return put(w, manifest.Snapshot, "{}")
		},
		"snapshot twice": func(w *bundle.Writer) error {
			_ = put(w, manifest.Snapshot, "{}")
			return put(w, manifest.Snapshot, "{}")
		},
		"snapshot that is not canonical": func(w *bundle.Writer) error { return put(w, manifest.Snapshot, "{ }") },
		"snapshot too large": func(w *bundle.Writer) error {
			return put(w, manifest.Snapshot, `{"a":"`+strings.Repeat("x", 4<<20)+`"}`)
		},
		"workflow that is no JSON": func(w *bundle.Writer) error { return put(w, manifest.Workflow, "{") },
		"artifacts unsorted": func(w *bundle.Writer) error {
			_ = put(w, manifest.Artifact, second)
			return put(w, manifest.Artifact, first)
		},
		"artifact and tombstone": func(w *bundle.Writer) error {
			_ = put(w, manifest.Artifact, first)
			return gone(w,
				first)
		},
		"workflow after artifact": func(w *bundle.Writer) error {
			_ = put(w, manifest.Artifact, first)
			return put(w, manifest.Workflow, "{}")
		},
		"artifact shorter": func(w *bundle.Writer) error {
			return w.Object(manifest.Artifact, canon.Sum([]byte("x")), 2, strings.NewReader("x"))
		},
		"artifact longer": func(w *bundle.Writer) error {
			return w.Object(manifest.Artifact, canon.Sum([]byte("xx")), 1, strings.NewReader("xx"))
		},
		"object of another kind":  func(w *bundle.Writer) error { return put(w, "trace", "{}") },
		"snapshot that is a list": func(w *bundle.Writer) error { return put(w, manifest.Snapshot, "[]") },
		"object without a ref": func(w *bundle.Writer) error {
			return w.Object(manifest.Artifact, canon.Digest{}, 0, strings.NewReader(""))
		},
		"tombstone of another": func(w *bundle.Writer) error { return w.Erased(canon.Sum(nil), tombstone("x")) },
		"tombstone that is text": func(w *bundle.Writer) error {
			return w.Erased(canon.Sum(nil),
				canon.OfString("x"))
		},
		"artifact after logs": func(w *bundle.Writer) error {
			_ = w.Log("a")
			return put(w, manifest.Artifact,
				"x")
		},
		"log twice":           func(w *bundle.Writer) error { _ = w.Log("a"); return w.Log("a") },
		"logs unsorted":       func(w *bundle.Writer) error { _ = w.Log("b"); return w.Log("a") },
		"log of a taken name": func(w *bundle.Writer) error { return w.Log("events") },
		"log that is not covered": func(w *bundle.Writer) error {
			_ = w.Log("a")
			_ = w.Event(
				[]byte(zero))
			return w.Log("b")
		},
		"event after a log's end": func(w *bundle.Writer) error {
			_ = w.Log("a")
			_ = w.Event([]byte(zero))
			_ = w.Record([]byte(segment(t, 0, 0, 0)))
			return w.Event([]byte(one))
		},
		"an event at the end": func(w *bundle.Writer) error { _ = w.Close(); return w.Event([]byte(zero)) },
		"closed twice":        func(w *bundle.Writer) error { _ = w.Close(); return w.Close() },
	} {
		w, err := bundle.NewWriter(io.Discard, envelope())
		if err != nil {
			t.Fatal(err)
		}
		if err := do(w); err == nil {
			t.Errorf("%s: accepted", name)
		} else if again := w.Close(); again == nil {
			t.Errorf("%s: closed well", name)
		}
	}
}

func TestWrongEnvelopes(t *testing.T) {
	for name, change := range map[string]func(e *bundle.Envelope){
		"no id":      func(e *bundle.Envelope) { e.BundleID = "" },
		"long id":    func(e *bundle.Envelope) { e.BundleID = strings.Repeat("x", 257) },
		"no session": func(e *bundle.Envelope) { e.SessionID = "" },
		"session":    func(e *bundle.Envelope) { e.SessionID = "sess_x" },
		"no UTF-8":   func(e *bundle.Envelope) { e.ExportedAt = "\xff" },
		"health":     func(e *bundle.Envelope) { e.Salvage = &bundle.Salvage{} },
		"rules that differ in case": func(e *bundle.Envelope) {
			e.Redacted = &bundle.Redacted{Rules: map[string]int64{"Key": 1,
				"key": 1}}
		},
		"count of -1":   func(e *bundle.Envelope) { e.Redacted = &bundle.Redacted{Rules: map[string]int64{"key": -1}} },
		"long producer": func(e *bundle.Envelope) { e.Producer.AppVersion = strings.Repeat("x", 1<<20) },
	} {
		e := envelope()
		change(&e)
		if _, err := bundle.NewWriter(io.Discard, e); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestDamagedObject: damage in the store is STORE_CORRUPT.
func TestDamagedObject(t *testing.T) {
	w, err := bundle.NewWriter(io.Discard, envelope())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Object(manifest.Snapshot, canon.Sum([]byte("{}")), 2, strings.NewReader("{]")); !fault.Is(err,
		fault.StoreCorrupt) {
		t.Error(err)
	}
}

// failing takes n bytes and then no more.
type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

// TestFailingWriter: Close returns the error of the io.Writer.
func TestFailingWriter(t *testing.T) {
	whole := small(t)
	whole.artifacts = append(whole.artifacts, strings.Repeat("a", 300_000))
	var good bytes.Buffer
	if err := whole.writeTo(&good, envelope()); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < good.Len(); n += 997 {
		if err := whole.writeTo(&failing{n}, envelope()); !errors.Is(err, errBroken) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}
