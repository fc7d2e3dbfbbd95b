//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHostileInputsAreOneArgument: a key that may create runs starts a workflow that a person trusted, whose command has an
// input among its arguments. The command gets each input as exactly one argument, or the run says why not and
// the command does not run.
func TestHostileInputsAreOneArgument(t *testing.T) {
	t.Parallel()
	s := serveAt(t, `{"id":"test.argv","name":"A","description":"d","version":"1.0.0","steps":[
 {"id":"rec","title":"R","action":{"kind":"command","argv":["./rec","{{id}}","--","{{x}}","--opt={{x}}","end"]}}]}`)
	if err := os.WriteFile(filepath.Join(s.dir, "rec"), []byte("#!/bin/sh\nfor a in \"$@\"; do printf '%s\\0' \"$a\"; done >\"out.$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	weak := keyOn(t, s.atTerminal(0, "y", "serve", "keys", "add", "weak", "--scope", "runs:create"))
	c := scenario{t, s, s.key}
	for name, row := range map[string]struct {
		x       any
		arg     string // what the command gets, "" for a refusal
		refusal string // a word of the refusal
	}{
		"spaces":       {"a b  c ", "a b  c ", ""},
		"quotes":       {`"; touch pwned; ' "`, `"; touch pwned; ' "`, ""},
		"lines":        {"one\ntwo\r\nthree", "one\ntwo\r\nthree", ""},
		"substitution": {"$(touch pwned)`touch pwned`${HOME}", "$(touch pwned)`touch pwned`${HOME}", ""},
		"option":       {"--help", "--help", ""},
		"dash":         {"-", "-", ""},
		"globs":        {"* ? [a] ~ ../../etc/passwd", "* ? [a] ~ ../../etc/passwd", ""},
		"placeholder":  {"{{id}} {{x}}", "{{id}} {{x}}", ""},
		"redirection":  {"> pwned < /etc/passwd | tee pwned & touch pwned", "> pwned < /etc/passwd | tee pwned & touch pwned", ""},
		"unicode":      {"ü 日本 🙂 \u202e\u200b\ufeff", "ü 日本 🙂 \u202e\u200b\ufeff", ""},
		"control":      {"\x1b[2J\x07\x7f\x01", "\x1b[2J\x07\x7f\x01", ""},
		"object":       {object{"a": []any{"$(touch pwned)", 1}}, `{"a":["$(touch pwned)",1]}`, ""},
		"number":       {12.5, "12.5", ""},
		"long":         {strings.Repeat("y", 65_000), strings.Repeat("y", 65_000), ""},
		"NUL":          {"a\x00b", "", ""},
		"over 64 KiB":  {strings.Repeat("y", 64<<10+1), "", "{{x}} in"},
		"absent":       {nil, "", "{{x}} in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := scenario{t, s, s.key}
			id := strings.ReplaceAll(name, " ", "-")
			inputs := object{"id": id}
			if row.x != nil {
				inputs["x"] = row.x
			}
			r := c.as(weak).do("POST", "/v1/runs", object{"workflowId": "test.argv", "inputs": inputs})
			out, run := filepath.Join(s.dir, "out."+id), ""
			if r.status == 201 {
				run = r.json["runId"].(string)
			}
			var state map[string]any
			wait := 15 * time.Second
			if row.arg == "" {
				wait = time.Second
			}
			for deadline := time.Now().Add(wait); run != "" && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
				if state = c.do("GET", "/v1/runs/"+run, nil).json; state["status"] != "pending" && state["status"] != "running" {
					break
				}
			}
			got, err := os.ReadFile(out)
			if row.arg == "" {
				why := r.text
				if run != "" { // the person who continues the run reads it
					why = s.whenLeft(3, "run", "--run", run)
				}
				if err == nil || state["status"] == "completed" || !strings.Contains(why, row.refusal) {
					t.Errorf("%v, the command got %q, and the answer is %.600s", state["status"], got, why)
				}
				return
			}
			want := strings.Join([]string{id, "--", row.arg, "--opt=" + row.arg, "end", ""}, "\x00")
			if state["status"] != "completed" || string(got) != want {
				t.Errorf("%d %v, the command got %.200q, want %.200q (%v)", r.status, state["status"], got, want, err)
			}
		})
	}
	// Without "--" before it, a value must not become an option.
	s.writeFile(filepath.Join(".waybill", "workflows", "o.json"), `{"id":"test.option","name":"A","description":"d","version":"1.0.0","steps":[
 {"id":"rec","title":"R","action":{"kind":"command","argv":["./rec","{{id}}","{{x}}"]}}]}`)
	s.atTerminal(0, "y", "trust", filepath.Join(".waybill", "workflows", "o.json"))
	r := c.as(weak).do("POST", "/v1/runs", object{"workflowId": "test.option", "inputs": object{"id": "opt", "x": "--help"}})
	run, _ := r.json["runId"].(string)
	if out := s.whenLeft(3, "run", "--run", run); !strings.Contains(out, "{{x}} in") || !strings.Contains(out, "--") {
		t.Errorf("%d %s", r.status, out)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "out.opt")); err == nil {
		t.Error("the command ran with an option")
	}
	t.Cleanup(func() {
		if _, err := os.Stat(filepath.Join(s.dir, "pwned")); err == nil {
			t.Error("an input was executed")
		}
	})
	c.envelope(c.as(weak).do("GET", "/v1/runs/x", nil), 403, "forbidden")
}
