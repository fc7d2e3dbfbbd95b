//go:build !nopostgres

package stores

import (
	"context"
	"path/filepath"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/folderstore"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/infra/sharedstore"
)

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

// openDatabase opens the store at a URL.
func openDatabase(name string, o Options) (Opened, error) {
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
