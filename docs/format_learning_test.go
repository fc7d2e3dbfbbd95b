package docs

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/idempotency"
)

// TestFormatSideLogs: every kind of the side logs is on the page, with each member of
// its data and no other; so do the actions and targets of the audit log.
func TestFormatSideLogs(t *testing.T) {
	page := pageText(t, "format/side-logs.md")
	for _, table := range []*event.Table{feedback.Table, proposal.Table, audit.Table, idempotency.Table} {
		for _, p := range table.Payloads() {
			row := regexp.MustCompile("(?m)^\\| [^|]*`" + p.Kind() + "`[^|]* \\| .*$").FindString(page)
			if row == "" {
				t.Errorf("no row describes %s", p.Kind())
				continue
			}
			for _, f := range reflect.VisibleFields(reflect.TypeOf(p)) {
				if f.Anonymous {
					continue // its fields follow
				}
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				always := table == proposal.Table && (name == "proposalId" || name == "ordinal" || name == "reason")
				if !always && !strings.Contains(row, "`"+name+"`") {
					t.Errorf("%s: the row does not name %s", p.Kind(), name)
				}
			}
		}
	}
	for _, a := range audit.Actions() {
		if !strings.Contains(page, "`"+string(a)+"`") {
			t.Errorf("the page does not name the action %s", a)
		}
	}
	for _, tr := range proposal.Transitions {
		if row := regexp.MustCompile("(?m)^\\| [^|]*`" + string(tr.From) + "`[^|]* \\| .*`" + string(tr.To) + "`.*$").
			FindString(page); row == "" {
			t.Errorf("no row has the transition to %s from %s", tr.To, tr.From)
		}
	}
}
