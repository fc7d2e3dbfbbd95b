package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
)

// notShown are the members of side logs that no command prints as they are stored, with the reason.
var notShown = map[string]string{
	"proposal_applied.override":        "the audit line has another verb: installed without the approval gate",
	"proposal_created.owner.workspace": "it selects what is shown: --workspace",
	"action_intended.ordinal":          "the index of the event, repeated for its key",
}

// notRecorded are members that no event of this test has; --details prints them as all others.
var notRecorded = map[string]string{
	"proposal_applied.approvalIds[]":      "the policy of this test requires no approval",
	"proposal_rolled_back.restoredSha256": "needs two installed versions",
	"action_done.code":                    "needs an action that fails after its intention",
}

// TestEveryMemberOfSideLogsIsShown records each kind of annotation, decision about a proposal and audit
// line, and looks for each stored value in what the commands about them print, as text and as JSON.
func TestEveryMemberOfSideLogsIsShown(t *testing.T) {
	c := newCalls(t)
	first := sideLogs(t, c)
	views := [][]string{{"annotations", "list", "@last", "--history", "--details"}, {"audit", "list", "--details"}, {"proposals", "events"},
		{"proposals", "list", "--workspace", "blue"}}
	for _, p := range first {
		views = append(views, []string{"proposals", "get", p, "--history", "--details"},
			[]string{"proposals", "get", p, "--details"})
	}
	printed := map[bool]string{}
	for _, asJSON := range []bool{false, true} {
		for _, args := range views {
			printed[asJSON] += printedBy(t, c.env(), args, asJSON)
		}
	}
	seen := map[string]bool{}
	var missing []string
	for _, e := range sideEvents(t, filepath.Join(c.dir, "home/local")) {
		for _, l := range leaves(t, e.Data) {
			path := e.Data.Kind() + "." + l.path
			seen[path] = true
			if row := rowOf(notShown, path); row != "" {
				continue
			}
			for _, asJSON := range []bool{false, true} {
				if !printedShows(printed[asJSON], l.text, asJSON) {
					missing = append(missing, fmt.Sprintf("%s is not printed (JSON: %v): %.80q", path, asJSON, l.text))
				}
			}
		}
	}
	slices.Sort(missing)
	for _, line := range slices.Compact(missing) {
		t.Error(line)
	}
	for _, table := range []*event.Table{feedback.Table, proposal.Table, audit.Table} {
		for _, member := range membersOf(table) {
			found := false
			for path := range seen {
				found = found || path == member || strings.HasPrefix(path, member+".") || strings.HasPrefix(path, member+"[")
			}
			if !found && notRecorded[member] == "" {
				t.Errorf("no event here has a value of %s", member)
			}
		}
	}
}

// sideLogs records what the test looks for, and returns the ids of the proposals.
func sideLogs(t *testing.T, c calls) []string {
	t.Helper()
	configure(t, c.dir, "principals", fmt.Sprintf(`{"ada":{"roles":["lead","reviewer"],"uid":%d}}`, os.Getuid()))
	c.with("", "start", "wr.change_checklist", "--set", "change=x")
	annotation := func(args ...string) string {
		out := string(c.with("", append([]string{"annotate", "@last"}, args...)...))
		_, id, _ := strings.Cut(out, `"annotationId":"`)
		return id[:strings.Index(id, `"`)]
	}
	rated := annotation("--rating", "4", "--note", "a note")
	corrected := annotation("--node", "reason", "--correction", "a correction", "--confidence", "0.5", "--supersedes", rated)
	annotation("--label", "a label")
	annotation("--flag")
	all := strings.Split(string(c.with("", "runs", "events", "@last")), `"eventId":"`)
	at := all[len(all)-1]
	annotation("--event", at[:strings.Index(at, `"`)], "--rating", "2")
	c.with("", "sessions", "keep", "@last", "--reason", "a hold")
	c.with("", "annotations", "retract", "@last", corrected, "--reason", "a retraction")
	const file = `{"kind":"prompt-template","title":"a title","rationale":"a rationale","synthesizerModel":"a model","artifact":{"templateId":"look","version":"1.0.0","kind":"user","text":"Look."}}`
	name, _ := parseProposal(t, c.with(file, "proposals", "create", "-", "--from-run", "@last"))
	second, _ := parseProposal(t, c.with(file, "proposals", "create", "-"))
	c.with(file, "proposals", "create", "-", "--workspace", "blue")
	do := func(what string, more ...string) {
		c.with(file, append([]string{"proposals", what, name}, more...)...)
	}
	do("reject", "--reason", "a rejection")
	do("archive", "--reason", "an archival")
	do("revise", "-", "--reason", "a revision")
	atTerminal(t, c.dir, "proposals", "approve", name, "--as", "ada")
	do("apply", "--as", "ada")
	do("rollback", "--as", "ada", "--reason", "a step back")
	return []string{name, second}
}

// sideEvents reads the side logs of a store.
func sideEvents(t *testing.T, dir string) (out []event.Event) {
	t.Helper()
	ctx := context.Background()
	store, err := filestore.OpenDir(dir, filestore.Options{LockWait: time.Second, AllowNetworkFS: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	sessions, err := store.Sessions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	id, err := store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	logs := []manifest.Log{proposal.LogOf(id), audit.LogOf(id)}
	for _, s := range sessions {
		logs = append(logs, feedback.LogOf(s))
	}
	for _, log := range logs {
		if _, err := store.Read(ctx, ports.ReadRequest{Log: log}, ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
			out = append(out, seg.Events...)
			return nil
		})); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
