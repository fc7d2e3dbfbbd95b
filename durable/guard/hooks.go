package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/run/command"
)

// group is an element of the list of an event: what the client runs at it.
type group struct {
	Hooks []hook `json:"hooks"`
}

// hook is a command that the client runs.
type hook struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// Program is the command line before the words of a hook or a server: the path of the program and the flags that
// select the store.
type Program struct {
	Path  string
	Flags []string
}

// CommandLine returns the line that a client runs at an event. Its end names the event and the client, by which
// Uninstall finds it.
func (p Program) CommandLine(c Client, event string) string {
	words := []string{command.Word(p.Path)}
	for _, flag := range p.Flags {
		words = append(words, command.Word(flag))
	}
	return strings.Join(words, " ") + tail(c, event)
}

// tail is the end of the line of a hook.
func tail(c Client, event string) string { return " guard hook " + event + " --client " + c.Name }

// Install returns the settings of a client with the hooks of this program; the same bytes if they have them. Empty
// settings are those of a file that does not exist. Every other member keeps its bytes and its place. The error says
// in a sentence why the settings cannot be changed.
func Install(settings []byte, c Client, p Program) (Result, error) {
	if !c.Settings.JSON() {
		return installPlugin(settings, p)
	}
	r := Result{Text: orEmpty(settings)}
	for _, e := range c.Events {
		change, changes, err := installEvent(r.Text, c, e.Name, hook{"command", p.CommandLine(c, e.Name), c.Timeout})
		if err != nil {
			return Result{}, err
		}
		if changes {
			r.apply(change)
		}
	}
	return r.made(settings), nil
}

// orEmpty returns the text of settings that do not exist yet.
func orEmpty(settings []byte) []byte {
	if len(settings) == 0 {
		return []byte("{}\n")
	}
	return settings
}

// installEvent returns the edit that adds the hook of an event, or that corrects the line of the present one; changes
// is false if the settings have it.
func installEvent(text []byte, c Client, event string, h hook) (e edit, changes bool, err error) {
	root, hooks, list, err := place(text, event)
	switch {
	case err != nil:
		return e, false, err
	case hooks == nil:
		e, err = add(text, root, root, "hooks", map[string][]group{event: {{[]hook{h}}}})
		return e, true, err
	case list == nil:
		e, err = add(text, root, *hooks, event, []group{{[]hook{h}}})
		e.place = "hooks"
		return e, true, err
	}
	own := ours(text, *list, c, event)
	if len(own) == 0 {
		e, err = add(text, root, *list, "", group{[]hook{h}})
		e.place = "hooks." + event
		return e, true, err
	}
	line, _ := list.children[own[0].group].value.hookAt(own[0].hook).member("command")
	return edit{line.value.start, line.value.end, quote(h.Command), "hooks." + event, "command"},
		line.value.str(text) != h.Command, nil
}

// Uninstall returns the settings without the hooks of this program, and without the lists that it leaves empty; the
// same bytes if there are none, and no file if it has nothing else. The errors are those of Install.
func Uninstall(settings []byte, c Client) (Result, error) {
	if !c.Settings.JSON() {
		return uninstallPlugin(settings)
	}
	r := Result{Text: settings}
	if len(settings) == 0 {
		return r, nil
	}
	for _, e := range slices.Backward(c.Events) {
		for {
			change, changes, err := uninstallEvent(r.Text, c, e.Name)
			if err != nil {
				return Result{}, err
			}
			if !changes {
				break
			}
			r.apply(change)
		}
	}
	return r.withoutEmpty(), nil
}

// withoutEmpty returns a result in which a file that holds an empty object after a removal does not exist.
func (r Result) withoutEmpty() Result {
	if root, err := parse(r.Text); err == nil && len(r.Changes) > 0 && len(root.children) == 0 {
		r.Text = nil
	}
	return r
}

// uninstallEvent returns the edit that removes one hook of an event; changes is false if there is none.
func uninstallEvent(text []byte, c Client, event string) (e edit, changes bool, err error) {
	root, hooks, list, err := place(text, event)
	if err != nil || list == nil {
		return e, false, err
	}
	own := ours(text, *list, c, event)
	if len(own) == 0 {
		return e, false, nil
	}
	at := own[0]
	in, _ := list.children[at.group].value.member("hooks")
	switch {
	case len(in.value.children) > 1:
		e = drop(in.value, at.hook)
		e.place = "hooks." + event
	case len(list.children) > 1:
		e = drop(*list, at.group)
		e.place = "hooks." + event
	case len(hooks.children) > 1:
		e = drop(*hooks, index(*hooks, event))
		e.place = "hooks"
	default:
		e = drop(root, index(root, "hooks"))
	}
	return e, true, nil
}

// index returns the place of a member in an object.
func index(n node, name string) int {
	return slices.IndexFunc(n.children, func(c child) bool { return c.name == name })
}

// place returns the member hooks and its list of an event, nil where they do not exist.
func place(text []byte, event string) (root node, hooks, list *node, err error) {
	if root, err = parse(text); err != nil {
		return root, nil, nil, err
	}
	h, err := root.member("hooks")
	if err != nil || h == nil {
		return root, nil, nil, err
	}
	if h.value.kind != '{' {
		return root, nil, nil, fmt.Errorf("its member %q is not an object, and is not changed", "hooks")
	}
	l, err := h.value.member(event)
	if err != nil || l == nil {
		return root, &h.value, nil, err
	}
	if l.value.kind != '[' {
		return root, nil, nil, fmt.Errorf("its member %q is not a list, and is not changed", "hooks."+event)
	}
	return root, &h.value, &l.value, nil
}

// ownHook is the place of a hook of this program in the list of an event.
type ownHook struct{ group, hook int }

// ours returns the hooks of this program in the list of an event. Elements of another form are those of others.
func ours(text []byte, list node, c Client, event string) (out []ownHook) {
	for g, item := range list.children {
		in, err := item.value.member("hooks")
		if err != nil || in == nil || in.value.kind != '[' {
			continue
		}
		for h, of := range in.value.children {
			line, err := of.value.member("command")
			if err == nil && line != nil && strings.HasSuffix(line.value.str(text), tail(c, event)) {
				out = append(out, ownHook{g, h})
			}
		}
	}
	return out
}

// hookAt returns a hook of a group.
func (n node) hookAt(i int) node {
	in, _ := n.member("hooks")
	return in.value.children[i].value
}
