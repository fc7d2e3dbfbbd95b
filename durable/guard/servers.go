package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/limits"
)

// serverName is the name of the server in the settings of every client.
const serverName = "waybill"

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
	args := append(slices.Clone(p.Flags), "mcp")
	if c.Servers.TOML {
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
		return nil, fmt.Errorf("its member %q is not an object, and is not changed", c.Servers.Member)
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

// tableLine is the header of a table of servers as this package reads it.
var tableLine = regexp.MustCompile(`^\[mcp_servers\.([A-Za-z0-9_-]+)(\.[A-Za-z0-9_.-]+)?\][ \t]*(#.*)?$`)

// errTOML is the error of a file that is not read.
var errTOML = errors.New("it has a form that is not read here, and is not changed: add the server with the client itself")

// installTable adds the table of the server at the end of a TOML file. It reads headers of tables line by line, and
// refuses files in which a line may be something else.
func installTable(settings []byte, member, path string, args []string) ([]byte, error) {
	text := string(settings)
	switch {
	case len(text) > limits.ClientSettingsBytesMax, strings.ContainsAny(text, "\x00"), strings.Contains(text, `"""`),
		strings.Contains(text, "'''"):
		return nil, errTOML
	}
	list := "["
	for i, a := range args {
		if i > 0 {
			list += ", "
		}
		list += quote(a)
	}
	want := []string{"command = " + quote(path), "args = " + list + "]"}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || !strings.Contains(line, member) {
			continue
		}
		m := tableLine.FindStringSubmatch(line)
		switch {
		case m == nil:
			return nil, errTOML
		case m[1] != serverName || m[2] != "":
			continue
		case !tableHas(lines[i+1:], want):
			return nil, errOther(member)
		}
		return settings, nil
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if text != "" {
		text += "\n"
	}
	return []byte(text + "[" + member + "." + serverName + "]\n" + strings.Join(want, "\n") + "\n"), nil
}

// tableHas reports whether the lines of a table, up to the next header, contain the wanted ones.
func tableHas(lines, want []string) bool {
	found := 0
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			break
		}
		if slices.Contains(want, line) {
			found++
		}
	}
	return found == len(want)
}
