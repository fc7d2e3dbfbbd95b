//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
)

// bothKeys are the signers of stores in which no touch is required.
func bothKeys() string {
	return "ada " + adaPlain.Public() + "\nbob " + bobPlain.Public() + "\n"
}

// changed returns a payload with another member.
func changed(t *testing.T, text, member string, v canon.Value) string {
	t.Helper()
	payload, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(payload.With(member, v).JCS())
}

// TestSignaturesThatAreRefused hands in signatures for something else than the approval of what waits. Each is refused with
// its reason, and nothing is stored.
func TestSignaturesThatAreRefused(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	at := func(d time.Duration) canon.Value { return canon.OfInt(time.Now().Add(d).UnixMilli()) }
	for name, test := range map[string]struct {
		why  string
		make func(p *signedStore) string // a file with a signature
	}{
		"of a decision": {"subject decision", func(p *signedStore) string {
			return p.signature(p.payload("deny", "@last", "--reason", "r"), adaPlain, "waybill")
		}},
		"with a comment": {"subject reason", func(p *signedStore) string {
			return p.signature(p.payload("approve", "@last", "--comment", "Fine."), adaPlain, "waybill")
		}},
		"of another session": {"subject session", func(p *signedStore) string {
			name := p.signature(p.payload("approve", "@last"), adaPlain, "waybill")
			p.awaits("plan")
			return name
		}},
		"of earlier outputs": {"subject shown", func(p *signedStore) string {
			name := p.signature(p.payload("approve", "@last"), adaPlain, "waybill")
			_, _, _ = p.piped("", "continue", "--run", "@last", "--notes", "another plan")
			return name
		}},
		"of an earlier policy": {"subject policy", func(p *signedStore) string {
			name := p.signature(p.payload("approve", "@last"), adaPlain, "waybill")
			p.by(adaPlain, "config", "set", "retentionDays", "7")
			return name
		}},
		"of a signer who was removed": {"subject policy", func(p *signedStore) string {
			name := p.signature(p.payload("approve", "@last"), bobPlain, "waybill")
			p.writeFile("less", "ada "+adaPlain.Public()+"\n")
			p.by(adaPlain, "config", "set", "signers", "@less")
			return name
		}},
		"by a signer who was removed": {"signer", func(p *signedStore) string {
			p.writeFile("less", "ada "+adaPlain.Public()+"\n")
			p.by(adaPlain, "config", "set", "signers", "@less")
			return p.signature(p.payload("approve", "@last"), bobPlain, "waybill")
		}},
		"by a key whose time is over": {"expired", func(p *signedStore) string {
			p.writeFile("over", `ada `+adaPlain.Public()+"\n"+`bob valid-before="20260101Z" `+bobPlain.Public()+"\n")
			p.by(adaPlain, "config", "set", "signers", "@over")
			return p.signature(p.payload("approve", "@last"), bobPlain, "waybill")
		}},
		"by another key": {"signer", func(p *signedStore) string {
			return p.signature(p.payload("approve", "@last"), evePlain, "waybill")
		}},
		"of another namespace": {"namespace", func(p *signedStore) string {
			return p.signature(p.payload("approve", "@last"), adaPlain, "git")
		}},
		"of another store": {"subject store", func(p *signedStore) string {
			return p.signature(changed(p.t, p.payload("approve", "@last"), "store",
				canon.OfString("store_aaaaaaaaaaaaaaaaaaaaaaaaaa")), adaPlain, "waybill")
		}},
		"of another step": {"subject step", func(p *signedStore) string {
			return p.signature(changed(p.t, p.payload("approve", "@last"), "step", canon.OfString("other")), adaPlain, "waybill")
		}},
		"of yesterday": {"time", func(p *signedStore) string {
			return p.signature(changed(p.t, p.payload("approve", "@last"), "atMs", at(-day-time.Minute)), adaPlain, "waybill")
		}},
		"of tomorrow": {"time", func(p *signedStore) string {
			return p.signature(changed(p.t, p.payload("approve", "@last"), "atMs", at(day)), adaPlain, "waybill")
		}},
		"of nothing that was printed": {"invalid", func(p *signedStore) string {
			p.writeFile("lone.txt", adaPlain.Armoured([]byte("text"), "waybill"))
			return "lone.txt"
		}},
		"that counted before": {"used", func(p *signedStore) string {
			name := p.by(adaPlain, "send-back", "@last", "--reason", "r")
			return name
		}},
		"that is cut": {"malformed", func(p *signedStore) string {
			name := p.signature(p.payload("approve", "@last"), adaPlain, "waybill")
			data, _ := os.ReadFile(filepath.Join(p.dir, name))
			p.writeFile(name, string(data[:len(data)/2]))
			return name
		}},
		"that is garbage": {"malformed", func(p *signedStore) string { p.writeFile("g.sig", "\x00\xff garbage"); return "g.sig" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := withSigners(t, bothKeys())
			p.awaits("plan")
			file := test.make(p)
			before := p.tree(true)
			args := []string{"approve", "@last", "--signature", file}
			if name == "that counted before" {
				args = []string{"send-back", "@last", "--reason", "r", "--signature", file}
			}
			if why, status := p.whyRefused(args...); why != test.why || status != 3 {
				t.Errorf("refused for %q, exit status %d, want %q", why, status, test.why)
			}
			for file, data := range p.tree(true) {
				if before[file] != data {
					t.Errorf("%s was changed", file)
				}
			}
			// What waits is still approved by the right signature.
			if name != "that counted before" {
				p.by(adaPlain, "approve", "@last")
				p.runPiped(0, "verify")
			}
		})
	}
}

// TestSignatureFilesThatAreNone: a directory, a pipe and a huge file are refused, without waiting for them.
func TestSignatureFilesThatAreNone(t *testing.T) {
	t.Parallel()
	p := withSigners(t, bothKeys())
	p.awaits("plan")
	p.payload("approve", "@last")
	if err := syscall.Mkfifo(filepath.Join(p.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(p.dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.writeFile("huge", strings.Repeat("A", 1<<20))
	before := p.tree(false)
	for _, name := range []string{"pipe", "folder", "huge", "missing"} {
		if out, errs, status := p.piped("", "approve", "@last", "--signature", name); status == 0 || status > 6 {
			t.Errorf("%s: exit status %d: %s%s", name, status, out, errs)
		}
	}
	p.unchanged(before, "files that are none")
}

// TestTwoSignersOfOneAccount: two signers approve from one account, and one signer counts once.
func TestTwoSignersOfOneAccount(t *testing.T) {
	t.Parallel()
	p := withSigners(t, bothKeys())
	p.by(adaPlain, "config", "set", "principals", `{"ada":{"roles":["reviewer"],"keys":["`+adaPlain.Fingerprint()+
		`"]},"bob":{"roles":["reviewer"],"keys":["`+bobPlain.Fingerprint()+`"]}}`)
	p.by(adaPlain, "config", "set", "proposalsQuorum", "2")
	p.writeFile("w.yaml", decisionsFlow(", approvers: [reviewer], count: 2"))
	p.awaits("plan")
	p.writeFile("check.json", checkProposal)
	name := p.createProposal("check.json")
	quorum := func(want int, args ...string) {
		t.Helper()
		text := p.payload(args...)
		out, errs, status := p.piped("", append(args, "--signature", p.signature(text, adaPlain, "waybill"))...)
		if status != want {
			t.Errorf("%q: exit status %d: %s%s", args, status, out, errs)
		}
	}
	quorum(3, "approve", "@last")
	p.piped("", "continue", "--run", "@last")
	quorum(1, "approve", "@last") // the same person
	p.by(bobPlain, "approve", "@last")
	p.runPiped(0, "continue", "--run", "@last")
	p.by(adaPlain, "proposals", "approve", name)
	p.runPiped(3, "proposals", "apply", name)
	p.by(bobPlain, "proposals", "approve", name)
	p.runPiped(0, "proposals", "apply", name)
	p.verifies()
}

// TestSignedBySSHKeygen makes consents with ssh-keygen: by a key file, by a key of the agent, and elsewhere. Where a program
// has the key, it needs no person: that is what touches are for.
func TestSignedBySSHKeygen(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ssh-keygen", "ssh-agent", "ssh-add"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	run := func(env []string, in, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, append(os.Environ(), env...), strings.NewReader(in)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %q: %v: %s", name, args, err, out)
		}
		return string(out)
	}
	run(nil, "", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	p := withSigners(t, "ada "+string(public)+"bob "+adaPlain.Public()+"\n")
	// By the file.
	p.awaits("plan")
	p.runPiped(0, "approve", "@last", "--sign", "--key", key)
	// By the agent.
	socket := filepath.Join(dir, "s")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	env := []string{"SSH_AUTH_SOCK=" + socket}
	for range 500 {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	run(env, "", "ssh-add", "-q", key)
	cmd := p.command("config", "set", "retentionDays", "7", "--sign")
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("by the agent: %v: %s", err, out)
	}
	// Elsewhere, over stdin.
	p.awaits("plan")
	text := p.payload("approve", "@last")
	p.writeFile("elsewhere.sig", run(nil, text, "ssh-keygen", "-q", "-Y", "sign", "-n", "waybill", "-f", key))
	p.runPiped(0, "approve", "@last", "--signature", "elsewhere.sig")
	p.verifies()
	// Where a touch is required, neither the file nor the agent helps.
	p.writeFile("allowed", "ada "+string(public)+"eve "+adaTouch.Public()+"\n")
	for _, args := range [][]string{{"config", "set", "signers", "@allowed"}, {"config", "set", "signersRequire", "touch"}} {
		p.runPiped(0, append(args, "--sign", "--key", key)...)
	}
	p.awaits("plan")
	before := p.tree(false)
	for _, more := range [][]string{{"--sign", "--key", key}, {"--sign"}} {
		cmd := p.command(append([]string{"approve", "@last"}, more...)...)
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "SIGNATURE_RE") {
			t.Errorf("%q: %v: %s", more, err, out)
		}
	}
	p.unchanged(before, "plain keys where a touch is required")
}

// TestWithoutSSHKeygen: where ssh-keygen is not on PATH, --sign says so and names the other way.
func TestWithoutSSHKeygen(t *testing.T) {
	t.Parallel()
	p := withSigners(t, bothKeys())
	p.awaits("plan")
	p.writeFile("key", "no key")
	cmd := p.command("approve", "@last", "--sign", "--key", "key")
	cmd.Path, _ = exec.LookPath("waybill")
	cmd.Env = append(os.Environ(), "PATH="+t.TempDir())
	out, _ := cmd.CombinedOutput()
	if text := string(out); cmd.ProcessState.ExitCode() != 3 || !strings.Contains(text, "SIGNATURE_REQUIRED") ||
		!strings.Contains(text, "--payload") || !strings.Contains(text, "ssh-keygen is not installed") {
		t.Errorf("exit status %d: %s", cmd.ProcessState.ExitCode(), text)
	}
}
