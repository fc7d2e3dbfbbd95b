package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/guard"
)

// hookExamples is the directory with the examples of events, read before a test changes its directory.
var hookExamples, _ = filepath.Abs(filepath.FromSlash("../../durable/guard/testdata/hooks"))

// pluginDriver loads the plugin as OpenCode 1 does, sends it the events, and prints what it says to the agent.
const pluginDriver = `const { default: plugin } = await import(process.argv[2])
const texts = []
const client = { session: { prompt: async ({ path, body }) => {
  texts.push({ session: path.id, text: body.parts.map((p) => p.text).join(""), asks: !body.noReply })
} } }
const hooks = await plugin.server({ client, directory: process.argv[3] })
for (const event of JSON.parse(process.argv[4])) await hooks.event({ event })
console.log(JSON.stringify(texts))
`

// pluginDriver2 does so as OpenCode 2. The session ses_child was begun by another one, ses_other is in another directory,
// and ses_gone cannot be read.
const pluginDriver2 = `const { default: plugin } = await import(process.argv[2])
const texts = [], here = process.argv[3]
let signal
const ctx = {
  location: { directory: here },
  session: {
    get: async ({ sessionID }) => {
      if (sessionID === "ses_gone") throw new Error("no session")
      return { id: sessionID, parentID: sessionID === "ses_child" ? "ses_5c1e" : undefined,
        location: { directory: sessionID === "ses_other" ? here + "/other" : here } }
    },
    synthetic: async ({ sessionID, text, resume }) => { texts.push({ session: sessionID, text, asks: resume !== false }) },
    prompt: async ({ sessionID, text }) => { texts.push({ session: sessionID, text, asks: true }) },
  },
  event: { subscribe: (options) => { signal = options.signal; return JSON.parse(process.argv[4]) } },
}
const cleanup = await plugin.setup(ctx)
process.on("exit", () => {
  cleanup()
  if (typeof plugin.id !== "string" || !signal.aborted) throw new Error("no id, or the subscription is left")
  console.log(JSON.stringify(texts))
})
`

// added is what the plugin adds to a session; asks: the agent answers it.
type added struct {
	Session, Text string
	Asks          bool
}

// plugin runs the plugin for a program with events in node.
func (g *guarded) plugin(driver, program string, events ...string) (out []added) {
	g.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		g.Skip("node is not installed")
	}
	c, _ := guard.ClientOf("opencode")
	r, err := guard.Install(nil, c, guard.Program{Path: program})
	if err != nil {
		g.Fatal(err)
	}
	plugin, main := filepath.Join(g.home, "waybill.mjs"), filepath.Join(g.home, "driver.mjs")
	g.write(plugin, string(r.Text))
	g.write(main, driver)
	cmd := exec.Command(node, main, plugin, g.dir, "["+strings.Join(events, ",")+"]")
	var errOut strings.Builder
	cmd.Env, cmd.Stderr = append(os.Environ(), g.env()...), &errOut
	text, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		g.Fatalf("%v: %s%s", err, text, errOut.String())
	}
	return out
}

// wantStepsThenRefusals checks that the plugin showed the step a number of times without an answer, and refused twice.
func (g *guarded) wantStepsThenRefusals(got []added, steps int) {
	g.Helper()
	if len(got) != steps+2 {
		g.Fatalf("%d texts, want the step %d times and two refusals: %+v", len(got), steps, got)
	}
	for i, s := range got {
		want := "is not done"
		if i < steps {
			want = "Do the first."
		}
		if s.Session != "ses_5c1e" || s.Asks != (i >= steps) || !strings.Contains(s.Text, want) {
			g.Errorf("text %d: %+v", i, s)
		}
	}
}

// TestPluginRunsHooks: the plugin shows the open step at the start of a session and after a compaction without an answer
// of the agent, asks it to continue where the hook refuses, and is silent for sessions that another one began, for an
// interrupted turn, for other events, and where the program is absent. So in both forms of OpenCode, with its events.
func TestPluginRunsHooks(t *testing.T) {
	program, err := exec.LookPath("waybill")
	if err != nil {
		t.Fatal(err)
	}
	for driver, form := range map[string]struct {
		text, of                                string
		begins, compacted, ends, aborted, other []string
		steps                                   int
	}{
		"OpenCode 1": {text: pluginDriver, of: "opencode", begins: []string{"session.created"}, compacted: []string{"session.compacted"},
			ends: []string{"session.idle"}, aborted: []string{"session.error", "session.idle"}, other: []string{`{"type":"file.edited"}`,
				`{"type":"session.created","properties":{"info":{"id":"ses_child","parentID":"ses_5c1e"}}}`,
				`{"type":"session.idle","properties":{"sessionID":"ses_child"}}`}, steps: 2},
		"OpenCode 2": {text: pluginDriver2, of: "opencode2", begins: []string{"session.created", "session.execution.started"},
			compacted: []string{"session.compaction.ended"}, ends: []string{"session.execution.succeeded"},
			aborted: []string{"session.execution.interrupted"}, other: []string{`{"type":"server.connected"}`,
				`{"type":"session.created","data":{"sessionID":"ses_child"}}`, `{"type":"session.created","data":{"sessionID":"ses_other"}}`,
				`{"type":"session.created","data":{"sessionID":"ses_gone"}}`, `{"type":"session.idle","data":{"sessionID":"ses_5c1e"}}`,
				`{"type":"session.execution.succeeded","data":{"sessionID":"ses_child"}}`,
				`{"type":"session.execution.failed","data":{"sessionID":"ses_5c1e"}}`}, steps: 2},
	} {
		t.Run(driver, func(t *testing.T) {
			var events []string
			read := func(names ...string) {
				for _, name := range names {
					data, err := os.ReadFile(filepath.Join(hookExamples, form.of, name+".json"))
					if err != nil {
						t.Fatal(err)
					}
					events = append(events, string(data))
				}
			}
			read(form.begins...)
			read(form.compacted...)
			events = append(events, form.other...)
			read(form.aborted...)
			for range 3 {
				read(form.ends...)
			}
			g := newGuarded(t, map[string]string{"two.json": guardFlow})
			g.call(0, "", "start", "two.json")
			g.wantStepsThenRefusals(g.plugin(form.text, program, events...), form.steps)
			if got := g.plugin(form.text, filepath.Join(g.home, "absent"), events...); len(got) != 0 {
				t.Errorf("without the program: %+v", got)
			}
		})
	}
}
