package guard

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// serverName is the name of the server in the settings of every client, serverCommand the command that it runs.
const (
	serverName    = "waybill"
	serverCommand = "mcp"
)

// stdioServer is a server as Claude Code and Gemini CLI name it. Type is that of Claude Code.
type stdioServer struct {
	Type    string   `json:"type,omitzero"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// localServer is a server as OpenCode names it.
type localServer struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
	Enabled bool     `json:"enabled"`
}

// InstallServer returns the settings of a client with the MCP server of this program; the same bytes if they have it.
// Empty settings are those of a file that does not exist. A server of that name which is another one is an error, and
// so are settings that cannot be read.
func InstallServer(settings []byte, c Client, p Program) ([]byte, error) {
	args := append(slices.Clone(p.Flags), serverCommand)
	if !c.Servers.JSON() {
		return installTable(settings, c.Servers.Member, p.Path, args)
	}
	var server any = stdioServer{Command: p.Path, Args: args}
	switch c.Name {
	case "claude":
		server = stdioServer{"stdio", p.Path, args}
	case "opencode":
		server = localServer{"local", append([]string{p.Path}, args...), true}
	}
	text := orEmpty(settings)
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	in, err := root.member(c.Servers.Member)
	if err != nil {
		return nil, err
	}
	if in == nil {
		return add(text, root, root, c.Servers.Member, map[string]any{serverName: server})
	}
	if in.value.kind != '{' {
		return nil, errNoServers(c.Servers.Member)
	}
	have, err := in.value.member(serverName)
	if err != nil {
		return nil, err
	}
	if have == nil {
		return add(text, root, in.value, serverName, server)
	}
	if !includes(text[have.value.start:have.value.end], server) {
		return nil, errOther(c.Servers.Member)
	}
	return text, nil
}

// UninstallServer returns the settings without the MCP server of this program, and without the member of the servers if it
// is empty then; the same bytes if there is none. The errors are those of InstallServer.
func UninstallServer(settings []byte, c Client) ([]byte, error) {
	if len(settings) == 0 {
		return settings, nil
	}
	if !c.Servers.JSON() {
		return uninstallTable(settings, c.Servers.Member)
	}
	root, err := parse(settings)
	if err != nil {
		return nil, err
	}
	in, err := root.member(c.Servers.Member)
	if err != nil || in == nil {
		return settings, err
	}
	if in.value.kind != '{' {
		return nil, errNoServers(c.Servers.Member)
	}
	have, err := in.value.member(serverName)
	switch {
	case err != nil || have == nil:
		return settings, err
	case !own(settings[have.value.start:have.value.end]):
		return nil, errOther(c.Servers.Member)
	case len(in.value.children) == 1:
		return drop(settings, root, index(root, c.Servers.Member)), nil
	}
	return drop(settings, in.value, index(in.value, serverName)), nil
}

// own reports whether a server runs the command mcp, as those that InstallServer adds: the last word of its command
// line, which is a list or a program and a list.
func own(text []byte) bool {
	var s struct {
		Command json.RawMessage
		Args    []string
	}
	if json.Unmarshal(text, &s) != nil {
		return false
	}
	if len(s.Args) == 0 && json.Unmarshal(s.Command, &s.Args) != nil {
		return false
	}
	return len(s.Args) > 0 && s.Args[len(s.Args)-1] == serverCommand
}

// errNoServers is the error of settings with another value in the place of the servers.
func errNoServers(member string) error {
	return fmt.Errorf("its member %q is not an object, and is not changed", member)
}

// errOther is the error of settings with another server of the same name.
func errOther(member string) error {
	return fmt.Errorf("its member %q has another server with the name %q, and is not changed: remove that one first", member,
		serverName)
}

// includes reports whether an object has the members of a value.
func includes(text []byte, value any) bool {
	var have, want map[string]any
	made, err := json.Marshal(value)
	if err != nil || json.Unmarshal(text, &have) != nil || json.Unmarshal(made, &want) != nil {
		return false
	}
	for name, v := range want {
		if !reflect.DeepEqual(have[name], v) {
			return false
		}
	}
	return true
}
