package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// TestLikeWarningsAreCounted: many warnings that differ in their file and numbers only are one line
// with their count; errors and single warnings are listed as they are.
func TestLikeWarningsAreCounted(t *testing.T) {
	var v verify.Verification
	v.OK = true
	for i := range 40 {
		path := fmt.Sprintf("sessions/s%d", i)
		s := verify.SessionVerdict{SessionID: session(i), Health: manifest.UnknownVersion, Events: 2}
		for range 2 {
			s.Findings = append(s.Findings, manifest.Finding{Code: "unknown_version", Severity: manifest.SeverityWarn, Path: path,
				Message: fmt.Sprintf("%s: event %d has a shape that this version does not know", path, i)})
		}
		if i == 7 {
			s.Findings = append(s.Findings, manifest.Finding{Code: "loose_mode", Severity: manifest.SeverityWarn, Path: "lone",
				Message: "lone: others can read it"})
		}
		v.Sessions = append(v.Sessions, s)
	}
	text := printed(v)
	for _, want := range []string{
		session(7).String() + " contains facts of another program or a newer version:\n  warning  loose_mode  lone\n      others can read it\n",
		"warning  unknown_version  80 times in 40 sessions, first sessions/s0: event 0 has a shape that this version does not know\n",
		"40 sessions and 80 events checked: no errors, 81 warnings.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "\n"); n != 5 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	v.OK = false
	for i := range v.Sessions[:3] {
		v.Sessions[i].Health = "corrupt_tail"
		v.Sessions[i].Findings = append(v.Sessions[i].Findings, manifest.Finding{Code: "digest_mismatch",
			Severity: manifest.SeverityError, Path: "p", Message: "p: changed"})
	}
	if text = printed(v); strings.Count(text, "error  digest_mismatch  p\n") != 3 ||
		!strings.Contains(text, "80 times in 40 sessions") || !strings.Contains(text, "3 errors") {
		t.Errorf("with errors:\n%s", text)
	}
}

// TestLikeWarningsOfASession: like warnings of one session are one line below it.
func TestLikeWarningsOfASession(t *testing.T) {
	s := verify.SessionVerdict{SessionID: session(1), Health: manifest.UnknownVersion}
	for i := range 30 {
		s.Findings = append(s.Findings, manifest.Finding{Code: "unknown_version", Severity: manifest.SeverityWarn,
			Path: fmt.Sprintf("snapshots/%d.json", i), Message: fmt.Sprintf("snapshots/%d.json: from another program", i)})
	}
	want := session(1).String() + " contains facts of another program or a newer version:\n" +
		"  warning  unknown_version  30 times, first snapshots/0.json: from another program\n" +
		"! 1 session and 0 events checked: no errors, 30 warnings.\n"
	if text := printed(verify.Verification{OK: true, Sessions: []verify.SessionVerdict{s}}); text != want {
		t.Errorf("got\n%s", text)
	}
}

// TestFewLikeWarningsAreListed: two like warnings are listed.
func TestFewLikeWarningsAreListed(t *testing.T) {
	v := verify.Verification{OK: true}
	for _, path := range []string{"a", "b"} {
		v.Findings = append(v.Findings, manifest.Finding{Code: "unknown_file", Severity: manifest.SeverityWarn, Path: path,
			Message: path + ": nothing refers to it"})
	}
	if text := printed(v); !strings.Contains(text, "unknown_file  a\n") || !strings.Contains(text, "unknown_file  b\n") ||
		!strings.Contains(text, "2 warnings") {
		t.Errorf("got\n%s", text)
	}
}

func printed(v verify.Verification) string {
	p := page.New(false, 100)
	Verification(p, v)
	return p.String()
}

// session returns the session id of a number.
func session(n int) id.Session { return id.NewSession(id.Seed{byte(n)}) }
