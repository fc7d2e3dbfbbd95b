package guard

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/limits"
)

// tableLine is the header of a table of servers as this package reads it.
var tableLine = regexp.MustCompile(`^\[mcp_servers\.([A-Za-z0-9_-]+)(\.[A-Za-z0-9_.-]+)?\][ \t]*(#.*)?$`)

// errTOML is the error of a file that is not read.
var errTOML = errors.New("it has a form that is not read here, and is not changed: add the server with the client itself")

// findTable returns the lines of a TOML file, and the place of the table of the server among them: from its header to
// before the next one, -1 without one. It reads headers of tables line by line, and refuses files in which a line may be
// something else.
func findTable(settings []byte, member string) (lines []string, from, to int, err error) {
	text := string(settings)
	switch {
	case len(text) > limits.ClientSettingsBytesMax, strings.ContainsAny(text, "\x00"), strings.Contains(text, `"""`),
		strings.Contains(text, "'''"):
		return nil, 0, 0, errTOML
	}
	lines, from = strings.Split(text, "\n"), -1
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if from >= 0 && to == 0 && strings.HasPrefix(line, "[") {
			to = i
		}
		if strings.HasPrefix(line, "#") || !strings.Contains(line, member) {
			continue
		}
		m := tableLine.FindStringSubmatch(line)
		switch {
		case m == nil, m[1] == serverName && (m[2] != "" || from >= 0):
			return nil, 0, 0, errTOML
		case m[1] == serverName:
			from = i
		}
	}
	if to == 0 {
		to = len(lines)
	}
	return lines, from, to, nil
}

// installTable adds the table of the server at the end of a TOML file, which ends with a line break or without one as
// before.
func installTable(settings []byte, member, path string, args []string) ([]byte, error) {
	lines, from, to, err := findTable(settings, member)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(args))
	for i, a := range args {
		list[i] = quote(a)
	}
	want := []string{"command = " + quote(path), "args = [" + strings.Join(list, ", ") + "]"}
	if from >= 0 {
		for _, line := range want {
			if !slices.ContainsFunc(lines[from:to], func(l string) bool { return strings.TrimSpace(l) == line }) {
				return nil, errOther(member)
			}
		}
		return settings, nil
	}
	table := "[" + member + "." + serverName + "]\n" + strings.Join(want, "\n")
	switch text := string(settings); {
	case text == "":
		return []byte(table + "\n"), nil
	case strings.HasSuffix(text, "\n"):
		return []byte(text + "\n" + table + "\n"), nil
	default:
		return []byte(text + "\n\n" + table), nil
	}
}

// uninstallTable removes the table of the server, and the blank line before it. A table with more than installTable
// writes is an error.
func uninstallTable(settings []byte, member string) ([]byte, error) {
	lines, from, to, err := findTable(settings, member)
	if err != nil {
		return nil, err
	}
	if from < 0 {
		return settings, nil
	}
	end := to
	for end > from && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	args, ok := strings.CutPrefix(strings.TrimSpace(lines[end-1]), "args = ")
	var list []string
	if end-from != 3 || !ok || json.Unmarshal([]byte(args), &list) != nil || len(list) == 0 ||
		list[len(list)-1] != serverCommand {
		return nil, errOther(member)
	}
	if from > 0 && lines[from-1] == "" {
		from--
	}
	return []byte(strings.Join(slices.Concat(lines[:from], lines[end:]), "\n")), nil
}
