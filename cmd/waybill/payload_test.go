package main

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
)

// TestPayloadAsADocument: with --json a payload is a document of its schema, and its canonical form is what is
// printed without.
func TestPayloadAsADocument(t *testing.T) {
	t.Parallel()
	subject := consent.NewSubject(consent.DecideStep, "store_a", canon.Sum(nil), consent.Text("run", "run_a"))
	payload := subject.Payload(1, strings.Repeat("0", 32))
	data, err := canon.Marshal(document.Payload{Payload: payload, SHA256: canon.Sum(payload.JCS())})
	if err != nil {
		t.Fatal(err)
	}
	if err := valid("document-payload", []byte(`{"v":1,"kind":"payload","data":`+string(data)+`}`)); err != nil {
		t.Error(err)
	}
	if err := valid("document-payload", []byte(`{"v":1,"kind":"payload","data":{"payload":1}}`)); err == nil {
		t.Error("a document without its digest is valid")
	}
}
