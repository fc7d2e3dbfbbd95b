// Package diagnosis collects the facts about this machine and a store that package doctor judges. It repairs nothing.
//
// Start reading at Facts.
package diagnosis

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/stores"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/diagnose"
	"github.com/waybill/waybill/ports"
)

// diagnosis collects the facts for package doctor. Its methods are steps that
// fill in f.
type diagnosis struct {
	// a is the call, for its flags and streams.
	a    *cli.App
	full bool // verify all sessions
	// place is where the store is, nil if none is selected.
	place ports.StorePlace
	f     doctor.Facts // result
}

// binary records the version and platform of the program.
func (d *diagnosis) binary() {
	d.f.Binary = doctor.Binary{Version: d.a.Version, Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Commit: document.Commit()}
}

// storeDirectory records the directory of the store and the flag or variable that
// selects it. If the home directory is unknown the store is not selected, and
// most checks are skipped.
//
// The source of the path is reported because a store that seems empty usually is
// a different store than the user expects.
func (d *diagnosis) storeDirectory(ctx context.Context) {
	name, err := d.a.StoreName()
	if err != nil {
		d.f.Store.NotSelected = fault.Of(err)
		return
	}
	if stores.IsURL(name) {
		d.f.Database = stores.Database(ctx, name)
		return
	}
	d.place = stores.Place(name)
	d.f.Store = d.place.Describe()
	c := d.a.Flags
	// In the order of precedence.
	switch {
	case c.Store != "":
		d.f.Store.From = "--store"
	case c.Tenant == "" && d.a.Getenv("WAYBILL_STORE") != "":
		d.f.Store.From = "$WAYBILL_STORE"
	case d.a.Getenv("WAYBILL_HOME") != "":
		d.f.Store.From = "$WAYBILL_HOME"
	case filepath.IsAbs(d.a.Getenv("XDG_DATA_HOME")):
		d.f.Store.From = "$XDG_DATA_HOME"
	default:
		d.f.Store.From = "your home directory"
	}
	if c.Tenant != "" {
		d.f.Store.From += " and --tenant"
	}
}

// probes tries the operations that a store relies on, such as locks and renames.
func (d *diagnosis) probes() {
	if d.place == nil {
		return
	}
	d.f.Probes = d.place.Probe(context.Background())
	d.f.Probes.Allowed = d.a.Flags.AllowNetworkFS
}

// storeContents records facts about a store that can be opened: its id, the
// process that uses it, leftovers, settings and sessions. A directory without an
// id that has sessions belongs to another program, or lost its store.json.
//
// If the store cannot be opened, the error is recorded and the step ends.
func (d *diagnosis) storeContents(ctx context.Context) {
	s := &d.f.Store
	d.f.Clock = doctor.Clock{NowMs: d.a.NowMs()}
	if s.Kind != doctor.Directory && d.f.Database.StoreID == "" {
		return
	}
	err := d.a.WithStore(ctx, func(ctx context.Context, o *cli.Store) error {
		storeID, err := o.StoreID(ctx)
		if err != nil {
			return err
		}
		if d.place == nil {
			d.settings(ctx, o)
			d.verify(ctx, o)
			return nil
		}
		if storeID.IsZero() { // a new store of Waybill has no sessions yet
			s.Foreign = d.place.HasSessions()
		} else {
			// 1 is the only format that exists.
			s.ID, s.Format = storeID.String(), 1
			s.InUse, s.Holder = d.place.InUse(ctx)
			d.f.Leftovers = d.place.Leftovers()
			d.settings(ctx, o)
		}
		d.verify(ctx, o)
		return nil
	})
	s.Problem = fault.Of(err)
}

// settings reads the keyring, the configuration, the trusted workflows and the
// keys of programs, and records for each why it cannot be used. A missing file is no problem: the
// defaults apply.
func (d *diagnosis) settings(ctx context.Context, o *cli.Store) {
	if k, err := o.ListKeys(ctx); err == nil {
		d.f.Keys = doctor.Keys{State: string(k.State), Problem: k.Problem, Current: k.Current, Previous: k.Previous}
	} else {
		d.f.Keys = doctor.Keys{State: string(upkeep.KeysUnusable), Problem: fault.Of(err).Message}
	}
	_, configErr := o.Config(ctx)
	_, trustErr := o.Trusted(ctx)
	_, keysErr := o.ListHTTPKeys(ctx)
	d.f.Settings = []doctor.Setting{{File: "config.json", Problem: messageOf(configErr)},
		{File: "trust.json", Problem: messageOf(trustErr)}, {File: settings.HTTPKeysFile.Name, Problem: messageOf(keysErr)}}
}

// messageOf returns the message of an error, "" for nil.
func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return fault.Of(err).Message
}

// newestChecked is how many sessions are verified without --full: the ones that
// were written to last, which the user is most likely to continue.
const newestChecked = 5

// verify checks the sessions that were written to last, or all with --full, and
// counts the findings. A session that cannot be read counts as one error.
//
// Without --full the duration does not depend on the number of sessions; 'waybill
// verify' checks all of them.
func (d *diagnosis) verify(ctx context.Context, o *cli.Store) {
	v := &d.f.Verified
	v.Checked = true
	all, err := o.Sessions(ctx)
	v.Why, v.Of = messageOf(err), len(all)
	if err != nil {
		return
	}
	// A newest manifest in the future is evidence of a clock that was set back.
	newest, atMs, err := newestOf(ctx, o.Ports, all)
	if d.f.Clock.NewestMs = atMs; err != nil {
		v.Why = messageOf(err)
		return
	}
	if d.full {
		found, err := o.Verify(ctx)
		v.Why, v.Sessions = messageOf(err), len(found.Sessions)
		if err == nil {
			d.count(found)
		}
		return
	}
	for _, s := range newest {
		found, err := o.VerifySession(ctx, s.String())
		v.Sessions++
		if err != nil {
			found = verify.Verification{Findings: []manifest.Finding{manifest.NewFinding(manifest.ManifestDamaged,
				s.String(), "%s", fault.Of(err).Message)}}
		}
		d.count(found)
	}
}

// newestOf returns the sessions that are verified without --full, and when the latest one changed, in milliseconds since 1970
// UTC. Those whose time is not known count as the oldest.
func newestOf(ctx context.Context, times ports.SessionTimes, all []id.Session) (newest []id.Session, latestMs int64, err error) {
	known, err := times.LatestFirst(ctx)
	for _, s := range known {
		newest, latestMs = append(newest, s.Session), max(latestMs, s.ChangedMs)
	}
	for _, s := range all {
		if len(newest) < newestChecked && !slices.Contains(newest, s) {
			newest = append(newest, s)
		}
	}
	return newest[:min(newestChecked, len(newest))], latestMs, err
}

// count adds the findings of a verification, of the store before those of sessions, to the
// numbers of errors and warnings, and records the message of the first error.
func (d *diagnosis) count(found verify.Verification) {
	v := &d.f.Verified
	all := found.Findings
	for _, s := range found.Sessions {
		all = append(all, s.Findings...)
	}
	for _, f := range all {
		if f.Severity != manifest.SeverityError {
			v.Warnings++
			continue
		}
		// The report shows the first message as an example.
		if v.Errors++; v.First == "" {
			v.First = f.Message
		}
	}
}

// workflows counts the valid workflows of each source, and lists those that do not validate. If
// they cannot be searched for, for example without a working directory, the reason is recorded
// instead. Without a store the directory is not opened for installed workflows.
//
// A source without workflows is listed as missing, with two exceptions: an existing user directory
// may be empty, and installed and attached workflows are optional and then not listed.
func (d *diagnosis) workflows(ctx context.Context) {
	w := &d.f.Workflows
	var in cli.Installations
	if d.f.Store.ID+d.f.Database.StoreID != "" {
		in = d.a.Installed(ctx)
	}
	all, err := d.a.CatalogWith(ctx, in)
	if err != nil {
		w.Why = fault.Of(err).Message
		return
	}
	counts := map[source.SourceKind]int{}
	for _, e := range all.Entries {
		if !e.Valid() {
			w.Broken = append(w.Broken, page.OneLine(e.Ref))
			continue
		}
		counts[e.Kind]++
		w.Total++
	}
	for _, kind := range []source.SourceKind{source.SourceBundled, source.SourceInstalled, source.SourceUser,
		source.SourceProject, source.SourcePlugin} {
		name := string(kind)
		if kind == source.SourcePlugin {
			name = "attached"
		}
		if counts[kind] == 0 && (kind == source.SourceInstalled || kind == source.SourcePlugin) {
			continue // optional
		}
		// Bundled workflows are part of the program and always exist.
		exists := kind == source.SourceBundled || counts[kind] > 0 || kind == source.SourceUser && d.hasUserWorkflows()
		w.Sources = append(w.Sources, doctor.Source{Name: name, Exists: exists, Count: counts[kind]})
	}
}

// hasUserWorkflows reports whether the user's directory of workflows exists.
func (d *diagnosis) hasUserWorkflows() bool {
	config, err := d.a.BaseDir("XDG_CONFIG_HOME", ".config")
	if err == nil {
		_, err = os.Stat(filepath.Join(config, "waybill", "workflows"))
	}
	return err == nil
}

// environment records the git repository, whether the program git is installed,
// and the capabilities of the terminal. git is optional, since Waybill reads
// repositories without it. Without a terminal the width is 0.
func (d *diagnosis) environment() {
	_, root, err := d.a.Workspace()
	_, gitErr := exec.LookPath("git")
	d.f.Git = doctor.Git{Checked: err == nil, Repository: root != "", Program: gitErr == nil}
	d.f.Terminal = doctor.Terminal{Checked: true, In: d.a.IsTerminal(d.a.In), Out: d.a.IsTerminal(d.a.Out),
		Width: d.a.WidthOf(d.a.Out), Colors: d.a.Colors(d.a.Out)}
}

// descriptors is more than any step of the diagnosis has open at a time.
const descriptors = 16

// Facts runs all steps of the diagnosis. A step does not fail: that a fact
// cannot be determined is a fact as well. Errors are those of a canceled context, and
// STORE_IO without file descriptors: every step would take the lack for its own failure.
func Facts(ctx context.Context, a *cli.App, full bool) (doctor.Facts, error) {
	if err := diagnose.Descriptors(descriptors); err != nil {
		return doctor.Facts{}, fault.Wrap(err, fault.StoreIO, "the checks need %d open files: %s", descriptors,
			cli.PlainCause(err)).
			Suggest("Allow the process more open files (ulimit -n), or close programs, and run the command again.")
	}
	// Later steps read the results of earlier ones, such as the kind of the store.
	d := &diagnosis{a: a, full: full}
	d.binary()
	d.storeDirectory(ctx)
	d.probes()
	d.storeContents(ctx)
	d.workflows(ctx)
	d.environment()
	return d.f, ctx.Err()
}
