package render

import (
	"cmp"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Verification writes the result of a check of sessions or of a bundle. It lists only sessions
// with findings or a log that is not healthy, since a store may have thousands. The path of a
// finding is printed once, above the message. The last line has the totals.
func Verification(p *page.Page, v verify.Verification) {
	var events int64
	errs, warns := 0, 0
	writeFindings := func(findings []manifest.Finding) {
		e, w := Findings(p, findings)
		errs, warns = errs+e, warns+w
	}
	// Healthy sessions without findings contribute to the totals only.
	for _, s := range v.Sessions {
		events += s.Events
		if len(s.Findings) > 0 || s.Health != manifest.Healthy {
			p.Line("%s %s", s.SessionID, cmp.Or(healthSentences[s.Health], "is "+Health(s.Health)))
			writeFindings(s.Findings)
		}
	}
	if len(v.Findings) > 0 {
		p.Line("The store")
		writeFindings(v.Findings)
	}
	// Warnings alone do not make a verification fail; v.OK stays true.
	sum := page.Plural(len(v.Sessions), "session") + " and " + page.Plural(int(events), "event") + " checked: "
	switch {
	case !v.OK:
		p.Text(p.Bad("✗ "), sum+page.ErrorCount(errs, warns)+".")
	case warns > 0:
		p.Text(p.Warn("! "), sum+"no errors, "+page.Plural(warns, "warning")+".")
	default:
		p.Text(p.Good("✓ "), sum+"no findings.")
	}
}

// healthSentences say of a session with findings what its health means; others are named.
var healthSentences = map[manifest.Health]string{
	manifest.Healthy:        "has a healthy log, and:", // "is healthy" would contradict the errors below
	manifest.UnknownVersion: "contains facts of another program or a newer version:",
}
