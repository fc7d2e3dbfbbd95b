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
// Empty settings are those of a file that does not exist. The command line of a server of this program at another
// place is replaced, and its other members stay. A server of that name which is another one is an error, and so are
// settings that cannot be read.
func InstallServer(settings []byte, c Client, p Program) (Result, error) {
	args := append(slices.Clone(p.Flags), serverCommand)
	if !c.Servers.JSON() {
		return installTable(settings, c.Servers.Member, p.Path, args)
	}
	var server any = stdioServer{Command: p.Path, Args: args}
	line := []entry{{"command", p.Path}, {"args", args}}
	switch c.Name {
	case "claude":
		server = stdioServer{"stdio", p.Path, args}
	case "opencode":
		words := append([]string{p.Path}, args...)
		server, line = localServer{"local", words, true}, []entry{{"command", words}}
	}
	r := Result{Text: orEmpty(settings)}
	root, in, have, err := serverOf(r.Text, c)
	switch {
	case err != nil:
		return Result{}, err
	case in == nil:
		e, err := add(r.Text, root, root, c.Servers.Member, map[string]any{serverName: server})
		r.apply(e)
		return r.made(settings), err
	case have == nil:
		e, err := add(r.Text, root, *in, serverName, server)
		e.place = c.Servers.Member
		r.apply(e)
		return r, err
	}
	for _, m := range line {
		_, _, have, err := serverOf(r.Text, c)
		if err != nil {
			return Result{}, err
		}
		value, _ := have.member(m.name)
		if same(r.Text[value.value.start:value.value.end], m.value) {
			continue
		}
		made, err := encode(m.value, "", "")
		if err != nil {
			return Result{}, err
		}
		r.apply(edit{value.value.start, value.value.end, made, c.Servers.Member + "." + serverName, m.name})
	}
	return r, nil
}

// entry is a member of a server.
type entry struct {
	name  string
	value any
}

// serverOf returns the object with the servers and the server of this program, nil where they do not exist. A server
// of that name that this program did not add is an error.
func serverOf(text []byte, c Client) (root node, in, have *node, err error) {
	if root, err = parse(text); err != nil {
		return root, nil, nil, err
	}
	servers, err := root.member(c.Servers.Member)
	if err != nil || servers == nil {
		return root, nil, nil, err
	}
	if servers.value.kind != '{' {
		return root, nil, nil, fmt.Errorf("its member %q is not an object, and is not changed", c.Servers.Member)
	}
	server, err := servers.value.member(serverName)
	if err != nil || server == nil {
		return root, &servers.value, nil, err
	}
	if err := server.value.own(text, c); err != nil {
		return root, nil, nil, err
	}
	return root, &servers.value, &server.value, nil
}

// UninstallServer returns the settings without the MCP server of this program, and without the member of the servers
// if it is empty then; the same bytes if there is none, and no file if it has nothing else. The errors are those of
// InstallServer.
func UninstallServer(settings []byte, c Client) (Result, error) {
	r := Result{Text: settings}
	if len(settings) == 0 {
		return r, nil
	}
	if !c.Servers.JSON() {
		return uninstallTable(settings, c.Servers.Member)
	}
	root, in, have, err := serverOf(settings, c)
	switch {
	case err != nil:
		return Result{}, err
	case have == nil:
		return r, nil
	case len(in.children) == 1:
		r.apply(drop(root, index(root, c.Servers.Member)))
	default:
		e := drop(*in, index(*in, serverName))
		e.place = c.Servers.Member
		r.apply(e)
	}
	return r.withoutEmpty(), nil
}

// own returns an error unless a server has the form of one that InstallServer adds: the last word of its command line
// is mcp, and it has no type or the one of a local server. The command line is a list for OpenCode, else a program
// and a list.
func (n node) own(text []byte, c Client) error {
	other := errOther(c.Servers.Member)
	var words []string
	list, kind := "args", "stdio"
	if c.Name == "opencode" {
		list, kind = "command", "local"
	}
	for _, name := range []string{"type", "command", "args"} {
		m, err := n.member(name)
		switch {
		case err != nil:
			return err
		case name == list:
			if m == nil || json.Unmarshal(text[m.value.start:m.value.end], &words) != nil {
				return other
			}
		case name == "type":
			if m != nil && m.value.str(text) != kind {
				return other
			}
		case name == "command" && (m == nil || m.value.kind != '"'):
			return other
		}
	}
	if len(words) == 0 || words[len(words)-1] != serverCommand || list == "command" && len(words) == 1 {
		return other
	}
	return nil
}

// errOther is the error of settings with another server of the same name.
func errOther(member string) error {
	return fmt.Errorf("its member %q has another server with the name %q, and is not changed: remove that one first", member,
		serverName)
}

// same reports whether a text has a value.
func same(text []byte, value any) bool {
	var have, want any
	made, err := json.Marshal(value)
	return err == nil && json.Unmarshal(text, &have) == nil && json.Unmarshal(made, &want) == nil &&
		reflect.DeepEqual(have, want)
}
