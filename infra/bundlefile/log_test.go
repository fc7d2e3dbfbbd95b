package bundlefile_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/bundlefile"
	"github.com/waybill/waybill/ports"
)

// TestSegmentSizeIsBounded: events may be more than the bytes that the record of their segment claims, and
// are not held in memory.
func TestSegmentSizeIsBounded(t *testing.T) {
	const session, events = "sess_aaaaaaaaaaaaaaaaaaaaaaaaaa", 80
	var b bytes.Buffer
	w, err := bundle.NewWriter(&b, bundle.Envelope{BundleID: "bundle_aaaaaaaaaaaaaaaaaaaaaaaaaa",
		ExportedAt: "2026-01-01T00:00:00.000Z",
		Producer:   bundle.Producer{AppVersion: "1"}, SessionID: session})
	if err != nil {
		t.Fatal(err)
	}
	pad := strings.Repeat("x", 1_000_000)
	for i := range events {
		line := fmt.Sprintf(`{"data":{"p":"%s"},"dedupeKey":"k:%d","eventId":"e%d","eventIndex":%d,"kind":"other","sessionId":"%s","v":1}`, pad, i, i, i, session)
		if err := w.Event([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	record := fmt.Sprintf(`{"bytes":%d,"firstEventIndex":0,"kind":"segment_closed","lastEventIndex":%d,"manifestIndex":0,"segmentRelPath":"events/%08d-%08d.jsonl","sessionId":"%s","sha256":"sha256:%064d","v":1}`,
		len(pad), events-1, 0, events-1, session, 0)
	if err := w.Record([]byte(record)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := bundlefile.Spool(context.Background(), &b, bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := f.Read(context.Background(), ports.ReadRequest{Log: manifest.SessionEvents(f.Session())}, ports.Skip)
	if !fault.Is(err, fault.StoreLimit) {
		t.Errorf("%v, %v", v.Health, err)
	}
}
