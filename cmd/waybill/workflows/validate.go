package workflows

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// sourceKind reads a value of --source-kind; "" means the kind that the file
// has by its place. ok is false for a word that is no kind.
func sourceKind(word string) (source.SourceKind, bool) {
	kinds := []source.SourceKind{"", source.SourceBundled, source.SourceInstalled, source.SourceUser,
		source.SourceProject, source.SourceRemote, source.SourcePlugin}
	return source.SourceKind(word), slices.Contains(kinds, source.SourceKind(word))
}

// noSuchSourceKind is the error for a value of --source-kind that is none.
func noSuchSourceKind(cmd *cobra.Command, kind string) error {
	return cli.UsageFault(cmd, "there is no source kind %q", kind).
		Suggest("Use bundled, installed, user, project, remote or plugin.")
}

// newValidate makes "workflows validate". The answer lists every problem at
// once; errors end with exit status 2, warnings alone with 0. The document is
// the same in both cases, so that editors can show it.
func newValidate(a *cli.App) *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use:   "validate FILE|ID",
		Short: "Check a workflow and name every problem",
		Long: `Check a workflow file and list everything that is wrong with it at once: where, what,
and what to write instead. Exit status 0 means that it can be run, 2 that it cannot.
Warnings alone do not fail.`,
		Example: "  waybill workflows validate ./release.yaml\n" +
			"  waybill workflows validate ./release.yaml --json | jq .data.problems",
		Args: cli.Exactly("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			// The kind decides which ids and features are allowed.
			as, ok := sourceKind(kind)
			if !ok {
				return noSuchSourceKind(cmd, kind)
			}
			e, err := checkSource(cmd.Context(), a, args[0], as)
			if err != nil {
				return err
			}
			doc := document.Validation{OK: e.Valid(), WorkflowID: e.ID, SourceKind: e.Kind, SourceRef: e.Ref,
				WorkflowHash: e.Compiled.Hash(), Problems: e.Problems}
			if err := a.Answer("validation", doc, func(p *page.Page) { showValidation(p, args[0], e) }); err != nil ||
				doc.OK {
				return err
			}
			return cli.ExitWith(fault.ExitUsage)
		},
	}
	cmd.Flags().StringVar(&kind, "source-kind", "",
		"judge the file as one from `KIND`: bundled, installed, user, project, remote or plugin")
	return cmd
}

// checkSource finds a workflow, valid or not, and checks it as one of a kind:
// some ids and features are reserved for kinds. Without a kind, or for the kind
// that it has, the entry of the catalog is returned. The library is that of the
// file's own folder in both cases.
func checkSource(ctx context.Context, a *cli.App, ref string, as source.SourceKind) (catalog.Entry, error) {
	e, err := a.AnyWorkflow(ctx, ref)
	if err != nil || as == "" || as == e.Kind || e.Data == nil {
		return e, err
	}
	with, err := a.Library(ctx, ref)
	if err != nil {
		return e, err
	}
	return catalog.Read(catalog.File{Kind: as, Ref: e.Ref, Data: e.Data}, with), nil
}

// showValidation prints the problems in the order of the file, each with its
// line, place and fix, and then the sums. The name is the one that was typed,
// so that the last line can be read alone.
func showValidation(p *page.Page, name string, e catalog.Entry) {
	errs, warns := 0, 0
	for _, f := range e.Problems {
		word := p.Warn("warning")
		if f.Severity == problem.Error {
			word = p.Bad("error")
			errs++
		} else {
			warns++
		}
		// A problem without a pointer is about the file as a whole.
		where := cmp.Or(f.Pointer, "the file")
		if f.Line > 0 {
			where = "line " + page.Itoa(f.Line) + ", " + where
		}
		p.Line("%s at %s", word, page.Clean(where))
		p.Text("  ", f.Message)
		if f.Fix != "" {
			p.Text("  → ", f.Fix)
		}
	}
	if len(e.Problems) > 0 {
		p.Line("")
	}
	switch {
	case errs > 0:
		p.Line("%s %s: %s.", p.Bad("✗"), page.Clean(name), page.Tally(errs, warns))
	case warns > 0:
		p.Line("%s %s can be run: %s.", p.Good("✓"), page.Clean(name), page.Plural(warns, "warning"))
	default:
		p.Line("%s %s is valid: %s.", p.Good("✓"), page.Clean(name), page.Plural(len(e.Compiled.Steps), "step"))
	}
}
