//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// rolesByName gives roles to names, as earlier versions did.
const rolesByName = `"principals":{"ada":["lead","reviewer"],"bob":["reviewer"]},"roles":{"lead":["proposals:apply"]}`

// attacks are the ways around a person, each by itself and in steps that earlier versions understand:
// with -binary they show what an earlier version let through. Each returns what was gained, "" for
// nothing.
var attacks = map[string]func(*testing.T, program) string{
	"settings by pipe": func(t *testing.T, p program) string {
		_, _, _ = p.piped("y\ny\n", "config", "set", "proposalsActivation", "direct-rbac")
		out, _, _ := p.piped("", "config", "get", "proposalsActivation")
		return gainedIf(strings.TrimSpace(out) == "direct-rbac", "settings changed without a terminal")
	},
	"settings by edited file": func(t *testing.T, p program) string {
		name := p.createProposal("check.json")
		p.configure("retentionDays", "30")
		p.forgeSettings(`{"proposalsActivation":"direct-rbac","retentionDays":30,` + rolesByName + `}`)
		_, _, _ = p.piped("", "proposals", "apply", name, "--as", "ada")
		return gainedIf(p.proposalState(name) == "applied", "a proposal without approvals was installed")
	},
	"settings by deletion, approval": func(t *testing.T, p program) string {
		p.writeFile("w.yaml", shipFlow)
		p.runPiped(3, "run", "w.yaml", "--notes", "plan")
		p.deleteSettings()
		return p.unconfirmed("approve")
	},
	"settings by deletion, apply": func(t *testing.T, p program) string {
		name := p.createProposal("check.json")
		p.configure("agentMaxAutonomy", "guided")
		p.atTerminal(0, "y", "proposals", "approve", name)
		p.deleteSettings()
		return p.unconfirmed("proposals", "apply", name)
	},
	"settings by deletion, autonomy": func(t *testing.T, p program) string {
		p.deleteSettings()
		c := p.agent()
		defer c.ends()
		r := c.tool("start_workflow", map[string]any{"workflowId": "wr.demo", "preferences": map[string]any{
			"autonomy": "full_auto_stop_on_user_deps"}})
		return gainedIf(r.Error.Code != "POLICY_UNCONFIRMED", "%s", r.raw)
	},
	"two names, one person": func(t *testing.T, p program) string {
		name := p.createProposal("check.json")
		for _, pair := range [][]string{{"principals", `{"ada":["reviewer"],"bob":["reviewer"]}`}, {"proposalsQuorum", "2"}} {
			_, _ = p.person("config", "set", pair[0], pair[1])
		}
		var got struct{ Settings []struct{ Value any } }
		p.json(&got, "config", "get", "proposalsQuorum")
		if got.Settings[0].Value != 2.0 {
			return "" // refused while no principal is bound to an account
		}
		for _, as := range []string{"ada", "bob"} {
			_, _ = p.person("proposals", "approve", name, "--as", as)
		}
		_, _, _ = p.piped("", "proposals", "apply", name)
		return gainedIf(p.proposalState(name) == "applied", "one person gave both approvals")
	},
	"a name in a pipe": func(t *testing.T, p program) string {
		name := p.directRBAC()
		_, _, _ = p.piped("", "proposals", "apply", name, "--as", "ada")
		return gainedIf(p.proposalState(name) == "applied", "a name gave the scope")
	},
	"a name at a terminal": func(t *testing.T, p program) string {
		name := p.directRBAC()
		_, _ = p.person("proposals", "apply", name, "--as", "ada")
		return gainedIf(p.proposalState(name) == "applied", "a name gave the scope")
	},
	"a quorum that is lowered after an approval": func(t *testing.T, p program) string {
		name := p.createProposal("check.json")
		if _, status := p.person("config", "set", "principals", principals(map[string]string{"ada": "reviewer",
			"bob": "reviewer"}, "ada")); status != 0 {
			p.configure("principals", `{"ada":["reviewer"],"bob":["reviewer"]}`) // an earlier version has names only
		}
		p.configure("proposalsQuorum", "2")
		p.atTerminal(0, "y", "proposals", "approve", name, "--as", "ada")
		p.configure("proposalsQuorum", "1")
		_, _, _ = p.piped("", "proposals", "apply", name)
		return gainedIf(p.proposalState(name) == "applied", "one of two approvals sufficed")
	},
	"a rejection of what was approved": func(_ *testing.T, p program) string {
		name := p.createProposal("check.json")
		p.atTerminal(0, "y", "proposals", "approve", name)
		_, _, _ = p.piped("", "proposals", "reject", name, "--reason", "r")
		return gainedIf(p.proposalState(name) == "rejected", "an approval was made ineffective without a person")
	},
	"an archive of what was approved": func(_ *testing.T, p program) string {
		name := p.createProposal("check.json")
		p.atTerminal(0, "y", "proposals", "approve", name)
		_, _, _ = p.piped("", "proposals", "archive", name, "--reason", "r")
		return gainedIf(p.proposalState(name) == "archived", "an approval was made ineffective without a person")
	},
	"a linked side log": func(t *testing.T, p program) string {
		p.writeFile("w.yaml", shipFlow)
		p.runPiped(0, "start", "w.yaml")
		p.runPiped(0, "annotate", "@last", "--flag")
		found, _ := filepath.Glob(filepath.Join(p.store, "sessions", "*", "annotations"))
		away := filepath.Join(t.TempDir(), "moved")
		if len(found) != 1 || os.Rename(found[0], away) != nil || os.Symlink(away, found[0]) != nil {
			t.Fatal(found)
		}
		out, _, status := p.piped("", "verify", "--json")
		return gainedIf(status != 5, "exit status %d: %s", status, out)
	},
	"a key of run, by start": func(t *testing.T, p program) string {
		_, _, _ = p.piped("", "start", "theirs.json", "--key", "nightly")
		_, _, _ = p.piped("", "run", "mine.json", "--key", "nightly", "--trust", "--notes", "n")
		return gainedIf(p.ran() != "", "performed: %s", p.ran())
	},
	"a key of run, by import": func(t *testing.T, p program) string {
		p.imported("nightly")
		_, _, _ = p.piped("", "run", "mine.json", "--key", "nightly", "--trust", "--notes", "n")
		return gainedIf(p.ran() != "", "performed: %s", p.ran())
	},
	"a key of an automation, by start": func(t *testing.T, p program) string {
		key := p.automation()
		_, _, _ = p.piped("", "start", "theirs.json", "--key", key)
		return p.automationStarted()
	},
	"a key of an automation, by import": func(t *testing.T, p program) string {
		p.imported(p.automation())
		return p.automationStarted()
	},
	"a made-up result, by CLI": func(t *testing.T, p program) string {
		result := p.startedWithResult()
		p.writeFile("result.json", result)
		_, _, _ = p.piped("", "continue", "--run", "@last", "--artifact", "result.json", "--notes", "I ran it.")
		return p.commandDone()
	},
	"a made-up result, by MCP": func(t *testing.T, p program) string {
		result := p.startedWithResult()
		var artifact map[string]any
		if err := json.Unmarshal([]byte(result), &artifact); err != nil {
			t.Fatal(err)
		}
		c := p.agent()
		found := c.tool("resume_session", map[string]any{})
		one := c.tool("continue_workflow", map[string]any{"stateToken": found.Data.Candidates[0].StateToken})
		c.tool("continue_workflow", map[string]any{"ackToken": one.Data.AckToken, "stateToken": one.Data.StateToken,
			"output": map[string]any{"notesMarkdown": "I ran it.", "artifacts": []any{artifact}}})
		c.ends()
		return p.commandDone()
	},
	"a linked session and a cleanup": func(t *testing.T, p program) string {
		p.writeFile("w.yaml", shipFlow)
		p.writeFile("a.json", `{"a":"one"}`)
		p.runPiped(0, "start", "w.yaml")
		_, _, _ = p.piped("", "continue", "--run", "@last", "--artifact", "a.json", "--notes", "n")
		sessions, _ := filepath.Glob(filepath.Join(p.store, "sessions", "sess_*"))
		objects := p.objects()
		away := filepath.Join(t.TempDir(), "moved")
		if len(sessions) != 1 || objects == 0 || os.Rename(sessions[0], away) != nil || os.Symlink(away, sessions[0]) != nil {
			t.Fatal(sessions, objects)
		}
		// Objects without a reference are kept for a day.
		if err := exec.Command("find", p.store, "-type", "f", "-exec", "touch", "-d", "3 days ago", "{}", "+").Run(); err != nil {
			t.Fatal(err)
		}
		_, _ = p.person("gc", "--apply", "--grace", "0s")
		_, _ = p.person("gc", "--apply")
		return gainedIf(p.objects() < objects, "%d of %d objects are left", p.objects(), objects)
	},
	"verify beside deletes and restores": func(t *testing.T, p program) string {
		p.writeFile("w.yaml", shipFlow)
		for range 3 {
			p.runPiped(0, "start", "w.yaml")
			_, _, _ = p.piped("", "continue", "--run", "@last", "--notes", "n")
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range 50 {
				_, _, _ = p.piped("", "sessions", "delete", "@last", "--yes")
				if found, _ := filepath.Glob(filepath.Join(p.store, "trash", "*")); len(found) > 0 {
					ref, _, _ := strings.Cut(filepath.Base(found[len(found)-1]), ".")
					_, _, _ = p.piped("", "sessions", "restore", ref)
				}
			}
		}()
		for {
			out, _, status := p.piped("", "verify", "--json")
			if status == 5 || strings.Contains(out, `"severity":"error"`) {
				<-ended
				return out
			}
			select {
			case <-ended:
				return ""
			default:
			}
		}
	},
}

// TestAttacks takes each way around a person.
func TestAttacks(t *testing.T) {
	t.Parallel()
	cases := sample.OneIn(t, 2)
	for _, name := range slices.Sorted(maps.Keys(attacks)) {
		attack := attacks[name]
		if !cases.Try() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := withTwoFlows(t)
			p.writeFile("check.json", checkProposal)
			if gained := attack(t, p); gained != "" {
				t.Errorf("the attack succeeded: %.600s", gained)
			}
		})
	}
}

func gainedIf(is bool, format string, args ...any) string {
	if !is {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// piped runs the program without a terminal.
func (p program) piped(in string, args ...string) (out, errs string, status int) {
	cmd := p.command(args...)
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = strings.NewReader(in), &stderr
	b, _ := cmd.Output()
	return string(b), stderr.String(), cmd.ProcessState.ExitCode()
}

// person runs the program at a terminal where every question is answered with y.
func (p program) person(args ...string) (screen string, status int) {
	cmd := p.command(args...)
	out, _ := withPerson(cmd, "y")
	return string(out), cmd.ProcessState.ExitCode()
}

// forgeSettings writes the configuration past the program, with a digest that fits.
func (p program) forgeSettings(text string) {
	p.t.Helper()
	data, err := canon.Parse([]byte(text))
	if err != nil {
		p.t.Fatal(err)
	}
	b, err := controlfile.Encode(controlfile.Document{Kind: "config", V: 1, Data: data})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.store, "config.json"), b, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// deleteSettings confirms settings that are not the defaults, if they are not yet, and deletes them.
func (p program) deleteSettings() {
	p.t.Helper()
	p.configure("agentMaxAutonomy", "guided")
	if err := os.Remove(filepath.Join(p.store, "config.json")); err != nil {
		p.t.Fatal(err)
	}
}

// unconfirmed runs a command at a terminal, with y as the answer, and in a pipe. It must be
// POLICY_UNCONFIRMED.
func (p program) unconfirmed(args ...string) string {
	p.t.Helper()
	screen, status := p.person(args...)
	if _, errs, piped := p.piped("", args...); status != 5 || piped != 5 || !strings.Contains(screen, "POLICY_UNCONFIRMED") {
		return fmt.Sprintf("exit %d and %d: %s%s", status, piped, screen, errs)
	}
	return ""
}

// directRBAC creates a proposal in a store where the role of another account may install without
// approvals.
func (p program) directRBAC() string {
	p.t.Helper()
	name := p.createProposal("check.json")
	p.configure("roles", `{"lead":["proposals:apply"]}`)
	if _, status := p.person("config", "set", "principals", principals(map[string]string{"ada": "lead", "eve": "guest"},
		"eve")); status != 0 {
		p.configure("principals", `{"ada":["lead"],"eve":["guest"]}`) // an earlier version has names only
	}
	p.configure("proposalsActivation", "direct-rbac")
	return name
}

// imported imports a bundle whose session has the id of a key in this store.
func (p program) imported(key string) {
	p.t.Helper()
	p.runPiped(0, "start", "mine.json") // the store has an id
	attacker := p
	attacker.store = filepath.Join(p.t.TempDir(), "store")
	if err := os.CopyFS(attacker.store, os.DirFS(p.store)); err != nil {
		p.t.Fatal(err)
	}
	restrictModes(p.t, attacker.store)
	if _, _, status := attacker.piped("", "start", "theirs.json", "--key", key); status != 0 {
		return // this version makes no such bundle; durable/engine has the test with one
	}
	attacker.runPiped(0, "export", "@last", "-o", "taken.bundle.json")
	p.runPiped(0, "import", "taken.bundle.json")
}

// automation installs an automation of team.mine and returns the start key of its next run.
func (p program) automation() string {
	p.t.Helper()
	p.writeFile("automation.json", `{"kind":"automation","title":"Nightly","rationale":"r","artifact":{"automationId":"nightly",`+
		`"schedule":{"cron":"0 3 * * *"},"workflowId":"team.mine"}}`)
	name := p.createProposal("automation.json")
	if screen, status := p.person("proposals", "approve", name); status != 0 {
		p.t.Fatal(screen)
	}
	p.runPiped(0, "proposals", "apply", name)
	return p.scheduled().StartKey
}

// scheduled is the only automation as it is in a hundred years.
func (p program) scheduled() (row struct {
	Due                         bool
	StartKey, SessionID, Source string
}) {
	p.t.Helper()
	var list struct {
		Automations []struct {
			Due                         bool
			StartKey, SessionID, Source string
		}
	}
	p.json(&list, "automations", "due", "--all", "--at", "2126-01-01T04:00:00Z")
	if len(list.Automations) != 1 {
		p.t.Fatalf("%d automations", len(list.Automations))
	}
	row = list.Automations[0]
	return row
}

// automationStarted reports a run of another workflow that passes for a start of the automation.
func (p program) automationStarted() string {
	p.t.Helper()
	row := p.scheduled()
	return gainedIf(!row.Due || row.SessionID != "", "the automation counts as started: %+v", row)
}

// startedWithResult starts team.mine and returns a result of its command from another store.
func (p program) startedWithResult() string {
	p.t.Helper()
	other := p
	other.store = filepath.Join(p.t.TempDir(), "store")
	other.runPiped(0, "run", "mine.json", "--trust", "--notes", "n")
	p.runPiped(0, "start", "mine.json")
	return other.commandResult()
}

// commandDone reports that the step with the command is done in this store.
func (p program) commandDone() string {
	p.t.Helper()
	var run struct{ Steps []struct{ State string } }
	p.json(&run, "runs", "show", "@last")
	return gainedIf(run.Steps[0].State == "done", "a step counts as done whose command did not run")
}

// objects returns the number of files in artifacts/ and the other directories of objects.
func (p program) objects() int {
	found, _ := filepath.Glob(filepath.Join(p.store, "*", "sha256*"))
	more, _ := filepath.Glob(filepath.Join(p.store, "artifacts", "*"))
	return len(found) + len(more)
}
