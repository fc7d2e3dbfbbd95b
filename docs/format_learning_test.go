package docs

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/log/manifest"
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

// proposalLine is a line of the log of proposals: a revision that replaces a file.
func proposalLine(s *formatStore) []byte {
	log := proposal.LogOf(s.storeID())
	artifact := []byte(`{"id":"team.release","steps":[]}`)
	d := proposal.Draft{Kind: proposal.WorkflowChainPack, Title: "Test first",
		Artifact: proposal.Artifact{ByteLength: int64(len(artifact)), SHA256: canon.Sum(artifact)},
		Slot:     proposal.Slot{Kind: proposal.WorkflowChainPack, ID: "team.release"},
		Replaces: proposal.Replaces{WorkflowID: "team.release", SourceKind: "project", SourceRef: ".waybill/workflows/release.yaml",
			Digest: canon.Sum([]byte("id: team.release\n"))}}
	at := proposal.At{Proposal: id.NewProposal(id.Seed{7}), Ordinal: 1}
	e := event.New(log.Owner, at.Ordinal, event.Scope{}, s.human, formatStart,
		proposal.Revise(at, 2, d, nil))
	line, err := proposal.Table.AppendLine(nil, e)
	if err != nil {
		s.t.Fatal(err)
	}
	return line
}

// proposalLineAgain reads a line of the log of proposals, and writes it again.
func proposalLineAgain(b []byte) ([]byte, error) {
	log := proposal.LogOf((&formatStore{}).storeID())
	seg, err := manifest.DecodeSegment(log, 1, 1, append(b, '\n'))
	if err != nil {
		return nil, err
	}
	return proposal.Table.AppendLine(nil, seg.Events[0])
}
