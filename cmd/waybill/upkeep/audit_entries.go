package upkeep

import (
	"cmp"
	"strings"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/projections"
)

// showAuditTrail prints a line for each act. filtered says that only some acts
// were asked for, so that an empty list does not mean an empty log. A log that
// could not be read to its end is named below the lines, with what was found.
func showAuditTrail(p *page.Page, trail engine.AuditTrail, filtered bool) {
	day, width := "", 0
	for _, e := range trail.Entries {
		// Names are aligned, up to a maximum.
		width = max(width, min(terminal.TextWidth(render.ActorAndKind(e.Actor)), render.ActorWidthMax))
	}
	for _, e := range trail.Entries {
		day = showAuditEntry(p, day, width, e)
	}
	switch {
	case len(trail.Entries) > 0:
	case filtered:
		p.Line("Nothing like that is on record.")
	default:
		p.Line("Nothing was decided about this store yet.")
	}
	if !trail.Complete {
		p.Text(p.Warn("! "), "There may be more:")
		showAuditFindings(p, trail.Findings)
	}
}

// showAuditEntry prints one act in the layout of a timeline: with the date
// above each day on a terminal, with the whole time in every line elsewhere.
// Acts that failed or whose outcome is not recorded are colored. It returns the
// day that is now above.
func showAuditEntry(p *page.Page, day string, width int, e projections.AuditEntry) string {
	at := page.ClockTime(e.AtMs, time.RFC3339)
	if p.Width > 0 {
		if d := page.ClockTime(e.AtMs, "Monday, 2 January 2006"); d != day && d != "" {
			p.Line("%s", p.Bold(d))
			day = d
		}
		at = page.ClockTime(e.AtMs, "15:04")
	}
	// The kind is shown where it is no person: a name alone can be chosen
	// freely.
	by := render.ActorAndKind(e.Actor)
	by += strings.Repeat(" ", max(width-terminal.TextWidth(by), 0))
	// The style shows what went wrong before the words are read.
	paint := page.Plainly
	switch e.Outcome {
	case audit.Failed:
		paint = p.Bad
	case audit.Open:
		paint = p.Warn
	}
	p.Painted(p.Dim(cmp.Or(at, "-"))+"  "+by+"  ", auditSentence(e), paint)
	return day
}

// auditVerbs are the words for each action: as it was done, and as it was
// intended.
var auditVerbs = map[audit.Action][2]string{
	audit.Approve:    {"approved a step of", "approve a step of"},
	audit.Override:   {"let nothing stop", "let nothing stop"},
	audit.Repair:     {"repaired", "repair"},
	audit.Keep:       {"kept", "keep"},
	audit.Delete:     {"moved to the trash", "move to the trash"},
	audit.Restore:    {"restored", "restore"},
	audit.EmptyTrash: {"emptied the trash of", "empty the trash of"},
	audit.GC:         {"cleaned up", "clean up"},
	audit.Erase:      {"erased", "erase"},
	audit.Import:     {"imported", "import"},
	audit.Rotate:     {"made new keys for", "make new keys for"},
	audit.Trust:      {"trusted the commands of", "trust the commands of"},
	audit.Untrust:    {"took back the trust in", "take back the trust in"},
	audit.Cancel:     {"ended", "end"},
	audit.Annotate:   {"annotated", "annotate"},
	audit.Retract:    {"took back an annotation of", "take back an annotation of"},
	audit.Propose:    {"made", "make"},
	audit.Revise:     {"revised", "revise"},
	audit.Apply:      {"installed", "install"},
	audit.Reject:     {"rejected", "reject"},
	audit.Archive:    {"archived", "archive"},
	audit.RollBack:   {"rolled back", "roll back"},
}

// auditSentence is one act in words: what was done to what, the outcome, and
// the reason that was given. An act with no outcome was interrupted, or is
// being done at this moment.
//
// The verbs depend on the action and, for proposals, on the target as well:
// approving a step and approving a proposal are one action.
func auditSentence(e projections.AuditEntry) string {
	verbs, known := auditVerbs[e.Action]
	// An action of a newer version is shown by its own word.
	if !known {
		verbs = [2]string{string(e.Action), string(e.Action)}
	}
	if e.Target.Kind == audit.OfProposal {
		switch e.Action {
		case audit.Approve:
			verbs = [2]string{"approved", "approve"}
		case audit.Override:
			verbs = [2]string{"installed, past the approval gate,", "install"}
		}
	}
	what := auditTarget(e)
	var s string
	switch e.Outcome {
	case audit.Failed:
		s = "failed to " + verbs[1] + " " + what + " (" + e.Code + ")"
	case audit.Open:
		s = "meant to " + verbs[1] + " " + what + "; the outcome is not recorded"
	default:
		s = verbs[0] + " " + what
	}
	if e.Action == audit.Keep && e.Details["kept"] == "false" {
		s += ", not any more"
	}
	// How a run was ended is part of the act.
	if as := e.Details["endsAs"]; as != "" {
		s += " as " + as
	}
	if e.Reason != "" {
		s += ": " + strings.Join(strings.Fields(e.Reason), " ")
	}
	return s
}

// auditTarget names what an act was about in the words of people: the beginning
// of an id, or the id of a workflow beside its digest.
func auditTarget(e projections.AuditEntry) string {
	switch t := e.Target; t.Kind {
	case audit.OfRun:
		if run, err := id.ParseRun(t.ID); err == nil {
			return "run " + page.ShortRun(run)
		}
		return "run " + t.ID
	case audit.OfProposal:
		if name, err := id.ParseProposal(t.ID); err == nil {
			return "proposal " + page.ShortProposal(name)
		}
	case audit.OfWorkflow, audit.OfArtifact:
		name := t.ID
		if d, err := canon.ParseDigest(t.ID); err == nil {
			name = page.ShortDigest(d)
		}
		if w := e.Details["workflowId"]; w != "" {
			return w + " (" + name + ")"
		}
		return string(t.Kind) + " " + name
	case audit.OfStore:
		return "the store"
	case audit.OfKeyring:
		return "tokens"
	case audit.OfSession:
		return "session " + t.ID
	}
	return string(e.Target.Kind) + " " + e.Target.ID
}

// showAuditFindings prints what a check of the audit log found, and returns how
// many errors and warnings that were. The path is printed once, above the
// message.
func showAuditFindings(p *page.Page, findings []manifest.Finding) (errs, warns int) {
	for _, f := range findings {
		word := p.Warn("warning")
		if f.Severity == manifest.SeverityError {
			word = p.Bad("error")
			errs++
		} else {
			warns++
		}
		p.Line("  %s  %s  %s", word, f.Code, page.Clean(f.Path))
		p.Text("      ", strings.TrimPrefix(f.Message, f.Path+": "))
	}
	return errs, warns
}
