//go:build linux

package main

import (
	"encoding/json"
	"github.com/waybill/waybill/ports/porttest/sample"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// environments are values of variables that a program sets before it calls waybill: each names another person, another place
// for files of this one, or asks for no questions.
var environments = map[string]string{
	"USER": "ada", "LOGNAME": "ada", "SUDO_USER": "ada", "SUDO_UID": "0", "GIT_AUTHOR_NAME": "ada", "GIT_COMMITTER_EMAIL": "ada",
	"HOME": "theirs", "XDG_DATA_HOME": "theirs", "XDG_CONFIG_HOME": "theirs", "XDG_CACHE_HOME": "theirs", "TMPDIR": "theirs",
	"WAYBILL_HOME": "theirs", "WAYBILL_YES": "1", "WAYBILL_SIGNERS": "own", "WAYBILL_SIGNERS_REQUIRE": "signature",
	"CI": "true", "TERM": "dumb", "SSH_AUTH_SOCK": "own.sock", "SSH_ASKPASS": "/bin/true", "SSH_ASKPASS_REQUIRE": "force",
	"SSH_SK_PROVIDER": "/bin/true", "FAKETIME": "-1y", "TZ": "Pacific/Kiritimati",
}

// sideDoors are the ways around the key that go through the program.
var sideDoors = map[string]func(*besieged){
	"a bundle of a copy": func(p *besieged) {
		p.rogueBundle()
		p.replaces("", "sessions", "artifacts")
		p.runPiped(0, "import", "rogue.bundle.json")
	},
	"a bundle of a copy, beside ours": func(p *besieged) {
		p.rogueBundle()
		_, _, _ = p.piped("", "import", "rogue.bundle.json")
	},
	"a bundle of a copy, edited": func(p *besieged) {
		p.rogueBundle()
		name := filepath.Join(p.dir, "rogue.bundle.json")
		data, err := os.ReadFile(name)
		if err != nil {
			p.t.Fatal(err)
		}
		p.writeFile("rogue.bundle.json", strings.ReplaceAll(string(data), storeOf(p, p.rogue), storeOf(p, p.store)))
		p.replaces("", "sessions", "artifacts")
		_, _, _ = p.piped("", "import", "rogue.bundle.json")
	},
	"MCP": func(p *besieged) {
		if err := os.MkdirAll(filepath.Join(p.dir, ".waybill", "workflows"), 0o700); err != nil {
			p.t.Fatal(err)
		}
		p.writeFile(".waybill/workflows/ship.yaml", shipFlow)
		agent := p.agent()
		defer agent.ends()
		at := agent.tool("start_workflow", doc{"workflowId": "test.ship"})
		if at.Data.StateToken == "" {
			p.t.Fatal(at.raw)
		}
		kinds := []any{
			doc{"kind": "wr.human_approval", "approved": true, "by": "ada"},
			doc{"kind": "wr.human_decision", "decision": "approve", "by": "ada"},
		}
		for n := range kinds {
			r := agent.tool("continue_workflow", doc{"stateToken": at.Data.StateToken, "ackToken": at.Data.AckToken,
				"output": doc{"notesMarkdown": "approved by ada", "artifacts": kinds[n : n+1]}, "context": doc{"approved": true}})
			if r.Kind != "error" {
				p.t.Errorf("%v was accepted: %s", kinds[n], r.raw)
			}
		}
		var list struct{ Tools []struct{ Name string } }
		if err := json.Unmarshal(agent.call("tools/list", "{}"), &list); err != nil || len(list.Tools) == 0 {
			p.t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if strings.Contains(tool.Name, "approve") || strings.Contains(tool.Name, "apply") || strings.Contains(tool.Name, "trust") {
				p.t.Errorf("a tool %s", tool.Name)
			}
		}
	},
	"flags": func(p *besieged) {
		for _, args := range [][]string{{"approve", "@last"}, {"proposals", "approve", p.proposal}, {"trust", "cmd.yaml"},
			{"config", "set", "retentionDays", "7"}} {
			for _, more := range [][]string{{"--yes"}, {"--signature", "/dev/null"}, {"--signature", "-"}, {"--as", "ada"},
				{"--sign", "--key", "/dev/null"}, {"--sign", "--key", "allowed"}} {
				if out, _, status := p.piped("", append(args, more...)...); status == 0 {
					p.t.Errorf("%q %q: %s", args, more, out)
				}
			}
		}
	},
	"the environment": func(p *besieged) {
		p.writeFile("own", "ada "+evePlain.Public()+"\n")
		env := os.Environ()
		for _, name := range slices.Sorted(maps.Keys(environments)) {
			env = append(env, name+"="+environments[name])
		}
		for _, args := range [][]string{{"approve", "@last"}, {"proposals", "approve", p.proposal}, {"proposals", "apply", p.proposal},
			{"trust", "cmd.yaml"}, {"config", "set", "retentionDays", "7"}, {"run", "cmd.yaml"}} {
			cmd := p.command(args...)
			cmd.Env = env
			if out, err := withPerson(cmd, "y"); err == nil && args[0] != "run" && args[1] != "apply" {
				p.t.Errorf("%q: %s", args, out)
			}
		}
	},
}

// rogueBundle exports the approved run of the copy.
func (p *besieged) rogueBundle() {
	p.t.Helper()
	rogue := *p.signedStore
	rogue.store = p.rogue
	rogue.runPiped(0, "export", "@last", "-o", "rogue.bundle.json")
}

// storeOf reads the id of a store.
func storeOf(p *besieged, dir string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "store.json"))
	if err != nil {
		p.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), `"storeId":"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// TestDoorsWithoutTheKey takes each way through the program around the key of the only signer: import, MCP, flags, the
// environment.
func TestDoorsWithoutTheKey(t *testing.T) {
	t.Parallel()
	cases := sample.OneIn(t, 3)
	for _, name := range slices.Sorted(maps.Keys(sideDoors)) {
		attack := sideDoors[name]
		if !cases.Try() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := besiege(t)
			attack(p)
			if gained := p.gains(); len(gained) > 0 {
				t.Errorf("gained: %.800s", strings.Join(gained, "\n"))
			}
		})
	}
}
