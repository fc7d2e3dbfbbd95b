//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/consent/consenttest"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/sample"
)

var (
	adaTouch = consenttest.NewSecurityKey(1)
	adaPlain = consenttest.New(2)
	bobPlain = consenttest.New(3)
	evePlain = consenttest.New(4) // no signer
)

// signedStore is a store with signers, and a program that works in it.
type signedStore struct {
	program
	signed int
}

// withSigners returns a store whose first signers are those of an allowed_signers text, with a run whose step waits for an
// approval, and a proposal.
func withSigners(t *testing.T, allowed string) *signedStore {
	t.Helper()
	p := signersIn(t, t.TempDir())
	p.begins(allowed)
	return p
}

// signersIn is the store with signers of a directory.
func signersIn(t *testing.T, dir string) *signedStore {
	return &signedStore{program: program{t, dir, filepath.Join(dir, "home", "local")}}
}

// begins makes the store, with its first signers.
func (p *signedStore) begins(allowed string) {
	p.t.Helper()
	p.writeFile("w.yaml", shipFlow)
	p.writeFile("allowed", allowed)
	p.runPiped(0, "start", "w.yaml")
	p.atTerminal(0, "y", "config", "set", "signers", "@allowed")
}

// touchStore is withSigners with one software security key, and touch required.
func touchStore(t *testing.T) *signedStore {
	t.Helper()
	dir, signed := touchOnce.copied(t, func(dir string) int {
		p := signersIn(t, dir)
		p.begins("ada " + adaTouch.Public() + "\n")
		p.by(adaTouch, "config", "set", "signersRequire", "touch")
		return p.signed
	})
	p := signersIn(t, dir)
	p.signed = signed
	return p
}

// touchOnce is the directory of touchStore that each test begins with.
var touchOnce fixture[int]

// awaits starts a run whose step waits for an approval of notes.
func (p *signedStore) awaits(notes string) {
	p.t.Helper()
	p.runPiped(3, "run", "w.yaml", "--notes", notes)
}

// payload prints what a call has to have signed.
func (p *signedStore) payload(args ...string) string {
	p.t.Helper()
	out, errs, status := p.piped("", append(args, "--payload")...)
	if status != 0 {
		p.t.Fatalf("%q: exit status %d: %s%s", args, status, out, errs)
	}
	return out
}

// signature writes the signature of a text to a file.
func (p *signedStore) signature(text string, key consenttest.Key, namespace string) string {
	p.t.Helper()
	p.signed++
	name := fmt.Sprintf("%d.sig", p.signed)
	p.writeFile(strings.TrimSuffix(name, ".sig"), text)
	p.writeFile(name, key.Armoured([]byte(text), namespace))
	return name
}

// by makes a call with the signature of a key over its payload; it must succeed.
func (p *signedStore) by(key consenttest.Key, args ...string) string {
	p.t.Helper()
	name := p.signature(p.payload(args...), key, consent.Namespace)
	out, errs, status := p.piped("", append(args, "--signature", name)...)
	if status != 0 {
		p.t.Fatalf("%q: exit status %d: %s%s", args, status, out, errs)
	}
	return name
}

// tree returns the content of the files that hold facts: all but cache/, lock files and the audit log.
func (p *signedStore) tree(withAudit bool) map[string]string {
	p.t.Helper()
	out := map[string]string{}
	if err := filepath.WalkDir(p.store, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(p.store, name)
		if err != nil || d.IsDir() || strings.HasPrefix(rel, "cache/") || strings.HasSuffix(rel, ".lock") ||
			!withAudit && strings.HasPrefix(rel, "audit/") {
			return err
		}
		data, err := os.ReadFile(name)
		out[rel] = string(data)
		return err
	}); err != nil {
		p.t.Fatal(err)
	}
	return out
}

// unchanged reports a difference to an earlier tree.
func (p *signedStore) unchanged(before map[string]string, what string) {
	p.t.Helper()
	after := p.tree(false)
	for name, data := range after {
		if before[name] != data {
			p.t.Errorf("%s: %s was changed", what, name)
		}
	}
	if len(after) != len(before) {
		p.t.Errorf("%s: %d files, before %d", what, len(after), len(before))
	}
}

// verifies checks that the store is sound, by itself and against the signers from outside.
func (p *signedStore) verifies() {
	p.t.Helper()
	p.runPiped(0, "verify")
	p.runPiped(0, "verify", "--signers", "allowed")
}

// whyRefused returns the reason of SIGNATURE_REFUSED, and the member that differs.
func (p *signedStore) whyRefused(args ...string) (why string, status int) {
	p.t.Helper()
	out, errs, status := p.piped("", append(args, "--json")...)
	var doc struct {
		Error struct {
			Code    string
			Details struct{ Why, Differs string }
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Error.Code != "SIGNATURE_REFUSED" {
		return doc.Error.Code + out + errs, status
	}
	return strings.TrimSuffix(doc.Error.Details.Why+" "+doc.Error.Details.Differs, " "), status
}

// consentCall is a call that has to be signed.
type consentCall struct {
	name  string
	setUp func(p *signedStore, by consenttest.Key) []string
}

// consentCalls are the calls that have to be signed.
func consentCalls() []consentCall {
	after := func(args ...string) func(*signedStore, consenttest.Key) []string {
		return func(p *signedStore, _ consenttest.Key) []string { p.awaits("plan"); return args }
	}
	proposed := func(args func(name string) []string) func(*signedStore, consenttest.Key) []string {
		return func(p *signedStore, _ consenttest.Key) []string {
			p.writeFile("check.json", checkProposal)
			return args(p.createProposal("check.json"))
		}
	}
	calls := []consentCall{
		{"approve", after("approve", "@last", "--comment", "Fine.")},
		{"send back", after("send-back", "@last", "--reason", "Name the owner.")},
		{"deny", after("deny", "@last", "--reason", "Not wanted.")},
		{"proposals approve", proposed(func(name string) []string { return []string{"proposals", "approve", name} })},
		{"proposals apply, direct-rbac", func(p *signedStore, by consenttest.Key) []string {
			p.by(by, "config", "set", "roles", `{"lead":["proposals:apply"]}`)
			p.by(by, "config", "set", "proposalsActivation", "direct-rbac")
			return proposed(func(name string) []string { return []string{"proposals", "apply", name} })(p, by)
		}},
		{"proposals apply, override", proposed(func(name string) []string {
			return []string{"proposals", "apply", name, "--override", "--reason", "The release waits."}
		})},
		{"proposals approve, in place of a file", func(p *signedStore, _ consenttest.Key) []string {
			return []string{"proposals", "approve", p.replacingProposal()}
		}},
		{"proposals apply, override, in place of a file", func(p *signedStore, _ consenttest.Key) []string {
			return []string{"proposals", "apply", p.replacingProposal(), "--override", "--reason", "The release waits."}
		}},
		{"proposals rollback", func(p *signedStore, by consenttest.Key) []string {
			p.writeFile("check.json", checkProposal)
			name := p.createProposal("check.json")
			p.by(by, "proposals", "approve", name)
			p.runPiped(0, "proposals", "apply", name)
			return []string{"proposals", "rollback", name, "--reason", "Wrong."}
		}},
		{"trust", func(p *signedStore, _ consenttest.Key) []string {
			p.writeFile("cmd.yaml", commandWorkflow)
			return []string{"trust", "cmd.yaml"}
		}},
		{"trust --revoke", func(p *signedStore, by consenttest.Key) []string {
			p.writeFile("cmd.yaml", commandWorkflow)
			p.by(by, "trust", "cmd.yaml")
			return []string{"trust", "--revoke", "cmd.yaml"}
		}},
		{"config confirm", func(p *signedStore, _ consenttest.Key) []string {
			var now struct{ Settings []struct{ Value any } }
			p.json(&now, "config", "get", "signers")
			p.forgeSettings(`{"retentionDays":30,"signers":` + string(asJSON(p.t, now.Settings[0].Value)) + `,"signersRequire":"` +
				p.setting("signersRequire") + `"}`)
			return []string{"config", "confirm"}
		}},
	}
	for _, pair := range [][2]string{{"agentMaxAutonomy", "guided"}, {"feedback", "off"}, {"principals", `{"ada":{"roles":["reviewer"]}}`},
		{"proposals", "off"}, {"proposalsActivation", "direct-rbac"}, {"proposalsApproverRole", "lead"}, {"retentionDays", "30"},
		{"roles", `{"lead":["proposals:apply"]}`}, {"autonomy", "full_auto_never_stop"}} {
		calls = append(calls, consentCall{"config set " + pair[0], func(*signedStore, consenttest.Key) []string {
			return []string{"config", "set", pair[0], pair[1]}
		}})
	}
	return calls
}

// replacingProposal creates a proposal in place of a file of the project, and returns its id.
func (p *signedStore) replacingProposal() string {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Join(p.dir, ".waybill", "workflows"), 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.writeFile(".waybill/workflows/flow.yaml", replacedFlow)
	p.writeFile("better.yaml", strings.Replace(replacedFlow, "Look.", "Look twice.", 1))
	return p.createProposal("better.yaml")
}

// replacedFlow is a workflow that a proposal replaces.
const replacedFlow = "id: team.flow\nname: Flow\ndescription: d\nversion: 1.0.0\nsteps:\n  - {id: a, title: A, prompt: Look.}\n"

// TestSignedConsentCoversWhatIsReplaced: the signed text names the file, and one that names no file or another one is refused
// for the same artifact.
func TestSignedConsentCoversWhatIsReplaced(t *testing.T) {
	t.Parallel()
	p := touchStore(t)
	name := p.replacingProposal()
	p.runPiped(0, "proposals", "revise", name, "--replaces", "none")
	nothing := p.signature(p.payload("proposals", "approve", name), adaTouch, consent.Namespace)
	p.runPiped(0, "proposals", "revise", name, "--replaces", ".waybill/workflows/flow.yaml")
	text := p.payload("proposals", "approve", name)
	if !strings.Contains(text, `"replaces":{"digest":"`+canon.Sum([]byte(replacedFlow)).String()+
		`","sourceKind":"project","sourceRef":".waybill/workflows/flow.yaml","workflowId":"team.flow"}`) {
		t.Error(text)
	}
	if why, status := p.whyRefused("proposals", "approve", name, "--signature", nothing); why != "subject replaces" || status != 3 {
		t.Errorf("a text without the file: refused for %q, exit status %d", why, status)
	}
	p.by(adaTouch, "proposals", "approve", name)
	p.runPiped(0, "proposals", "apply", name)
	if out := p.runPiped(0, "start", "team.flow"); !strings.Contains(out, "Look twice.") {
		t.Error(out)
	}
	p.verifies()
	p.by(adaTouch, "proposals", "rollback", name)
	if out := p.runPiped(0, "start", "team.flow"); strings.Contains(out, "Look twice.") {
		t.Error(out)
	}
}

// setting is the value of a setting as text.
func (p *signedStore) setting(key string) string {
	out, _, _ := p.piped("", "config", "get", key)
	return strings.TrimSpace(out)
}

// TestSignedElsewhere makes each call that has to be signed with a signature of a security key that was made elsewhere. Without
// one it is refused, also at a terminal, and nothing is stored.
func TestSignedElsewhere(t *testing.T) {
	t.Parallel()
	cases := sample.OneIn(t, 2)
	for _, c := range consentCalls() {
		if !cases.Try() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := touchStore(t)
			args := c.setUp(p, adaTouch)
			before := p.tree(false)
			if screen, status := p.person(args...); status != 3 || !strings.Contains(screen, "SIGNATURE_REQUIRED") {
				t.Errorf("at a terminal: exit status %d: %s", status, screen)
			}
			if _, errs, status := p.piped("", args...); status != 3 {
				t.Errorf("without a terminal: exit status %d: %s", status, errs)
			}
			text := p.payload(args...)
			untouched := adaTouch
			untouched.Untouched = true
			for name, sig := range map[string]string{"touch": p.signature(text, untouched, consent.Namespace),
				"namespace": p.signature(text, adaTouch, "git"), "signer": p.signature(text, adaPlain, consent.Namespace)} {
				if why, status := p.whyRefused(append(args, "--signature", sig)...); why != name || status != 3 {
					t.Errorf("%s: refused for %q, exit status %d", name, why, status)
				}
			}
			p.unchanged(before, "refused calls")
			name := p.signature(text, adaTouch, consent.Namespace)
			if out, errs, status := p.piped("", append(args, "--signature", name)...); status != 0 {
				t.Fatalf("exit status %d: %s%s", status, out, errs)
			}
			p.verifies()
			p.storedIs(text, name)
		})
	}
}

// storedIs checks that a file of the store has a signed text, and that stock ssh-keygen verifies its signature.
func (p *signedStore) storedIs(text, name string) {
	p.t.Helper()
	sig, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	member := `"signature":` + string(canon.OfString(string(sig)).JCS()) + `,"signed":` + text
	found := false
	for _, data := range p.tree(true) {
		found = found || strings.Contains(data, member)
	}
	if !found {
		p.t.Error("the text and its signature are not stored")
	}
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		p.t.Log("ssh-keygen is not installed: its check of the signature is left out")
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, keygen, "-Y", "verify", "-f", "allowed", "-I", "ada", "-n", "waybill", "-s", name)
	cmd.Dir, cmd.Stdin = p.dir, strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Errorf("ssh-keygen -Y verify: %v\n%s", err, out)
	}
}

// appendForged appends events to the log of a store past the program, with a correct chain.
func (p *signedStore) appendForged(log func(id.Store) manifest.Log, makes func(owner string, next int64) []event.Event) {
	p.t.Helper()
	store, err := filestore.OpenDir(p.store, filestore.Options{LockWait: time.Second, AllowNetworkFS: true, Now: time.Now})
	if err != nil {
		p.t.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	of, err := store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		p.t.Fatal(err)
	}
	at := log(of)
	if err := ports.WithHealthySession(ctx, store, store, at, manifest.Head{}, ports.Skip,
		func(w ports.Witness, v manifest.Verdict) error {
			_, err := store.Append(ctx, w, v.Head, manifest.Plan{Log: at, Events: makes(at.Owner, v.Head.Next)})
			return err
		}); err != nil {
		p.t.Fatal(err)
	}
}

// forgeAct appends an intention without a signature, and its outcome.
func (p *signedStore) forgeAct(act audit.Act, outcome map[string]string) {
	p.t.Helper()
	by := event.Actor{Kind: event.Human, Ref: "ada"}
	p.appendForged(audit.LogOf, func(owner string, next int64) []event.Event {
		now := time.Now().UnixMilli()
		intended := event.New(owner, next, event.Scope{}, by, now, audit.Intend(act, next))
		return []event.Event{intended, event.New(owner, next+1, event.Scope{}, by, now, audit.Conclude(intended.ID, outcome, nil))}
	})
}
