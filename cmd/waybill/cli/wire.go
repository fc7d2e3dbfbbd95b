package cli

import (
	"context"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
)

// Store is an opened store with everything that works over it: the use cases of
// the engine, and the settings. Ports meet adapters in this file and nowhere
// else.
type Store struct {
	*engine.Engine
	engine.Settings
	Dir   string
	files *filestore.Store
}

// Open opens the store that the flags name, and must be followed by Close. A
// folder that does not exist opens as an empty store; only a write makes it.
// Errors name the folder, which may come from a variable.
func (a *App) Open(ctx context.Context) (*Store, error) {
	dir, err := a.StoreDir()
	if err != nil {
		return nil, err
	}
	options := filestore.Options{LockWait: a.Flags.lockWait, AllowNetworkFS: a.Flags.AllowNetworkFS, Now: a.Clock,
		Random: a.Entropy}
	store, err := filestore.OpenDir(dir, options)
	if fault.Is(err, fault.StoreInvalid) {
		f := *fault.Of(err)
		f.Message = dir + ": " + f.Message // a variable may have named it
		return nil, &f
	}
	if err != nil {
		return nil, err
	}
	log := a.Log()
	log.Debug().Str("store", dir).Msg("opened")
	if wait, ok := a.configuredWait(ctx, store); ok && wait != options.LockWait {
		_ = store.Close()
		options.LockWait = wait
		if store, err = filestore.OpenDir(dir, options); err != nil {
			return nil, err
		}
	}
	return wire(dir, store), nil
}

// configuredWait is how long the store's own configuration waits for locks,
// where the call does not say. A configuration that cannot be read must not
// keep a person from looking at a run: that is logged, and the default holds.
func (a *App) configuredWait(ctx context.Context, store *filestore.Store) (time.Duration, bool) {
	if a.Flags.lockWaitGiven {
		return 0, false
	}
	settings := engine.Settings{Controls: controls{store}}
	c, err := settings.Config(ctx)
	if ctx.Err() != nil {
		return 0, false // the call is over, which says nothing about the file
	}
	if err != nil {
		log := a.Log()
		log.Warn().Err(err).Msg("config.json cannot be read; the defaults hold")
		return 0, false
	}
	return configuredLockWait(c), true
}

// configuredLockWait is how long a writer waits for another one. The zero Config gives the
// default, which the table of keys alone holds.
func configuredLockWait(c config.Config) time.Duration {
	return time.Duration(c.LockWaitMs()) * time.Millisecond
}

// wire puts one store behind every port of the engine, so that what belongs
// together is locked and synced together.
func wire(dir string, store *filestore.Store) *Store {
	e := &engine.Engine{Logs: store, Locks: store, Objects: store, Sessions: store, Identity: store, Keyring: store,
		Inspector: store, Digests: store, Heads: store,
		Controls: controls{store}, Streams: store, Marks: store, Trash: store, Retention: store, Repairs: store,
		Arrivals: store, Graves: store, SideLogs: store}
	return &Store{Engine: e, Settings: engine.Settings{Controls: controls{store}, Auditor: e}, Dir: dir, files: store}
}

// Close writes what the engine kept for later, such as head caches, and closes
// the files. Errors are dropped: nothing that was answered depends on it.
func (o *Store) Close() {
	o.Flush(context.Background()) // whatever the call came to, and although it may be over
	_ = o.files.Close()
}

// controls are the control files of a store as ports.Controls.
type controls struct{ store *filestore.Store }

// Control implements ports.Controls.
func (c controls) Control(ctx context.Context, f ports.ControlFile) (ports.Control, error) {
	doc, _, err := c.store.ReadControl(ctx, f.Name, f.Kind)
	return ports.Control{V: doc.V, Data: doc.Data}, err
}

// UpdateControl implements ports.Controls.
func (c controls) UpdateControl(ctx context.Context, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	return c.store.UpdateControl(ctx, f.Name, f.Kind, func(old controlfile.Document) (controlfile.Document, error) {
		next, err := change(ports.Control{V: old.V, Data: old.Data})
		return controlfile.Document{Kind: f.Kind, V: next.V, Data: next.Data}, err
	})
}

// Performers gives the locks that keep two performers of one session apart.
func (o *Store) Performers() ports.Performers { return o.files.Performers() }

// LogFiles are the files that grow when an event or an annotation is recorded in a session.
// A command that waits for new facts watches them. They need not exist yet.
func (o *Store) LogFiles(s id.Session) (events, annotations string) {
	return filestore.LogFiles(o.Dir, s)
}
