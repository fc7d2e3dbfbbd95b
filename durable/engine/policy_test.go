package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	auditview "github.com/waybill/waybill/projections/audit"
)

// writeControl writes a control file of the store past the program, with a digest that fits.
func (w *fixture) writeControl(name, kind string, v int64, data string) {
	w.Helper()
	value, err := canon.Parse([]byte(data))
	must(w.T, err)
	b, err := controlfile.Encode(controlfile.Document{Kind: kind, V: v, Data: value})
	must(w.T, err)
	must(w.T, os.WriteFile(filepath.Join(w.dir, name), b, 0o600))
}

// policyCodes returns the codes of the findings of a verification about settings and trust.
func (w *fixture) policyCodes() string {
	w.Helper()
	v, err := w.auditor().Verify(context.Background())
	must(w.T, err)
	var out []string
	for _, f := range v.Findings {
		if strings.HasPrefix(string(f.Code), "policy") {
			out = append(out, string(f.Code)+" "+f.Path)
		}
	}
	return strings.Join(out, ", ")
}

// unconfirmedCalls are the calls that depend on a confirmation, by name.
func unconfirmedCalls(w *fixture, waits engine.Answer) map[string]error {
	ctx, g := context.Background(), w.auditor()
	by := w.person("ada")
	_, approvable := g.Approvable(ctx, by, waits.Position())
	_, approve := g.Approve(ctx, by, waits.Position(), "")
	_, gc := g.GC(ctx, by, upkeep.GCRequest{Apply: true})
	_, read := g.Settings.Confirmed(ctx)
	return map[string]error{"approvable": approvable, "approve": approve, "gc": gc, "confirmed": read,
		"raised autonomy": g.CheckAutonomy(ctx, event.FullAutoStopOnUserDeps)}
}

// TestUnconfirmedSettingsCountForNothing: what depends on the policy refuses, for each way in which
// the file can be exchanged; what does not is answered.
func TestUnconfirmedSettingsCountForNothing(t *testing.T) {
	t.Parallel()
	for name, exchange := range map[string]func(*fixture){
		"edited": func(w *fixture) {
			w.writeControl("config.json", "config", 1, `{"agentMaxAutonomy":"full_auto_never_stop"}`)
		},
		"weakened": func(w *fixture) { w.writeControl("config.json", "config", 1, `{"retentionDays":90}`) },
		"deleted":  func(w *fixture) { must(w.T, os.Remove(filepath.Join(w.dir, "config.json"))) },
		"damaged":  func(w *fixture) { must(w.T, os.WriteFile(filepath.Join(w.dir, "config.json"), []byte("{"), 0o600)) },
		"invalid":  func(w *fixture) { w.writeControl("config.json", "config", 1, `{"proposalsQuorum":0}`) },
		"a folder": func(w *fixture) {
			must(w.T, os.Remove(filepath.Join(w.dir, "config.json")))
			must(w.T, os.Mkdir(filepath.Join(w.dir, "config.json"), 0o700))
		},
		"linked": func(w *fixture) {
			at := filepath.Join(w.dir, "config.json")
			must(w.T, os.Rename(at, at+".real"))
			must(w.T, os.Symlink(at+".real", at))
		},
	} {
		w := auditWorld(t)
		ctx := context.Background()
		waits := w.must(w.start(approving), note("the plan"))
		must(t, w.g.Set(ctx, "retentionDays", "2"))
		exchange(w)
		for call, err := range unconfirmedCalls(w, waits) {
			if name == "linked" && call == "gc" {
				// A link anywhere in a store stops a cleanup before it reads the settings.
				r, err := w.auditor().GC(ctx, w.by(), upkeep.GCRequest{Apply: true})
				if err != nil || !r.SafeMode || r.Applied {
					t.Errorf("%s: gc: %+v, %v", name, r, err)
				}
				continue
			}
			if !fault.Is(err, fault.PolicyUnconfirmed) || fault.ExitOf(err) != fault.ExitIntegrity {
				t.Errorf("%s: %s: %v", name, call, err)
			}
		}
		if _, err := w.auditor().GC(ctx, w.by(), upkeep.GCRequest{}); name != "damaged" && fault.Is(err,
			fault.PolicyUnconfirmed) {
			t.Errorf("%s: a report is refused: %v", name, err)
		}
		if err := w.auditor().Set(ctx, "lockWaitMs", "7"); err == nil {
			if _, err := w.auditor().Settings.Confirmed(ctx); !fault.Is(err, fault.PolicyUnconfirmed) {
				t.Errorf("%s: another key confirmed the policy: %v", name, err)
			}
		}
	}
}

// TestConfirmationOfShownSettings: a person confirms the settings in the file as shown, unless they are
// others by then; an agent cannot.
func TestConfirmationOfShownSettings(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx, ada := context.Background(), w.person("ada")
	must(t, w.g.Set(ctx, "agentMaxAutonomy", "guided"))
	w.writeControl("config.json", "config", 1, `{"retentionDays":5}`)
	if got := w.policyCodes(); got != "policy_unconfirmed config.json" {
		t.Error(got)
	}
	c, err := w.g.PlanConfirmation(ctx)
	must(t, err)
	if got := fmt.Sprint(c.Differences[0].Key, c.Differences[0].Old.Text(), c.Differences[1].Key, len(c.InForce),
		c.Trusted == nil, c.Differences[0].Known); got != "agentMaxAutonomyguidedretentionDays1 true true" {
		t.Error(got)
	}
	if err := w.g.Confirm(ctx, w.by(), c); !fault.Is(err, fault.RunWaiting) {
		t.Errorf("an agent confirmed: %v", err)
	}
	w.writeControl("config.json", "config", 1, `{"retentionDays":6}`)
	if err := w.g.Confirm(ctx, ada, c); !fault.Is(err, fault.StoreConflict) {
		t.Errorf("other settings than the shown ones were confirmed: %v", err)
	}
	c, err = w.g.PlanConfirmation(ctx)
	must(t, err)
	must(t, w.g.Confirm(ctx, ada, c))
	if conf, err := w.auditor().Settings.Confirmed(ctx); err != nil || conf.RetentionDays() != 6 {
		t.Error(err)
	}
	if c, err = w.g.PlanConfirmation(ctx); err != nil || !c.IsEmpty() || w.policyCodes() != "" {
		t.Error(c, err, w.policyCodes())
	}
}

// TestPlannedChangeOfOtherSettings: a change is refused if the settings are not the ones that it was
// planned from, since they were not shown.
func TestPlannedChangeOfOtherSettings(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	planned, err := w.g.PlanSet(ctx, "agentMaxAutonomy", "guided")
	must(t, err)
	must(t, w.g.Set(ctx, "retentionDays", "1"))
	if _, err := w.g.ChangeConfig(ctx, w.person("ada"), planned); !fault.Is(err, fault.StoreConflict) {
		t.Error(err)
	}
	if c, err := w.g.Settings.Confirmed(ctx); err != nil || c.RetentionDays() != 1 ||
		c.AgentMaxAutonomy() == event.Guided {
		t.Error("the refused change left something:", err)
	}
}

// TestOlderStoreIsConfirmedOnce: a store with settings and without a line is a warning, and its
// settings count after a person confirmed them.
func TestOlderStoreIsConfirmedOnce(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	waits := w.must(w.start(approving), note("the plan"))
	w.writeControl("config.json", "config", 1, `{"agentMaxAutonomy":"guided","lockWaitMs":3000}`)
	w.writeControl("trust.json", "trust", 1, `{"trusted":[{"actor":{"kind":"human"},"atMs":1,"commands":1,`+
		`"workflowHash":"`+canon.Sum(nil).String()+`","workflowId":"a.b"}]}`)
	if got := w.policyCodes(); got != "policy_unrecorded config.json" {
		t.Error(got)
	}
	if v, err := w.auditor().Verify(ctx); err != nil || !v.OK {
		t.Error("an older store fails its verification:", err)
	}
	for call, err := range unconfirmedCalls(w, waits) {
		if !fault.Is(err, fault.PolicyUnconfirmed) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if list, err := w.g.ConfirmedTrust(ctx); err != nil || len(list.Entries) != 1 {
		t.Error("entries without a root need no confirmation, since they do not count:", err)
	}
	c, err := w.g.PlanConfirmation(ctx)
	must(t, err)
	must(t, w.g.Confirm(ctx, w.person("ada"), c))
	if _, err := w.auditor().Approve(ctx, w.person("ada"), waits.Position(), ""); err != nil || w.policyCodes() != "" {
		t.Error(err, w.policyCodes())
	}
}

// onlyIntentions is a store that records intentions and fails to record outcomes.
type onlyIntentions struct{ enginetest.Store }

func (s onlyIntentions) Append(ctx context.Context, w ports.Witness, at manifest.Head,
	p manifest.Plan) (manifest.Head, error) {
	for _, e := range p.Events {
		if e.Data.Kind() == (audit.Done{}).Kind() {
			return at, errors.New("no room")
		}
	}
	return s.Store.Append(ctx, w, at, p)
}

// TestChangeWithoutItsOutcome: the answer states that the change does not count, which is a warning of
// a verification, and a person repeats or confirms it.
func TestChangeWithoutItsOutcome(t *testing.T) {
	t.Parallel()
	for _, repeat := range []bool{true, false} {
		w := auditWorld(t)
		ctx, ada := context.Background(), w.person("ada")
		must(t, w.g.Set(ctx, "retentionDays", "2"))
		failing := enginetest.Over(onlyIntentions{w.g.Store})
		if err := failing.Set(ctx, "retentionDays", "3"); !fault.Is(err, fault.PolicyUnconfirmed) ||
			!strings.Contains(fault.Of(err).Suggestion.String(), "config confirm") {
			t.Error(err)
		}
		cmd := w.compiled(withCommands)
		if _, err := failing.Trust(ctx, ada, cmd, "/repo", trust.Fixed{}, nil); !fault.Is(err, fault.PolicyUnconfirmed) {
			t.Error(err)
		}
		if got := w.policyCodes(); got != "policy_unrecorded config.json, policy_unrecorded trust.json" {
			t.Error(got)
		}
		g := w.auditor()
		if _, err := g.Settings.Confirmed(ctx); !fault.Is(err, fault.PolicyUnconfirmed) {
			t.Error(err)
		}
		if _, err := g.ConfirmedTrust(ctx); !fault.Is(err, fault.PolicyUnconfirmed) {
			t.Error(err)
		}
		if repeat {
			must(t, g.Set(ctx, "retentionDays", "3"))
			shown, err := g.Trusted(ctx)
			must(t, err)
			_, err = g.Trust(ctx, ada, cmd, "/repo", trust.Fixed{}, &shown)
			must(t, err)
		} else {
			c, err := g.PlanConfirmation(ctx)
			must(t, err)
			must(t, g.Confirm(ctx, ada, c))
		}
		if c, err := g.Settings.Confirmed(ctx); err != nil || c.RetentionDays() != 3 {
			t.Error(err)
		}
		if list, err := g.ConfirmedTrust(ctx); err != nil || len(list.Entries) != 1 || w.policyCodes() != "" {
			t.Error(list, err, w.policyCodes())
		}
	}
}

// TestTrustOfAnotherListThanShown: an answer about trust confirms the list that was shown, and no
// other; without one it confirms none.
func TestTrustOfAnotherListThanShown(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx, ada, cmd := context.Background(), w.person("ada"), w.compiled(withCommands)
	forged := func(id string) {
		w.writeControl("trust.json", "trust", 2, `{"trusted":[{"actor":{"kind":"human"},"atMs":1,"commands":1,`+
			`"root":"/repo","workflowHash":"`+canon.Sum([]byte(id)).String()+`","workflowId":"a.b"}]}`)
	}
	_, err := w.g.Trust(ctx, ada, w.compiled(approving), "/repo", trust.Fixed{}, nil)
	must(t, err)
	forged("one")
	shown, err := w.g.Trusted(ctx)
	must(t, err)
	if _, err := w.g.Trust(ctx, ada, cmd, "/repo", trust.Fixed{}, nil); !fault.Is(err, fault.PolicyUnconfirmed) {
		t.Error("a list that was not shown was confirmed:", err)
	}
	if _, err := w.g.Revoke(ctx, ada, canon.Sum([]byte("one"))); !fault.Is(err, fault.PolicyUnconfirmed) {
		t.Error("revoking confirmed the rest:", err)
	}
	forged("two")
	if _, err := w.g.Trust(ctx, ada, cmd, "/repo", trust.Fixed{}, &shown); !fault.Is(err, fault.StoreConflict) {
		t.Error("another list than the shown one was confirmed:", err)
	}
	if _, err := w.g.ConfirmedTrust(ctx); !fault.Is(err, fault.PolicyUnconfirmed) {
		t.Error(err)
	}
	if got := w.policyCodes(); !strings.HasPrefix(got, "policy_un") {
		t.Error(got)
	}
}

// countedAudit counts the events of the audit log that are read.
type countedAudit struct {
	enginetest.Store
	events *int
}

func (s countedAudit) Read(ctx context.Context, r ports.ReadRequest, to ports.NewVisitor) (manifest.Verdict, error) {
	if r.Log.Table.Name != audit.Table.Name {
		return s.Store.Read(ctx, r, to)
	}
	return s.Store.Read(ctx, r, func(at manifest.Head) ports.Visitor { return countingVisitor{to(at), s.events} })
}

type countingVisitor struct {
	ports.Visitor
	events *int
}

func (c countingVisitor) Visit(seg manifest.Segment, at manifest.Head) error {
	*c.events += len(seg.Events)
	return c.Visitor.Visit(seg, at)
}

// TestConfirmedReadsTheEndOfTheLog: a long audit log is read from its saved fold on. A forged fold,
// or one of an earlier format, is not used.
func TestConfirmedReadsTheEndOfTheLog(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	w.start(twoSteps) // makes the keys of the seal
	must(t, w.g.Set(ctx, "retentionDays", "2"))
	for range 40 {
		must(t, w.g.Ledger().Act(ctx, w.by(), ofStore(audit.GC), nothing))
	}
	confirmed := func() (events int, err error) {
		s, err := openUnsynced(w, w.dir, filestore.Options{LockWait: 5 * time.Second})
		must(t, err)
		defer s.Close()
		g := enginetest.Over(countedAudit{enginetest.Over(s).Store, &events})
		c, err := g.Settings.Confirmed(ctx)
		if err == nil && c.RetentionDays() != 2 {
			t.Error("other settings were read")
		}
		return events, err
	}
	if n, err := confirmed(); err != nil || n > 4 {
		t.Errorf("%d events were read: %v", n, err)
	}
	w.writeControl("config.json", "config", 1, `{"proposalsQuorum":1}`)
	if n, err := confirmed(); !fault.Is(err, fault.PolicyUnconfirmed) || n > 4 {
		t.Errorf("%d events were read: %v", n, err)
	}
	// A fold that states that the edited settings were confirmed, without the keys of the store.
	v, err := w.g.AuditVerify(ctx)
	must(t, err)
	forged := auditview.NewLedger()
	forged.Head, forged.Confirmed.Policy = v.Head, canon.Sum([]byte(`{}`))
	doc, err := forged.Save()
	must(t, err)
	for _, format := range []int{auditview.LedgerFormat, auditview.LedgerFormat - 1} {
		must(t, os.WriteFile(filepath.Join(w.dir, "cache", fmt.Sprintf("audit-%d", format)),
			[]byte(strings.Repeat("0", 64)+" "+string(doc)+"\n"), 0o600))
		if n, err := confirmed(); !fault.Is(err, fault.PolicyUnconfirmed) || n < 40 {
			t.Errorf("format %d: a forged fold was used: %d events, %v", format, n, err)
		}
	}
	// A damaged audit log states nothing.
	name := filepath.Join(w.dir, "audit/events/00000001-00000001.jsonl")
	must(t, os.WriteFile(name, []byte("{}"), 0o600))
	must(t, os.RemoveAll(filepath.Join(w.dir, "cache")))
	if _, err := confirmed(); !fault.Is(err, fault.SessionUnhealthy) {
		t.Error(err)
	}
}

// TestSettingsTooLongForTheLog: where the log has no text of what was confirmed, every setting of the
// policy is shown, also one that has its default again; where the file is the confirmed one, only
// what changes is.
func TestSettingsTooLongForTheLog(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx := context.Background()
	var people []string
	for i := range 60 {
		people = append(people, fmt.Sprintf(`"person%03d":{"roles":["reviewer"],"uid":%d}`, i, 5000+i))
	}
	must(t, w.g.Set(ctx, "agentMaxAutonomy", "guided"))
	principals := "{" + strings.Join(people, ",") + "}"
	must(t, w.g.Set(ctx, "principals", principals))
	if c, err := w.g.PlanSet(ctx, "feedback", "off"); err != nil || len(c.Differences) != 1 {
		t.Errorf("%d settings are shown for one change: %v", len(c.Differences), err)
	}
	shown := func(all []settings.Difference, err error) {
		t.Helper()
		must(t, err)
		if !slices.ContainsFunc(all, func(d settings.Difference) bool { return d.Key == config.AgentMaxAutonomy }) {
			t.Error("the autonomy that was raised is not shown")
		}
	}
	for _, edited := range []string{`{"principals":` + principals + `}`, `{}`} {
		w.writeControl("config.json", "config", 1, edited)
		c, err := w.g.PlanSet(ctx, "feedback", "off")
		shown(c.Differences, err)
		all, err := w.g.PlanConfirmation(ctx)
		shown(all.Differences, err)
		if all.IsEmpty() {
			t.Error("nothing is to be confirmed")
		}
	}
}

// TestInterruptedChangeOfOtherContent: an intention without an outcome explains the content that it
// leads to, and no other.
func TestInterruptedChangeOfOtherContent(t *testing.T) {
	t.Parallel()
	w := auditWorld(t)
	ctx, ada := context.Background(), w.person("ada")
	must(t, w.g.Set(ctx, "retentionDays", "2"))
	failing := enginetest.Over(onlyIntentions{w.g.Store})
	if err := failing.Set(ctx, "retentionDays", "3"); !fault.Is(err, fault.PolicyUnconfirmed) {
		t.Error(err)
	}
	if _, err := failing.Trust(ctx, ada, w.compiled(withCommands), "/repo", trust.Fixed{}, nil); !fault.Is(err, fault.PolicyUnconfirmed) {
		t.Error(err)
	}
	if got := w.policyCodes(); got != "policy_unrecorded config.json, policy_unrecorded trust.json" {
		t.Error(got)
	}
	w.writeControl("config.json", "config", 1, `{"retentionDays":1}`)
	w.writeControl("trust.json", "trust", 2, `{"trusted":[{"actor":{"kind":"human"},"atMs":1,"commands":1,"root":"/x",`+
		`"workflowHash":"`+canon.Sum(nil).String()+`","workflowId":"a.b"}]}`)
	if got := w.policyCodes(); got != "policy_unconfirmed config.json, policy_unconfirmed trust.json" {
		t.Error(got)
	}
	// An interrupted confirmation of both leads to what was shown.
	c, err := w.g.PlanConfirmation(ctx)
	must(t, err)
	if err := failing.Confirm(ctx, ada, c); !fault.Is(err, fault.PolicyUnconfirmed) {
		t.Error(err)
	}
	if got := w.policyCodes(); got != "policy_unrecorded config.json, policy_unrecorded trust.json" {
		t.Error(got)
	}
	w.writeControl("config.json", "config", 1, `{"retentionDays":4}`)
	if got := w.policyCodes(); got != "policy_unconfirmed config.json, policy_unrecorded trust.json" {
		t.Error(got)
	}
}

// TestSettingsChangedDuringVerification: a change before any reading of the settings is no finding,
// also where it follows the reading of the audit log.
func TestSettingsChangedDuringVerification(t *testing.T) {
	t.Parallel()
	for file, change := range map[string]func(*fixture) error{
		"config.json": func(w *fixture) error { return w.g.Set(context.Background(), "retentionDays", "3") },
		"trust.json": func(w *fixture) error {
			_, err := w.g.Trust(context.Background(), w.person("ada"), w.compiled(withCommands), "/repo", trust.Fixed{}, nil)
			return err
		},
	} {
		at := 1
		for changed := true; changed; at++ {
			w := auditWorld(t)
			must(t, w.g.Set(context.Background(), "retentionDays", "2"))
			w.start(twoSteps)
			readings := 0
			changed = false
			g := openInterrupted(t, w.dir, time.Second, func(name string) {
				if readings += strings.Count(name, file); readings == at && !changed {
					changed = true
					must(t, change(w))
				}
			})
			v, err := g.Verify(context.Background())
			if err != nil || !v.OK || len(v.Findings) > 0 {
				t.Errorf("%s, reading %d: %v, %+v", file, at, err, v.Findings)
			}
		}
		if at < 4 {
			t.Errorf("%s is read %d times", file, at-2)
		}
	}
}
