package upkeep

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	auditview "github.com/waybill/waybill/projections/audit"
)

// showAuditList prints a line for each action. filtered reports that the caller
// selected some actions only, so that an empty list does not mean an empty log.
// If the log could not be read completely, the findings are printed below.
func showAuditList(p *page.Page, list verify.AuditTrail, filtered bool) {
	day, width := "", 0
	for _, e := range list.Entries {
		// Actors are padded to one column, up to a maximum width.
		width = max(width, min(page.TextWidth(render.ActorAndKind(e.Actor)), render.ActorWidthMax))
	}
	for _, e := range list.Entries {
		day = showAuditEntry(p, day, width, e)
	}
	render.ClaimNote(p, slices.ContainsFunc(list.Entries, func(e auditview.Entry) bool { return e.Actor.Ref != "" }))
	switch {
	case len(list.Entries) > 0:
	case filtered:
		p.Line("No matching actions.")
	default:
		p.Line("No actions are recorded yet.")
	}
	if !list.Complete {
		p.Text(p.Warn("! "), "The audit log could not be read completely; actions may be missing:")
		render.Findings(p, list.Findings)
	}
}

// showAuditEntry prints one action: on a terminal grouped by day with the time of
// day, in a pipe with the complete time in every line. Failed actions and actions
// without an outcome are colored. It returns the heading of the day that the line
// is under, which is the argument day of the next call.
func showAuditEntry(p *page.Page, day string, width int, e auditview.Entry) string {
	at, day := p.TimeInDay(day, e.AtMs, "15:04")
	// ActorAndKind adds the kind of actors that are not people, since any caller
	// can choose a name with --as.
	by := render.ActorAndKind(e.Actor)
	by += strings.Repeat(" ", max(width-page.TextWidth(by), 0))
	// Colors repeat what auditSentence says, for terminals that have them.
	paint := page.Plain
	switch e.Outcome {
	case audit.Failed:
		paint = p.Bad
	case audit.Open:
		paint = p.Warn
	}
	p.StyledText(p.Dim(at)+"  "+by+"  ", auditSentence(e), paint)
	return day
}

// auditVerbs has two phrases for each action: the past tense for one that is
// done, the infinitive for one that failed or has no outcome. The target
// follows.
var auditVerbs = map[audit.Action][2]string{
	audit.Approve:    {"approved a step of", "approve a step of"},
	audit.Override:   {"set full_auto_never_stop for", "set full_auto_never_stop for"},
	audit.Repair:     {"repaired", "repair"},
	audit.Keep:       {"kept", "keep"},
	audit.Delete:     {"deleted", "delete"},
	audit.Restore:    {"restored", "restore"},
	audit.EmptyTrash: {"emptied the trash of", "empty the trash of"},
	audit.GC:         {"cleaned up", "clean up"},
	audit.Erase:      {"erased", "erase"},
	audit.Import:     {"imported", "import"},
	audit.Rotate:     {"rotated the keys for", "rotate the keys for"},
	audit.Trust:      {"trusted the commands of", "trust the commands of"},
	audit.Untrust:    {"revoked the trust in", "revoke the trust in"},
	audit.Cancel:     {"ended", "end"},
	audit.Annotate:   {"annotated", "annotate"},
	audit.Retract:    {"retracted an annotation of", "retract an annotation of"},
	audit.Propose:    {"created", "create"},
	audit.Revise:     {"revised", "revise"},
	audit.Apply:      {"installed", "install"},
	audit.Reject:     {"rejected", "reject"},
	audit.Archive:    {"archived", "archive"},
	audit.RollBack:   {"rolled back", "roll back"},
	audit.Configure:  {"confirmed the settings of", "confirm the settings of"},
	audit.SendBack:   {"sent back a step of", "send back a step of"},
	audit.Deny:       {"denied a step of", "deny a step of"},
}

// proposalVerbs has the phrases of actions that differ for proposals: approving a step and
// approving a proposal are one action.
var proposalVerbs = map[audit.Action][2]string{
	audit.Approve:  {"approved", "approve"},
	audit.Override: {"installed without the approval gate", "install"},
}

// auditSentence describes one action as a sentence: verb, target, outcome and
// reason. An action without an outcome was interrupted, or is in progress.
func auditSentence(e auditview.Entry) string {
	verbs, known := auditVerbs[e.Action]
	// An action of a newer version has no verbs here; its name is printed.
	if !known {
		verbs = [2]string{string(e.Action), string(e.Action)}
	}
	if own, ok := proposalVerbs[e.Action]; ok && e.Target.Kind == audit.OfProposal {
		verbs = own
	}
	what := auditTarget(e)
	var s string
	switch e.Outcome {
	case audit.Failed:
		s = "failed to " + verbs[1] + " " + what + " (" + e.Code + ")"
	case audit.Open:
		s = "started to " + verbs[1] + " " + what + "; the outcome is not recorded"
	default:
		s = verbs[0] + " " + what
	}
	if e.Action == audit.Keep && e.Details["kept"] == "false" {
		s += " (turned off)"
	}
	s += changedSettings(e)
	// Status with which a canceled run ended.
	if as := e.Details["endsAs"]; as != "" {
		s += " as " + as
	}
	if e.Reason != "" {
		s += ": " + strings.Join(strings.Fields(e.Reason), " ")
	}
	return s
}

// settingWidthMax is the longest value of a setting in a sentence; the JSON document has all of it.
const settingWidthMax = 60

// changedSettings returns the settings that a Configure confirmed, with their values as far as the
// log has them; "" for other actions. Records of earlier versions name at most the changed one.
func changedSettings(e auditview.Entry) string {
	names := strings.Fields(e.Details[audit.DetailKeys])
	if len(names) == 0 {
		names = strings.Fields(e.Details["key"])
	}
	if e.Action != audit.Configure || len(names) == 0 {
		return ""
	}
	if change := e.Details["change"]; change != "" { // of a list, such as attached folders
		return " (" + page.Name(strings.TrimSpace(names[0]+": "+change+" "+e.Details["name"])) + ")"
	}
	policy, err := canon.Parse([]byte(e.Details[audit.DetailSettings]))
	for i, name := range names {
		names[i] = page.Name(name)
		if err != nil || policy.Kind() != canon.Object {
			continue
		}
		if v, ok := policy.Get(name); ok {
			names[i] += " = " + page.Cut(page.Name(plainValue(v)), settingWidthMax)
		} else {
			names[i] += " = default"
		}
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// auditTarget returns the name of the target of an action: its kind with the
// short id or digest, and for a workflow its id if that was recorded. An id that
// cannot be parsed is returned unchanged.
func auditTarget(e auditview.Entry) string {
	name := e.Target.ID
	switch e.Target.Kind {
	case audit.OfRun:
		name = shortName(id.ParseRun, page.ShortRun, name)
	case audit.OfProposal:
		name = shortName(id.ParseProposal, page.ShortProposal, name)
	case audit.OfWorkflow, audit.OfArtifact:
		name = shortName(canon.ParseDigest, page.ShortDigest, name)
		if w := e.Details["workflowId"]; w != "" {
			return w + " (" + name + ")"
		}
	case audit.OfStore:
		return "the store"
	case audit.OfKeyring:
		return "tokens"
	}
	return string(e.Target.Kind) + " " + name
}

// shortName returns the short form of an id or digest, and text itself if it cannot be parsed.
func shortName[T any](parse func(string) (T, error), short func(T) string, text string) string {
	name, err := parse(text)
	if err != nil {
		return text
	}
	return short(name)
}
