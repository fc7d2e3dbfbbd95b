package upkeep

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/diagnose"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
)

// diagnosis gathers facts. It opens the store itself where other commands would
// fail: a store that cannot be opened is one of the facts. Files of the store
// are read by package diagnose.
type diagnosis struct {
	// the call, for its flags and streams
	a    *cli.App
	full bool
	f    doctor.Facts
}

// binary notes the version and platform of the program.
func (d *diagnosis) binary() {
	d.f.Binary = doctor.Binary{Version: d.a.Version, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Commit: cli.Commit()}
}

// place finds out which folder the call means and which flag or variable names
// it. A home folder that is not known leaves the store unnamed, and most checks
// out.
//
// The source of the name is part of the report: a store that seems empty is
// most often another one than was meant.
func (d *diagnosis) place() {
	dir, err := d.a.StoreDir()
	if err != nil {
		d.f.Store.Unnamed = fault.Of(err)
		return
	}
	d.f.Store = diagnose.Look(dir)
	c := d.a.Flags
	// The first of these that is set is what counts.
	switch {
	case c.Store != "":
		d.f.Store.From = "--store"
	case d.a.Getenv("WAYBILL_HOME") != "":
		d.f.Store.From = "$WAYBILL_HOME"
	case filepath.IsAbs(d.a.Getenv("XDG_DATA_HOME")):
		d.f.Store.From = "$XDG_DATA_HOME"
	default:
		d.f.Store.From = "your home folder"
	}
	if c.Tenant != "" {
		d.f.Store.From += " and --tenant"
	}
}

// ground tries what a store relies on, such as locks and renames. It tries
// inside the store where that is one of ours and can be opened, else in the
// nearest folder above, which mostly is on the same disk. A folder that is no
// store gets nothing written into it.
func (d *diagnosis) ground() {
	if d.f.Store.Unnamed != nil {
		return
	}
	dir := d.f.Store.Dir
	// Only a store that is there and opens is written to.
	ours := d.f.Store.Kind == doctor.Folder
	if ours {
		s, err := filestore.OpenDir(dir, filestore.Options{AllowNetworkFS: true})
		if err == nil {
			_ = s.Close()
		}
		ours = err == nil && diagnose.Begun(dir)
	}
	at := dir
	if !ours {
		at = diagnose.Nearest(filepath.Dir(dir))
	}
	d.f.Ground = diagnose.Probe(context.Background(), at)
	// A failure outside of the store is weaker evidence.
	d.f.Ground.InStore, d.f.Ground.Allowed = ours, d.a.Flags.AllowNetworkFS
}

// inside looks at a store that can be opened: its id, its users, leftovers,
// settings and sessions. A folder without an id that has sessions belongs to
// another program or lost its store.json.
//
// An error of opening is the fact that the report explains, and ends this step
// alone.
func (d *diagnosis) inside(ctx context.Context) {
	s := &d.f.Store
	d.f.Clock = doctor.Clock{NowMs: d.a.NowMs()}
	if s.Kind != doctor.Folder {
		return
	}
	o, err := d.a.Open(ctx)
	if err != nil {
		s.Problem = fault.Of(err)
		return
	}
	defer o.Close()
	storeID, err := o.Identity.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		s.Problem = fault.Of(err)
		return
	}
	if !storeID.IsZero() {
		// There is one format so far.
		s.ID, s.Format = storeID.String(), 1
		s.InUse, s.Holder = diagnose.InUse(ctx, s.Dir)
		d.f.Left = diagnose.Leftovers(s.Dir)
		d.settings(ctx, o)
	}
	d.verify(ctx, o)
	if storeID.IsZero() { // a store of ours that was begun has nothing in it
		s.Foreign = diagnose.HasSessions(s.Dir)
	}
}

// settings reads the keyring, the configuration and the trusted workflows, and
// notes for each why it cannot be used. A file that does not exist is in order:
// the defaults hold.
func (d *diagnosis) settings(ctx context.Context, o *cli.Store) {
	if k, err := o.ListKeys(ctx); err == nil {
		d.f.Keys = doctor.Keys{State: string(k.State), Problem: k.Problem, Current: k.Current, Previous: k.Previous}
	} else {
		d.f.Keys = doctor.Keys{State: string(engine.KeysUnusable), Problem: fault.Of(err).Message}
	}
	_, configErr := o.Config(ctx)
	_, trustErr := o.Trusted(ctx)
	for _, s := range []struct {
		file string
		err  error
	}{{"config.json", configErr}, {"trust.json", trustErr}} {
		problem := ""
		if s.err != nil {
			problem = fault.Of(s.err).Message
		}
		d.f.Settings = append(d.f.Settings, doctor.Setting{File: s.file, Problem: problem})
	}
}

// newestChecked is how many sessions are verified without --full: those that
// are worked with.
const newestChecked = 5

// verify checks the sessions that were written to last, or all of them with
// --full, and counts what is found. A session that cannot be read at all counts
// as one error.
//
// Without --full the time that it takes does not grow with the store; 'waybill
// verify' checks the rest.
func (d *diagnosis) verify(ctx context.Context, o *cli.Store) {
	v := &d.f.Verified
	v.Looked = true
	all, err := o.Sessions.Sessions(ctx)
	if err != nil {
		v.Why = fault.Of(err).Message
		return
	}
	v.Of = len(all)
	// The time of the newest manifest shows a clock that was set back.
	newest, atMs := diagnose.Newest(o.Dir, all, newestChecked)
	d.f.Clock.NewestMs = atMs
	if d.full {
		found, err := o.Verify(ctx)
		if err != nil {
			v.Why = fault.Of(err).Message
			return
		}
		v.Sessions = len(found.Sessions)
		d.count(found.Findings)
		for _, s := range found.Sessions {
			d.count(s.Findings)
		}
		return
	}
	for _, s := range newest {
		found, err := o.VerifySession(ctx, s.String())
		v.Sessions++
		if err != nil {
			d.count([]manifest.Finding{manifest.NewFinding(manifest.ManifestDamaged, s.String(), "%s",
				fault.Of(err).Message)})
			continue
		}
		for _, row := range found.Sessions {
			d.count(row.Findings)
		}
	}
}

// count adds findings to the sums and keeps the message of the first error.
func (d *diagnosis) count(findings []manifest.Finding) {
	v := &d.f.Verified
	for _, f := range findings {
		if f.Severity != manifest.SeverityError {
			v.Warnings++
			continue
		}
		// One message explains more than a number.
		if v.Errors++; v.First == "" {
			v.First = f.Message
		}
	}
}

// workflows counts what is found where workflows are searched for, by place,
// and lists those that do not validate. Without a working directory there is
// only the reason why nothing was counted.
func (d *diagnosis) workflows(ctx context.Context) {
	w := &d.f.Workflows
	finder, err := d.a.Finder()
	if err != nil {
		w.Why = fault.Of(err).Message
		return
	}
	files, err := finder.Workflows(ctx)
	if err == nil {
		var bindings catalog.Bindings
		if bindings, err = finder.Bindings(ctx); err == nil {
			in := d.brought(ctx)
			d.countWorkflows(append(files, in.Workflows()...), bindings, in)
		}
	}
	if err != nil {
		w.Why = fault.Of(err).Message
	}
}

// brought are the installed artifacts. A folder that is no store yet has none,
// and is not opened for them.
func (d *diagnosis) brought(ctx context.Context) cli.Installations {
	if d.f.Store.ID == "" {
		return nil
	}
	return d.a.Installed(ctx)
}

// countWorkflows counts the workflows of each place. Places that are empty are
// listed as missing, but for installed workflows, which need not exist.
func (d *diagnosis) countWorkflows(files []catalog.File, bindings catalog.Bindings, in cli.Installations) {
	w := &d.f.Workflows
	counts := map[source.SourceKind]int{}
	for _, e := range catalog.Of(files, catalog.NewLibrary(files, bindings).WithPrompts(in.Prompts())).Entries {
		if !e.Valid() {
			w.Broken = append(w.Broken, page.Clean(e.Ref))
			continue
		}
		counts[e.Kind]++
		w.Total++
	}
	for _, kind := range []source.SourceKind{source.SourceBundled, source.SourceInstalled, source.SourceUser,
		source.SourceProject} {
		if kind == source.SourceInstalled && counts[kind] == 0 {
			continue // nothing has to be there
		}
		// Bundled workflows are always there; other places may be missing.
		there := kind == source.SourceBundled || counts[kind] > 0
		if kind == source.SourceUser && !there {
			if config, err := d.a.BaseDir("XDG_CONFIG_HOME", ".config"); err == nil {
				_, err := os.Stat(filepath.Join(config, "waybill", "workflows"))
				there = err == nil
			}
		}
		w.Places = append(w.Places, doctor.Place{Name: string(kind), There: there, Count: counts[kind]})
	}
}

// surroundings notes the repository, the program git, and what the terminal can
// do. git is optional: repositories are read without it. Without a terminal
// there is no width, and no color.
func (d *diagnosis) surroundings() {
	_, root, err := d.a.Workspace()
	_, gitErr := exec.LookPath("git")
	d.f.Git = doctor.Git{Looked: err == nil, Repository: root != "", Program: gitErr == nil}
	d.f.Terminal = doctor.Terminal{Looked: true, In: d.a.IsTerminal(d.a.In), Out: d.a.IsTerminal(d.a.Out),
		Width: d.a.WidthOf(d.a.Out), Colors: d.a.Colors(d.a.Out)}
}
