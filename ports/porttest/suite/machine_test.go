package suite_test

import (
	"bytes"
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/bundlefile"
	"github.com/waybill/waybill/infra/cron"
	"github.com/waybill/waybill/infra/discovery"
	"github.com/waybill/waybill/infra/guardcache"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/infra/pinfile"
	"github.com/waybill/waybill/infra/process"
	"github.com/waybill/waybill/infra/sessiontimes"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/adapters"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// ofPort is a row for a method of a port that is no store: check runs its suite over an implementation, with or without
// the method.
func ofPort(method string, check func(t testing.TB, idle bool)) idle {
	return ofCase(method, method, check)
}

// ofCase is ofPort with the name of a case.
func ofCase(method, in string, check func(t testing.TB, idle bool)) idle {
	return idle{method: method, in: in,
		sound:  func(t testing.TB) { check(t, false) },
		broken: func(t testing.TB) { check(t, true) }}
}

// programs need a shell.
var programs = adapters.Programs{Copy: []string{"cat"}, Fail: []string{"sh", "-c", "exit 3"}, Endless: []string{"sleep", "60"}}

// needsShell skips a test of programs where they are not.
func needsShell(t testing.TB) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip(err)
	}
}

// anyWorkflows has another name than its method.
type anyWorkflows = ports.Workflows

type (
	noTry          struct{ ports.Commands }
	noFix          struct{ ports.Pins }
	noCompare      struct{ ports.Pins }
	noPlace        struct{ ports.Pins }
	noWorkflows    struct{ anyWorkflows }
	noWorkflowFile struct{ anyWorkflows }
	noSiblingFiles struct{ anyWorkflows }
	noBindings     struct{ anyWorkflows }
	noCheck        struct{ ports.Schedules }
	noLastBefore   struct{ ports.Schedules }
	noNextAfter    struct{ ports.Schedules }
	noStates       struct{ ports.SessionStates }
	noLatestFirst  struct{ ports.SessionTimes }
	noChanges      struct{ ports.GuardFiles }
	noStamps       struct{ ports.GuardFiles }
	noSaved        struct{ ports.GuardFiles }
	noSave         struct{ ports.GuardFiles }
	noSession      struct{ ports.Bundle }
	noEach         struct{ ports.Bundle }
	noEnvelope     struct{ ports.Bundle }
)

func (noTry) Try(ctx, ports.Command) (o ports.CommandOutcome, err error)             { return }
func (noFix) Fix(ctx, []source.Check) (f trust.Fixed, err error)                     { return }
func (noCompare) Compare(ctx, source.Check, trust.Fixed) (s ports.PinState, e error) { return }
func (noPlace) Place(ctx) (p ports.Place)                                            { return }
func (noWorkflows) Workflows(ctx) (f []catalog.File, err error)                      { return }
func (noWorkflowFile) WorkflowFile(ctx, string) (f catalog.File, err error)          { return }
func (noSiblingFiles) SiblingFiles(ctx, string) (f []catalog.File, err error)        { return }
func (noBindings) Bindings(ctx) (b catalog.Bindings, err error)                      { return }
func (noCheck) Check(string, string) (err error)                                     { return }
func (noLastBefore) LastBefore(string, string, int64) (ms int64, ok bool, e error)   { return }
func (noNextAfter) NextAfter(string, string, int64) (ms int64, ok bool, err error)   { return }
func (noStates) States(ctx, func(int, id.Session) [8]byte) (s ports.SessionsState, err error) {
	return
}
func (noLatestFirst) LatestFirst(ctx) (l []ports.SessionTime, err error)  { return }
func (noChanges) Changes(ctx, string) (c ports.SessionChanges, err error) { return }
func (noStamps) Stamps(ctx) (l []ports.SessionStamp, err error)           { return }
func (noSaved) Saved(ctx, ports.GuardList, int64) (b []byte, err error)   { return }
func (noSave) Save(ctx, ports.GuardList, []byte) (err error)              { return }
func (noSession) Session() (s id.Session)                                 { return }
func (noEach) Each(manifest.ObjectKind) iter.Seq[canon.Digest] {
	return func(func(canon.Digest) bool) {}
}
func (noEnvelope) Envelope() (e bundle.Envelope) { return }

// besideStores has a row for each method of a port that is no store.
func besideStores() (rows []idle) {
	row := func(method string, check func(t testing.TB, idle bool)) { rows = append(rows, ofPort(method, check)) }
	row("Commands.Try", func(t testing.TB, idle bool) {
		needsShell(t)
		r := &process.Runner{Dir: t.TempDir(), Grace: time.Second}
		defer r.Close()
		var c ports.Commands = r
		if idle {
			c = noTry{c}
		}
		adapters.Commands(t, c, programs)
	})
	for method, change := range map[string]func(ports.Schedules) ports.Schedules{
		"Check":      func(s ports.Schedules) ports.Schedules { return noCheck{s} },
		"LastBefore": func(s ports.Schedules) ports.Schedules { return noLastBefore{s} },
		"NextAfter":  func(s ports.Schedules) ports.Schedules { return noNextAfter{s} },
	} {
		row("Schedules."+method, func(t testing.TB, idle bool) {
			var s ports.Schedules = cron.Schedules{}
			if idle {
				s = change(s)
			}
			adapters.Schedules(t, s)
		})
	}
	return slices.Concat(rows, ofProjects(), besideFiles(), ofPeople())
}

// put returns a function that writes files below a folder.
func put(t testing.TB, root string) func(name, content string) {
	return func(name, content string) {
		t.Helper()
		at := filepath.Join(root, filepath.FromSlash(name))
		storetest.Fatal(t, os.MkdirAll(filepath.Dir(at), 0o755))
		storetest.Fatal(t, os.WriteFile(at, []byte(content), 0o644))
	}
}

// ofProjects has the rows of Pins and Workflows.
func ofProjects() (rows []idle) {
	for method, change := range map[string]func(ports.Pins) ports.Pins{
		"Fix":     func(p ports.Pins) ports.Pins { return noFix{p} },
		"Compare": func(p ports.Pins) ports.Pins { return noCompare{p} },
		"Place":   func(p ports.Pins) ports.Pins { return noPlace{p} },
	} {
		rows = append(rows, ofPort("Pins."+method, func(t testing.TB, idle bool) {
			needsShell(t)
			root := t.TempDir()
			var p ports.Pins = pinfile.Files{Root: root, Environ: []string{"PATH=/usr/bin:/bin"}}
			if idle {
				p = change(p)
			}
			adapters.Pins(t, p, "sh", put(t, root))
		}))
	}
	for method, change := range map[string]func(ports.Workflows) ports.Workflows{
		"Workflows":    func(w ports.Workflows) ports.Workflows { return noWorkflows{w} },
		"WorkflowFile": func(w ports.Workflows) ports.Workflows { return noWorkflowFile{w} },
		"SiblingFiles": func(w ports.Workflows) ports.Workflows { return noSiblingFiles{w} },
		"Bindings":     func(w ports.Workflows) ports.Workflows { return noBindings{w} },
	} {
		rows = append(rows, ofPort("Workflows."+method, func(t testing.TB, idle bool) {
			root := t.TempDir()
			var w ports.Workflows = discovery.New(discovery.Places{From: root, Root: root})
			if idle {
				w = change(w)
			}
			adapters.Workflows(t, w, put(t, root))
		}))
	}
	return rows
}

// besideFiles has the rows of ports that are implemented beside the file store.
func besideFiles() (rows []idle) {
	store := func(t testing.TB) (dir string, b suite.Bench) {
		dir = filepath.Join(t.TempDir(), "home", "local")
		return dir, storetest.In(t, dir)
	}
	rows = append(rows, ofPort("SessionStates.States", func(t testing.TB, idle bool) {
		dir, b := store(t)
		var s ports.SessionStates = sessiontimes.New(dir)
		if idle {
			s = noStates{s}
		}
		adapters.States(t, b, s)
	}), ofPort("SessionTimes.LatestFirst", func(t testing.TB, idle bool) {
		dir, b := store(t)
		var s ports.SessionTimes = sessiontimes.New(dir)
		if idle {
			s = noLatestFirst{s}
		}
		adapters.Times(t, b, s)
	}))
	for method, change := range map[string]func(ports.GuardFiles) ports.GuardFiles{
		"Changes": func(g ports.GuardFiles) ports.GuardFiles { return noChanges{g} },
		"Stamps":  func(g ports.GuardFiles) ports.GuardFiles { return noStamps{g} },
		"Saved":   func(g ports.GuardFiles) ports.GuardFiles { return noSaved{g} },
		"Save":    func(g ports.GuardFiles) ports.GuardFiles { return noSave{g} },
	} {
		rows = append(rows, ofPort("GuardFiles."+method, func(t testing.TB, idle bool) {
			dir, b := store(t)
			files := guardcache.New(dir)
			b.Open = func(wait time.Duration) suite.Store {
				return guardcache.Announce(storetest.OpenDir(t, dir, wait), files)
			}
			var g ports.GuardFiles = files
			if idle {
				g = change(g)
			}
			adapters.Guard(t, b, g)
		}))
	}
	for method, change := range map[string]func(ports.Bundle) ports.Bundle{
		"Session":  func(b ports.Bundle) ports.Bundle { return noSession{b} },
		"Each":     func(b ports.Bundle) ports.Bundle { return noEach{b} },
		"Envelope": func(b ports.Bundle) ports.Bundle { return noEnvelope{b} },
	} {
		rows = append(rows, ofPort("Bundle."+method, func(t testing.TB, idle bool) {
			x := suite.NewImportFixture(t, 1, 2)
			var b ports.Bundle = exported(t, x)
			if idle {
				b = change(b)
			}
			adapters.Bundle(t, x, b)
		}))
	}
	return rows
}

// exported is a bundle of a session.
func exported(t testing.TB, x *suite.ImportFixture) ports.Bundle {
	t.Helper()
	ctx := context.Background()
	s := memstore.NewDisk(suite.Seed(1)).Open(0)
	_, err := x.Import(s, storetest.Imported)
	storetest.Fatal(t, err)
	var text bytes.Buffer
	_, err = enginetest.InMemory(s).Export(ctx, id.Seed{1}, travel.ExportRequest{Ref: x.Session.String(), AppVersion: "1",
		ExportedAt: "2026-01-01T00:00:00.000Z"}, &text)
	storetest.Fatal(t, err)
	f, err := bundlefile.Spool(ctx, &text, bundle.Options{})
	storetest.Fatal(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// scripted is a person whose answers are written beforehand. It is the second implementation of ports.Person; that of the
// terminal runs the same suite.
type scripted struct{ typed *string }

// answer returns what was typed.
func (s scripted) answer(c ctx) (string, error) {
	if err := c.Err(); err != nil {
		return "", err
	}
	if *s.typed == "" {
		return "", ports.ErrPersonStopped
	}
	return *s.typed, nil
}

func (scripted) Present() bool                                        { return true }
func (scripted) CanConsent() bool                                     { return true }
func (s scripted) Notes(c ctx, _ ports.NotesQuestion) (string, error) { return s.answer(c) }
func (s scripted) Ask(c ctx, _ ports.Question) (string, error)        { return s.answer(c) }
func (s scripted) File(c ctx, _ ports.FileQuestion) (advance.Artifact, error) {
	text, err := s.answer(c)
	return advance.Artifact{Bytes: []byte(text)}, err
}
func (s scripted) Confirm(c ctx, _ string) (bool, error) {
	text, err := s.answer(c)
	return text == "y", err
}
func (s scripted) Approve(c ctx, _ ports.ApproveQuestion) (ports.ApprovalAnswer, error) {
	if text, err := s.answer(c); err != nil || text != "y" {
		return ports.ApprovalRefused, err
	}
	return ports.ApprovalGiven, nil
}
func (s scripted) Trust(c ctx, _ ports.TrustQuestion) (ports.TrustAnswer, error) {
	if text, err := s.answer(c); err != nil || text != "y" {
		return ports.TrustRefused, err
	}
	return ports.TrustOnce, nil
}

type (
	noPresent    struct{ ports.Person }
	noCanConsent struct{ ports.Person }
	noNotes      struct{ ports.Person }
	noAsk        struct{ ports.Person }
	noFile       struct{ ports.Person }
	noConfirmBy  struct{ ports.Person }
	noApprove    struct{ ports.Person }
	noTrust      struct{ ports.Person }
	noNotify     struct{ ports.Notifier }
	noWait       struct{ ports.Notifier }
	noEnter      struct{ ports.Trace }
)

func (noPresent) Present() (yes bool)                                                    { return }
func (noCanConsent) CanConsent() (yes bool)                                              { return }
func (noNotes) Notes(ctx, ports.NotesQuestion) (s string, err error)                     { return }
func (noAsk) Ask(ctx, ports.Question) (s string, err error)                              { return }
func (noFile) File(ctx, ports.FileQuestion) (a advance.Artifact, err error)              { return }
func (noConfirmBy) Confirm(ctx, string) (yes bool, err error)                            { return }
func (noApprove) Approve(ctx, ports.ApproveQuestion) (a ports.ApprovalAnswer, err error) { return }
func (noTrust) Trust(ctx, ports.TrustQuestion) (a ports.TrustAnswer, err error)          { return }
func (noNotify) Notify(ctx, ports.Notification, func(ports.CommandOutcome))              {}
func (noWait) Wait()                                                                     {}
func (noEnter) Enter(ports.Phase) func()                                                 { return func() {} }

// launched is a notifier that runs commands by the port Commands. That of package notifier runs the same suite.
type launched struct {
	commands ports.Commands
	open     *sync.WaitGroup
}

func (l launched) Notify(c ctx, n ports.Notification, report func(ports.CommandOutcome)) {
	l.open.Go(func() {
		out, _ := l.commands.Try(c, ports.Command{Argv: n.Argv, Input: n.Document})
		report(out)
	})
}

func (l launched) Wait() { l.open.Wait() }

// counted counts the phases that were entered. The trace of the command line runs the same suite.
type counted struct {
	mu    *sync.Mutex
	times map[ports.Phase]int
}

func (c counted) Enter(p ports.Phase) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.times[p]++
	return func() {}
}

// ofPeople has the rows of Person, Notifier and Trace.
func ofPeople() (rows []idle) {
	for method, change := range map[string]func(ports.Person) ports.Person{
		"Present":    func(p ports.Person) ports.Person { return noPresent{p} },
		"CanConsent": func(p ports.Person) ports.Person { return noCanConsent{p} },
		"Notes":      func(p ports.Person) ports.Person { return noNotes{p} },
		"Ask":        func(p ports.Person) ports.Person { return noAsk{p} },
		"File":       func(p ports.Person) ports.Person { return noFile{p} },
		"Confirm":    func(p ports.Person) ports.Person { return noConfirmBy{p} },
		"Approve":    func(p ports.Person) ports.Person { return noApprove{p} },
		"Trust":      func(p ports.Person) ports.Person { return noTrust{p} },
	} {
		rows = append(rows, ofPort("Person."+method, func(t testing.TB, idle bool) {
			adapters.Person(t, func() adapters.Desk {
				var typed string
				var p ports.Person = scripted{&typed}
				if idle {
					p = change(p)
				}
				return adapters.Desk{Person: p, Type: func(text string) { typed = text }, Line: "an answer", Second: "south",
					File: "x", Yes: "y"}
			})
		}))
	}
	for method, change := range map[string]func(ports.Notifier) ports.Notifier{
		"Notify": func(n ports.Notifier) ports.Notifier { return noNotify{n} },
		"Wait":   func(n ports.Notifier) ports.Notifier { return noWait{n} },
	} {
		rows = append(rows, ofPort("Notifier."+method, func(t testing.TB, idle bool) {
			needsShell(t)
			r := &process.Runner{Dir: t.TempDir(), Grace: time.Second}
			l := launched{serial{&sync.Mutex{}, r}, &sync.WaitGroup{}}
			defer func() { l.open.Wait(); r.Close() }()
			var n ports.Notifier = l
			if idle {
				n = change(n)
			}
			adapters.Notifier(t, n, programs)
		}))
	}
	return append(rows, ofPort("Trace.Enter", func(t testing.TB, idle bool) {
		c := counted{&sync.Mutex{}, map[ports.Phase]int{}}
		var tr ports.Trace = c
		if idle {
			tr = noEnter{tr}
		}
		adapters.Trace(t, tr, func(p ports.Phase) int { return c.times[p] })
	}))
}

// serial runs one command at a time, as package process does.
type serial struct {
	mu       *sync.Mutex
	commands ports.Commands
}

func (s serial) Try(c ctx, command ports.Command) (ports.CommandOutcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commands.Try(c, command)
}
