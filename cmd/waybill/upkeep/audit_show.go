package upkeep

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
)

// auditShowLong is what 'waybill audit show --help' prints above the usage.
const auditShowLong = `Show one recorded action with all details, and for a signed one who signed it, with which
key, and whether the signature counts: that it is one over the text, that the text is about
this action, and that a signer then in force made it.

ID is that of the line or of the event that the line is about, or a unique prefix of one;
'waybill audit list --details' prints both.

--payload prints exactly the bytes that were signed, --signature the signature, so that
another program can check them:

  waybill audit show ID --payload > p
  waybill audit show ID --signature > p.sig
  ssh-keygen -Y verify -n waybill -f ALLOWED_SIGNERS -I PRINCIPAL -s p.sig < p`

// newAuditShow returns "audit show". The flags print stored bytes in place of the
// document; the exit status is 6 if the action is not signed.
func newAuditShow(a *cli.App) *cobra.Command {
	var payload, signature bool
	cmd := cli.WithOptions(&cobra.Command{
		Use:   "show ID",
		Short: "Show a recorded action and its signature",
		Long:  auditShowLong,
		Example: "  waybill audit show evt_k3j2a7\n  waybill audit show k3j2a7 --json\n" +
			"  waybill audit show k3j2a7 --payload",
		Args: cli.Exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (payload || signature) && a.Flags.JSON {
				return cli.UsageFault(cmd, "--payload and --signature print no document").
					Suggest("Leave out --json, or the other flag: the document has both.")
			}
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				doc, err := o.AuditShow(ctx, args[0])
				switch {
				case err != nil:
					return err
				case !payload && !signature:
					return a.Answer("audit_entry", doc, func(p *page.Page) { showAuditDetails(p, doc) })
				case doc.Signature == nil:
					return unsignedAct(doc)
				case payload:
					return a.WriteStored(doc.Signature.Payload.JCS())
				default:
					return a.WriteStored([]byte(doc.Signature.Armoured))
				}
			})
		},
	},
		cli.Opt(&payload, "payload", "print only the bytes that were signed"),
		cli.Opt(&signature, "signature", "print only the signature"))
	cmd.MarkFlagsMutuallyExclusive("payload", "signature")
	return cmd
}

// unsignedAct is TARGET_NOT_FOUND for the signature of an act without one.
func unsignedAct(doc verify.AuditEntry) error {
	why := "is not signed"
	if doc.Erased {
		why = "is about an artifact that was erased, and a signature in it with it"
	}
	return fault.New(fault.TargetNotFound, "the action %s %s", doc.EventID, why).
		Suggest("See it with %s.", fault.Command{"audit", "show", doc.EventID.String()})
}

// showAuditDetails prints an act as a sentence, then its recorded members, and what its signature is worth.
func showAuditDetails(p *page.Page, doc verify.AuditEntry) {
	showAuditEntry(p, "", 0, doc.Entry)
	render.Members(p, doc, "payload", "armoured")
	switch s := doc.Signature; {
	case doc.Erased:
		p.Text(p.Warn("! "), "The artifact of the decision was erased, and a signature in it with it.")
	case s == nil:
		p.Line("It is not signed.")
	case s.Verifies:
		p.Text(p.Good("✓ "), "Signed by "+s.Principal+" ("+s.Fingerprint+"), "+
			page.ClockTime(s.SignedAtMs, "2 Jan 2006 15:04")+". The signature verifies.")
	default:
		p.Text(p.Bad("✗ "), "It has a signature that does not count: "+s.Why+".")
	}
}
