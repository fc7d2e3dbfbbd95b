//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// choosingFlow prints a list as JSON, and asks for inputs that choose from it. The sentence of the list
// is an argument: no shell reads it.
func choosingFlow(list string, keys ...string) string {
	var inputs []string
	for _, key := range keys {
		inputs = append(inputs, "{contextKey: "+key+", reason: needs_user_choice, choiceKind: scope_boundary, "+
			`choicesFrom: {step: list, pointer: ""}, description: "Which `+key+`"}`)
	}
	return "id: test.choose\nname: Choose\ndescription: d\nversion: 1.0.0\nsteps:\n" +
		"  - {id: list, title: List, action: {kind: command, literal: true, argv: [printf, '%s', '" + list + "']}}\n" +
		"  - {id: ask, title: Ask, prompt: Choose., inputs: [" + strings.Join(inputs, ", ") + "]}\n"
}

// chosenValues is the context of the last run.
func chosenValues(t *testing.T, dir string) string {
	t.Helper()
	var v struct{ Context json.RawMessage }
	(program{t, dir, filepath.Join(dir, "home", "local")}).json(&v, "runs", "show", "@last")
	return string(v.Context)
}

// TestChoicesAtATerminal: choices of a result are numbered; the text of a choice precedes its number,
// a wrong answer is asked again, and the value that is stored has the type of the choice.
func TestChoicesAtATerminal(t *testing.T) {
	t.Parallel()
	dir := newDir(t, choosingFlow(`["north", 2, true, "1", "a\u001b[2Jb\u202e\nc"]`, "a", "b", "c", "d"))
	s := startAtTerminal(t, dir, 100, "run", "w.yaml", "--set", "d=west")
	s.expect("Allow it? [y/a/N]")
	s.typeText("y\n")
	s.expect("Which a (a)")
	s.expect("1 north")
	s.expect("2 2")
	s.expect("3 true")
	s.expect("4 1")
	s.expect("5 a")
	s.typeText("9\n")
	s.expect("Type a number from 1 to 5.")
	s.typeText("nowhere\n")
	s.expect("Type a number from 1 to 5.")
	s.typeText("1\n")
	s.expect("Which b (b)")
	s.typeText("3\n")
	s.expect("Which c (c)")
	s.typeText("2\n")
	s.expect(`Which d ("west" is not one of the choices) (d)`)
	s.typeText("north\n")
	s.expect("Enter for none")
	s.typeText("\n")
	s.expect("Choose is complete")
	s.expectExit(0)
	if got := chosenValues(t, dir); got != `{"a":"1","b":true,"c":2,"d":"north"}` {
		t.Errorf("stored: %s", got)
	}
	if strings.ContainsAny(s.text(), "\u202e") || strings.Contains(s.text(), "\x1b[2Jb") {
		t.Error("a choice reaches the terminal unescaped")
	}
}

// TestManyChoicesAtATerminal: of a long list the first are numbered, and the others are typed.
func TestManyChoicesAtATerminal(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprintf("%q", fmt.Sprintf("t%d", i+1)))
	}
	dir := newDir(t, choosingFlow("["+strings.Join(all, ",")+"]", "a", "b"))
	s := startAtTerminal(t, dir, 100, "run", "w.yaml")
	s.expect("Allow it? [y/a/N]")
	s.typeText("y\n")
	s.expect("32 t32")
	s.expect("and 8 more: type one of them as it is")
	s.typeText("40\n")
	s.expect("Type a number from 1 to 32, or one of the choices as it is.")
	s.typeText("t40\n")
	s.expect("Which b (b)")
	s.expect("and 8 more")
	s.typeText("32\n")
	s.expect("Enter for none")
	s.typeText("\n")
	s.expectExit(0)
	if got := chosenValues(t, dir); got != `{"a":"t40","b":"t32"}` {
		t.Errorf("stored: %s", got)
	}
	if strings.Contains(s.text(), "33 t33") {
		t.Error("more than 32 choices are listed")
	}
}

// TestNoChoicesAtATerminal: without a usable list nothing is asked, and the step with the list is named.
func TestNoChoicesAtATerminal(t *testing.T) {
	t.Parallel()
	s := startAtTerminal(t, newDir(t, choosingFlow(`["x", {}]`, "a")), 200, "run", "w.yaml")
	s.expect("Allow it? [y/a/N]")
	s.typeText("y\n")
	s.expect("has no choices for an input")
	s.expect("entry 1 is an object")
	s.expect("--at list")
	s.expectExit(3)
}
