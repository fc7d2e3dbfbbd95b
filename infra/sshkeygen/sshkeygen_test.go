package sshkeygen

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/fault"
)

// message is longer than a pipe holds.
var message = strings.Repeat("a bundle ", 100_000)

// requireOpenSSH skips a test where a program of OpenSSH is not installed.
func requireOpenSSH(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed, so that signing is not tested with it", name)
		}
	}
}

// newKey makes a key file with ssh-keygen and returns its path and its public key.
func newKey(t *testing.T, name, passphrase string) (path, public string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(path + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return path, strings.TrimSpace(string(data))
}

// startAgent starts an agent with keys, in order, for the programs of this test.
func startAgent(t *testing.T, keys ...string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	t.Setenv("SSH_AUTH_SOCK", socket)
	for range 500 {
		if c, err := net.Dial("unix", socket); err == nil {
			_ = c.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, key := range keys {
		if out, err := exec.Command("ssh-add", "-q", key).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

// fake puts shell scripts on PATH in place of all programs of the machine.
func fake(t *testing.T, scripts map[string]string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for name, script := range scripts {
		text := "#!" + sh + "\n" + strings.ReplaceAll(script, "sleep", sleep) + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

// request signs the message with a key file, "" for the agent.
func request(key string) Request {
	return Request{Message: strings.NewReader(message), Namespace: consent.Namespace, Key: key, Limit: 20 * time.Second,
		Accept: func(string) bool { return true }}
}

// refused checks that no signature was made, with a text in the message.
func refused(t *testing.T, r Request, want string) {
	t.Helper()
	out, err := Sign(t.Context(), r)
	if out != "" || !fault.Is(err, fault.SignatureRequired) || !strings.Contains(fault.Of(err).Message, want) ||
		strings.Count(fault.Of(err).Message, "no signature was made") != 1 {
		t.Errorf("%q, %v, want SIGNATURE_REQUIRED with %q", out, err, want)
	}
}

// signedBy checks a signature over the message by a public key.
func signedBy(t *testing.T, armoured, public string) {
	t.Helper()
	all, err := consent.ParseAllowedSigners("ada " + public)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (consent.Signers{List: all}).CheckSignature([]byte(message), armoured, 0); err != nil {
		t.Error(err)
	}
}

// TestSignWithFile signs with a private key file, and leaves nothing beside it.
func TestSignWithFile(t *testing.T) {
	requireOpenSSH(t, "ssh-keygen")
	key, public := newKey(t, "ada", "")
	armoured, err := Sign(t.Context(), request(key))
	if err != nil {
		t.Fatal(err)
	}
	signedBy(t, armoured, public)
	if left, _ := filepath.Glob(key + "*"); len(left) != 2 {
		t.Errorf("the folder of the key has %q", left)
	}
}

// TestSignWithAgent signs with the first key of an agent that is accepted, and with a public key file whose
// private one is in the agent.
func TestSignWithAgent(t *testing.T) {
	requireOpenSSH(t, "ssh-keygen", "ssh-add", "ssh-agent")
	ada, adaPublic := newKey(t, "ada", "")
	eve, evePublic := newKey(t, "eve", "")
	bob, bobPublic := newKey(t, "bob", "")
	startAgent(t, ada, eve, bob)
	for name, row := range map[string]struct {
		accept func(string) bool
		key    string
		want   string
	}{
		"the first of all":      {accept: func(string) bool { return true }, want: adaPublic},
		"the first of two":      {accept: func(key string) bool { return key != adaPublic }, want: evePublic},
		"the last":              {accept: func(key string) bool { return key == bobPublic }, want: bobPublic},
		"a public key file":     {accept: func(string) bool { return false }, key: bob + ".pub", want: bobPublic},
		"a key that is another": {accept: func(string) bool { return false }, key: eve, want: evePublic},
	} {
		r := request(row.key)
		r.Accept = row.accept
		armoured, err := Sign(t.Context(), r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		signedBy(t, armoured, row.want)
	}
	none := request("")
	none.Accept = func(string) bool { return false }
	refused(t, none, "no key of the agent is a signer of this store")
}

// TestSignRefused is each reason why the real ssh-keygen makes no signature.
func TestSignRefused(t *testing.T) {
	requireOpenSSH(t, "ssh-keygen", "ssh-add", "ssh-agent")
	locked, _ := newKey(t, "locked", "a passphrase")
	// Without a terminal no passphrase can be entered; the program that asks in its place fails.
	t.Setenv("SSH_ASKPASS", filepath.Join(t.TempDir(), "none"))
	t.Setenv("SSH_ASKPASS_REQUIRE", "force")
	refused(t, request(locked), "ssh-keygen failed: ")
	refused(t, request(filepath.Join(t.TempDir(), "none")), "is not a file that can be read")
	refused(t, request(t.TempDir()), "is not a file that can be read")
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, request(text), "ssh-keygen failed: ")
	startAgent(t)
	refused(t, request(""), "the agent has no key that can be used")
	t.Setenv("SSH_AUTH_SOCK", "")
	refused(t, request(""), "the agent has no key that can be used")
	t.Setenv("PATH", t.TempDir())
	refused(t, request(locked), "ssh-keygen is not installed, or not on PATH")
	refused(t, request(""), "ssh-add is not installed, or not on PATH")
}

// TestSignWithBadProgram is each way in which the program on PATH can misbehave.
func TestSignWithBadProgram(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("any"), 0o600); err != nil {
		t.Fatal(err)
	}
	const hang = "exec sleep 60"
	for name, row := range map[string]struct {
		keygen, add string
		key         string
		want        string
	}{
		"hangs":                      {keygen: hang, key: key, want: "ssh-keygen did not end within 300ms"},
		"its child holds the output": {keygen: "sleep 60 & sleep 60", key: key, want: "ssh-keygen did not end within 300ms"},
		"the agent hangs":            {add: hang, want: "ssh-add did not end within 300ms"},
		"fails":                      {keygen: "echo first >&2; echo 'no such key' >&2; exit 255", key: key, want: "ssh-keygen failed: no such key"},
		"fails silently":             {keygen: "exit 3", key: key, want: "ssh-keygen failed: exit status 3"},
		"reads nothing":              {keygen: "exec <&-; echo no >&2; exit 1", key: key, want: "ssh-keygen failed: no"},
	} {
		t.Run(name, func(t *testing.T) {
			fake(t, map[string]string{"ssh-keygen": row.keygen, "ssh-add": row.add})
			r := request(row.key)
			r.Limit = 300 * time.Millisecond
			start := time.Now()
			refused(t, r, row.want)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// TestSignOutputIsBounded: a program that prints without end is not kept in memory.
func TestSignOutputIsBounded(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("any"), 0o600); err != nil {
		t.Fatal(err)
	}
	fake(t, map[string]string{"ssh-keygen": `x=aaaaaaaaaaaaaaaa; x=$x$x$x$x$x$x$x$x; x=$x$x$x$x$x$x$x$x; x=$x$x$x$x$x$x$x$x
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo "$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x$x"; done`})
	out, err := Sign(t.Context(), request(key))
	if err != nil || len(out) != outputMax {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

// TestSignInterrupted: a canceled context ends ssh-keygen.
func TestSignInterrupted(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("any"), 0o600); err != nil {
		t.Fatal(err)
	}
	fake(t, map[string]string{"ssh-keygen": "exec sleep 60", "ssh-add": "exec sleep 60"})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	cancel()
	for _, key := range []string{key, ""} {
		if out, err := Sign(ctx, request(key)); out != "" || !fault.Is(err, fault.Interrupted) {
			t.Errorf("key %q: %q, %v", key, out, err)
		}
	}
}
