package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Verification writes the result of a check of sessions or of a bundle. It lists only sessions
// with findings or a log that is not healthy, since a store may have thousands. The path of a
// finding is printed once, above the message. Like warnings of a session are one line with their count, and
// so are those that very many sessions have, below the sessions; a session that has no others is
// not listed. The last line has the totals.
func Verification(p *page.Page, v verify.Verification) { verification(p, v, "The store") }

// BundleVerification is Verification of a bundle.
func BundleVerification(p *page.Page, v verify.Verification) { verification(p, v, "The bundle") }

// verification prints a verification; whole names what the findings outside of sessions are about.
func verification(p *page.Page, v verify.Verification, whole string) {
	var events int64
	common := commonWarnings(v)
	errs, warns := 0, 0
	writeFindings := func(findings []manifest.Finding) {
		own := common.others(findings)
		like := newWarningGroups()
		like.add(own)
		like.keep(func(g *warningGroup) bool { return g.n >= likeMin })
		e, w := Findings(p, like.others(own))
		errs, warns = errs+e, warns+w+like.write(p, "  ")
	}
	// Healthy sessions without findings contribute to the totals only.
	for _, s := range v.Sessions {
		events += s.Events
		own := len(common.others(s.Findings)) > 0
		if own || s.Health != manifest.Healthy && (s.Health != manifest.UnknownVersion || len(s.Findings) == 0) {
			p.Line("%s %s", s.SessionID, cmp.Or(healthSentences[s.Health], "is "+Health(s.Health)))
			writeFindings(s.Findings)
		}
	}
	if len(common.others(v.Findings)) > 0 {
		p.Line("%s", whole)
		writeFindings(v.Findings)
	}
	warns += common.write(p, "")
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

// The JSON document lists all warnings.
const (
	likeMin     = 3  // like warnings of one session, from which on they are one line
	sessionsMin = 10 // sessions with like warnings, above which they are one line for all of them
)

// like is what warnings have in common that are about different files.
type like struct {
	code    manifest.FindingCode
	message string // without the path and without digits
}

// warningGroup is one group of like warnings.
type warningGroup struct {
	first    manifest.Finding
	n        int
	sessions int // that have one or more
}

// warningGroups holds groups of like warnings, in the order of their first one.
type warningGroups struct {
	groups map[like]*warningGroup
	order  []like
}

func newWarningGroups() *warningGroups { return &warningGroups{groups: map[like]*warningGroup{}} }

// commonWarnings returns the groups of like warnings that very many sessions have.
func commonWarnings(v verify.Verification) *warningGroups {
	w := newWarningGroups()
	for _, s := range v.Sessions {
		w.add(s.Findings)
	}
	w.keep(func(g *warningGroup) bool { return g.sessions > sessionsMin })
	return w
}

// add adds the warnings of one session or of the store.
func (w *warningGroups) add(findings []manifest.Finding) {
	seen := map[like]bool{}
	for _, f := range findings {
		if f.Severity == manifest.SeverityError {
			continue
		}
		kind := likeOf(f)
		g := w.groups[kind]
		if g == nil {
			g = &warningGroup{first: f}
			w.groups[kind], w.order = g, append(w.order, kind)
		}
		g.n++
		if !seen[kind] {
			g.sessions, seen[kind] = g.sessions+1, true
		}
	}
}

// keep removes the groups that are not wanted.
func (w *warningGroups) keep(wanted func(*warningGroup) bool) {
	w.order = slices.DeleteFunc(w.order, func(kind like) bool {
		remove := !wanted(w.groups[kind])
		if remove {
			delete(w.groups, kind)
		}
		return remove
	})
}

// likeOf returns the kind of a warning.
func likeOf(f manifest.Finding) like {
	message := strings.TrimPrefix(f.Message, f.Path+": ")
	return like{f.Code, strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, message)}
}

// others returns the findings that are in no group.
func (w *warningGroups) others(findings []manifest.Finding) []manifest.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f manifest.Finding) bool {
		return f.Severity != manifest.SeverityError && w.groups[likeOf(f)] != nil
	})
}

// write writes one line for each group and returns the number of warnings in them.
func (w *warningGroups) write(p *page.Page, indent string) (n int) {
	for _, kind := range w.order {
		g := w.groups[kind]
		n += g.n
		in := ""
		if g.sessions > 1 {
			in = " in " + page.Plural(g.sessions, "session")
		}
		p.Line("%s%s  %s  %d times%s, first %s: %s", indent, p.Warn("warning"), g.first.Code, g.n, in,
			page.OneLine(g.first.Path), page.OneLine(strings.TrimPrefix(g.first.Message, g.first.Path+": ")))
	}
	return n
}
