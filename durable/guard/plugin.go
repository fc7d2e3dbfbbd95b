package guard

import (
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"github.com/waybill/waybill/durable/limits"
)

// pluginText is the plugin that a client loads which has no hooks in its settings. It runs the hooks as other clients do.
//
//go:embed plugin.js
var pluginText string

// argvLine is the line of the plugin with the command line of this program, before its list.
const argvLine = "const argv = "

// errPlugin is the error of a plugin that this program did not write.
var errPlugin = errors.New("it is another plugin, or was changed after 'waybill guard install', and is not changed")

// Plugin returns the text of the plugin for a program.
func Plugin(p Program) []byte {
	argv, _ := encode(append([]string{p.Path}, p.Flags...), "", "")
	return []byte(strings.Replace(pluginText, argvLine+"[]", argvLine+argv, 1))
}

// installPlugin returns the text of the plugin; the error is errPlugin for a file with another one.
func installPlugin(text []byte, p Program) ([]byte, error) {
	if text != nil && !ownPlugin(text) {
		return nil, errPlugin
	}
	return Plugin(p), nil
}

// uninstallPlugin returns nil, for no file; the error is errPlugin for a file with another plugin.
func uninstallPlugin(text []byte) ([]byte, error) {
	if text != nil && !ownPlugin(text) {
		return nil, errPlugin
	}
	return nil, nil
}

// ownPlugin reports whether a text is the plugin for some program, without a change.
func ownPlugin(text []byte) bool {
	if len(text) > limits.ClientSettingsBytesMax {
		return false
	}
	_, rest, _ := strings.Cut(string(text), "\n"+argvLine)
	list, _, _ := strings.Cut(rest, "\n")
	var argv []string
	if json.Unmarshal([]byte(list), &argv) != nil || len(argv) == 0 {
		return false
	}
	return string(Plugin(Program{Path: argv[0], Flags: argv[1:]})) == string(text)
}
