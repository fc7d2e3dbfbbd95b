package workflows

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/sources"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/infra/osfs"
)

// newSources returns "workflows sources". It lists the attached folders as they are stored, also
// where they are not confirmed, with what is found in them.
func newSources(a *cli.App) *cobra.Command {
	return cli.WithOptions(&cobra.Command{
		Use:   "sources",
		Short: "List the attached folders",
		Long: `List the folders that were attached with 'workflows attach', with how many workflows each
has and how many of them cannot be used. 'workflows list' names those with the reason.
Nothing is changed.`,
		Example: "  waybill workflows sources\n  waybill workflows sources --json | jq -r '.data.sources[].dir'",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			attached := a.Attached(cmd.Context())
			if attached.Err != nil && !fault.Is(attached.Err, fault.PolicyUnconfirmed) {
				return attached.Err
			}
			return answerSources(cmd.Context(), a, attached, "")
		},
	}, cli.Lines(a, "sources"))
}

// answerSources answers with the document "sources". done is what was changed, "" for nothing.
func answerSources(ctx context.Context, a *cli.App, attached cli.Attachments, done string) error {
	c, err := a.Catalog(ctx)
	if err != nil {
		return err
	}
	doc := document.SourcesOf(attached.List, attached.Err == nil, c.Entries)
	return a.Answer("sources", doc, func(p *page.Page) {
		if done != "" {
			p.Line("%s %s", p.Good("✓"), done)
			return
		}
		showSources(p, doc)
	})
}

// showSources prints the attached folders.
func showSources(p *page.Page, doc document.Sources) {
	if len(doc.Sources) == 0 {
		p.Line("No folder is attached.")
		return
	}
	for _, s := range doc.Sources {
		facts := []string{p.Bold(page.OneLine(s.Source)), page.Plural(s.Workflows, "workflow")}
		if s.Unusable > 0 {
			facts = append(facts, page.Itoa(s.Unusable)+" not usable")
		}
		p.Facts(facts...)
		p.Text("    ", page.OneLine(s.Dir))
		if s.Problem != "" {
			p.StyledText("    ", s.Problem, p.Warn)
		}
	}
	if !doc.Confirmed {
		p.Blank()
		p.Text(p.Warn("! "), "These folders are not the ones that a person confirmed, so they are not used. "+
			"Read and confirm them with 'waybill config confirm' at a terminal.")
	}
}

// attachLong is what 'waybill workflows attach --help' prints above the usage.
const attachLong = `Make the workflow files of a folder and its subfolders usable by their ids, without a
copy: the folder is read by each command. Ids that start with wr. are accepted. Wherever
such a workflow is shown, its source is plugin:NAME; NAME is by default the folder's name.

You are asked at a terminal, after the files and their ids are shown. Nothing is run, and
commands of the workflows still need trust. Where a bundled workflow has an id too, the
id means the bundled one. Routines of the folder are called by its own files only. The
path is stored on this machine, in $XDG_CONFIG_HOME/waybill; the audit log has the name.`

// newAttach returns "workflows attach". The folder and the name are checked before the question;
// the answer covers exactly what was shown.
func newAttach(a *cli.App) *cobra.Command {
	var name string
	var sign cli.Signing
	cmd := &cobra.Command{
		Use:     "attach DIR",
		Short:   "Use the workflows of a folder by their ids",
		Long:    attachLong,
		Example: "  waybill workflows attach ../team-workflows\n  waybill workflows attach ~/src/flows/workflows --name flows",
		Args:    cli.Exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := folderOf(a, args[0])
			if err != nil {
				return err
			}
			if name == "" {
				if name = sources.SuggestName(filepath.Base(folder)); name == "" {
					return fault.New(fault.ValidationError, "no name can be made of the folder's name").
						Suggest("Give a name with --name.")
				}
			}
			return attach(cmd.Context(), a, sources.Folder{AtMs: a.NowMs(), Dir: folder, Name: name}, &sign)
		},
	}
	cli.WithOptions(cmd, cli.Opt(&name, "name NAME",
		"the NAME that is shown for the folder (default: the folder's name)"))
	sign.AddSign(a, cmd)
	return cmd
}

// folderOf returns the absolute path of a folder to attach, links resolved. What contains more than
// workflows by its nature is refused with VALIDATION_ERROR: the home directory and what contains it,
// a store, and the configuration.
func folderOf(a *cli.App, arg string) (string, error) {
	dir, err := filepath.Abs(arg)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(dir)
	}
	if err == nil && !info.IsDir() {
		err = errors.New("it is no folder")
	}
	if err == nil {
		err = readable(dir)
	}
	if err != nil {
		return "", fault.Wrap(err, fault.ValidationError, "%s cannot be attached: %v", arg, cli.PlainCause(err)).
			Suggest("Give a folder with workflow files that you can read.")
	}
	for _, kept := range cli.KeptDirs(a) {
		switch {
		case osfs.Within(kept.Dir, dir):
			return "", fault.New(fault.ValidationError, "%s cannot be attached: it contains %s", arg, kept.What).
				Suggest("Attach the folder that contains only the workflow files.")
		case kept.Whole && osfs.Within(dir, kept.Dir):
			return "", fault.New(fault.ValidationError, "%s cannot be attached: it is in %s", arg, kept.What).
				Suggest("Attach the folder that contains only the workflow files.")
		}
	}
	return dir, nil
}

// readable returns the error of reading a folder, nil for an empty one.
func readable(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.Readdirnames(1); errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// attach shows what a folder has, asks, and attaches it.
func attach(ctx context.Context, a *cli.App, f sources.Folder, sign *cli.Signing) error {
	now := a.Attached(ctx)
	if now.Err != nil && !fault.Is(now.Err, fault.PolicyUnconfirmed) {
		return now.Err
	}
	if _, err := now.List.With(f); err != nil {
		return err
	}
	c, err := cli.CatalogWithFolder(ctx, a, f)
	if err != nil {
		return err
	}
	var own []catalog.Entry
	for _, e := range c.Entries {
		if e.Attached == f.Name {
			own = append(own, e)
		}
	}
	err = sign.Asked(func(p *page.Page) {
		p.Line("This folder of workflow files is attached to this machine:")
		p.Verbatim("  ", page.Argument(f.Dir), page.Plain)
		p.Line("as plugin:%s. Each command reads it as it is then.", f.Name)
		showFolder(p, own)
		showUnconfirmed(p, now)
	}, "Attach it?")
	if err != nil {
		return err
	}
	err = a.WithStore(ctx, func(ctx context.Context, o *cli.Store) error {
		f.Actor = o.Caller().Actor // the default identity is a setting of the store
		after, err := now.List.With(f)
		if err != nil {
			return err
		}
		return cli.ChangeSources(ctx, a, o,
			settings.SourcesChange{Before: now.List, After: after, Does: "attach", Name: f.Name}, sign)
	})
	if err != nil {
		return err
	}
	usable := 0
	for _, e := range own {
		if e.Valid() && e.ShadowedBy == "" && len(e.Duplicates) == 0 {
			usable++
		}
	}
	return answerSources(ctx, a, a.Attached(ctx), "plugin:"+f.Name+" is attached: "+
		page.Plural(usable, "workflow")+" can be used.")
}

// showFolder prints the files of a folder with their ids, and what is wrong with them.
func showFolder(p *page.Page, entries []catalog.Entry) {
	p.Line("It has %s:", page.Plural(len(entries), "workflow file"))
	for _, e := range entries {
		id := "no id"
		if e.ID != "" {
			id = page.Name(e.ID)
		}
		p.Text("  ", id+"  "+page.Name(strings.TrimPrefix(e.Ref, e.Attached+"/")))
		switch {
		case !e.Valid():
			p.Text("      ", "not usable: "+page.Name(whyUnusable(e)))
		case e.ShadowedBy != "":
			p.Text("      ", "not usable: a bundled workflow has the id")
		case len(e.Duplicates) > 0:
			p.Text("      ", "not usable: "+page.Name(whyUnusable(e)))
		}
		if n := len(catalog.Commands(e.Compiled)); e.Valid() && n > 0 {
			p.Text("      ", "has "+page.Plural(n, "command")+" that must be trusted before running")
		}
	}
	p.Line("People and agents can start these by their ids.")
}

// showUnconfirmed prints the folders that the answer confirms with the change, because they are not
// the ones that a person confirmed.
func showUnconfirmed(p *page.Page, now cli.Attachments) {
	if now.Err == nil || len(now.List.Folders) == 0 {
		return
	}
	p.Line("These attached folders are not as a person confirmed them, and are confirmed with it:")
	render.Folders(p, now.List)
}

// newDetach returns "workflows detach". Runs that were started can be continued, since a run is pinned to its
// workflow.
func newDetach(a *cli.App) *cobra.Command {
	var sign cli.Signing
	cmd := &cobra.Command{
		Use:   "detach NAME",
		Short: "Stop using the workflows of an attached folder",
		Long: `Detach a folder: its workflows are no longer found by their ids. The folder and its files
are not changed, and runs that were started can be continued. You are asked at a terminal.`,
		Example: "  waybill workflows detach flows\n  waybill workflows detach plugin:flows",
		Args:    cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			now := a.Attached(ctx)
			if now.Err != nil && !fault.Is(now.Err, fault.PolicyUnconfirmed) {
				return now.Err
			}
			name := strings.TrimPrefix(args[0], "plugin:")
			f, ok := now.List.Of(name)
			if !ok {
				return fault.New(fault.SourceNotFound, "no attached folder has the name %q", name).
					Suggest("List them with %s.", fault.Command{"workflows", "sources"})
			}
			change := settings.SourcesChange{Before: now.List, After: now.List.Without(name), Does: "detach", Name: name}
			err := sign.Asked(func(p *page.Page) {
				p.Line("This folder is detached from this machine:")
				p.Verbatim("  ", page.Argument(f.Dir), page.Plain)
				p.Line("The workflows of plugin:%s are no longer found by their ids.", f.Name)
				showUnconfirmed(p, cli.Attachments{List: change.After, Err: now.Err})
			}, "Detach it?")
			if err != nil {
				return err
			}
			err = a.WithStore(ctx, func(ctx context.Context, o *cli.Store) error {
				return cli.ChangeSources(ctx, a, o, change, &sign)
			})
			if err != nil {
				return err
			}
			return answerSources(ctx, a, a.Attached(ctx), "plugin:"+name+" is detached.")
		},
	}
	sign.AddSign(a, cmd)
	return cmd
}
