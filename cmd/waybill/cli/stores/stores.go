// Package stores opens the store that a command line names: a directory, or the URL of a database. It is the only place that
// knows both. A program that is built with the tag nopostgres has no driver of a database, and refuses URLs (without.go).
package stores

import (
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/diagnose"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/folderstore"
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

// Open opens the store with a name. Errors are those of folderstore.Open and of parsing a URL; the one about an invalid store names
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
	return openDatabase(name, o)
}

// Place returns where the store with a name is.
func Place(name string) ports.StorePlace { return diagnose.Folder{Dir: name} }
