package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/pattern"
)

// storedFiles maps the path of a file in a store to its schemas; the first match applies. In
// files with lines each line is a record; "" is for files without a schema.
var storedFiles = []struct {
	path    string
	lines   bool
	schemas []string
}{
	{`^store\.json$`, false, []string{"store"}},
	{`^keys/keyring\.json$`, false, []string{"keyring"}},
	{`^keys/http\.json$`, false, []string{"http_keys"}},
	{`^config\.json$`, false, []string{"config"}},
	{`^trust\.json$`, false, []string{"trust"}},
	{`^snapshots/sha256_[0-9a-f]{64}\.json$`, false, []string{"snapshot"}},
	{`^workflows/pinned/sha256_[0-9a-f]{64}\.json$`, false, []string{"compiled-workflow"}},
	{`^artifacts/sha256_[0-9a-f]{64}\.erased$`, false, []string{"erased"}},
	{`^artifacts/sha256_[0-9a-f]{64}$`, false, nil},
	{`^installed/sha256_[0-9a-f]{64}\.json$`, false, nil},
	{`^audit/events/\d+-\d+\.jsonl$`, true, []string{"audit-event", "side-log-event"}},
	{`^proposals/events/\d+-\d+\.jsonl$`, true, []string{"proposal-event", "side-log-event"}},
	{`^idempotency/events/\d+-\d+\.jsonl$`, true, []string{"idempotency-event", "side-log-event"}},
	{`^idempotency/manifest\.jsonl$`, true, []string{"manifest-record"}},
	{`^proposals/manifest\.jsonl$`, true, []string{"manifest-record"}},
	{`^audit/manifest\.jsonl$`, true, []string{"manifest-record"}},
	{`^(sessions|trash)/[^/]+/events/\d+-\d+\.jsonl$`, true, []string{"event", "side-log-event"}},
	{`^(sessions|trash)/[^/]+/annotations/events/\d+-\d+\.jsonl$`, true,
		[]string{"annotation-event", "side-log-event"}},
	{`^(sessions|trash)/[^/]+/annotations/manifest\.jsonl$`, true, []string{"manifest-record"}},
	{`^(sessions|trash)/[^/]+/manifest\.jsonl$`, true, []string{"manifest-record"}},
	{`^(sessions|trash)/[^/]+/imported\.json$`, false, []string{"imported"}},
	{`^(sessions|trash)/[^/]+/keep$`, false, []string{"keep"}},
	{`^trash/[^/]+/trash\.json$`, false, []string{"trash"}},
	{`^quarantine/[^/]+/repair\.json$`, false, []string{"repair"}},
	{`^quarantine/`, false, nil},
	{`(^|/)\.?[a-z]*\.?lock$`, false, nil},
	{`(^|/)cache/[a-z-]+-\d+$`, false, nil},
}

// validStore validates every file of a store against its schema. It returns the validated
// records by schema.
func validStore(t *testing.T, root string) map[string][][]byte {
	t.Helper()
	asked := map[string][][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		for _, row := range storedFiles {
			if !pattern.New(row.path).MatchString(rel) {
				continue
			}
			text, err := os.ReadFile(path)
			records := [][]byte{text}
			if row.lines {
				records = bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
			}
			for _, record := range records {
				for _, name := range row.schemas {
					asked[name] = append(asked[name], record)
					if err := valid(name, record); err != nil {
						t.Errorf("%s: %s: %v\n%s", rel, name, err, record)
					}
				}
			}
			return err
		}
		t.Errorf("%s: no schema in storedFiles", rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// TestExampleStoreIsValid validates the example store of docs/format.md.
func TestExampleStoreIsValid(t *testing.T) {
	t.Parallel()
	asked := validStore(t, "../../testdata/format/store")
	for _, name := range []string{"event", "manifest-record", "snapshot", "compiled-workflow", "store", "keyring",
		"config", "trust"} {
		if len(asked[name]) == 0 {
			t.Errorf("the example store has no record of schema %s", name)
		}
	}
}

// TestEventSamplesAreValid validates the samples in testdata/events.
func TestEventSamplesAreValid(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/events/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if err := valid("event", line); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// TestForeignBundlesAreValid: bundles that other programs export are valid as well.
func TestForeignBundlesAreValid(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("../../../shared/data/workrail/bundles/*.json")
	if len(files) == 0 {
		t.Skip("no bundles of another program are here")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid("bundle", text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestSchemasRejectInvalidRecords changes one thing in a valid record per row, which the schema
// must reject.
func TestSchemasRejectInvalidRecords(t *testing.T) {
	t.Parallel()
	lines := func(glob string) string {
		files, err := filepath.Glob("../../testdata/format/store/" + glob)
		if err != nil || len(files) == 0 {
			t.Fatal(glob, err)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	read := func(glob string) string { line, _, _ := strings.Cut(lines(glob), "\n"); return line }
	const step = `{"v":1,"kind":"step","data":{"session":{"sessionId":"sess_aaaaaaaaaaaaaaaaaaaaaaaaaa","runId":"run_aaaaaaaaaaaaaaaaaaaaaaaaaa"},` +
		`"workflow":{"workflowId":"w","name":"W","workflowHash":"sha256:0000000000000000000000000000000000000000000000000000000000000000"},` +
		`"nodeId":"node_aaaaaaaaaaaaaaaaaaaaaaaaaa","status":"complete","isComplete":true,"pending":null,"nextIntent":"complete",` +
		`"preferences":{"autonomy":"guided","riskPolicy":"conservative"},"next":null,"warnings":[]}}`
	const failure = `{"v":1,"kind":"error","error":{"code":"USAGE_ERROR","message":"m","retry":{"kind":"not_retryable"},"suggestion":"s"}}`
	whole := lines("sessions/*/events/00000000-*.jsonl")
	event, record := read("sessions/*/events/00000000-*.jsonl"), read("sessions/*/manifest.jsonl")
	for _, row := range []struct{ schema, text, old, new string }{
		{"event", event, `"v":1}`, `"v":2}`},
		{"event", event, `"v":1}`, `"v":1,"more":1}`},
		{"event", event, `"eventIndex":0,`, ``},
		{"event", event, `"kind":"session_created"`, `"kind":"session_made"`},
		{"event", event, `"kind":"session_created"`, `"kind":"run_started"`},
		{"event", event, `"actor":{"kind":"human"`, `"actor":{"kind":"robot"`},
		{"event", event, `"actor":{"kind":"human"`, `"actor":{"more":1,"kind":"human"`},
		{"event", event, `"sessionId":"sess_`, `"sessionId":"run_`},
		{"side-log-event", event, `"sessionId"`, `"ownerId"`},
		{"manifest-record", record, `"kind":"segment_closed"`, `"kind":"segment_open"`},
		{"manifest-record", record, `"manifestIndex":0,`, ``},
		{"manifest-record", record, `"v":1}`, `"v":1,"more":1}`},
		{"manifest-record", record, `"segmentRelPath":"events/`, `"segmentRelPath":"../`},
		{"event", strings.Split(whole, "\n")[2], `"parentNodeId":null,`, ``},
		{"snapshot", read("snapshots/*.json"), `"kind":"execution_snapshot"`, `"kind":"snapshot"`},
		{"snapshot", read("snapshots/*.json"), `"enginePayload":{`, `"enginePayload":{"more":1,`},
		{"compiled-workflow", read("workflows/pinned/*.json"), `"schemaVersion":`, `"schemaVersion":3`},
		{"compiled-workflow", read("workflows/pinned/*.json"), `"schemaVersion":`, `"more":1,"schemaVersion":`},
		{"store", read("store.json"), `"kind":"store"`, `"kind":"trust"`},
		{"store", read("store.json"), `"kind":"store"`, `"more":1,"kind":"store"`},
		{"config", read("config.json"), `"lockWaitMs":5000`, `"lockWaitMs":600001`},
		{"keyring", read("keys/keyring.json"), `"HMAC-SHA256"`, `"HMAC-MD5"`},
		{"keyring", read("keys/keyring.json"), `"current"`, `"currant"`},
		{"trust", read("trust.json"), `"commands":0,`, ``},
		{"document-step", step, `"status":"complete"`, `"status":"done"`},
		{"document-step", step, `"nodeId":"node_aaaaaaaaaaaaaaaaaaaaaaaaaa",`, ``},
		{"document-step", step, `"kind":"step"`, `"kind":"blocked"`},
		{"document-step", step, `"warnings":[]`, `"warnings":null`},
		{"document-error", failure, `USAGE_ERROR`, `OTHER_ERROR`},
		{"document-error", failure, `,"suggestion":"s"`, ``},
	} {
		if err := valid(row.schema, []byte(row.text)); err != nil {
			t.Errorf("%s: a valid record is rejected: %v\n%s", row.schema, err, row.text)
		}
		wrong := strings.Replace(row.text, row.old, row.new, 1)
		if wrong == row.text {
			t.Errorf("%s: no %s in %s", row.schema, row.old, row.text)
		}
		if valid(row.schema, []byte(wrong)) == nil {
			t.Errorf("%s: %s instead of %s is not rejected", row.schema, row.new, row.old)
		}
	}
	if more := strings.Replace(step, `"next":null`, `"next":null,"later":1`, 1); valid("document-step",
		[]byte(more)) != nil {
		t.Error("documents must be open: a later version may add members")
	}
}

// TestStoredSchemasAreClosed: no object of a stored record allows unknown members, except
// those that the format leaves open.
func TestStoredSchemasAreClosed(t *testing.T) {
	t.Parallel()
	for _, name := range schemasOf(false) {
		if valid(name, []byte(`{}`)) == nil || valid(name, []byte(`[]`)) == nil {
			t.Errorf("%s allows any member", name)
		}
	}
}
