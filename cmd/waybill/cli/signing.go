package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/sshkeygen"
)

// Signing holds the flags with which a command brings a signed consent (docs/design.md#signed-consent):
// it makes the signature with ssh-keygen, prints what has to be signed, or takes a signature that was made
// elsewhere. It implements engine.Consents. The zero Signing brings none.
type Signing struct {
	app     *App
	store   *Store
	sign    bool
	payload bool
	key     string
	file    string

	printed canon.Value // the payload that was asked for
}

// SigningHelp is a paragraph of the help of commands with a Signing.
const SigningHelp = `In a store with signers ('waybill config set signers') the answer counts only with the signature of
one of them. --sign signs with ssh-keygen, after the question at a terminal, else at once. --payload
prints what has to be signed and changes nothing; 'ssh-keygen -Y sign -n waybill' signs it anywhere, and
the same command with --signature FILE hands the signature in, within 24 hours.`

// AddFlags adds the flags to a command, which brings one consent.
func (s *Signing) AddFlags(a *App, cmd *cobra.Command) {
	s.AddSign(a, cmd)
	WithOptions(cmd,
		Opt(&s.payload, "payload", "print what has to be signed, and change nothing"),
		Opt(&s.file, "signature FILE", "take the signature of the printed payload from FILE"))
	cmd.MarkFlagsMutuallyExclusive("sign", "payload", "signature")
	cmd.MarkFlagsMutuallyExclusive("key", "payload")
	cmd.MarkFlagsMutuallyExclusive("key", "signature")
}

// AddSign adds only the flags that make a signature, to a command whose change cannot be planned twice.
func (s *Signing) AddSign(a *App, cmd *cobra.Command) {
	s.app = a
	WithOptions(cmd,
		Opt(&s.sign, "sign", "sign the consent with ssh-keygen (in a store with signers)"),
		Opt(&s.key, "key FILE", "with --sign: the key FILE, instead of the first key of the agent that is a signer"))
}

// Given reports that a consent is brought, so that no person at the terminal of this call has to answer.
func (s *Signing) Given() bool { return s.sign || s.payload || s.file != "" || s.key != "" }

// Asks reports whether the person at the terminal is asked all the same: before a signature is made.
func (s *Signing) Asks() bool {
	return !s.payload && s.file == "" && (!s.Given() || s.app.AtTerminal())
}

// Check refuses, with SIGNATURE_REQUIRED and before a question, a call that brings no signature to a store
// with signers, and with SIGNATURE_REFUSED one that brings a signature to another store.
func (s *Signing) Check(ctx context.Context, o *Store) error {
	signers, err := o.SignersInForce(ctx)
	switch {
	case err != nil:
		return err
	case signers.IsZero() && s.Given():
		return settings.NoSigners()
	case !signers.IsZero() && !s.Given():
		return settings.Unsigned()
	}
	return nil
}

// Asked asks the person at the terminal with App.Asked, where Asks reports that they are asked.
func (s *Signing) Asked(show func(*page.Page), question string) error {
	if !s.Asks() {
		return nil
	}
	return s.app.Asked(show, question)
}

// Caller returns the caller of a store with the consent.
func (s *Signing) Caller(o *Store) engine.Caller {
	s.store = o
	by := o.Caller()
	if s.Given() {
		by.Consents = s
	}
	return by
}

// errPrinted ends a call whose payload is printed.
var errPrinted = errors.New("the payload was printed")

// Consent implements engine.Consents.
func (s *Signing) Consent(ctx context.Context, make func(atMs int64) (consent.Subject, error)) (consent.Given, error) {
	if s.file != "" {
		return s.handedIn(make)
	}
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return consent.Given{}, fault.Wrap(err, fault.Internal, "no random bytes: %v", err)
	}
	now := s.app.NowMs()
	subject, err := make(now)
	if err != nil {
		return consent.Given{}, err
	}
	payload := subject.Payload(now, hex.EncodeToString(random[:]))
	if s.payload {
		if err := s.store.Ports.Payloads().Save(payload.JCS()); err != nil {
			return consent.Given{}, fault.Wrap(err, fault.StoreIO, "the payload could not be kept in the store: %v", err)
		}
		s.printed = payload
		return consent.Given{}, errPrinted
	}
	signers, err := s.store.SignersInForce(ctx)
	if err != nil {
		return consent.Given{}, err
	}
	signature, err := Sign(ctx, s.app, bytes.NewReader(payload.JCS()), s.key, signers.Has)
	return consent.Given{Signed: payload, Signature: signature}, err
}

// Sign makes a signature over a message with ssh-keygen, and says so to a person at the terminal, whom it
// may ask. Without the file of a key the first key of the agent signs that accept accepts.
func Sign(ctx context.Context, a *App, message io.Reader, key string, accept func(string) bool) (string, error) {
	if a.AtTerminal() {
		a.Note(func(p *page.Page) {
			p.Line("Signing with ssh-keygen; enter the passphrase or touch the key if it asks.")
		})
	}
	return sshkeygen.Sign(ctx, sshkeygen.Request{Message: message, Namespace: consent.Namespace, Key: key, Accept: accept,
		Limit: sshkeygen.Limit})
}

// handedIn returns the consent of a signature in a file. What was signed is among the payloads that were
// printed for this store, or in the file beside it that ssh-keygen signed.
func (s *Signing) handedIn(make func(atMs int64) (consent.Subject, error)) (given consent.Given, err error) {
	armoured, err := s.app.ReadInput("--signature", s.file, limits.SignatureBytesMax)
	if err != nil {
		return given, err
	}
	candidates, err := s.store.Ports.Payloads().List()
	if err != nil {
		log := s.app.Log()
		log.Warn().Err(err).Msg("the payloads that were printed for this store cannot be read")
	}
	if beside, ok := strings.CutSuffix(s.file, ".sig"); ok && beside != "" {
		if text, err := s.app.ReadInput("--signature", beside, limits.PayloadBytesMax); err == nil {
			candidates = append(candidates, text)
		}
	}
	return consent.Choose(candidates, string(armoured), make)
}

// Finish returns the result of a call that may have ended because its payload was printed: then the payload
// is written to stdout, exactly as it has to be signed, or with --json as the document "payload".
func (s *Signing) Finish(err error) error {
	if s.printed.IsNull() || !errors.Is(err, errPrinted) {
		return err
	}
	if s.app.Flags.JSON {
		return s.app.Answer("payload", document.Payload{Payload: s.printed, SHA256: canon.Sum(s.printed.JCS())}, nil)
	}
	return s.app.WriteStored(s.printed.JCS())
}
