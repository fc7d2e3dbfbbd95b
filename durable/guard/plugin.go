package guard

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// pluginText is the plugin that a client loads which has no hooks in its settings. It runs the hooks as other clients
// do.
//
//go:embed plugin.js
var pluginText string

// argvLine is the line of the plugin with the command line of this program, before its list.
const argvLine = "const argv = "

// pluginMark begins the first line of the plugin, before the digest of the other lines.
const pluginMark = "// waybill-guard "

// unmarked is the digest of the text that had no such line, with an empty list.
const unmarked = "sha256:37777eb6c2fb84bcca83313c94275b1a922af75613883a17124397d439d760d5"

// errPlugin is the error of a plugin that this program did not write.
var errPlugin = errors.New("it is another plugin, or was changed after 'waybill guard install', and is not changed")

// Plugin returns the text of the plugin for a program.
func Plugin(p Program) []byte {
	argv, _ := encode(append([]string{p.Path}, p.Flags...), "", "")
	text := strings.Replace(pluginText, argvLine+"[]", argvLine+argv, 1)
	return []byte(pluginMark + canon.Sum([]byte(text)).String() + "\n" + text)
}

// installPlugin returns the text of the plugin in the place of none, or of one that this program wrote; the error is
// errPlugin for a file with another one.
func installPlugin(text []byte, p Program) (Result, error) {
	if text != nil && !ownPlugin(text) {
		return Result{}, errPlugin
	}
	made := Plugin(p)
	if bytes.Equal(made, text) {
		return Result{Text: text}, nil
	}
	return Result{made, []Change{betweenLines(text, made)}}, nil
}

// uninstallPlugin returns no file; the error is errPlugin for a file with another plugin.
func uninstallPlugin(text []byte) (Result, error) {
	switch {
	case text == nil:
		return Result{}, nil
	case !ownPlugin(text):
		return Result{}, errPlugin
	}
	return Result{nil, []Change{betweenLines(text, nil)}}, nil
}

// betweenLines is the change from a plugin to another one, without the lines at the beginning and the end that both
// have.
func betweenLines(before, after []byte) Change {
	var a, b []string
	if len(before) > 0 {
		a = textLines(string(before))
	}
	if len(after) > 0 {
		b = textLines(string(after))
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return Change{Removed: a, Added: b}
}

// ownPlugin reports whether a text is a plugin that this or an earlier version wrote, without a change.
func ownPlugin(text []byte) bool {
	if len(text) > limits.ClientSettingsBytesMax {
		return false
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	if digest, ok := strings.CutPrefix(first, pluginMark); ok {
		return digest == canon.Sum([]byte(rest)).String()
	}
	before, rest, ok := strings.Cut(string(text), "\n"+argvLine)
	list, after, _ := strings.Cut(rest, "\n")
	var argv []string
	return ok && json.Unmarshal([]byte(list), &argv) == nil &&
		canon.Sum([]byte(before+"\n"+argvLine+"[]\n"+after)).String() == unmarked
}
