package travel

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/bundlefile"
)

// signatureSuffix follows the name of a bundle in that of its signature, as with 'ssh-keygen -Y sign FILE'.
const signatureSuffix = ".sig"

// checkSign refuses flags of export that do not fit --sign.
func checkSign(cmd *cobra.Command, in exportInput) error {
	switch {
	case in.key != "" && !in.sign:
		return cli.UsageFault(cmd, "--key names the key of --sign").Suggest("Add --sign, or leave out --key.")
	case in.sign && in.file == "-":
		return cli.UsageFault(cmd, "--sign writes the signature beside the file, and -o - has none").
			Suggest("Give -o a file.")
	case in.sign && in.format != "":
		return cli.UsageFault(cmd, "--sign signs bundles, and --format %s writes none", in.format).
			Suggest("Leave out --sign, and sign the file with %s.", "ssh-keygen -Y sign -n "+consent.Namespace+" -f KEY FILE")
	}
	return nil
}

// bundleSigner signs the file of an export, and writes the signature beside it. nil signs nothing.
type bundleSigner struct {
	app     *cli.App
	signers consent.Signers // of the store
	key     string          // the file of a key, "" for the agent

	name   string             // of the file of the signature
	force  bool               // replace an existing signature
	target *bundlefile.Target // nil when it is placed
	bundle *os.File           // the bytes of the placed bundle
}

// create starts the file of the signature, before the bundle is written: an existing one is refused as an
// existing bundle is.
func (s *bundleSigner) create(in exportInput) (err error) {
	if s != nil {
		s.name, s.force = in.file+signatureSuffix, in.force
		s.target, err = bundlefile.Create(s.name, in.force)
	}
	return err
}

// place gives the bundle its name. A signature over the file that it replaces is removed before.
func (s *bundleSigner) place(bundle *bundlefile.Target) (err error) {
	if s != nil {
		if s.bundle, err = bundle.Written(); err == nil && s.force {
			err = s.target.RemovePrevious()
		}
		if err != nil {
			bundle.Abandon()
			return err
		}
	}
	return bundle.Commit()
}

// sign signs the bytes of the placed bundle, checks the signature, and places its file. The fault says that
// the bundle is complete.
func (s *bundleSigner) sign(ctx context.Context, file string) (*travel.Signature, error) {
	if s == nil {
		return nil, nil
	}
	armoured, by, err := s.signature(ctx)
	if err != nil {
		f := fault.Of(err)
		if f.Code == fault.Interrupted {
			f.Message = "signing was interrupted"
		}
		f.Message = file + " is complete, without a signature: " + f.Message
		return nil, f.Suggest("Sign it with %s, which writes %s.", "ssh-keygen -Y sign -n "+consent.Namespace+" -f KEY "+
			page.Argument(file), s.name)
	}
	if _, err = io.WriteString(s.target, armoured); err == nil {
		err, s.target = s.target.Commit(), nil
	}
	if err != nil {
		return nil, err
	}
	return signatureBy(s.name, by), nil
}

// signature returns a signature over the bundle and who made it.
func (s *bundleSigner) signature(ctx context.Context) (string, consent.By, error) {
	accept := s.signers.Has
	if s.signers.IsZero() {
		accept = func(string) bool { return true }
	}
	armoured, err := cli.Sign(ctx, s.app, s.bundle, s.key, accept)
	if err != nil {
		return "", consent.By{}, err
	}
	if _, err := s.bundle.Seek(0, io.SeekStart); err != nil {
		return "", consent.By{}, fault.Wrap(err, fault.StoreIO, "the bundle cannot be read again: %v", err)
	}
	by, err := consent.InspectReader(s.bundle, armoured)
	if fault.Is(err, fault.SignatureRefused) {
		err = fault.Wrap(err, fault.SignatureRequired, "ssh-keygen made no signature that counts: %s", fault.Of(err).Message)
	}
	if signer, signerErr := s.signers.Judge(armoured, s.app.NowMs()); err == nil && signerErr == nil {
		by = signer
	}
	return armoured, by, err
}

// close removes what is left of a signature that was not placed.
func (s *bundleSigner) close() {
	if s == nil {
		return
	}
	if s.target != nil {
		s.target.Abandon()
	}
	if s.bundle != nil {
		_ = s.bundle.Close()
	}
}

// noteOtherSignature warns of a signature beside a bundle that was written without one: it is over another file.
func noteOtherSignature(a *cli.App, file string) {
	if _, err := os.Lstat(file + signatureSuffix); err == nil {
		a.Note(func(p *page.Page) {
			p.Text(p.Warn("! "), file+signatureSuffix+" is not a signature over this bundle. "+
				"Remove it, or no import accepts both.")
		})
	}
}

// checkSignatureFlag refuses a signature that cannot be read beside a bundle from stdin. required reports that
// there has to be one.
func checkSignatureFlag(cmd *cobra.Command, bundle, signature string, required bool) error {
	switch {
	case bundle != "-":
		return nil
	case signature == "-":
		return cli.UsageFault(cmd, "the bundle and --signature cannot both read stdin").
			Suggest("Put one of the two into a file.")
	case required && signature == "":
		return cli.UsageFault(cmd, "a bundle from stdin has no file beside it").
			Suggest("Name the signature with --signature FILE.")
	}
	return nil
}

// checkSignature adds to the verification of a bundle who signed it, or a finding why no signature counts.
func checkSignature(ctx context.Context, a *cli.App, b *bundlefile.File, keys consent.Signers, name string,
	doc *document.BundleVerification) error {
	find := func(code manifest.FindingCode, format string, args ...any) error {
		doc.OK = false
		doc.Findings = append(doc.Findings, manifest.NewFinding(code, name, format, args...))
		return nil
	}
	if _, err := os.Lstat(name); name != "-" && errors.Is(err, fs.ErrNotExist) {
		return find(manifest.SignatureMissing, "the bundle is not signed: this file does not exist")
	}
	armoured, err := a.ReadInput("--signature", name, limits.SignatureBytesMax)
	if fault.Is(err, fault.ValidationError) {
		return find(manifest.SignatureInvalid, "%s", fault.Of(err).Message)
	}
	if err != nil {
		return err
	}
	by, err := keys.CheckReader(b.Content(ctx), string(armoured), a.NowMs())
	switch why := fault.Of(err); {
	case err == nil:
		doc.Signer = &by
		return nil
	case why.Code != fault.SignatureRefused:
		return err
	case why.Details["why"] == string(consent.WhySigner):
		return find(manifest.SignatureMissing, "the bundle is signed with the key %s, which is none of the signers",
			by.Fingerprint)
	default:
		return find(manifest.SignatureInvalid, "%s", why.Message)
	}
}

// signatureOf returns who signed a bundle that is about to be imported: from the file that signature names, else
// from the one beside the bundle; nil if there is none. SIGNATURE_REFUSED if it is not one over the bundle.
func signatureOf(ctx context.Context, a *cli.App, o *cli.Store, b *bundlefile.File, bundle, signature string) (
	*travel.Signature, error) {
	if signature == "" {
		if bundle == "-" {
			return nil, nil
		}
		signature = bundle + signatureSuffix
		if _, err := os.Lstat(signature); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	armoured, err := a.ReadInput("--signature", signature, limits.SignatureBytesMax)
	if err != nil {
		return nil, notImported(err, signature)
	}
	by, err := consent.InspectReader(b.Content(ctx), string(armoured))
	if err != nil {
		return nil, notImported(err, signature)
	}
	signers, err := o.SignersInForce(ctx)
	if err != nil {
		return nil, err
	}
	// A key that does not count at present is shown as that of no signer.
	if signer, err := signers.Judge(string(armoured), a.NowMs()); err == nil {
		by = signer
	}
	return signatureBy(signature, by), nil
}

// notImported says what to do about a signature with which a bundle is not imported.
func notImported(err error, signature string) error {
	f := fault.Of(err)
	if f.Code == fault.SignatureRefused {
		f.Message = signature + ": " + f.Message
	}
	if f.Code == fault.SignatureRefused || f.Code == fault.ValidationError {
		return f.Suggest("Nothing was imported. Get the bundle and its signature again; without the file %s it is "+
			"imported as one that is not signed.", page.Argument(signature))
	}
	return f
}

// signatureBy is the signature in a file by a key.
func signatureBy(file string, by consent.By) *travel.Signature {
	return &travel.Signature{File: file, Fingerprint: by.Fingerprint, Principal: by.Principal, Touched: by.Touched}
}

// signerName is who signed a bundle, for a sentence.
func signerName(s travel.Signature) string {
	if s.Principal == "" {
		return "the key " + s.Fingerprint + ", which is not a signer of this store"
	}
	return s.Principal + " (" + s.Fingerprint + ")"
}
