package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/notify"
	"github.com/waybill/waybill/cmd/waybill/cli/stores"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/candidates"
	"github.com/waybill/waybill/durable/engine/commits"
	"github.com/waybill/waybill/durable/engine/idempotency"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/notice"
	"github.com/waybill/waybill/durable/engine/openruns"
	"github.com/waybill/waybill/durable/engine/origin"
	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/engine/replay"
	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/trial"
	"github.com/waybill/waybill/durable/engine/unattended"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/infra/discovery"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
)

// Store is an opened store with the use cases of the engine and the settings. This file is the
// only place where ports are connected to adapters (docs/design.md#layers).
type Store struct {
	*engine.Engine
	*views.Views
	*unattended.Finder
	*verify.Verifier
	*verify.Auditor
	*verify.Replayer
	*lists.Lists
	*travel.Exchange
	*upkeep.Upkeep
	*learning.Learning
	candidates.Offers
	settings.Settings
	// Each is described by its package.
	OpenRuns openruns.List
	Turns    engine.Turns
	Commits  commits.Commits
	Pauses   pausing.Pauses
	Inbox    inbox.Inbox
	Notices  notice.Notices
	Reports  report.Reporter
	Recorder trial.Recorder
	// Idempotency keeps the answers to requests of programs with an idempotency key.
	Idempotency *idempotency.Keeper
	Wire        *wire.Wire
	// Ports is the store itself, SettingsStore the one that has its settings: the same one, but for a store in a database.
	Ports, SettingsStore ports.Store
	app                  *App
	config               config.Config // as it was when the store was opened
	// notifying is about what is appended to the store.
	notifying *notify.Queue
}

// Open opens the store that the flags select; the caller must call Close. A directory that
// does not exist opens as an empty store and is created by the first write; but for a command that
// creates no store, one that a flag names is TARGET_NOT_FOUND. A message about an
// invalid store names the directory, since that may come from an environment variable.
func (a *App) Open(ctx context.Context) (*Store, error) {
	name, err := a.StoreName()
	if err != nil {
		return nil, err
	}
	options := stores.Options{Options: filestore.Options{LockWait: a.Flags.bounded(a.Flags.lockWait), AllowNetworkFS: a.Flags.AllowNetworkFS,
		Now: a.Clock, Random: a.Entropy, Tenant: a.tenant()}, ConfigDir: a.ConfigDir}
	store, err := stores.Open(name, options)
	if err != nil {
		return nil, err
	}
	if err := checkNamed(ctx, a, store); err != nil {
		_ = store.Close()
		return nil, err
	}
	log := a.Log()
	log.Debug().Str("store", name).Msg("opened")
	c := a.configuration(ctx, store.Of())
	a.testStore = settings.IsTest(ctx, store)
	wait := a.Flags.bounded(configuredLockWait(c))
	if !a.Flags.lockWaitGiven && wait != options.LockWait && ctx.Err() == nil {
		_ = store.Close()
		options.LockWait = wait
		if store, err = stores.Open(name, options); err != nil {
			return nil, err
		}
	}
	var o *Store
	o = connect(store, func(p manifest.Plan) { o.notifying.Appended(p) }, a.Version)
	o.app, o.config, o.notifying = a, c, notifying(a, o)
	o.Engine = o.Engine.WithChecks(o.checker())
	return o, nil
}

// checkNamed returns TARGET_NOT_FOUND for a store that does not exist, if a flag names it and the command creates none:
// an empty answer would hide a wrong name.
func checkNamed(ctx context.Context, a *App, store ports.Store) error {
	if a.creates || a.Flags.Store+a.Flags.Tenant == "" {
		return nil
	}
	exists, err := store.Exists(ctx)
	if err != nil || exists {
		return err
	}
	flag := "--store"
	if a.Flags.Tenant != "" {
		flag = "--tenant"
	}
	return fault.New(fault.TargetNotFound, "there is no store in %s", store.Name()).
		Suggest("Check %s. The first run creates a store: %s.", flag, fault.Command{"run", "FILE"})
}

// OtherStore returns the App of a call like this one of the store in a directory, which every command that it suggests
// selects. With ports.ReadOnly the store has to exist.
func OtherStore(a *App, dir string, create ports.Create) *App {
	other := &App{Process: a.Process, Flags: a.Flags, creates: bool(create), given: a.given}
	other.Flags.Store, other.Flags.Tenant = dir, ""
	return other
}

// Selecting returns an error whose suggested commands select the store of the call.
func (f *Flags) Selecting(err error) error {
	if of := (*fault.Fault)(nil); errors.As(err, &of) {
		return f.SuggestForStore(of)
	}
	return err
}

// configuration returns the configuration of the store. An unreadable one is logged and the defaults
// are returned, so that runs can still be inspected.
func (a *App) configuration(ctx context.Context, store ports.Controls) config.Config {
	c, err := settings.Read(ctx, store)
	if err != nil && ctx.Err() == nil { // of a cancelled call the file may be valid
		log := a.Log()
		log.Warn().Err(err).Msg("cannot read config.json; using the defaults")
	}
	return c
}

// configuredLockWait returns how long a writer waits for a lock. For the zero Config that is
// the default, which is defined in config.Table.
func configuredLockWait(c config.Config) time.Duration {
	return time.Duration(c.LockWaitMs()) * time.Millisecond
}

// connect creates the parts of the engine over one store, so that operations which belong
// together use the same locks, syncs and caches.
func connect(store stores.Opened, appended func(manifest.Plan), version string) *Store {
	announced := announcing{store, appended}
	e := engine.New(announced)
	var ownAudit *verify.Auditor
	if own := store.Settings; own != nil {
		l := ledger.New(own)
		e, ownAudit = engine.NewWithSettings(announced, settings.New(own, l)), verify.NewAuditor(l, own)
	}
	e.Origins = origin.Origins{Bundled: discovery.IsBundled, Controls: store}
	here := views.Here{Imported: e.Ledger().ImportedOfLog, Approval: e.PendingApprovalAt, HandedOver: e.Ledger().IsHandedOver}
	v := views.New(e.Reader, store, here)
	finder, listed := unattended.New(e.Reader, store, here), lists.New(e.Reader, store, v)
	listed.FindPending(finder.PendingOf)
	kept, inCommits := index.Of(store.Store)
	if kept != nil {
		listed.KeepIn(kept, store)
	}
	if inCommits {
		e.BriefOf = listed.BriefOf
	}
	e.Index, finder.Index = kept, kept
	offers := candidates.New(e.Answers, store)
	offers.Index = kept
	learned := learning.New(e, announced)
	waiting := inbox.New(e.Reader, store, v, learned)
	waiting.Index = kept
	listed.FindWaits(waiting.Kept)
	audit := verify.NewAuditor(e.Ledger(), store)
	audit.Settings = ownAudit
	verifier := verify.New(e.Reader, store, audit)
	maintained := upkeep.New(e, announced, verifier)
	maintained.Index = kept
	return &Store{Engine: e, Views: v, Finder: finder, Lists: listed, Verifier: verifier, Auditor: audit, Replayer: verify.NewReplayer(e, store),
		Exchange: travel.New(e, announced, v), Upkeep: maintained, Learning: learned, Offers: offers,
		OpenRuns: openruns.New(e.Answers, e.Ledger().ImportedOf, store.Hooks()), Turns: engine.NewTurns(e), Pauses: pausing.New(e, announced),
		Settings: engine.SettingsOf(e), Idempotency: idempotency.New(store), Wire: wire.New(e.Reader, store, wire.About{Version: version, Tenancy: store}),
		Inbox: waiting, Notices: notice.New(e.Reader, v, waiting),
		Reports:  report.New(store, e.Answers, v, learned, verifier),
		Recorder: trial.NewRecorder(e.Reader, store),
		Commits:  commits.New(e.Reader, store, v, e.Ledger().ImportedOfLog, store), Ports: store, SettingsStore: store.Of()}
}

// MemoryStore returns an empty store in memory, of which nothing remains, for the tests of workflows.
func MemoryStore() engine.Store { return memstore.NewDisk(id.Seed{1}).Open(0) }

// announcing is a store whose appends this process is notified of.
type announcing struct {
	ports.Store
	appended func(manifest.Plan)
}

// Append implements ports.Logs.
func (s announcing) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) {
	head, err := s.Store.Append(ctx, w, at, p)
	if err == nil {
		s.appended(p)
	}
	return head, err
}

// Close starts the commands of notifications that are due, writes data that the engine has deferred, such as
// head caches, and closes the files. Errors are ignored: no acknowledged fact depends on that.
func (o *Store) Close() {
	o.notifying.Settle()
	o.Flush(context.Background()) // the context of the call may be cancelled already
	_ = o.Ports.Close()
}

// Logs returns the logs of the store with what is stored beside them.
func (o *Store) Logs() replay.Store { return o.Ports }

// StoreID returns the id of the store, the zero id for one that does not exist yet.
func (o *Store) StoreID(ctx context.Context) (id.Store, error) {
	return o.Ports.StoreID(ctx, ports.ReadOnly)
}

// Performers returns the port that allows at most one performer per session.
func (o *Store) Performers() ports.Performers { return o.Ports.Performers() }

// ArtifactBytes opens the bytes of an artifact; see views.Views.OpenArtifact.
func (o *Store) ArtifactBytes(ctx context.Context, ref string) (io.ReadCloser, canon.Digest, error) {
	return o.OpenArtifact(ctx, o.Ports, ref)
}
