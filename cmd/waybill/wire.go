package main

import (
	"context"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
)

// opened is one store and everything that works over it. Ports meet adapters here
// and nowhere else.
type opened struct {
	*engine.Engine
	engine.Settings
	dir   string
	store *filestore.Store
}

// open opens the store that the flags name. One that is not there opens as an
// empty one; the first write makes it.
func (a *app) open(ctx context.Context) (*opened, error) {
	dir, err := a.storeDir()
	if err != nil {
		return nil, err
	}
	options := filestore.Options{LockWait: a.common.lockWait, AllowNetworkFS: a.common.allowNetworkFS, Now: a.clock, Random: a.entropy}
	store, err := filestore.OpenDir(dir, options)
	if err != nil {
		return nil, err
	}
	a.log().Debug().Str("store", dir).Msg("opened")
	if !a.common.lockWaitGiven {
		if store, err = reopen(ctx, dir, store, options); err != nil {
			return nil, err
		}
	}
	return wire(dir, store), nil
}

// reopen applies what the store's own configuration says about opening it.
func reopen(ctx context.Context, dir string, store *filestore.Store, options filestore.Options) (*filestore.Store, error) {
	settings := engine.Settings{Controls: controls{store}}
	c, err := settings.Config(ctx)
	if err != nil {
		_ = store.Close()
		return nil, err
	}
	wait := time.Duration(c.LockWaitMs()) * time.Millisecond
	if wait == options.LockWait {
		return store, nil
	}
	_ = store.Close()
	options.LockWait = wait
	return filestore.OpenDir(dir, options)
}

func wire(dir string, store *filestore.Store) *opened {
	e := &engine.Engine{Logs: store, Locks: store, Objects: store, Sessions: store, Identity: store, Keyring: store, Inspector: inspector(store)}
	return &opened{Engine: e, Settings: engine.Settings{Controls: controls{store}}, dir: dir, store: store}
}

// close lets go of the store.
func (o *opened) close() { _ = o.store.Close() }

// controls is a store's control files as the engine sees them.
type controls struct{ store *filestore.Store }

// Control implements ports.Controls.
func (c controls) Control(ctx context.Context, f ports.ControlFile) (ports.Control, error) {
	doc, _, err := c.store.ReadControl(ctx, f.Name, f.Kind)
	return ports.Control{V: doc.V, Data: doc.Data}, err
}

// UpdateControl implements ports.Controls.
func (c controls) UpdateControl(ctx context.Context, f ports.ControlFile, change func(ports.Control) (ports.Control, error)) error {
	return c.store.UpdateControl(ctx, f.Name, f.Kind, func(old controlfile.Document) (controlfile.Document, error) {
		next, err := change(ports.Control{V: old.V, Data: old.Data})
		return controlfile.Document{Kind: f.Kind, V: next.V, Data: next.Data}, err
	})
}
