package travel

import (
	"os"
	"path/filepath"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/stores"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/pattern"
)

// placeForm matches what is a URL, or a place on another machine as ssh names it, and its first word: a scheme or a host,
// which may have a user before it. A drive of Windows has one letter.
var placeForm = pattern.New(`^([A-Za-z][A-Za-z0-9+.-]+):(//)?`)

// checkOther refuses a call without another store, and a place that is neither a directory nor a database. What is refused may hold a password,
// so that no more than the scheme of it is repeated.
func (x exchange) checkOther() error {
	if x.other == "" {
		return cli.UsageFault(x.command, "the other store is not named").
			Suggest("Name its directory or its URL: %s.", fault.Command{x.verb, "RUN", "--" + x.flag, "DIR"})
	}
	form := placeForm.FindStringSubmatch(x.other)
	if form == nil || stores.IsURL(x.other) {
		return nil
	}
	if form[2] != "" {
		return cli.UsageFault(x.command, "stores at URLs of the scheme %s are not supported; a store is a directory or a PostgreSQL database", form[1]).
			Suggest("Name a directory or a URL postgres://…, or send a file: %s.", fault.Command{"export", "RUN", "-o", "FILE"})
	}
	if _, err := os.Stat(x.other); err != nil {
		return cli.UsageFault(x.command, "--%s names a place on another machine, or a directory that does not exist", x.flag).
			Suggest("A directory with a colon in its name is written ./NAME. To reach another machine, send a file: %s.",
				fault.Command{"export", "RUN", "-o", "FILE"})
	}
	return nil
}

// checkApart refuses an other store that is this one by another path, or a directory in it or around it.
func (x exchange) checkApart(dir, other string) error {
	if stores.IsURL(dir) || stores.IsURL(other) {
		if stores.IsSame(dir, other) {
			return cli.UsageFault(x.command, "--%s names the store of the call, %s", x.flag, dir).Suggest("Name another store.")
		}
		return nil
	}
	in, around := isWithin(other, dir), isWithin(dir, other)
	switch {
	case in && around:
		return cli.UsageFault(x.command, "--%s names the store of the call, %s", x.flag, dir).
			Suggest("Name the directory of another store.")
	case in:
		return cli.UsageFault(x.command, "--%s names a directory inside the store of the call, %s", x.flag, dir).
			Suggest("Name the directory of another store.")
	case around:
		return cli.UsageFault(x.command, "--%s names a directory that contains the store of the call, %s", x.flag, dir).
			Suggest("Name the directory of another store.")
	}
	return nil
}

// isWithin reports that a path is the directory dir or in it, by any name. Neither has to exist.
func isWithin(path, dir string) bool {
	top, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for at := existing(path); ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, top) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// existing returns the part of a path that exists, without symbolic links.
func existing(path string) string {
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return real
		}
		if path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}
