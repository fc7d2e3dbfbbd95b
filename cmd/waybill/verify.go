package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/manifest"
)

func newVerifyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "verify [SESSION|RUN]",
		GroupID: groupLook,
		Short:   "Check that every stored fact is still what was written",
		Long: `Read everything and check it: every digest, the chain of every log, every reference
between events, every file that one refers to. Nothing is changed or repaired. With
SESSION or RUN only that session is checked.

Errors, which say that something was lost or changed, end with exit status 5. Warnings,
such as the remains of an interrupted write, do not.`,
		Example: "  waybill verify\n  waybill verify @last\n  waybill verify --json | jq .data.ok",
		Args:    atMost("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.open(cmd.Context())
			if fault.Is(err, fault.StoreCorrupt) {
				return fault.Of(err).Suggest("Restore that file from a backup; without it nothing else of the store can be checked.")
			}
			if err != nil {
				return err
			}
			defer o.close()
			var v engine.Verification
			if len(args) == 0 {
				v, err = o.Verify(cmd.Context())
			} else {
				v, err = o.VerifySession(cmd.Context(), args[0])
			}
			if err != nil {
				return err
			}
			if err := a.answer("verification", v, func(p *page) { p.verification(v) }); err != nil || v.OK {
				return err
			}
			return shown{fault.ExitIntegrity}
		},
	}
}

// verification names sessions only where something was found: in a store of a
// thousand, the good ones would bury the bad one.
func (p *page) verification(v engine.Verification) {
	var events int64
	errs, warns := 0, 0
	tell := func(findings []manifest.Finding) {
		for _, f := range findings {
			word := p.warn("warning")
			if f.Severity == manifest.SeverityError {
				word = p.bad("error")
				errs++
			} else {
				warns++
			}
			p.line("  %s  %s  %s", word, f.Code, clean(f.Path))
			p.text("      ", strings.TrimPrefix(f.Message, f.Path+": "))
		}
	}
	for _, s := range v.Sessions {
		events += s.Events
		if len(s.Findings) > 0 || s.Health != manifest.Healthy {
			state := "is " + toldHealth(s.Health)
			if s.Health == manifest.Healthy {
				state = "has a log that is whole, and:" // else it would be called healthy above an error
			}
			p.line("%s %s", s.SessionID, state)
			tell(s.Findings)
		}
	}
	if len(v.Findings) > 0 {
		p.line("The store")
		tell(v.Findings)
	}
	sum := plural(len(v.Sessions), "session") + " and " + plural(int(events), "event") + " checked: "
	switch {
	case !v.OK:
		p.text(p.bad("✗ "), sum+tally(errs, warns)+".")
	case warns > 0:
		p.text(p.warn("! "), sum+"no errors, "+plural(warns, "warning")+".")
	default:
		p.text(p.good("✓ "), sum+"everything is as it was written.")
	}
}
