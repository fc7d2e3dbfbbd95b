// Package synonym knows what people mean by words that are no commands of the program, and suggests the commands that
// the program has for them. It executes none.
package synonym

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// Meaning is one thing that a word may stand for, and the words of the command for it. A command that the program does
// not have is not suggested.
type Meaning struct{ What, Command string }

// Meanings of several words.
var (
	listed = []Meaning{{"The runs", "runs list"}, {"The workflows", "workflows list"}}
	state  = []Meaning{{"What waits for a person", "inbox"}, {"The latest run", "runs show"}, {"All runs", "runs list"}}
	past   = []Meaning{{"The history of a run", "runs timeline"}, {"The output of its commands", "runs logs"}}
	found  = []Meaning{{"Text in runs", "runs search TEXT"}, {"Runs with words in their title or notes", "runs list --text TEXT"}}
	begun  = []Meaning{{"The first run creates the store", "run wr.demo"}, {"A workflow file to start from", "workflows new ID"}}
	taken  = []Meaning{{"Recorded facts stay; a new run from an earlier step", "fork RUN"}, {"The end of a run", "runs cancel RUN"}}
	shown  = []Meaning{{"A run", "runs show"}, {"A workflow", "workflows inspect ID"}}
	made   = []Meaning{{"A workflow file to start from", "workflows new ID"}, {"A run", "start ID"}}
	right  = []Meaning{{"A workflow file", "workflows validate FILE"}, {"The store", "verify"}}
	ended  = []Meaning{{"The end of a run", "runs cancel RUN"}}
	held   = []Meaning{{"A run, which takes no steps then", "runs pause RUN"}}
	given  = []Meaning{{"The output of the pending step", "continue --run @last"}}
	handed = []Meaning{{"A run as a page to read", "runs report RUN"}, {"A session as a file to import", "export RUN -o FILE"}}
	moved  = []Meaning{{"A run to another store", "push RUN --to STORE"}, {"A run from another store", "pull RUN --from STORE"}}
	seen   = []Meaning{{"The store in a browser", "console"}, {"A run as a page to read", "runs report RUN"}}
	gone   = []Meaning{{"A session", "sessions delete SESSION"}, {"What expired", "gc"}}
)

// All returns words that people type as commands and that the program does not have.
func All() map[string][]Meaning { // built for an error alone
	return map[string][]Meaning{
		"list": listed, "ls": listed, "ps": listed, "status": state, "st": state, "todo": state, "tasks": state,
		"blocked": state, "waiting": state, "stuck": state, "why": state, "share": handed, "send": handed, "html": handed,
		"ui": seen, "web": seen, "browser": seen, "dashboard": seen, "open": seen,
		"log": past, "history": past, "hist": past, "search": found, "find": found, "grep": found,
		"init": begun, "setup": begun, "undo": taken, "revert": taken, "rollback": taken, "reset": taken, "rewind": taken,
		"show": shown, "view": shown, "get": shown, "info": shown, "describe": shown, "cat": shown,
		"new": made, "create": made, "add": made, "validate": right, "check": right, "lint": right, "fsck": right,
		"cancel": ended, "stop": ended, "abort": ended, "kill": ended, "end": ended,
		"pause": held, "hold": held, "suspend": held,
		"next": given, "done": given, "submit": given, "complete": given, "ack": given, "step": given,
		"sync": moved, "fetch": moved, "clone": moved, "copy": moved, "move": moved, "transfer": moved, "upload": moved, "download": moved,
		"rm": gone, "remove": gone, "delete": gone, "clean": gone, "prune": gone, "cleanup": gone,
		"exec": {{"A workflow", "run ID"}}, "do": {{"A workflow", "run ID"}}, "go": {{"A workflow", "run ID"}},
		"tail": {{"The facts of a run as they are recorded", "runs watch"}}, "settings": {{"The settings", "config get"}},
		"follow": {{"The facts of a run as they are recorded", "runs watch"}}, "man": {{"The help", "help"}},
		"backup": {{"One session as a file", "export RUN -o FILE"}}, "save": {{"One session as a file", "export RUN -o FILE"}},
		"accept": {{"The output of a step", "approve"}}, "confirm": {{"The output of a step", "approve"}},
		"reject": {{"A step, which ends its run", "deny RUN --reason TEXT"}, {"A step, to be done again", "send-back RUN --reason TEXT"}},
	}
}

// inGroups returns the names that groups of commands have for what a word means, by preference.
func inGroups() map[string][]string {
	return map[string][]string{
		"ls": {"list"}, "all": {"list"}, "get": {"show", "inspect"}, "show": {"get", "inspect"}, "view": {"show", "get", "inspect"},
		"info": {"show", "get", "inspect"}, "cat": {"show", "get", "inspect"}, "status": {"show", "list"},
		"log": {"timeline"}, "history": {"timeline"}, "output": {"logs"}, "find": {"search", "list"}, "search": {"list"},
		"rm": {"delete", "cancel", "remove"}, "remove": {"delete", "cancel"}, "delete": {"cancel", "remove", "erase"},
		"stop": {"cancel"}, "abort": {"cancel"}, "kill": {"cancel"}, "end": {"cancel"}, "tail": {"watch"}, "follow": {"watch"},
		"create": {"new", "add"}, "new": {"create", "add"}, "add": {"create", "new", "attach"}, "check": {"validate", "verify"},
		"lint": {"validate"}, "undo": {"restore", "rollback", "retract"}, "accept": {"approve"}, "decline": {"reject"},
	}
}

// Suggest makes the suggestion of a fault about a word that is no command of cmd: what the word means, else
// the nearest name, behind the words of before. The suggestion stays if nothing is known.
func Suggest(f *fault.Fault, cmd *cobra.Command, word string, before ...string) *fault.Fault {
	all := commandOf(cmd, "--help")
	var what string
	var commands []any
	for _, m := range meanings(cmd, strings.ToLower(word)) {
		what += m.What + ": %s. "
		commands = append(commands, fault.Command(strings.Fields(m.Command)))
	}
	if len(commands) > 0 {
		return f.Suggest(what+"%s lists all commands.", append(commands, all)...)
	}
	if near := nearest.Of(word, names(cmd)); near != "" {
		return f.Suggest("Did you mean %s? %s lists all.", append(fault.Command(before), commandOf(cmd, near)...), all)
	}
	return f
}

// meaningsMax is how many commands of a name that several groups have are suggested.
const meaningsMax = 3

// meanings returns what a word means in place of a command of cmd, none if that is unknown.
func meanings(cmd *cobra.Command, word string) (out []Meaning) {
	if cmd.HasParent() {
		for _, name := range inGroups()[word] {
			if sub := subcommand(cmd, name); sub != nil {
				return []Meaning{{What: sub.Short, Command: strings.Join(commandOf(sub), " ")}}
			}
		}
		return nil
	}
	for _, m := range All()[word] {
		words := strings.Fields(m.Command)
		if at := subcommand(cmd, words[0]); at != nil && (!at.HasSubCommands() || subcommand(at, words[1]) != nil) {
			out = append(out, m)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, group := range cmd.Commands() { // the name of a command that needs that of its group before it
		if sub := subcommand(group, word); sub != nil && len(out) < meaningsMax {
			out = append(out, Meaning{What: sub.Short, Command: strings.Join(commandOf(sub), " ")})
		}
	}
	return out
}

// subcommand returns the available subcommand with a name, nil for none.
func subcommand(cmd *cobra.Command, name string) *cobra.Command {
	for _, sub := range cmd.Commands() {
		if sub.Name() == name && (sub.IsAvailableCommand() || name == "help") {
			return sub
		}
	}
	return nil
}

// names returns the names of the available subcommands.
func names(cmd *cobra.Command) (out []string) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			out = append(out, sub.Name())
		}
	}
	return out
}

// commandOf returns the command line of cmd with more words.
func commandOf(cmd *cobra.Command, more ...string) fault.Command {
	return append(strings.Fields(cmd.CommandPath())[1:], more...)
}
