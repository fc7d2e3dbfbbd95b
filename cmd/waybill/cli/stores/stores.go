// Package stores opens the store that a command line names: a directory, or the URL of a database. It is the only place that
// knows both.
package stores

import (
	"context"
	"path/filepath"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/infra/diagnose"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/folderstore"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/infra/sharedstore"
	"github.com/waybill/waybill/ports"
)

// Options are those of an opened store.
type Options struct {
	filestore.Options
	// ConfigDir is the directory of the configuration of this machine: the settings of a store in a database are below it.
	ConfigDir func() (string, error)
}

// Opened is a store that was opened.
type Opened struct {
	ports.Store
	// Settings is the store in which this machine keeps its settings for a store in a database; nil: the store has its own.
	Settings ports.Store
}

// Of is the store with the settings of the store: itself, or the one of this machine.
func (o Opened) Of() ports.Store {
	if o.Settings != nil {
		return o.Settings
	}
	return o.Store
}

// Close implements ports.Store.
func (o Opened) Close() error {
	if o.Settings != nil {
		_ = o.Settings.Close()
	}
	return o.Store.Close()
}

// IsURL reports that the name of a store is the URL of a database.
func IsURL(name string) bool { return pgstore.IsAddress(name) }

// CheckURL returns the VALIDATION_ERROR of a URL that cannot be used, such as one with a password; no more of it is printed then.
func CheckURL(name string) error {
	_, err := pgstore.Parse(name)
	return err
}

// IsSame reports that two names are of one store in a database; of directories it says nothing.
func IsSame(a, b string) bool {
	if !IsURL(a) || !IsURL(b) {
		return false
	}
	first, err := pgstore.Parse(a)
	second, otherErr := pgstore.Parse(b)
	return err == nil && otherErr == nil && first.Key() == second.Key()
}

// Open opens the store with a name. Errors are those of folderstore.Open and pgstore.Parse; the one about an invalid store names
// its directory.
func Open(name string, o Options) (Opened, error) {
	if !IsURL(name) {
		s, err := folderstore.Open(name, o.Options)
		if fault.Is(err, fault.StoreInvalid) {
			f := *fault.Of(err)
			f.Message = name + ": " + f.Message
			err = &f
		}
		if err != nil {
			return Opened{}, err
		}
		return Opened{Store: s}, nil
	}
	address, err := pgstore.Parse(name)
	if err != nil {
		return Opened{}, err
	}
	dir, err := settingsDir(address, o)
	if err != nil {
		return Opened{}, err
	}
	own, err := folderstore.Open(dir, o.Options)
	if err != nil {
		return Opened{}, err
	}
	return Opened{sharedstore.Open(address, dir, pgstore.Options{LockWait: o.LockWait, Random: o.Random}), own}, nil
}

// settingsDir is the directory of the store in which this machine keeps its settings for a store in a database.
func settingsDir(a pgstore.Address, o Options) (string, error) {
	config, err := o.ConfigDir()
	return filepath.Join(config, "stores", a.Key()), err
}

// Place returns where the store with a name is.
func Place(name string) ports.StorePlace { return diagnose.Folder{Dir: name} }

// Roles are roles of a database that get rights on a store.
type Roles = pgstore.Roles

// Made is what Init did.
type Made = pgstore.Made

// Init makes the tables of a store in a database, or changes those of an older version. Errors are those of pgstore.Parse and
// pgstore.Init.
func Init(ctx context.Context, url string, roles Roles) (Made, error) {
	address, err := pgstore.Parse(url)
	if err != nil {
		return Made{}, err
	}
	return pgstore.Init(ctx, address, pgstore.Options{LockWait: filestore.LockWaitDefault}, roles)
}

// Database returns the facts of the database at a URL.
func Database(ctx context.Context, url string) doctor.Database {
	address, err := pgstore.Parse(url)
	if err != nil {
		return doctor.Database{Address: url, Problem: fault.Of(err)}
	}
	return pgstore.Describe(ctx, address, pgstore.Options{LockWait: filestore.LockWaitDefault})
}
