package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/settings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
)

// controls keeps control files in memory, and counts what was written.
type controls struct {
	*memstore.Store
	files  map[string]ports.Control
	writes int
}

func (c *controls) Control(_ context.Context, f ports.ControlFile) (ports.Control, error) {
	return c.files[f.Name], nil
}

func (c *controls) UpdateControl(_ context.Context, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	next, err := change(c.files[f.Name])
	if err == nil {
		c.files[f.Name], c.writes = next, c.writes+1
	}
	return err
}

func newSettings() (settings.Settings, *controls) {
	c := &controls{Store: memstore.NewDisk(id.Seed{1}).Open(time.Second), files: map[string]ports.Control{}}
	return settings.New(c, ledger.New(c)), c
}

func TestConfigIsCheckedBeforeItIsWritten(t *testing.T) {
	t.Parallel()
	s, c := newSettings()
	ctx := context.Background()
	for _, bad := range [][2]string{{"nothing", "1"}, {"lockWaitMs", "soon"}} {
		if _, err := s.PlanSet(ctx, bad[0], bad[1]); !fault.Is(err, fault.ConfigInvalid) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if c.writes != 0 {
		t.Error("a refused change was written")
	}
	set := func(by engine.Caller, plan func() (settings.Change, error)) (config.Setting, error) {
		change, err := plan()
		if err != nil {
			return config.Setting{}, err
		}
		return s.ChangeConfig(ctx, by, change)
	}
	agent, ada := caller(1), newFixture(t).person("ada")
	wait := func() (settings.Change, error) { return s.PlanSet(ctx, "lockWaitMs", "7") }
	if got, err := set(agent, wait); err != nil || !got.Set || got.Value.Float() != 7 {
		t.Errorf("set: %+v, %v", got, err)
	}
	guided := func() (settings.Change, error) { return s.PlanSet(ctx, "agentMaxAutonomy", "guided") }
	if _, err := set(agent, guided); !fault.Is(err, fault.RunWaiting) || c.writes != 1 {
		t.Errorf("an agent changed a setting that decides what it may do: %v, %d writes", err, c.writes)
	}
	if _, err := set(ada, guided); err != nil {
		t.Error(err)
	}
	if conf, err := s.Config(ctx); err != nil || conf.LockWaitMs() != 7 || conf.AgentMaxAutonomy() != event.Guided {
		t.Errorf("one key lost the other: %v, %v", conf.Data().Len(), err)
	}
	reset := func() (settings.Change, error) { return s.PlanReset(ctx, "lockWaitMs") }
	if got, err := set(agent, reset); err != nil || got.Set || got.Value.Float() != 2000 {
		t.Errorf("reset: %+v, %v", got, err)
	}
	if c.files["config.json"].V != 1 {
		t.Error("the file has no version")
	}
}

func TestControlFilesOfANewerVersionAreNotWritten(t *testing.T) {
	t.Parallel()
	s, c := newSettings()
	ctx := context.Background()
	newer := ports.Control{V: 4, Data: canon.OfMembers()}
	c.files["config.json"], c.files["trust.json"] = newer, newer
	w := newFixture(t)
	calls := map[string]func() error{
		"config":  func() error { _, err := s.Config(ctx); return err },
		"set":     func() error { _, err := s.PlanSet(ctx, "lockWaitMs", "1"); return err },
		"trusted": func() error { _, err := s.Trusted(ctx); return err },
		"trust": func() error {
			_, err := s.Trust(ctx, w.person("ada"), w.compiled(twoSteps), "/repo", trust.Fixed{}, nil)
			return err
		},
		"revoke": func() error { _, err := s.Revoke(ctx, w.by(), canon.Sum(nil)); return err },
	}
	for name, call := range calls {
		if err := call(); !fault.Is(err, fault.StoreNewer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c.writes != 0 {
		t.Error("a newer file was written")
	}
}

const withCommands = `{"id":"test.cmd","name":"Cmd","description":"d","version":"1.0.0","steps":[
 {"id":"a","title":"A","action":{"kind":"command","argv":["true"]}},{"id":"b","title":"B","prompt":"p"}]}`

func TestTrustAppliesToOneVersion(t *testing.T) {
	t.Parallel()
	s, c := newSettings()
	ctx := context.Background()
	w := newFixture(t)
	cmd := w.compiled(withCommands)
	first, err := s.Trust(ctx, engine.Caller{Actor: event.Actor{Kind: event.Human, Ref: "Ada"}, AtMs: 1}, cmd, "/repo", trust.Fixed{}, nil)
	if err != nil || first.Commands != 1 || first.WorkflowID != "test.cmd" {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := s.Trust(ctx, w.person("bob"), cmd, "/repo", trust.Fixed{}, nil)
	if err != nil || again.AtMs != first.AtMs || again.Root != first.Root {
		t.Errorf("the second agreement replaced the first: %+v, %v", again, err)
	}
	list, err := s.Trusted(ctx)
	if err != nil || len(list.Entries) != 1 {
		t.Fatal(list, err)
	}
	if _, ok := list.Of(w.compiled(twoSteps).Hash(), "/repo"); ok {
		t.Error("another workflow is trusted too")
	}
	if _, ok := list.Of(cmd.Hash(), "/other"); ok {
		t.Error("the workflow is trusted in another repository too")
	}
	if _, err := s.Trust(ctx, w.by(), cmd, "/other", trust.Fixed{}, nil); !fault.Is(err, fault.RunWaiting) {
		t.Errorf("an agent trusted a workflow: %v", err)
	}
	writes := c.writes
	if was, err := s.Revoke(ctx, w.by(), canon.Sum([]byte("other"))); was || err != nil || c.writes != writes {
		t.Errorf("revoking what is not trusted: %v, %v", was, err)
	}
	if was, err := s.Revoke(ctx, w.by(), cmd.Hash()); !was || err != nil {
		t.Errorf("revoke: %v, %v", was, err)
	}
	if list, _ := s.Trusted(ctx); len(list.Entries) != 0 {
		t.Error("still trusted")
	}
}
