package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/synonym"
)

// notYet are commands of synonyms that the program may not have: they are suggested as soon as it does.
var notYet = map[string]bool{"runs search TEXT": true}

// TestSynonyms: a word that people type as a command is answered with commands that the program has, each of which its
// parser accepts, and with exit status 2.
func TestSynonyms(t *testing.T) {
	t.Parallel()
	root := newRoot(&cli.App{})
	for word, meanings := range synonym.All() {
		if cmd, _, _ := root.Find([]string{word}); cmd != root {
			t.Errorf("%q is a command", word)
		}
		var out, errOut bytes.Buffer
		if status := run([]string{word, "@last", "--oneline"}, strings.NewReader(""), &out, &errOut, nil); status != 2 || out.Len() > 0 {
			t.Errorf("%q: exit status %d, stdout %q", word, status, &out)
		}
		text := words(errOut.String())
		if !strings.Contains(text, `'waybill' has no command "`+word+`"`) {
			t.Errorf("%q: %s", word, text)
		}
		some := false
		for _, m := range meanings {
			has := strings.Contains(text, m.What+": 'waybill "+m.Command+"'")
			some = some || has
			if !has && !notYet[m.Command] {
				t.Errorf("%q does not suggest %q: %s", word, m.Command, text)
			}
			if err := parse(strings.Fields(m.Command)); has && err != nil {
				t.Errorf("%q suggests %q: %v", word, m.Command, err)
			}
		}
		if !some {
			t.Errorf("%q suggests nothing: %s", word, text)
		}
	}
	for call, want := range map[string]string{
		"log": "'waybill runs timeline'", "status": "'waybill runs list'", "list": "'waybill workflows list'",
		"history": "'waybill runs timeline'", "search": "'waybill runs", "init": "'waybill workflows new ID'",
		"undo": "'waybill fork RUN'", "share": "'waybill runs report RUN'", "open": "'waybill console'",
		"blocked": "'waybill inbox'", "LS": "'waybill runs list'", "runs ls": "'waybill runs list'",
		"runs log": "'waybill runs timeline'", "sessions rm": "'waybill sessions delete'",
		"workflows show": "'waybill workflows inspect'", "timeline": "'waybill runs timeline'",
		"help log": "'waybill runs timeline'", "help runs history": "'waybill runs timeline'", "strat": "Did you mean 'waybill start'?",
	} {
		var out, errOut bytes.Buffer
		status := run(strings.Fields(call), strings.NewReader(""), &out, &errOut, nil)
		if text := words(errOut.String()); status != 2 || !strings.Contains(text, want) {
			t.Errorf("waybill %s: exit status %d, %s", call, status, text)
		}
	}
}
