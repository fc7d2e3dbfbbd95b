// Package guard holds the rules of the hooks and the servers that clients of agents run: the places in their settings,
// the forms of what they send and expect, and what a hook answers (docs/design.md#guard). It works on bytes, and reads
// and writes no file.
//
// Start reading at Clients, then Install and Reply.
package guard

import (
	"fmt"
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
	// Example is an input as the documentation of the client describes it.
	Example string
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
	// Member is the member with the servers.
	Member string
}

// JSON reports that the file has that form.
func (f File) JSON() bool { return strings.HasSuffix(f.Name, ".json") }

// Clients are the clients that have settings for hooks or servers (docs/design.md#guard).
var Clients = []Client{
	{Name: "claude", Title: "Claude Code", Timeout: 5, Refusal: "block",
		Events: []Event{{"SessionStart", SessionStart, `{"session_id":"3f0c","transcript_path":"/tmp/3f0c.jsonl",` +
			`"cwd":"%s","hook_event_name":"SessionStart","source":"compact"}`},
			{"Stop", Stop, `{"session_id":"3f0c","transcript_path":"/tmp/3f0c.jsonl","cwd":"%s",` +
				`"permission_mode":"default","hook_event_name":"Stop","stop_hook_active":false}`}},
		Settings: File{Variable: "CLAUDE_CONFIG_DIR", Dir: ".claude", Name: "settings.json"},
		Servers:  File{Variable: "CLAUDE_CONFIG_DIR", Name: ".claude.json", Member: "mcpServers"}},
	{Name: "codex", Title: "Codex CLI", Timeout: 5, Refusal: "block",
		Events: []Event{{"SessionStart", SessionStart, `{"session_id":"91ab","transcript_path":null,"cwd":"%s",` +
			`"hook_event_name":"SessionStart","model":"m","permission_mode":"default","source":"startup"}`},
			{"Stop", Stop, `{"session_id":"91ab","transcript_path":null,"cwd":"%s","hook_event_name":"Stop",` +
				`"model":"m","permission_mode":"default","turn_id":"7","stop_hook_active":false,` +
				`"last_assistant_message":"Done."}`}},
		Settings: File{Variable: "CODEX_HOME", Dir: ".codex", Name: "hooks.json"},
		Servers:  File{Variable: "CODEX_HOME", Dir: ".codex", Name: "config.toml", Member: "mcp_servers"},
		Note:     "Codex CLI runs a new hook after you have reviewed it there with /hooks."},
	{Name: "gemini", Title: "Gemini CLI", Timeout: 5000, Refusal: "deny",
		Events: []Event{{"SessionStart", SessionStart, `{"session_id":"c2d4","transcript_path":"/tmp/c2d4.json",` +
			`"cwd":"%s","hook_event_name":"SessionStart","timestamp":"2026-01-02T03:04:05Z","source":"resume"}`},
			{"AfterAgent", Stop, `{"session_id":"c2d4","transcript_path":"/tmp/c2d4.json","cwd":"%s",` +
				`"hook_event_name":"AfterAgent","timestamp":"2026-01-02T03:04:05Z","prompt":"Do it.",` +
				`"prompt_response":"Done.","stop_hook_active":false}`}},
		Settings: File{Dir: ".gemini", Name: "settings.json"},
		Servers:  File{Dir: ".gemini", Name: "settings.json", Member: "mcpServers"},
		Note:     "Gemini CLI has no event after its history was compressed: the step is shown at the start of a session."},
	{Name: "opencode", Title: "OpenCode", Refusal: "block",
		Events: []Event{{"session.created", SessionStart, openCodeInput("session.created")},
			{"session.compacted", SessionStart, openCodeInput("session.compacted")},
			{"session.idle", Stop, openCodeInput("session.idle")}},
		Settings: File{Variable: "XDG_CONFIG_HOME", Dir: ".config", Name: "opencode/plugins/waybill.js"},
		Note:     "OpenCode loads the plugin when it starts next.",
		Servers:  File{Variable: "XDG_CONFIG_HOME", Dir: ".config", Name: "opencode/opencode.json", Member: "mcp"}},
}

// openCodeInput is an input that the plugin sends.
func openCodeInput(event string) string {
	return `{"session_id":"ses_5c1e","cwd":"%s","hook_event_name":"` + event + `"}`
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

// Input returns the recorded example of an event in a directory.
func (e Event) Input(dir string) []byte {
	quoted := quote(dir)
	return fmt.Appendf(nil, e.Example, quoted[1:len(quoted)-1])
}
