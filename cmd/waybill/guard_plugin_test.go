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

// pluginDriver loads the plugin as its client does, sends it the events, and prints what it says to the agent.
const pluginDriver = `const { WaybillGuard } = await import(process.argv[2])
const prompts = []
const client = { session: { prompt: async (call) => { prompts.push(call) } } }
const hooks = await WaybillGuard({ client, directory: process.argv[3] })
for (const event of JSON.parse(process.argv[4])) await hooks.event({ event })
console.log(JSON.stringify(prompts))
`

// TestPluginRunsHooks: the plugin shows the open step at the start of a session and after a compaction without an answer
// of the agent, asks it to continue where the hook refuses, and is silent for sessions that another one began, for an interrupted turn, for
// other events, and where the program is absent.
func TestPluginRunsHooks(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	g := newGuarded(t, map[string]string{"two.json": guardFlow})
	g.call(0, "", "start", "two.json")
	program, err := exec.LookPath("waybill")
	if err != nil {
		t.Fatal(err)
	}
	plugin, driver := filepath.Join(g.home, "waybill.mjs"), filepath.Join(g.home, "driver.mjs")
	g.write(driver, pluginDriver)
	c, _ := guard.ClientOf("opencode")
	type prompt struct {
		Path struct{ ID string }
		Body struct {
			NoReply bool
			Parts   []struct{ Type, Text string }
		}
	}
	send := func(program string, events ...string) (out []prompt) {
		t.Helper()
		text, err := guard.Install(nil, c, guard.Program{Path: program})
		if err != nil {
			t.Fatal(err)
		}
		g.write(plugin, string(text))
		cmd := exec.Command(node, driver, plugin, g.dir, "["+strings.Join(events, ",")+"]")
		cmd.Env = append(os.Environ(), g.env()...)
		prompts, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(prompts, &out)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, prompts)
		}
		return out
	}
	const (
		created   = `{"type":"session.created","properties":{"info":{"id":"s"}}}`
		compacted = `{"type":"session.compacted","properties":{"sessionID":"s"}}`
		idle      = `{"type":"session.idle","properties":{"sessionID":"s"}}`
		child     = `{"type":"session.created","properties":{"info":{"id":"c","parentID":"s"}}}`
		childIdle = `{"type":"session.idle","properties":{"sessionID":"c"}}`
		aborted   = `{"type":"session.error","properties":{"sessionID":"s","error":{"name":"MessageAbortedError"}}}`
		other     = `{"type":"file.edited"}`
	)
	prompts := send(program, other, created, compacted, child, childIdle, aborted, idle, idle, idle, idle)
	if len(prompts) != 4 {
		t.Fatalf("%d prompts, want the step twice and two refusals: %+v", len(prompts), prompts)
	}
	for i, p := range prompts {
		start := i < 2
		want := "is not done"
		if start {
			want = "Do the first."
		}
		if p.Path.ID != "s" || p.Body.NoReply != start || len(p.Body.Parts) != 1 || p.Body.Parts[0].Type != "text" ||
			!strings.Contains(p.Body.Parts[0].Text, want) {
			t.Errorf("prompt %d: %+v", i, p)
		}
	}
	if prompts := send(filepath.Join(g.home, "absent"), created, idle); len(prompts) != 0 {
		t.Errorf("without the program: %+v", prompts)
	}
}
