package main

import (
	"context"
	"encoding/json"
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

// notShown are the members of side logs, by path or by name, that no command prints as they are
// stored, with the reason.
var notShown = map[string]string{
	"proposal_applied.override":        "the audit line has another verb: installed without the approval gate",
	"proposal_created.owner.workspace": "it selects what is shown: --workspace",
	"ordinal":                          "the index of the event in its log, repeated for its key",
}

// notRecorded are members that no event of this test has; --details prints them as all others.
var notRecorded = map[string]string{
	"proposal_applied.approvalIds[]":      "the policy of this test requires no approval",
	"proposal_rolled_back.restoredSha256": "needs two installed versions",
	"action_done.code":                    "needs an action that fails after its intention",
	"action_done.policy":                  "needs settings that are longer than a detail; 'config get' shows them",
	"action_intended.signed":              signedShown,
	"action_intended.signature":           signedShown,
	"proposal_approved.signed":            signedShown,
	"proposal_approved.signature":         signedShown,
	"proposal_applied.signed":             signedShown,
	"proposal_applied.signature":          signedShown,
	"proposal_rolled_back.signed":         signedShown,
	"proposal_rolled_back.signature":      signedShown,
	"proposal_rolled_back.policyDigest":   "needs signers",
}

// signedShown is the view of consents.
const signedShown = "needs signers; 'audit show' prints both"

// shownAs are the members that a view shows by another name, in text and in JSON, or that the view of
// another log shows.
var shownAs = map[string]struct{ log, text, json string }{
	"action_done.intendedEventId":   {"action", "eventId", "eventId"}, // the line has the id of its intention
	"annotation_retracted.reason":   {"annotation", "retracted", "retractedReason"},
	"proposal_applied.installedRef": {"action", "installed", "installed"},
}

// TestEveryMemberOfSideLogsIsShown records each kind of annotation, decision about a proposal and audit
// line, and looks for each stored value in what the commands about its log print, as text and as JSON:
// with the name of its member, so that the same value of another one does not count.
func TestEveryMemberOfSideLogsIsShown(t *testing.T) {
	c := newCalls(t)
	first := sideLogs(t, c)
	views := map[string][][]string{"annotation": {{"annotations", "list", "@last", "--history", "--details"}},
		"action":   {{"audit", "list", "--details"}},
		"proposal": {{"proposals", "events"}, {"proposals", "list", "--workspace", "blue"}}}
	for i, p := range first {
		get := []string{"proposals", "get", p, "--details"}
		if i == 2 {
			get = append(get, "--workspace", "blue")
		}
		views["proposal"] = append(views["proposal"], get, append(slices.Clone(get), "--history"))
	}
	printed := map[string]shownPairs{}
	for log, calls := range views {
		for _, asJSON := range []bool{false, true} {
			pairs := shownPairs{}
			for _, args := range calls {
				pairs.add(t, printedBy(t, c.env(), args, asJSON), asJSON)
			}
			printed[log+fmt.Sprint(asJSON)] = pairs
		}
	}
	seen := map[string]bool{}
	var missing []string
	for _, e := range sideEvents(t, filepath.Join(c.dir, "home/local")) {
		log, _, _ := strings.Cut(e.Data.Kind(), "_")
		for _, l := range leaves(t, e.Data) {
			path := e.Data.Kind() + "." + l.path
			seen[path] = true
			name := strings.TrimRight(path[strings.LastIndex(path, ".")+1:], "[]")
			if notShown[path]+notShown[name] != "" {
				continue
			}
			as, ok := shownAs[path]
			if !ok {
				as.log, as.text, as.json = log, name, name
			}
			for _, asJSON := range []bool{false, true} {
				if name = as.text; asJSON {
					name = as.json
				}
				if !printed[as.log+fmt.Sprint(asJSON)][name+": "+strings.ReplaceAll(l.text, "_", " ")] {
					missing = append(missing, fmt.Sprintf("%s is not printed (JSON: %v) as %s: %.80q", path, asJSON, name, l.text))
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

// shownPairs are the values that commands print, each behind the name of its member.
type shownPairs map[string]bool

// add adds those of a document, or of text: the lines "path.name: value" of --details, and those of
// quoted text behind a name.
func (s shownPairs) add(t *testing.T, printed string, asJSON bool) {
	t.Helper()
	if !asJSON {
		for line := range strings.Lines(printed) {
			path, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			s[listIndex().ReplaceAllString(path[strings.LastIndex(path, ".")+1:], "")+": "+value] = true
		}
		for _, quoted := range quotedText().FindAllStringSubmatch(printed, -1) {
			s[quoted[1]+": "+quoted[2]] = true
		}
		return
	}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, item := range v {
				walk(key, item)
			}
		case []any:
			for _, item := range v {
				walk(name, item)
			}
		default:
			s[name+": "+fmt.Sprint(v)] = true
		}
	}
	var doc any
	d := json.NewDecoder(strings.NewReader(printed))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	walk("", doc)
}

var (
	// listIndex matches the index of an item in a path.
	listIndex = expression(`\[\d+\]`)
	// quotedText matches text of others behind its name.
	quotedText = expression(`(\w+):? <UNTRUSTED>(.*?)</UNTRUSTED>`)
)

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
	third, _ := parseProposal(t, c.with(file, "proposals", "create", "-", "--workspace", "blue"))
	do := func(what string, more ...string) {
		c.with(file, append([]string{"proposals", what, name}, more...)...)
	}
	do("reject", "--reason", "a rejection")
	do("archive", "--reason", "an archival")
	do("revise", "-", "--reason", "a revision")
	atTerminal(t, c.dir, "proposals", "approve", name, "--as", "ada")
	do("apply", "--as", "ada")
	do("rollback", "--as", "ada", "--reason", "a step back")
	const flow = `{"id":"team.look","name":"N","description":"d","version":"1.0.0","steps":[{"id":"a","title":"T","prompt":"p"}]}`
	if err := os.MkdirAll(filepath.Join(c.dir, ".waybill", "workflows"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, ".waybill", "workflows", "look.json"), []byte(flow), 0o600); err != nil {
		t.Fatal(err)
	}
	replacing, _ := parseProposal(t, c.with(flow, "proposals", "create", "-"))
	c.with("", "proposals", "revise", replacing, "--title", "another title")
	atTerminal(t, c.dir, "proposals", "approve", replacing, "--as", "ada")
	c.with("", "proposals", "apply", replacing, "--as", "ada")
	return []string{name, second, third, replacing}
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
