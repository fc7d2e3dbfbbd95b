// Package consenttest makes SSHSIG signatures for tests, with plain keys and with a security key in
// software. It is a test double: its keys follow from a seed and are no secret.
package consenttest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"io"
	"strings"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// Key is a key pair of a test.
type Key struct {
	seed        byte
	securityKey bool
	// Untouched makes a security key sign without the user-present flag.
	Untouched bool
}

// New returns the Ed25519 key of a seed.
func New(seed byte) Key { return Key{seed: seed} }

// private is made at each use: a key that is a variable of a package costs a process nothing that does not use it.
func (k Key) private() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{k.seed}, ed25519.SeedSize))
}

// NewSecurityKey returns a key as it would live in a security key, sk-ssh-ed25519@openssh.com.
func NewSecurityKey(seed byte) Key {
	k := New(seed)
	k.securityKey = true
	return k
}

// application is what a security key signs for, by default.
const application = "ssh:"

// PublicKey implements ssh.Signer.
func (k Key) PublicKey() ssh.PublicKey {
	public := k.private().Public().(ed25519.PublicKey)
	wire := ssh.Marshal(struct {
		Type string
		Key  []byte
	}{ssh.KeyAlgoED25519, public})
	if k.securityKey {
		wire = ssh.Marshal(struct {
			Type        string
			Key         []byte
			Application string
		}{ssh.KeyAlgoSKED25519, public, application})
	}
	key, err := ssh.ParsePublicKey(wire)
	if err != nil {
		panic(err) // the form is a constant
	}
	return key
}

// Public returns the public key as authorized_keys has it, without a comment.
func (k Key) Public() string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.PublicKey())))
}

// Fingerprint returns the fingerprint, as ssh-keygen -l prints it.
func (k Key) Fingerprint() string { return ssh.FingerprintSHA256(k.PublicKey()) }

// Sign implements ssh.Signer. A security key signs the digests of its application and of the data, with a
// byte of flags and a counter between them (OpenSSH, PROTOCOL.u2f).
func (k Key) Sign(_ io.Reader, data []byte) (*ssh.Signature, error) {
	if !k.securityKey {
		return &ssh.Signature{Format: ssh.KeyAlgoED25519, Blob: ed25519.Sign(k.private(), data)}, nil
	}
	flags := byte(1)
	if k.Untouched {
		flags = 0
	}
	state := []byte{flags, 0, 0, 0, 7}
	app, message := sha256.Sum256([]byte(application)), sha256.Sum256(data)
	signed := append(append(append([]byte{}, app[:]...), state...), message[:]...)
	return &ssh.Signature{Format: ssh.KeyAlgoSKED25519, Blob: ed25519.Sign(k.private(), signed), Rest: state}, nil
}

// Armoured returns the armoured SSHSIG signature over a message in a namespace.
func (k Key) Armoured(message []byte, namespace string) string {
	sig, err := sshsig.Sign(bytes.NewReader(message), k, sshsig.HashSHA512, namespace)
	if err != nil {
		panic(err) // a constant hash function and a key of memory
	}
	return string(sshsig.Armor(sig))
}
