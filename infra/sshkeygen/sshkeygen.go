// Package sshkeygen makes SSHSIG signatures by running ssh-keygen, as git does: keys in files, in an agent
// and in security keys, and passphrases, are its business. It does not verify what it returns, and decides
// nothing about whose key it is.
package sshkeygen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/fault"
)

// Request is what to sign and with which key.
type Request struct {
	// Message is streamed to ssh-keygen, which hashes it.
	Message   io.Reader
	Namespace string
	// Key is the file of a private key, or of a public key whose private one is in the agent. Without one,
	// the first key of the agent that Accept accepts signs.
	Key string
	// Accept reports a public key that may sign, as authorized_keys has it.
	Accept func(publicKey string) bool
	// Limit is how long ssh-keygen may take: a person enters a passphrase or touches a key meanwhile.
	Limit time.Duration
}

// Limit is the usual Request.Limit.
const Limit = 60 * time.Second

// agentLimit is how long the agent may take to list its keys.
const agentLimit = 5 * time.Second

// outputMax bounds what is read of the programs.
const outputMax = 1 << 20

// Sign returns an armoured signature. The error is SIGNATURE_REQUIRED: ssh-keygen is missing, failed or took
// too long, or no key of the agent is accepted. What ssh-keygen reported is in the message, in one line.
func Sign(ctx context.Context, r Request) (string, error) {
	key := r.Key
	if key == "" {
		dir, err := os.MkdirTemp("", "waybill-key-")
		if err != nil {
			return "", unsigned("no folder for the public key could be made: %v", err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if key, err = agentKey(ctx, r, dir); err != nil {
			return "", err
		}
	} else if info, err := os.Stat(key); err != nil || !info.Mode().IsRegular() {
		return "", unsigned("the key %s is not a file that can be read", key)
	}
	out, err := run(ctx, r.Limit, r.Message, "ssh-keygen", "-Y", "sign", "-n", r.Namespace, "-f", key)
	if err != nil {
		return "", err
	}
	return out, nil
}

// agentKey writes the first accepted public key of the agent to a file in dir, and returns its path.
func agentKey(ctx context.Context, r Request, dir string) (string, error) {
	out, err := run(ctx, min(agentLimit, r.Limit), nil, "ssh-add", "-L")
	if fault.Is(err, fault.Interrupted) {
		return "", err
	}
	if err != nil {
		why := strings.TrimPrefix(fault.Of(err).Message, unsignedPrefix)
		return "", unsigned("the agent has no key that can be used: %s", why).
			Suggest("Name a key with --key FILE, or print what to sign with --payload.")
	}
	for line := range strings.SplitSeq(out, "\n") {
		if line = strings.TrimSpace(line); line == "" || !r.Accept(line) {
			continue
		}
		path := filepath.Join(dir, "key.pub")
		if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
			return "", unsigned("the public key could not be written: %v", err)
		}
		return path, nil
	}
	return "", unsigned("no key of the agent is a signer of this store").
		Suggest("Add the key with ssh-add, name another one with --key FILE, or print what to sign with --payload.")
}

// run runs a program with an input and returns its output.
func run(ctx context.Context, limit time.Duration, input io.Reader, name string, args ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", unsigned("%s is not installed, or not on PATH", name)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second
	cmd.Stdin = input
	out, errOut := &bounded{most: outputMax}, &bounded{most: outputMax}
	cmd.Stdout, cmd.Stderr = out, errOut
	err = cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", unsigned("%s did not end within %s", name, limit)
	case ctx.Err() != nil:
		return "", fault.Wrap(ctx.Err(), fault.Interrupted, "signing was interrupted; nothing was stored")
	case err != nil:
		return "", unsigned("%s failed: %s", name, lastLine(errOut.kept.String(), err))
	}
	return out.kept.String(), nil
}

// lastLine returns the last line that a program printed, or its error.
func lastLine(text string, err error) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if line := strings.TrimSpace(lines[len(lines)-1]); line != "" {
		return fmt.Sprintf("%.200s", strings.ToValidUTF8(line, "\uFFFD"))
	}
	return err.Error()
}

// unsignedPrefix begins the messages of unsigned.
const unsignedPrefix = "no signature was made: "

// unsigned is SIGNATURE_REQUIRED with the reason why no signature was made, and the other way in.
func unsigned(format string, args ...any) *fault.Fault {
	return fault.New(fault.SignatureRequired, unsignedPrefix+format, args...).
		Suggest("Print what to sign with --payload, sign it elsewhere, and hand the signature in with --signature FILE.")
}

// bounded keeps the first bytes that are written to it. The buffer is not embedded: io.Copy would use its
// ReadFrom, which has no bound.
type bounded struct {
	kept bytes.Buffer
	most int
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - b.kept.Len(); room > 0 {
		b.kept.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
