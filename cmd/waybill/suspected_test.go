package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/ports/porttest/sample"
)

// canary is a text with a secret, and the rule that finds it.
type canary struct{ rule, text, secret string }

// canaries are texts with a secret of several rules. None is a secret anywhere.
func canaries() []canary {
	jwt := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ3YXlib2lsbCJ9.c2lnbmF0dXJlc2lnbmF0dXJl"
	var all []canary
	for _, c := range [][2]string{
		{"secret_key", "sk-abcdefghijkl"},
		{"aws_key", "AKIAIOSFODNN7EXAMPLE"},
		{"github_token", "ghp_abcdef0123456789abcdef0123456789abcd"},
		{"jwt", jwt},
		{"waybill_token", "st.v1.eyJub2RlSWQiOiJub2RlXzEifQ.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJl"},
	} {
		all = append(all, canary{c[0], "the value is " + c[1] + " for now", c[1]})
	}
	return all
}

// suspectingDoor makes the four calls that record something, by their names and arguments as tools have
// them, and returns the document.
type suspectingDoor func(tool string, args doc) string

// commandDoor makes the calls by the command line.
func commandDoor(t *testing.T, p program) suspectingDoor {
	files := 0
	file := func(v any) string {
		files++
		raw, _ := json.Marshal(v)
		name := fmt.Sprintf("file-%d.json", files)
		p.writeFile(name, string(raw))
		return name
	}
	return func(tool string, args doc) string {
		t.Helper()
		var line []string
		switch tool {
		case "start_workflow":
			line = []string{"start", args["workflowId"].(string)}
		case "continue_workflow":
			line = []string{"continue", "--state", args["stateToken"].(string), "--ack", args["ackToken"].(string)}
		case "checkpoint_workflow":
			line = []string{"checkpoint", "--state", args["stateToken"].(string), "--token", args["checkpointToken"].(string)}
		}
		if v, ok := args["context"]; ok {
			line = append(line, "--context", file(v))
		}
		if v, ok := args["output"].(doc); ok {
			if notes, ok := v["notesMarkdown"].(string); ok {
				line = append(line, "--notes", notes)
			}
			artifacts, _ := v["artifacts"].([]any)
			for _, a := range artifacts {
				line = append(line, "--artifact", file(a))
			}
		}
		out, err := p.command(append(line, "--json")...).Output()
		if err != nil && !strings.Contains(string(out), `"kind":"blocked"`) {
			t.Fatalf("%v: %v\n%s", line, err, out)
		}
		return string(out)
	}
}

// suspectedIn returns the warnings about secrets of a document as pointer and rule, with its kind and tokens.
func suspectedIn(t *testing.T, raw string) (found []string, kind string, tokens doc) {
	t.Helper()
	var d struct {
		Kind string
		Data struct {
			StateToken, AckToken, CheckpointToken string
			Warnings                              []struct{ Code, Message, Pointer, Rule string }
		}
	}
	if err := json.Unmarshal([]byte(raw), &d); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	for _, w := range d.Data.Warnings {
		if w.Code == "SECRET_SUSPECTED" {
			found = append(found, w.Pointer+" "+w.Rule)
		}
	}
	return found, d.Kind, doc{"stateToken": d.Data.StateToken, "ackToken": d.Data.AckToken,
		"checkpointToken": d.Data.CheckpointToken}
}

// TestSuspectedSecretsAreNamed sends each canary in context, notes and artifacts of a start, a refused attempt, a
// checkpoint and an accepted attempt, by the command line and as an agent. The documents of both have the same warnings.
func TestSuspectedSecretsAreNamed(t *testing.T) {
	t.Parallel()
	cases, all := sample.OneIn(t, 2), canaries()
	for i := range cases.Of(len(all)) {
		c := all[i]
		var seen [2][]string
		for i, way := range []string{"command line", "agent"} {
			p := programWithWorkflows(t, "test.talk")
			call := commandDoor(t, p)
			if way == "agent" {
				a := p.agent()
				call = func(tool string, args doc) string { return a.tool(tool, args).raw }
			}
			for _, answer := range recordCanary(t, c, call) {
				found, kind, _ := suspectedIn(t, answer)
				seen[i] = append(seen[i], kind+": "+strings.Join(found, ", "))
				if strings.Contains(strings.Split(answer, `"warnings"`)[1], c.secret) {
					t.Errorf("%s, %s: the warnings of %s hold the secret", way, c.rule, answer)
				}
			}
			p.verified()
		}
		outputs := "/output/notesMarkdown R, /output/artifacts/0/list/0/text R, /output/artifacts/0/password named_secret"
		want := []string{
			"step: /context/customer/name R, /context/deep/api_key named_secret",
			"blocked: /context/customer/name R, /context/deep/api_key named_secret, " +
				strings.TrimPrefix(outputs, "/output/notesMarkdown R, "),
			"step: " + outputs,
			"step: /context/customer/name R, /context/deep/api_key named_secret, " + outputs,
		}
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], " R", " "+c.rule)
		}
		for i := range seen {
			if !slices.Equal(seen[i], want) {
				t.Errorf("%s, door %d:\n got %q\nwant %q", c.rule, i, seen[i], want)
			}
		}
	}
}

// recordCanary records a canary by four calls and returns the answers. It makes each call twice, and the second answer is
// that of the first.
func recordCanary(t *testing.T, c canary, call suspectingDoor) (answers []string) {
	t.Helper()
	context := doc{"customer": doc{"name": c.text}, "deep": doc{"api_key": "anything"}, "other": "prose about a token"}
	artifacts := []any{doc{"kind": "x", "list": []any{doc{"text": c.text}}, "password": "hunter2"},
		doc{"kind": "y", "sha": "3f786850e387550fdab836ed7e6dc881de23001b"}}
	answers = append(answers, call("start_workflow", doc{"workflowId": "test.talk", "context": context}))
	send := func(tool, token string, output doc, context doc) {
		t.Helper()
		_, _, tokens := suspectedIn(t, answers[len(answers)-1])
		args := doc{"stateToken": tokens["stateToken"], token: tokens[token], "output": output}
		if context != nil {
			args["context"] = context
		}
		answers = append(answers, call(tool, args))
		if again := call(tool, args); again != answers[len(answers)-1] {
			t.Errorf("%s, repeated:\n%s\n%s", tool, again, answers[len(answers)-1])
		}
	}
	send("continue_workflow", "ackToken", doc{"artifacts": artifacts}, context)
	send("checkpoint_workflow", "checkpointToken", doc{"notesMarkdown": c.text, "artifacts": artifacts}, nil)
	send("continue_workflow", "ackToken", doc{"notesMarkdown": c.text, "artifacts": artifacts}, context)
	return answers
}

// TestSuspectedSecretsInText: people read one line for each with place, rule and what to do, and never the secret.
func TestSuspectedSecretsInText(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	p.writeFile("log.txt", "deployed with ghp_abcdef0123456789abcdef0123456789abcd\n")
	p.writeFile("bin", "\x00\xff\xfe ghp_abcdef0123456789abcdef0123456789abcd")
	p.writeFile("context.json", `{"sk-abcdefghijkl\u001b[2J\u202e":"AKIAIOSFODNN7EXAMPLE"}`)
	out := p.runPiped(0, "start", "test.talk", "--context", "context.json")
	if strings.Contains(out, "sk-abc") || strings.Contains(out, "AKIA") || strings.ContainsAny(out, "\x1b\u202e") ||
		!strings.Contains(out, "! What was sent at /context/[REDACTED:secret_key]") || !strings.Contains(out, "(aws_key)") {
		t.Error(out)
	}
	out = p.runPiped(0, "checkpoint", "--run", "@last", "--notes", "sk-abcdefghijkl", "--artifact", "log.txt",
		"--artifact", "bin")
	for _, want := range []string{"! What was sent at /output/notesMarkdown may be a secret (secret_key)",
		"! What was sent at /output/artifacts/0 may be a secret (github_token)", "'waybill export run_", "--redact",
		"'waybill artifacts erase sha256:"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "sk-abc") || strings.Contains(out, "ghp_") || strings.Contains(out, "/output/artifacts/1") {
		t.Error(out)
	}
	out = p.runPiped(0, "continue", "--run", "@last", "--notes", "The digest sha256:"+strings.Repeat("ab", 32)+
		" of `token := next()` in run_6p6hxbif75my754byilbz3jxrm is checked.")
	if strings.Contains(out, "may be a secret") {
		t.Error(out)
	}
}

// leakyFlow is a workflow whose command prints a token, which becomes a value of the context.
const leakyFlow = `{"id":"test.leaky","name":"Leaky","description":"d","version":"1.0.0","steps":[
 {"id":"print","title":"Print","prompt":"p","action":{"kind":"command","argv":["sh","-c","cat token.txt"]},
  "outputs":{"found":"stdout"}},
 {"id":"last","title":"Last","prompt":"p"}]}`

// TestSuspectedSecretsOfCommands: 'waybill run' warns of what commands print, in its text and in the document.
func TestSuspectedSecretsOfCommands(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t)
	p.writeFile("flow.json", leakyFlow)
	p.writeFile("token.txt", "ghp_abcdef0123456789abcdef0123456789abcd")
	out := p.runPiped(0, "run", "flow.json", "--trust", "--yes", "--notes", "n", "--set", "password=hunter2")
	for _, want := range []string{"/context/password may be a secret (named_secret)", "/output/artifacts/0/stdout/head may be",
		"/context/found may be a secret (github_token)"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("not once %q in\n%s", want, out)
		}
	}
	var run struct {
		Data struct {
			Warnings []struct{ Code, StepID, Pointer, Rule string }
		}
	}
	raw, err := p.command("run", "flow.json", "--trust", "--yes", "--notes", "n", "--set", "password=hunter2", "--json").Output()
	if err == nil {
		err = json.Unmarshal(raw, &run)
	}
	want := "[{SECRET_SUSPECTED  /context/password named_secret} {SECRET_SUSPECTED print /context/found github_token} " +
		"{SECRET_SUSPECTED print /output/artifacts/0/stdout/head github_token}]"
	if got := fmt.Sprint(run.Data.Warnings); err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	if stored, err := os.ReadFile(p.dir + "/token.txt"); err != nil || !strings.Contains(p.runPiped(0, "runs", "events", "@last"), string(stored)) {
		t.Error("the context is not stored as it is", err)
	}
}
