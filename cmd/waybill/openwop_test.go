package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/learning/capabilities"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/ports/porttest/big"
	"github.com/waybill/waybill/ports/porttest/openwoptest"
)

// wireDocs are what the program prints for clients of the OpenWOP protocol, by the name of the schema.
func wireDocs(t *testing.T) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	env := []string{"HOME=" + dir, "USERPROFILE=" + dir, "WAYBILL_HOME=" + filepath.Join(dir, "home")}
	flow := `{"id":"team.flow","name":"Flow","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p"}]}`
	if err := os.WriteFile("flow.json", []byte(flow), 0o600); err != nil {
		t.Fatal(err)
	}
	call := func(line string) []byte {
		var out, errOut bytes.Buffer
		if status := run(strings.Fields(line), strings.NewReader(""), &out, &errOut, env); status != 0 {
			t.Fatalf("%s: exit status %d, %s", line, status, errOut.String())
		}
		return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	}
	call("start flow.json --set k=v")
	call("annotate @last --flag --node a")
	call("continue --run @last --notes n")
	discovery, err := capabilities.Discovery(config.Config{}, "1.2.3",
		capabilities.Options{Fixtures: []string{"conformance-noop"}, ReplayModes: []string{"branch"}, DebugBundle: true, Prompts: true})
	if err != nil {
		t.Fatal(err)
	}
	_, envelope := openwop.EnvelopeOf(os.ErrNotExist)
	broken, err := canon.Marshal(envelope)
	if err != nil {
		t.Fatal(err)
	}
	bundle := call("export @last --format openwop -o -")
	v, err := canon.Parse(bundle)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"run-event": call("runs events --format openwop"), "run-snapshot": call("runs show --format openwop"),
		"debug-bundle": bundle, "annotation": v.At("/annotations/0").JCS(), "discovery": discovery.JCS(), "error": broken,
		"create-run": []byte(`{"workflowId":"team.flow","inputs":{"k":"v"},"tags":["t"],"metadata":{},"configurable":{"temperature":1}}`),
	}
}

// TestWireSchemas: what the program prints for clients of the protocol is valid by its own schemas, and by the
// published ones.
func TestWireSchemas(t *testing.T) {
	published := map[string]string{"discovery": "capabilities", "error": "error-envelope", "create-run": ""}
	docs := wireDocs(t)
	for name, text := range docs {
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			if err := valid("openwop-"+name, line); err != nil {
				t.Errorf("%s: %v\n%s", name, err, line)
			}
		}
	}
	t.Run("published", func(t *testing.T) {
		all := openwoptest.Published(t)
		for name, text := range docs {
			other, ok := published[name]
			if !ok {
				other = name
			}
			for line := range bytes.SplitSeq(text, []byte("\n")) {
				if other == "" {
					continue // no schema of the request is published
				}
				if err := all.Check(other, line); err != nil {
					t.Errorf("%s: %v\n%s", name, err, line)
				}
			}
		}
	})
}

// TestWireSchemasRefuse: a document with one member that is wrong is refused by its schema.
func TestWireSchemasRefuse(t *testing.T) {
	docs := wireDocs(t)
	first, _, _ := bytes.Cut(docs["run-event"], []byte("\n"))
	docs["run-event"] = first // of run.started
	for _, row := range []struct{ name, old, new string }{
		{"run-event", `"type":"run.started"`, `"type":"started"`},
		{"run-event", `"type":"run.started"`, `"type":"node.started"`}, // its payload has another form
		{"run-event", `"sequence":0`, `"sequence":"0"`},
		{"run-event", `"workflowId":"team.flow"`, `"workflowId":7`},
		{"run-snapshot", `"status":"completed"`, `"status":"done"`},
		{"run-snapshot", `"runId":`, `"run":`},
		{"debug-bundle", `"redactionApplied":true`, `"redactionApplied":"yes"`},
		{"debug-bundle", `"status":"completed"`, `"status":"complete"`},
		{"discovery", `"supportedTransports":["rest"]`, `"supportedTransports":"rest"`},
		{"discovery", `"debugBundle":{`, `"bundle":{`},
		{"error", `"error":"internal_error"`, `"error":"internal"`},
		{"create-run", `"workflowId":`, `"workflow":`},
		{"create-run", `"temperature":1`, `"temperature":3`},
		{"create-run", `"tags":["t"]`, `"tags":["t"],"more":1`},
		{"annotation", `"kind":"flag"`, `"kind":"star"`},
	} {
		text := docs[row.name]
		wrong := bytes.ReplaceAll(text, []byte(row.old), []byte(row.new))
		if bytes.Equal(text, wrong) {
			t.Errorf("%s has no %s:\n%s", row.name, row.old, text)
			continue
		}
		if valid("openwop-"+row.name, wrong) == nil {
			t.Errorf("%s: accepted with %s:\n%s", row.name, row.new, wrong)
		}
	}
}

// parts is the largest of the parts in which a text was written.
type parts struct {
	bytes.Buffer
	largest int
}

func (p *parts) Write(part []byte) (int, error) {
	p.largest = max(p.largest, len(part))
	return p.Buffer.Write(part)
}

// TestRunEventsAreWrittenWhileRead: run events are written in parts, and the document has the same events as the lines, also of a
// log that is damaged, before or behind its first event.
func TestRunEventsAreWrittenWhileRead(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "store")
	written, err := big.Write(store, 2000, 0)
	if err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) (out parts) {
		t.Helper()
		var errOut bytes.Buffer
		args = append([]string{"runs", "events", "@last", "--format", "openwop", "--store", store}, args...)
		if status := run(args, strings.NewReader(""), &out, &errOut, nil); status != 0 {
			t.Fatalf("%q: exit status %d, %s", args, status, errOut.String())
		}
		return out
	}
	compare := func(health string) {
		t.Helper()
		lines, doc, items := call(), call("--json"), call("--jsonl")
		const begin = `{"v":1,"kind":"run_events","data":{"events":[`
		want := begin + strings.ReplaceAll(strings.TrimSuffix(lines.String(), "\n"), "\n", ",") + `],"health":"` + health + `","status":"`
		if rest, ok := strings.CutPrefix(doc.String(), want); !ok || !strings.HasSuffix(rest, "\"}}\n") || strings.Count(rest, `"`) != 1 {
			t.Errorf("the document is not that of the lines: %.300s … %.300s", doc.String(), rest)
		}
		if items.String() != lines.String() {
			t.Error("--jsonl has other lines")
		}
		for _, out := range []parts{lines, doc, items} {
			if out.largest > 128<<10 {
				t.Errorf("%d bytes are written in parts of up to %d", out.Len(), out.largest)
			}
		}
		if health == "healthy" && lines.Len() < 500<<10 {
			t.Errorf("%d bytes are too few to see parts", lines.Len())
		}
	}
	compare("healthy")
	logs, err := filepath.Glob(filepath.Join(store, "sessions", written.Session.String(), "events", "*"))
	if err != nil || len(logs) < 20 {
		t.Fatal(logs, err)
	}
	if err := os.WriteFile(logs[10], []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	compare("corrupt_tail")
}
