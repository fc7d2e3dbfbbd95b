package bundle_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
)

const session = "sess_aaaaaaaaaaaaaaaaaaaaaaaaaa"

// content is a bundle in parts. Tests change a part and let the builder encode the rest, or
// change the encoded document.
type content struct {
	events, records []string
	snapshots       []string
	workflows       []string
	artifacts       []string
	erased          []string // contents of erased artifacts
	logs            map[string][2][]string
}

func digest(s string) string { return canon.Sum([]byte(s)).String() }

// line returns an event or a record as canonical JSON.
func line(t testing.TB, text string) string {
	t.Helper()
	out, err := canon.Canonicalize([]byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return string(out)
}

func event(t testing.TB, i int, kind, data string) string {
	return line(t, fmt.Sprintf(`{"eventIndex":%d,"sessionId":%q,"kind":%q,"data":%s,"v":1}`, i, session, kind, data))
}

func segment(t testing.TB, i, first, last int) string {
	return line(t, fmt.Sprintf(
		`{"manifestIndex":%d,"sessionId":%q,"kind":"segment_closed","firstEventIndex":%d,"lastEventIndex":%d,"segmentRelPath":"events/%08d-%08d.jsonl","bytes":1,"v":1}`, i, session, first, last, first, last))
}

func pinned(t testing.TB, i, at int, ref string) string {
	return line(t, fmt.Sprintf(
		`{"manifestIndex":%d,"sessionId":%q,"kind":"snapshot_pinned","eventIndex":%d,"snapshotRef":%q,"v":1}`, i,
		session, at, ref))
}

// small returns a bundle with one of everything.
func small(t testing.TB) content {
	snapA, snapB, flow := `{"a":1,"é":["ü","\u0001"]}`, `{"b":{"c":[1.5,true,null,-3]}}`, `{"steps":[]}`
	node := func(snap string) string {
		return fmt.Sprintf(`{"snapshotRef":%q,"workflowHash":%q}`, digest(snap), digest(flow))
	}
	output := func(bytes string) string {
		return fmt.Sprintf(`{"payload":{"payloadKind":"artifact_ref","sha256":%q}}`, digest(bytes))
	}
	return content{
		events: []string{
			event(t, 0, "run_started", fmt.Sprintf(`{"workflowHash":%q}`, digest(flow))),
			event(t, 1, "node_created", node(snapA)),
			event(t, 2, "node_created", node(snapB)),
			event(t, 3, "node_output_appended", output("some bytes\x00\xff")),
			event(t, 4, "node_output_appended", output("secret")),
			event(t, 5, "context_set", `{"Ünïcode":"日本","nested":{"a":[[],{}]},"quoted":"a\"]}\\"}`),
		},
		records: []string{segment(t, 0, 0, 2), pinned(t, 1, 1, digest(snapA)), pinned(t, 2, 2, digest(snapB)),
			segment(t, 3, 3, 5)},
		snapshots: []string{snapA, snapB},
		workflows: []string{flow},
		artifacts: []string{"some bytes\x00\xff", "", "0123456789a"},
		erased:    []string{"secret"},
		logs: map[string][2][]string{
			"annotations": {{event(t, 0, "note", `{"text":"x"}`)}, {segment(t, 0, 0, 0)}},
			"later":       {nil, nil},
		},
	}
}

func envelope() bundle.Envelope {
	return bundle.Envelope{
		BundleID: "bundle_aaaaaaaaaaaaaaaaaaaaaaaaaa", ExportedAt: "2026-01-02T03:04:05.006Z",
		Producer: bundle.Producer{AppVersion: "1.2.3"}, SessionID: session,
	}
}

// write returns the bundle that a Writer makes of c.
func (c content) write(t testing.TB, e bundle.Envelope) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := c.writeTo(&out, e); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (c content) writeTo(out io.Writer, e bundle.Envelope) error {
	w, err := bundle.NewWriter(out, e)
	if err != nil {
		return err
	}
	lines := func(parts [2][]string) {
		for _, e := range parts[0] {
			_ = w.Event([]byte(e))
		}
		for _, r := range parts[1] {
			_ = w.Record([]byte(r))
		}
	}
	lines([2][]string{c.events, c.records})
	writeObjects(w, manifest.Snapshot, c.snapshots, nil)
	writeObjects(w, manifest.Workflow, c.workflows, nil)
	writeObjects(w, manifest.Artifact, c.artifacts, c.erased)
	for _, name := range sortedKeys(c.logs) {
		_ = w.Log(name)
		lines(c.logs[name])
	}
	return w.Close()
}

func writeObjects(w *bundle.Writer, kind manifest.ObjectKind, values, erased []string) {
	all := append(slices.Clone(values), erased...)
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(digest(a), digest(b)) })
	for _, v := range all {
		if slices.Contains(erased, v) {
			_ = w.Erased(canon.Sum([]byte(v)), tombstone(v))
			continue
		}
		_ = w.Object(kind, canon.Sum([]byte(v)), int64(len(v)), strings.NewReader(v))
	}
}

func tombstone(v string) canon.Value {
	return canon.OfMembers(canon.Member{Name: "sha256", Value: canon.OfString(digest(v))},
		canon.Member{Name: "reason", Value: canon.OfString("asked")})
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func open(data []byte) (*bundle.Bundle, error) {
	return bundle.Open(context.Background(), bytes.NewReader(data), int64(len(data)), bundle.Options{})
}

// refused requires a fault with a code and a text.
func refused(t *testing.T, data []byte, code fault.Code, want string) {
	t.Helper()
	_, err := open(data)
	if fault.CodeOf(err) != code {
		t.Fatalf("%v: want %s", err, code)
	}
	f := fault.Of(err)
	if _, ok := f.Details["pointer"].(string); !ok || f.Details["offset"] == nil {
		t.Errorf("no place: %v %v", err, f.Details)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("%v: want %q", err, want)
	}
}

// read returns everything that a bundle contains, as text.
func read(t testing.TB, b *bundle.Bundle) string {
	t.Helper()
	var out strings.Builder
	drain := func(what string, l *bundle.Lines) {
		for {
			text, err := l.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s %s\n", what, text)
		}
	}
	for _, log := range append([]string{""}, b.Logs()...) {
		drain("event "+log, b.Events(log))
		drain("record "+log, b.Records(log))
	}
	for _, kind := range []manifest.ObjectKind{manifest.Snapshot, manifest.Workflow, manifest.Artifact} {
		for _, ref := range b.Refs(kind) {
			if v, ok := b.Tombstone(ref); ok {
				fmt.Fprintf(&out, "erased %s %s\n", ref, v.JCS())
				continue
			}
			r, size, ok := b.Object(kind, ref)
			if !ok {
				t.Fatalf("no %s %s", kind, ref)
			}
			text, err := io.ReadAll(r)
			if err != nil || int64(len(text)) != size || canon.Sum(text) != ref {
				t.Fatalf("%s %s: %d bytes of %d, %v", kind, ref, len(text), size, err)
			}
			fmt.Fprintf(&out, "%s %s %q\n", kind, ref, text)
		}
	}
	return out.String()
}
