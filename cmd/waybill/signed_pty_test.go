//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/ports/porttest/sample"
)

// requireSSH skips a test where OpenSSH is not installed.
func requireSSH(t *testing.T) {
	t.Helper()
	for _, name := range []string{"ssh-keygen", "ssh-agent", "ssh-add"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed, so that nothing is signed with it", name)
		}
	}
}

// openSSH runs a program of OpenSSH in the directory of the test and returns what it prints.
func (p program) openSSH(in []byte, args ...string) (string, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdin = p.dir, strings.NewReader(string(in))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// newKey makes a key file of that name with ssh-keygen and returns the public key.
func (p program) newKey(name string) string {
	p.t.Helper()
	if out, err := p.openSSH(nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", name); err != nil {
		p.t.Fatal(err, out)
	}
	data, err := os.ReadFile(filepath.Join(p.dir, name+".pub"))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// storeOfAda is a store with a run and with ada as its signer, who was set at a terminal. The key files are ada and
// eve; the file allowed has the first one.
func storeOfAda(t *testing.T) program {
	t.Helper()
	requireSSH(t)
	dir := newDir(t, shipFlow)
	p := program{t, dir, filepath.Join(dir, "home", "local")}
	p.writeFile("allowed", "ada "+p.newKey("ada"))
	p.newKey("eve")
	p.runPiped(3, "run", "w.yaml", "--notes", "plan")
	p.configure("signers", "@allowed")
	return p
}

// TestExportSigned signs bundles with the real ssh-keygen, and stock 'ssh-keygen -Y verify' agrees with Waybill.
func TestExportSigned(t *testing.T) {
	p := storeOfAda(t)
	var doc struct {
		Signature struct{ File, Fingerprint, Principal string }
	}
	p.json(&doc, "export", "@last", "-o", "a.json", "--sign", "--key", "ada")
	if doc.Signature.File != "a.json.sig" || doc.Signature.Principal != "ada" ||
		!strings.HasPrefix(doc.Signature.Fingerprint, "SHA256:") {
		t.Errorf("%+v", doc)
	}
	info, err := os.Stat(filepath.Join(p.dir, "a.json.sig"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	p.agrees("a.json", true)
	if text := p.runPiped(0, "import", "a.json"); !strings.Contains(text, "is signed by ada (SHA256:") {
		t.Error(text)
	}
	// Any key signs that is named; the answer states that it is no signer's.
	text := strings.Join(strings.Fields(p.runPiped(0, "export", "@last", "-o", "e.json", "--sign", "--key", "eve")), " ")
	if !strings.Contains(text, "which is not a signer of this store: e.json.sig") {
		t.Error(text)
	}
	p.agrees("e.json", false)
	// Of the keys of an agent the first that is a signer's signs; in a store without signers the first one.
	p.startAgent("eve", "ada")
	p.runPiped(0, "export", "@last", "-o", "b.json", "--sign")
	p.agrees("b.json", true)
	other := p
	other.store = filepath.Join(p.dir, "other")
	other.runPiped(0, "start", "w.yaml")
	other.runPiped(0, "export", "@last", "-o", "o.json", "--sign")
	p.agrees("o.json", false)
	// A changed bundle, and the signature of another one.
	data, err := os.ReadFile(filepath.Join(p.dir, "a.json"))
	if err != nil {
		t.Fatal(err)
	}
	p.writeFile("a.json", strings.Replace(string(data), `"exportedAt":"2`, `"exportedAt":"3`, 1))
	p.agrees("a.json", false)
	if err := os.Rename(filepath.Join(p.dir, "b.json.sig"), filepath.Join(p.dir, "o.json.sig")); err != nil {
		t.Fatal(err)
	}
	p.agrees("o.json", false)
}

// startAgent starts an agent with keys, in order, for the programs of this test.
func (p program) startAgent(keys ...string) {
	p.t.Helper()
	dir, err := os.MkdirTemp("", "agent") // the path of a socket is short
	if err != nil {
		p.t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait(); _ = os.RemoveAll(dir) })
	p.t.Setenv("SSH_AUTH_SOCK", socket)
	for _, err := os.Lstat(socket); err != nil; _, err = os.Lstat(socket) {
		time.Sleep(10 * time.Millisecond)
	}
	for _, key := range keys {
		if out, err := p.openSSH(nil, "ssh-add", "-q", key); err != nil {
			p.t.Fatal(err, out)
		}
	}
}

// agrees checks that Waybill and ssh-keygen agree whether a bundle is signed by ada.
func (p program) agrees(name string, want bool) {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	stock, stockErr := p.openSSH(data, "ssh-keygen", "-Y", "verify", "-f", "allowed", "-I", "ada", "-n", "waybill", "-s", name+".sig")
	own, ownErr := p.command("bundle", "verify", name, "--signers", "allowed").CombinedOutput()
	if (stockErr == nil) != want || (ownErr == nil) != want {
		p.t.Errorf("%s: want %t\nssh-keygen: %v %s\nwaybill: %v %s", name, want, stockErr, stock, ownErr, own)
	}
}

// auditedAct is a line of 'audit list --json'.
type auditedAct struct {
	EventID string
	Action  string
	Target  struct{ Kind string }
	Source  *struct{ EventID string }
}

// acts returns the recorded acts, latest last.
func (p program) acts() []auditedAct {
	p.t.Helper()
	var list struct{ Entries []auditedAct }
	p.json(&list, "audit", "list")
	return list.Entries
}

// shownAct is the document of 'audit show --json'.
type shownAct struct {
	auditedAct
	Erased    bool
	Signature *struct {
		Verifies                              bool
		Why, Principal, Fingerprint, Armoured string
		Payload                               json.RawMessage
	}
}

// signedActs makes one act of each kind that is signed, in the store of ada.
func signedActs(p program) {
	p.t.Helper()
	p.runPiped(0, "config", "set", "agentMaxAutonomy", "guided", "--sign", "--key", "ada")
	p.runPiped(0, "send-back", "--reason", "More", "--sign", "--key", "ada")
	p.runPiped(0, "approve", "--sign", "--key", "ada")
	p.writeFile("check.json", checkProposal)
	name := p.createProposal("check.json")
	p.runPiped(0, "proposals", "approve", name, "--reason", "Good", "--sign", "--key", "ada")
	p.runPiped(0, "proposals", "apply", name)
	p.runPiped(0, "proposals", "rollback", name, "--reason", "Bad", "--sign", "--key", "ada")
	p.writeFile("second.json", strings.Replace(checkProposal, "Check before release", "Check twice", 1))
	second := p.createProposal("second.json")
	p.runPiped(0, "proposals", "apply", second, "--override", "--reason", "r", "--sign", "--key", "ada")
}

// TestAuditShowSigned: what audit show prints of each signed act is what ssh-keygen verifies.
func TestAuditShowSigned(t *testing.T) {
	t.Parallel()
	p := storeOfAda(t)
	signedActs(p)
	shown, signed := map[string]bool{}, map[string]bool{}
	acts := p.acts()
	for _, act := range acts {
		var doc shownAct
		p.json(&doc, "audit", "show", act.EventID)
		if doc.EventID != act.EventID || doc.Action != act.Action {
			t.Errorf("%s %s: %+v", act.EventID, act.Action, doc)
		}
		kind := act.Action + " " + act.Target.Kind
		of := fmt.Sprint(kind, doc.Signature != nil)
		if shown[of] && !sample.Exhaustive() {
			continue
		}
		shown[of] = true
		text := p.runPiped(0, "audit", "show", act.EventID)
		if doc.Signature == nil {
			if !strings.Contains(text, "It is not signed.") {
				t.Error(text)
			}
			for _, flag := range []string{"--payload", "--signature"} {
				if text := p.runPiped(6, "audit", "show", act.EventID, flag); !strings.Contains(text, "is not signed") {
					t.Error(text)
				}
			}
			continue
		}
		signed[kind] = true
		s := doc.Signature
		if !s.Verifies || s.Principal != "ada" || s.Why != "" || !strings.Contains(text, "Signed by ada ("+s.Fingerprint) {
			t.Errorf("%s: %+v\n%s", act.Action, s, text)
		}
		payload, signature := p.output("audit", "show", act.EventID, "--payload"), p.output("audit", "show", act.EventID, "--signature")
		p.writeFile("p.sig", signature)
		if out, err := p.openSSH([]byte(payload), "ssh-keygen", "-Y", "verify", "-n", "waybill", "-f", "allowed", "-I", "ada", "-s",
			"p.sig"); err != nil {
			t.Errorf("%s: %v %s", act.Action, err, out)
		}
		if signature != s.Armoured || payload != string(s.Payload) {
			t.Errorf("%s: the document differs from what the flags print", act.Action)
		}
		// A prefix, without the kind of the id, and the event that the line is about.
		refs := []string{act.EventID[:20], act.EventID[4:20]}
		if act.Source != nil {
			refs = append(refs, act.Source.EventID)
		}
		for _, ref := range refs {
			var same shownAct
			if p.json(&same, "audit", "show", ref); same.EventID != act.EventID {
				t.Errorf("%s is %s, want %s", ref, same.EventID, act.EventID)
			}
		}
	}
	for _, want := range []string{"configure store", "send_back run", "approve run", "approve proposal", "roll_back proposal", "override proposal"} {
		if !signed[want] {
			t.Errorf("no signed act %q among %v", want, signed)
		}
	}
	p.runPiped(6, "audit", "show", "evt_aaaaaaaaaaaaaaaaaaaaaaaaaa")
	p.runPiped(2, "audit", "show", acts[0].EventID, "--payload", "--json")
	for _, args := range [][]string{{"audit", "show", acts[0].EventID, "--payload", "--signature"}, {"approve", "--sign", "--payload"}} {
		if text := p.runPiped(2, args...); !strings.Contains(text, "USAGE_ERROR") {
			t.Error(text)
		}
	}
	if text := p.runPiped(6, "audit", "show", "evt_"); !strings.Contains(text, "TARGET_NOT_FOUND") {
		t.Error(text)
	}
	for _, first := range "abcdefghijklmnopqrstuvwxyz234567" {
		n := 0
		for _, act := range acts {
			if strings.HasPrefix(act.EventID, "evt_"+string(first)) || act.Source != nil &&
				strings.HasPrefix(act.Source.EventID, "evt_"+string(first)) {
				n++
			}
		}
		if n > 1 {
			p.runPiped(2, "audit", "show", string(first))
		}
	}
}

// TestAuditShowErased: the artifact of a decision was erased, and its signature with it.
func TestAuditShowErased(t *testing.T) {
	t.Parallel()
	p := storeOfAda(t)
	p.runPiped(0, "approve", "--sign", "--key", "ada")
	var approval auditedAct
	for _, act := range p.acts() {
		if act.Action == "approve" {
			approval = act
		}
	}
	var details struct{ Details struct{ Artifact string } }
	p.json(&details, "audit", "show", approval.EventID)
	p.atTerminal(0, "y", "artifacts", "erase", details.Details.Artifact, "--reason", "r")
	var doc shownAct
	p.json(&doc, "audit", "show", approval.EventID)
	if !doc.Erased || doc.Signature != nil {
		t.Errorf("%+v", doc)
	}
	if text := p.runPiped(6, "audit", "show", approval.EventID, "--payload"); !strings.Contains(text, "was erased") {
		t.Error(text)
	}
}

// output runs the program and returns what it writes to stdout.
func (p program) output(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).Output()
	if err != nil {
		p.t.Fatalf("%v: %v", args, err)
	}
	return string(out)
}
