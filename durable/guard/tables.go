package guard

import (
	"encoding/json"
	"errors"
	"strings"
)

// The errors of a file that is not edited.
var (
	errServersForm = errors.New("it has its servers in a form that is not edited here, and is not changed")
	errMore        = errors.New("its server has more than 'waybill mcp install' adds, and is not changed")
)

// table is the table of the server in a TOML file.
type table struct {
	found         bool
	header        statement
	keys          []statement
	command, args *statement
}

// findTable returns the table of the server. A name in quotation marks or with escapes is the same name. Servers in
// another form than a table of their own, and a server that occurs twice or has tables in it, are an error.
func findTable(settings []byte, member string) (t table, err error) {
	all, err := statements(string(settings))
	if err != nil {
		return t, err
	}
	in, any := false, false // in the table of the server; in any table
	for _, st := range all {
		if !st.header {
			if !any && st.path[0] == member {
				return t, errServersForm
			}
			if in {
				t.keys = append(t.keys, st)
			}
			continue
		}
		in, any = false, true
		if st.path[0] != member {
			continue
		}
		if st.array || len(st.path) == 1 || st.path[1] == serverName && (len(st.path) > 2 || t.found) {
			return t, errServersForm
		}
		if in = st.path[1] == serverName; in {
			t.found, t.header = true, st
		}
	}
	return t, t.own(settings, member)
}

// own finds the command line in a table, and returns an error unless it is one that installTable adds.
func (t *table) own(settings []byte, member string) error {
	if !t.found {
		return nil
	}
	for i, st := range t.keys {
		at := map[string]**statement{"command": &t.command, "args": &t.args}[st.path[0]]
		switch {
		case at == nil:
		case len(st.path) > 1 || *at != nil:
			return errOther(member)
		default:
			*at = &t.keys[i]
		}
	}
	var path string
	var args []string
	if t.command == nil || t.args == nil || json.Unmarshal(t.command.text(settings), &path) != nil ||
		json.Unmarshal(t.args.text(settings), &args) != nil || len(args) == 0 || args[len(args)-1] != serverCommand {
		return errOther(member)
	}
	return nil
}

// text returns the value of a statement.
func (st statement) text(settings []byte) []byte { return settings[st.value:st.to] }

// installTable adds the table of the server at the end of a TOML file, which ends with a line break or without one as
// before, or replaces the command line of the present one.
func installTable(settings []byte, member, path string, args []string) (Result, error) {
	t, err := findTable(settings, member)
	if err != nil {
		return Result{}, err
	}
	list := make([]string, len(args))
	for i, a := range args {
		list[i] = quote(a)
	}
	words := "[" + strings.Join(list, ", ") + "]"
	r := Result{Text: settings}
	if t.found {
		replace := func(at *statement, have any, by string) {
			if !same(at.text(settings), have) {
				r.apply(edit{at.value, at.to, by, member + "." + serverName, at.path[0]})
			}
		}
		// The last one first: the place of the other one stays.
		if t.args.from > t.command.from {
			replace(t.args, args, words)
			replace(t.command, path, quote(path))
		} else {
			replace(t.command, path, quote(path))
			replace(t.args, args, words)
		}
		return r, nil
	}
	nl := newline(settings)
	made := "[" + member + "." + serverName + "]" + nl + "command = " + quote(path) + nl + "args = " + words
	switch text := string(settings); {
	case text == "":
		made += nl
	case strings.HasSuffix(text, "\n"):
		made = nl + made + nl
	default:
		made = nl + nl + made
	}
	r.apply(edit{from: len(settings), to: len(settings), by: made})
	return r, nil
}

// uninstallTable removes the table of the server, and the blank line before it. A table with more than installTable
// writes is an error. A file with nothing else does not exist afterwards.
func uninstallTable(settings []byte, member string) (Result, error) {
	r := Result{Text: settings}
	t, err := findTable(settings, member)
	if err != nil {
		return Result{}, err
	}
	if !t.found {
		return r, nil
	}
	text := string(settings)
	from, to := t.header.from, max(t.command.to, t.args.to)
	if len(t.keys) != 2 || strings.Count(text[from:to], "\n") != 2 || !t.header.alone(text) || !t.command.alone(text) ||
		!t.args.alone(text) {
		return Result{}, errMore
	}
	from = strings.LastIndexByte(text[:from], '\n') + 1
	if _, rest, ok := strings.Cut(text[to:], "\n"); ok {
		to = len(text) - len(rest)
	} else {
		to = len(text)
	}
	if before, ok := strings.CutSuffix(text[:from], "\n"); ok {
		if at := strings.LastIndexByte(before, '\n') + 1; strings.TrimSpace(before[at:]) == "" {
			from = at
		}
	}
	// What was added behind a last line without a line break leaves it without one.
	if to == len(text) && !strings.HasSuffix(text, "\n") {
		from = len(strings.TrimSuffix(strings.TrimSuffix(text[:from], "\n"), "\r"))
	}
	r.apply(edit{from: from, to: to})
	if strings.TrimSpace(string(r.Text)) == "" {
		r.Text = nil
	}
	return r, nil
}

// alone reports that nothing follows a statement in its line.
func (st statement) alone(text string) bool {
	line, _, _ := strings.Cut(text[st.to:], "\n")
	return strings.TrimSpace(line) == ""
}
