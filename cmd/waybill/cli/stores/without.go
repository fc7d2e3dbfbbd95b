//go:build nopostgres

package stores

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/doctor"
)

// IsURL reports that the name of a store is the URL of a database.
func IsURL(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// errWithout is the VALIDATION_ERROR of a URL, which this program cannot open.
func errWithout() error {
	return fault.New(fault.ValidationError, "this build of Waybill has no driver of a database: a store is a directory").
		Suggest("Name a directory in --store, or use a program that was built without the tag nopostgres.")
}

// CheckURL returns the VALIDATION_ERROR of each URL.
func CheckURL(string) error { return errWithout() }

// IsSame reports that two names are of one store in a database: no store is in one.
func IsSame(string, string) bool { return false }

func openDatabase(string, Options) (Opened, error) { return Opened{}, errWithout() }

// Roles are roles of a database that get rights on a store.
type Roles struct{ Writers, Readers []string }

// Made is what Init did.
type Made struct{ From, To int64 }

// Init returns a VALIDATION_ERROR.
func Init(context.Context, string, Roles) (Made, error) { return Made{}, errWithout() }

// Database returns the facts of a database that cannot be reached.
func Database(_ context.Context, url string) doctor.Database {
	return doctor.Database{Address: url, Problem: fault.Of(errWithout())}
}
