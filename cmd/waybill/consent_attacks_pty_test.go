//go:build linux

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent/consenttest"
	"github.com/waybill/waybill/durable/engine/sealed"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/sample"
	auditview "github.com/waybill/waybill/projections/audit"
)

// besieged is a store in which touches are required, with what was its content before it had signers (old), and with what
// a program made of that at a terminal (rogue): a step is approved, a proposal installed, a workflow trusted.
type besieged struct {
	*signedStore
	old, rogue string
	run        string // the run with the step
	proposal   string
}

// besiege returns a store with a step that waits, a proposal, and a workflow with a command; then it gets signers.
func besiege(t *testing.T) *besieged {
	t.Helper()
	dir, made := besiegedOnce.copied(t, func(dir string) besieged {
		p := besiegedIn(t, dir)
		p.begins()
		return *p
	})
	p := besiegedIn(t, dir)
	p.run, p.proposal, p.signed = made.run, made.proposal, made.signed
	p.inRogue().atTerminal(0, "y", "trust", "cmd.yaml") // the log names the place of the file
	return p
}

// inRogue is the program in the copy that the signers do not have.
func (p *besieged) inRogue() program { return program{p.t, p.dir, p.rogue} }

// besiegedOnce is the directory that each test begins with.
var besiegedOnce fixture[besieged]

// besiegedIn is what is in a directory of a besieged store.
func besiegedIn(t *testing.T, dir string) *besieged {
	at := func(name string) string { return filepath.Join(dir, name) }
	return &besieged{signedStore: &signedStore{program: program{t, at("work"), filepath.Join(at("work"), "home", "local")}}, old: at("old"), rogue: at("rogue")}
}

// begins makes the store and its copies.
func (p *besieged) begins() {
	p.t.Helper()
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.writeFile("w.yaml", shipFlow)
	p.writeFile("allowed", "ada "+adaTouch.Public()+"\n")
	p.writeFile("cmd.yaml", commandWorkflow)
	p.writeFile("check.json", checkProposal)
	p.awaits("plan")
	var shown struct{ RunID string }
	p.json(&shown, "runs", "show", "@last")
	p.run = shown.RunID
	p.proposal = p.createProposal("check.json")
	p.copied(p.store, p.old)
	p.copied(p.store, p.rogue)
	rogue := p.inRogue()
	rogue.atTerminal(0, "y", "approve", "@last")
	rogue.atTerminal(0, "y", "proposals", "approve", p.proposal)
	rogue.runPiped(0, "proposals", "apply", p.proposal)
	p.atTerminal(0, "y", "config", "set", "signers", "@allowed")
	p.by(adaTouch, "config", "set", "signersRequire", "touch")
}

// copied copies a store.
func (p *besieged) copied(from, to string) {
	p.t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		p.t.Fatal(err)
	}
	restrictModes(p.t, to)
}

// replaces puts files and directories of another store, or nothing, in the place of those of the store.
func (p *besieged) replaces(by string, names ...string) {
	p.t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(p.store, name)); err != nil {
			p.t.Fatal(err)
		}
		from := filepath.Join(by, name)
		info, err := os.Stat(from)
		switch {
		case by == "" || os.IsNotExist(err):
		case err != nil:
			p.t.Fatal(err)
		case info.IsDir():
			p.copied(from, filepath.Join(p.store, name))
		default:
			data, err := os.ReadFile(from)
			if err == nil {
				err = os.WriteFile(filepath.Join(p.store, name), data, 0o600)
			}
			if err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

// gains tries everything that a person could do, at a terminal and without one, and returns what took effect.
func (p *besieged) gains() (out []string) {
	p.t.Helper()
	for _, args := range [][]string{{"approve", p.run}, {"proposals", "approve", p.proposal}, {"proposals", "apply", p.proposal},
		{"proposals", "apply", p.proposal, "--override", "--reason", "r"}, {"trust", "cmd.yaml"}, {"config", "confirm"}} {
		_, _ = p.person(args...)
	}
	if screen, status := p.person("config", "set", "retentionDays", "7"); status == 0 {
		out = append(out, "the settings were changed: "+screen)
	}
	if run, _, status := p.piped("", "run", "--run", p.run); status == 0 {
		out = append(out, "the step was approved: "+run)
	}
	if list, _, _ := p.piped("", "workflows", "list"); strings.Contains(list, "team.check") {
		out = append(out, "a proposal was installed")
	}
	_, _, _ = p.piped("", "run", "cmd.yaml")
	if p.ran() != "" {
		out = append(out, "a command ran")
	}
	return out
}

// siege are the ways around the key: each changes the store as a program of the account can, short of all of it.
var siege = map[string]func(*besieged){
	"nothing":             func(*besieged) {},
	"the name of another": func(p *besieged) { _, _ = p.person("approve", "@last", "--as", "ada") },
	"deleted settings":    func(p *besieged) { p.replaces("", "config.json") },
	"settings without signers": func(p *besieged) {
		p.forgeSettings(`{"proposalsActivation":"direct-rbac"}`)
	},
	"settings with a plain key": func(p *besieged) {
		p.forgeSettings(fmt.Sprintf(`{"signers":[{"principal":"ada","publicKey":%q}]}`, evePlain.Public()))
		p.bySignature(evePlain)
	},
	"settings without touch": func(p *besieged) {
		p.forgeSettings(fmt.Sprintf(`{"signers":[{"presence":"none","principal":"ada","publicKey":%q}],"signersRequire":"signature"}`,
			adaTouch.Public()))
		untouched := adaTouch
		untouched.Untouched = true
		p.bySignature(untouched)
	},
	"settings of before":               func(p *besieged) { p.replaces(p.old, "config.json") },
	"trust of a copy":                  func(p *besieged) { p.replaces(p.rogue, "trust.json") },
	"deleted trust":                    func(p *besieged) { p.replaces("", "trust.json") },
	"deleted audit log":                func(p *besieged) { p.replaces("", "audit") },
	"deleted audit log and settings":   func(p *besieged) { p.replaces("", "audit", "config.json", "cache") },
	"audit log of before":              func(p *besieged) { p.replaces(p.old, "audit", "cache") },
	"audit log and settings of before": func(p *besieged) { p.replaces(p.old, "audit", "config.json", "trust.json", "cache") },
	"audit log and trust of a copy":    func(p *besieged) { p.replaces(p.rogue, "audit", "config.json", "trust.json", "cache") },
	"sessions of a copy":               func(p *besieged) { p.replaces(p.rogue, "sessions", "artifacts") },
	"sessions of a copy without settings": func(p *besieged) {
		p.replaces(p.rogue, "sessions", "artifacts")
		p.replaces("", "config.json")
	},
	"all of a copy but the file of the store": func(p *besieged) {
		p.replaces(p.rogue, "audit", "config.json", "trust.json", "cache", "sessions", "artifacts", "proposals", "installed")
	},
	"proposals of a copy": func(p *besieged) { p.replaces(p.rogue, "proposals", "artifacts", "installed") },
	"proposals and cache of a copy": func(p *besieged) {
		p.replaces(p.rogue, "proposals", "artifacts", "installed", "cache", "trust.json")
	},
	"an act that is not signed": func(p *besieged) {
		details := outcomeOf(`{}`)
		p.forgeAct(audit.Act{Action: audit.Configure, Target: audit.Target{Kind: audit.OfStore}}, details)
		p.replaces("", "config.json", "cache")
	},
	"an act that a program signed": func(p *besieged) {
		details := outcomeOf(`{}`)
		act := audit.Act{Action: audit.Configure, Target: audit.Target{Kind: audit.OfStore},
			Details: map[string]string{audit.DetailPolicyAfter: details[audit.DetailPolicy]}}
		payload, err := canon.Parse([]byte(p.payload("config", "set", "signers", "--reset")))
		if err != nil {
			p.t.Fatal(err)
		}
		act.Consent.Signed, act.Consent.Signature = payload, evePlain.Armoured(payload.JCS(), "waybill")
		p.forgeAct(act, details)
		p.replaces("", "config.json", "cache")
	},
	"a forged cache of the audit log": func(p *besieged) {
		for range 20 { // a short log is read whole in any case
			p.forgeAct(audit.Act{Action: audit.Keep, Target: audit.Target{Kind: audit.OfStore}}, nil)
		}
		p.replaces(p.rogue, "trust.json", "proposals", "artifacts", "installed")
		p.forgeCache()
	},
	"a ssh-keygen of its own": func(p *besieged) {
		p.writeFile("old.sig", adaTouch.Armoured([]byte("another text"), "waybill"))
		bin := filepath.Join(p.dir, "bin")
		if err := os.MkdirAll(bin, 0o700); err != nil {
			p.t.Fatal(err)
		}
		p.writeFile("bin/ssh-keygen", "#!/bin/sh\ncat old.sig\n")
		p.writeFile("bin/ssh-add", "#!/bin/sh\necho '"+adaTouch.Public()+"'\n")
		for _, name := range []string{"ssh-keygen", "ssh-add"} {
			if err := os.Chmod(filepath.Join(bin, name), 0o700); err != nil {
				p.t.Fatal(err)
			}
		}
		for _, args := range [][]string{{"approve", "@last", "--sign"}, {"config", "set", "retentionDays", "7", "--sign"},
			{"trust", "cmd.yaml", "--sign"}} {
			cmd := p.command(args...)
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "SIGNATURE_REFUSED") {
				p.t.Errorf("%q: %v: %s", args, err, out)
			}
		}
	},
	"a signature for another act": func(p *besieged) {
		name := p.signature(p.payload("send-back", "@last", "--reason", "r"), adaTouch, "waybill")
		for _, args := range [][]string{{"approve", "@last"}, {"deny", "@last", "--reason", "r"}, {"trust", "cmd.yaml"},
			{"proposals", "approve", p.proposal}, {"config", "set", "retentionDays", "7"}} {
			if why, status := p.whyRefused(append(args, "--signature", name)...); !strings.HasPrefix(why, "subject ") || status != 3 {
				p.t.Errorf("%q: refused for %q, exit status %d", args, why, status)
			}
		}
	},
}

// outcomeOf are the details of an outcome that states settings.
func outcomeOf(settings string) map[string]string {
	return map[string]string{audit.DetailPolicy: canon.Sum([]byte(settings)).String(), audit.DetailSettings: settings}
}

// bySignature tries to approve, to confirm and to trust with a key.
func (p *besieged) bySignature(key consenttest.Key) {
	for _, args := range [][]string{{"config", "confirm"}, {"approve", "@last"}, {"trust", "cmd.yaml"}} {
		text, _, status := p.piped("", append(args, "--payload")...)
		if status != 0 {
			continue
		}
		name := p.signature(text, key, "waybill")
		if out, _, status := p.piped("", append(args, "--signature", name)...); status == 0 {
			p.t.Errorf("%q: accepted: %s", args, out)
		}
	}
}

// TestWithoutTheKey takes each way around the key of the only signer: nothing is approved, installed, changed or trusted.
func TestWithoutTheKey(t *testing.T) {
	t.Parallel()
	cases := sample.OneIn(t, 3)
	for _, name := range slices.Sorted(maps.Keys(siege)) {
		attack := siege[name]
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

// TestRewrittenStores: a store that a program rewrote as a whole is found by the signers from outside.
func TestRewrittenStores(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]func(*besieged){
		"all of before":     func(p *besieged) { p.emptied(); p.copied(p.old, p.store) },
		"all of a copy":     func(p *besieged) { p.emptied(); p.copied(p.rogue, p.store) },
		"without the audit": func(p *besieged) { p.replaces("", "audit", "config.json", "cache"); p.replaces(p.old, "store.json") },
		"own signers": func(p *besieged) {
			p.emptied()
			p.copied(p.old, p.store)
			p.writeFile("own", "ada "+evePlain.Public()+"\n")
			p.atTerminal(0, "y", "config", "set", "signers", "@own")
			p.by(evePlain, "approve", "@last")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := besiege(t)
			p.verifies()
			attack(p)
			out := p.runPiped(5, "verify", "--signers", "allowed")
			if !strings.Contains(out, "signer") {
				t.Error(out)
			}
		})
	}
}

// emptied removes the store.
func (p *besieged) emptied() {
	p.t.Helper()
	if err := os.RemoveAll(p.store); err != nil {
		p.t.Fatal(err)
	}
}

// foldOf folds the audit log of a store.
func (p *besieged) foldOf(dir string, visit func(store *filestore.Store, l *auditview.Ledger)) {
	p.t.Helper()
	store, err := filestore.OpenDir(dir, filestore.Options{LockWait: time.Second, AllowNetworkFS: true, Now: time.Now})
	if err != nil {
		p.t.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	of, err := store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		p.t.Fatal(err)
	}
	l := auditview.NewLedger()
	if _, err := store.Read(ctx, ports.ReadRequest{Log: audit.LogOf(of)}, func(manifest.Head) ports.Visitor { return l }); err != nil {
		p.t.Fatal(err)
	}
	visit(store, l)
}

// forgeCache saves a fold of the audit log in which the trust of the copy is confirmed, with the seal of the store.
func (p *besieged) forgeCache() {
	p.t.Helper()
	var confirmed auditview.Confirmed
	p.foldOf(p.rogue, func(_ *filestore.Store, l *auditview.Ledger) { confirmed = l.Confirmed })
	p.foldOf(p.store, func(store *filestore.Store, l *auditview.Ledger) {
		ctx := context.Background()
		of, err := store.StoreID(ctx, ports.ReadOnly)
		if err != nil {
			p.t.Fatal(err)
		}
		l.Confirmed.Trusted = confirmed.Trusted // and the signers as they are
		doc, err := l.Save()
		if err == nil {
			err = store.StoreHead(ctx, audit.LogOf(of), auditview.LedgerFormat,
				sealed.Append(nil, "waybill 2026 v1 audit cache", sealed.Key(ctx, store), doc))
		}
		if err != nil {
			p.t.Fatal(err)
		}
	})
}
