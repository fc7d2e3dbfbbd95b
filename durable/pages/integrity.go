package pages

import (
	"strconv"

	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/markup"
)

// Integrity returns the result of the verification of a run's session, the digests, and how to repeat it.
func Integrity(r report.Report) Section {
	f := facts{}
	f.add("Log head", "head", digest(r.Run.Head.Digest))
	f.add("Manifest", "manifest", markup.Text(count(int(r.Run.Head.NextRecord), "record")+", "+size(r.Run.Head.Bytes)))
	f.add("Events", "events", markup.Text(strconv.FormatInt(r.Run.Head.Next, 10)))
	f.add("Workflow", "workflow-hash", digest(r.Run.Workflow.WorkflowHash))
	if !r.Run.AppliedConfigHash.IsZero() {
		f.add("Settings at start", "", digest(r.Run.AppliedConfigHash))
	}
	out := markup.Group{verdict(r.Verification), markup.E(markup.Div, markup.Cls("card"), f.node()),
		paragraph(markup.Text("Check it in the store, against the head above: "),
			typed("verify", r.Run.RunID.String(), "--expect-head", r.Run.Head.Digest.String())),
		paragraph(markup.Text("Make every recorded decision again and compare: "), typed("replay", r.Run.RunID.String()))}
	if findings := findings(r.Verification); findings != nil {
		out = append(out, findings)
	}
	if len(r.Segments) > 0 {
		out = append(out, segments(r))
	}
	return Section{"integrity", "Integrity", out.Node()}
}

// verdict is the result of a verification in a sentence.
func verdict(v verify.Verification) *markup.Node {
	warnings, errors := 0, 0
	each(v, func(f manifest.Finding) {
		if f.Severity == manifest.SeverityError {
			errors++
		} else {
			warnings++
		}
	})
	health := ""
	for _, s := range v.Sessions {
		health = string(s.Health)
	}
	items := []*markup.Node{markup.Data("verified", strconv.FormatBool(v.OK)), markup.Data("health", health)}
	switch {
	case !v.OK:
		return note(bad, append(items, markup.E(markup.Strong, markup.Text("Verification failed")),
			markup.Text(": "+count(errors, "error")+", "+count(warnings, "warning")+"."))...)
	case warnings > 0:
		return note(warn, append(items, markup.E(markup.Strong, markup.Text("Verified")),
			markup.Text(": no errors, "+count(warnings, "warning")+"."))...)
	}
	return note(good, append(items, markup.E(markup.Strong, markup.Text("Verified")),
		markup.Text(": every digest, the chain of the log and every reference were checked when the report was made; no findings."))...)
}

// each passes all findings.
func each(v verify.Verification, use func(manifest.Finding)) {
	for _, s := range v.Sessions {
		for _, f := range s.Findings {
			use(f)
		}
	}
	for _, f := range v.Findings {
		use(f)
	}
}

// findingsMax bounds the findings on a page.
const findingsMax = 100

// findings is a table of findings, nil for none.
func findings(v verify.Verification) *markup.Node {
	t := table{caption: "Findings of the verification", columns: []string{"Severity", "Finding", "File", "What"}}
	n := 0
	each(v, func(f manifest.Finding) {
		if n++; n > findingsMax {
			return
		}
		tone := warn
		if f.Severity == manifest.SeverityError {
			tone = bad
		}
		t.row([]*markup.Node{markup.Data("finding", string(f.Code))}, cell{badge(tone, string(f.Severity))},
			cell{markup.Text(plain(f.Code))},
			cell{mono(f.Path)}, cell{markup.Text(f.Message)})
	})
	if n == 0 {
		return nil
	}
	if n <= findingsMax {
		return t.node()
	}
	return markup.Group{t.node(), paragraph(markup.Text(count(n-findingsMax, "finding") + " left out."))}.Node()
}

// segments is a table of the files of the log.
func segments(r report.Report) *markup.Node {
	t := table{caption: "Files of the log with their SHA-256", columns: []string{"File", "Events", "Digest"}}
	for _, s := range r.Segments {
		t.row([]*markup.Node{markup.Data("segment", s.Name)}, cell{mono(s.Name)}, cell{markup.Text(strconv.Itoa(s.Events))},
			cell{digest(s.SHA256)})
	}
	content := markup.Group{t.node()}
	if l, ok := r.Without(report.OfSegments); ok {
		content = append(content, leftOut(l, "file"))
	}
	return folded(false, "Files of the log: "+count(len(r.Segments), "file"), content...)
}
