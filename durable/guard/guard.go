// Package guard holds the rules of the hooks and the servers that clients of agents run: the places in their settings,
// the forms of what they send and expect, and what a hook answers (docs/design.md#guard). It works on bytes, and reads
// and writes no file.
//
// Start reading at Clients, then Install and Reply.
package guard

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"strings"
)

// Moment is when a client runs a hook, a closed set.
type Moment string

// The moments.
const (
	// SessionStart: a session begins, is resumed, or its history was compacted.
	SessionStart Moment = "session_start"
	// Stop: the agent has finished its turn.
	Stop Moment = "stop"
)

// Event is an event of a client.
type Event struct {
	Name   string
	Moment Moment
	// example is the file with an input, or with the event of a client that a plugin makes an input of.
	example string
}

// Client is a program that runs agents and hooks.
type Client struct {
	Name  string // as arguments name it
	Title string
	// Events are those at which it runs hooks of this program.
	Events []Event
	// Timeout ends a hook: 5 seconds, in the unit of the client.
	Timeout int
	// Refusal is the decision by which a hook refuses the end of a turn.
	Refusal string
	// Settings is the file with the hooks, Servers the one with the MCP servers.
	Settings, Servers File
	// Note is what a person has to know about the hooks; "" for nothing.
	Note string
}

// File is the place of a file of a client.
type File struct {
	// Variable is the environment variable with the directory, Dir the directory in the home directory without it,
	// as a path with slashes.
	Variable, Dir string
	// Name ends with the kind of the file: .json, .toml, or .js for a plugin.
	Name string
	// Other is a file that the client reads in the place of a missing one, "" for none.
	Other string
	// Member is the member with the servers.
	Member string
}

// JSON reports that the file has that form.
func (f File) JSON() bool { return strings.HasSuffix(f.Name, ".json") }

// Plugin reports that the file is a plugin.
func (f File) Plugin() bool { return strings.HasSuffix(f.Name, ".js") }

// Clients are the clients that have settings for hooks or servers (docs/design.md#guard).
var Clients = []Client{
	{Name: "claude", Title: "Claude Code", Timeout: 5, Refusal: "block",
		Events: []Event{{"SessionStart", SessionStart, "claude/SessionStart.json"},
			{"Stop", Stop, "claude/Stop.json"}},
		Settings: File{Variable: "CLAUDE_CONFIG_DIR", Dir: ".claude", Name: "settings.json"},
		Servers:  File{Variable: "CLAUDE_CONFIG_DIR", Name: ".claude.json", Member: "mcpServers"}},
	{Name: "codex", Title: "Codex CLI", Timeout: 5, Refusal: "block",
		Events: []Event{{"SessionStart", SessionStart, "codex/SessionStart.json"},
			{"Stop", Stop, "codex/Stop.json"}},
		Settings: File{Variable: "CODEX_HOME", Dir: ".codex", Name: "hooks.json"},
		Servers:  File{Variable: "CODEX_HOME", Dir: ".codex", Name: "config.toml", Member: "mcp_servers"},
		Note:     "Codex CLI runs a new hook after you have reviewed it there with /hooks."},
	{Name: "gemini", Title: "Gemini CLI", Timeout: 5000, Refusal: "deny",
		Events: []Event{{"SessionStart", SessionStart, "gemini/SessionStart.json"},
			{"AfterAgent", Stop, "gemini/AfterAgent.json"}},
		Settings: File{Dir: ".gemini", Name: "settings.json"},
		Servers:  File{Dir: ".gemini", Name: "settings.json", Member: "mcpServers"},
		Note:     "Gemini CLI has no event after its history was compressed: the step is shown at the start of a session."},
	{Name: "opencode", Title: "OpenCode", Refusal: "block",
		Events: []Event{{"session.created", SessionStart, "opencode/session.created.json"},
			{"session.compacted", SessionStart, "opencode/session.compacted.json"},
			{"session.idle", Stop, "opencode/session.idle.json"}},
		Settings: File{Variable: "XDG_CONFIG_HOME", Dir: ".config", Name: "opencode/plugins/waybill.js"},
		Note:     "OpenCode loads the plugin when it starts next.",
		Servers: File{Variable: "XDG_CONFIG_HOME", Dir: ".config", Name: "opencode/opencode.json",
			Other: "opencode/opencode.jsonc", Member: "mcp"}},
}

// ClientOf returns a client by its name.
func ClientOf(name string) (Client, bool) {
	for _, c := range Clients {
		if c.Name == name {
			return c, true
		}
	}
	return Client{}, false
}

// ClientOfEvent returns the first client that has an event, for a hook that does not name its client.
func ClientOfEvent(event string) (Client, bool) {
	for _, c := range Clients {
		if _, ok := c.Event(event); ok {
			return c, true
		}
	}
	return Client{}, false
}

// Event returns an event of a client by its name.
func (c Client) Event(name string) (Event, bool) {
	for _, e := range c.Events {
		if e.Name == name {
			return e, true
		}
	}
	return Event{}, false
}

// Names lists the clients for messages.
func Names() string {
	names := NameList()
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// NameList returns the names of the clients.
func NameList() (names []string) {
	for _, c := range Clients {
		names = append(names, c.Name)
	}
	return names
}

// examples are inputs of hooks as the documentation of their clients describes them.
//
//go:embed testdata/hooks
var examples embed.FS

// Input returns the recorded example of an event in a directory.
func (e Event) Input(dir string) []byte {
	text, err := examples.ReadFile("testdata/hooks/" + e.example)
	if err != nil {
		return nil
	}
	root, err := parse(text)
	if err != nil {
		return nil
	}
	if cwd, _ := root.member("cwd"); cwd != nil {
		return oneLine(edit{from: cwd.value.start, to: cwd.value.end, by: quote(dir)}.apply(text))
	}
	var of struct {
		Properties struct {
			SessionID string
			Info      struct{ ID string }
		}
	}
	_ = json.Unmarshal(text, &of)
	session := cmp.Or(of.Properties.SessionID, of.Properties.Info.ID)
	return []byte(`{"session_id":` + quote(session) + `,"cwd":` + quote(dir) + `,"hook_event_name":` + quote(e.Name) + `}`)
}

// oneLine returns a JSON text without line breaks and indentation.
func oneLine(text []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, text)
	return b.Bytes()
}
