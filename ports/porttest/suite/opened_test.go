package suite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/infra/diagnose"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/folderstore"
	"github.com/waybill/waybill/infra/payloadcache"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/adapters"
	"github.com/waybill/waybill/ports/porttest/storetest"
)

type (
	noPerformersOf struct{ ports.Store }
	noHooks        struct{ ports.Store }
	noPayloads     struct{ ports.Store }
	noName         struct{ ports.Store }
	noExists       struct{ ports.Store }
	noClose        struct{ ports.Store }
	noSavePayload  struct{ ports.Payloads }
	noList         struct{ ports.Payloads }
	noDescribe     struct{ ports.StorePlace }
	noProbe        struct{ ports.StorePlace }
	noInUse        struct{ ports.StorePlace }
	noLeftovers    struct{ ports.StorePlace }
	noHasSessions  struct{ ports.StorePlace }
)

func (noPerformersOf) Performers() (p ports.Performers) { return }
func (noHooks) Hooks() (g ports.GuardFiles)             { return }
func (noPayloads) Payloads() (p ports.Payloads)         { return }
func (noName) Name() (name string)                      { return }
func (noExists) Exists(ctx) (exists bool, err error)    { return }
func (noClose) Close() (err error)                      { return }
func (noSavePayload) Save([]byte) (err error)           { return }
func (noList) List() (l [][]byte, err error)            { return }
func (noDescribe) Describe() (s doctor.Store)           { return }
func (noProbe) Probe(ctx) (p doctor.Probes)             { return }
func (noInUse) InUse(ctx) (held bool, pid int)          { return }
func (noLeftovers) Leftovers() (l doctor.Leftovers)     { return }
func (noHasSessions) HasSessions() (has bool)           { return }

// handlesIn are those of the store in a directory, changed by a function that may be nil.
func handlesIn(t testing.TB, dir string, change func(ports.Store) ports.Store) adapters.Handles {
	open := func(dir string) func() ports.Store {
		return func() ports.Store {
			s, err := folderstore.Open(dir, filestore.Options{})
			storetest.Fatal(t, err)
			t.Cleanup(func() { _ = s.Close() })
			if change == nil {
				return s
			}
			return change(s)
		}
	}
	h := adapters.Handles{Open: open(dir), Elsewhere: open(dir + "-2")}
	if descriptorsAreSeen() {
		h.Held = func() int { return descriptors(dir) }
	}
	return h
}

// descriptors counts those of this process that are open for a directory.
func descriptors(dir string) (n int) {
	of, err := os.Stat(dir)
	for fd := 3; err == nil && fd < 1000; fd++ {
		if info, err := os.Stat(fmt.Sprintf("/dev/fd/%d", fd)); err == nil && os.SameFile(info, of) {
			n++
		}
	}
	return n
}

// descriptorsAreSeen reports that this system shows what a process has open.
func descriptorsAreSeen() bool {
	before := descriptors(".")
	f, err := os.Open(".")
	if err != nil {
		return false
	}
	defer f.Close()
	return descriptors(".") > before
}

// ofOpened has the rows of Store, Payloads and StorePlace, over a store in a directory.
func ofOpened() (rows []idle) {
	at := func(t testing.TB) string { return filepath.Join(t.TempDir(), "home", "local") }
	for method, change := range map[string]func(ports.Store) ports.Store{
		"Performers": func(s ports.Store) ports.Store { return noPerformersOf{s} },
		"Hooks":      func(s ports.Store) ports.Store { return noHooks{s} },
		"Payloads":   func(s ports.Store) ports.Store { return noPayloads{s} },
		"Name":       func(s ports.Store) ports.Store { return noName{s} },
		"Exists":     func(s ports.Store) ports.Store { return noExists{s} },
		"Close":      func(s ports.Store) ports.Store { return noClose{s} },
	} {
		row := ofPort("Store."+method, func(t testing.TB, idle bool) {
			if idle {
				adapters.Opened(t, handlesIn(t, at(t), change))
			} else {
				adapters.Opened(t, handlesIn(t, at(t), nil))
			}
		})
		if method == "Close" && !descriptorsAreSeen() {
			row.unseen = "this system does not show what a process has open"
		}
		rows = append(rows, row)
	}
	for method, change := range map[string]func(ports.Payloads) ports.Payloads{
		"Save": func(p ports.Payloads) ports.Payloads { return noSavePayload{p} },
		"List": func(p ports.Payloads) ports.Payloads { return noList{p} },
	} {
		rows = append(rows, ofPort("Payloads."+method, func(t testing.TB, idle bool) {
			dir := at(t)
			adapters.Payloads(t, storetest.In(t, dir), func() (p ports.Payloads) {
				if p = payloadcache.New(dir); idle {
					p = change(p)
				}
				return p
			})
		}))
	}
	for method, change := range map[string]func(ports.StorePlace) ports.StorePlace{
		"Describe":    func(p ports.StorePlace) ports.StorePlace { return noDescribe{p} },
		"Probe":       func(p ports.StorePlace) ports.StorePlace { return noProbe{p} },
		"InUse":       func(p ports.StorePlace) ports.StorePlace { return noInUse{p} },
		"Leftovers":   func(p ports.StorePlace) ports.StorePlace { return noLeftovers{p} },
		"HasSessions": func(p ports.StorePlace) ports.StorePlace { return noHasSessions{p} },
	} {
		rows = append(rows, ofPort("StorePlace."+method, func(t testing.TB, idle bool) {
			dir := at(t)
			var p ports.StorePlace = diagnose.Folder{Dir: dir}
			if idle {
				p = change(p)
			}
			adapters.Place(t, storetest.In(t, dir), p, os.Getpid())
		}))
	}
	return rows
}
