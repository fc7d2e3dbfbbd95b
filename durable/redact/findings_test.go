package redact_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/redact"
)

// TestFindings checks the place and the rule of each secret of a document: in texts, in values of
// secret names, in names of members and in list items.
func TestFindings(t *testing.T) {
	for _, row := range []struct {
		document string
		want     string
	}{
		{`{"a":"nothing","n":1}`, "[]"},
		{`{"a":["x","use sk-abcdef and sk-abcdeg"]}`, "[{/doc/a/1 secret_key}]"},
		{`{"a":"sk-abcdef","z":"AKIAIOSFODNN7EXAMPLE and sk-abcdef"}`,
			"[{/doc/a secret_key} {/doc/z aws_key} {/doc/z secret_key}]"},
		{`{"password":{"x/y":7,"on":true}}`, "[{/doc/password/x~1y named_secret}]"},
		{`{"a":1,"sk-abcdef":"fine"}`, "[{/doc/[REDACTED:secret_key] secret_key}]"},
		{`{"name":"token","value":"abc"}`, "[{/doc/value named_secret}]"},
		{`"ghp_abcdef0123456789abcdef0123456789abcd"`, "[{/doc github_token}]"},
	} {
		v, err := canon.Parse([]byte(row.document))
		if err != nil {
			t.Fatal(err)
		}
		var found redact.Findings
		out := found.Value("/doc", v)
		if got := fmt.Sprint(found.List()); got != row.want {
			t.Errorf("%s\n got %s\nwant %s", row.document, got, row.want)
		}
		if !out.Equal(redact.Value(v, nil)) {
			t.Errorf("%s: Findings.Value gives %s", row.document, out.JCS())
		}
		var again redact.Findings
		again.Bytes("/doc", []byte(row.document), "application/json; charset=utf-8")
		if diff := cmp.Diff(found.List(), again.List()); diff != "" {
			t.Errorf("%s: as an artifact: %s", row.document, diff)
		}
	}
	var found redact.Findings
	if got := found.Text("/note", "see sk-abcdef"); got != "see [REDACTED:secret_key]" {
		t.Error(got)
	}
	found.Bytes("/artifacts/0", []byte("password: hunter2\n"), "text/plain")
	found.Text("/note", "again sk-abcdef")
	if got := fmt.Sprint(found.List()); got != "[{/note secret_key} {/artifacts/0 named_secret}]" {
		t.Error(got)
	}
}
