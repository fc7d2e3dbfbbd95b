package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// validation is the document "validation".
type validation struct {
	OK           bool              `json:"ok"`
	WorkflowID   string            `json:"workflowId"`
	SourceKind   source.SourceKind `json:"sourceKind"`
	SourceRef    string            `json:"sourceRef"`
	WorkflowHash canon.Digest      `json:"workflowHash,omitzero"`
	Problems     []source.Problem  `json:"problems"`
}

// sourceKind reads a value of --source-kind; "" stands for the file's own.
func sourceKind(word string) (source.SourceKind, bool) {
	kinds := []source.SourceKind{"", source.SourceBundled, source.SourceInstalled, source.SourceUser,
		source.SourceProject, source.SourceRemote, source.SourcePlugin}
	return source.SourceKind(word), slices.Contains(kinds, source.SourceKind(word))
}

func noSuchSourceKind(cmd *cobra.Command, kind string) error {
	return usageFault(cmd, "there is no source kind %q", kind).
		Suggest("Use bundled, installed, user, project, remote or plugin.")
}

func newWorkflowsValidateCommand(a *app) *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use:   "validate FILE|ID",
		Short: "Check a workflow and name every problem",
		Long: `Check a workflow file and list everything that is wrong with it at once: where, what,
and what to write instead. Exit status 0 means that it can be run, 2 that it cannot.
Warnings alone do not fail.`,
		Example: "  waybill workflows validate ./release.yaml\n" +
			"  waybill workflows validate ./release.yaml --json | jq .data.problems",
		Args: exactly("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			as, ok := sourceKind(kind)
			if !ok {
				return noSuchSourceKind(cmd, kind)
			}
			e, err := a.checked(cmd.Context(), args[0], as)
			if err != nil {
				return err
			}
			doc := validation{OK: e.Valid(), WorkflowID: e.ID, SourceKind: e.Kind, SourceRef: e.Ref,
				WorkflowHash: e.Compiled.Hash(), Problems: e.Problems}
			if err := a.answer("validation", doc, func(p *page) { p.validation(args[0], e) }); err != nil || doc.OK {
				return err
			}
			return exitWith(fault.ExitUsage)
		},
	}
	cmd.Flags().StringVar(&kind, "source-kind", "",
		"judge the file as one from `KIND`: bundled, installed, user, project, remote or plugin")
	return cmd
}

// checked finds a workflow, valid or not, and judges it as one of the kind.
func (a *app) checked(ctx context.Context, ref string, as source.SourceKind) (catalog.Entry, error) {
	e, err := a.anyWorkflow(ctx, ref)
	if err != nil || as == "" || as == e.Kind || e.Data == nil {
		return e, err
	}
	with, err := a.library(ctx, ref)
	if err != nil {
		return e, err
	}
	return catalog.Read(catalog.File{Kind: as, Ref: e.Ref, Data: e.Data}, with), nil
}

// validation lists problems in the order of the file.
func (p *page) validation(name string, e catalog.Entry) {
	errs, warns := 0, 0
	for _, f := range e.Problems {
		word := p.warn("warning")
		if f.Severity == problem.Error {
			word = p.bad("error")
			errs++
		} else {
			warns++
		}
		where := cmp.Or(f.Pointer, "the file")
		if f.Line > 0 {
			where = "line " + itoa(f.Line) + ", " + where
		}
		p.line("%s at %s", word, clean(where))
		p.text("  ", f.Message)
		if f.Fix != "" {
			p.text("  → ", f.Fix)
		}
	}
	if len(e.Problems) > 0 {
		p.line("")
	}
	switch {
	case errs > 0:
		p.line("%s %s: %s.", p.bad("✗"), clean(name), tally(errs, warns))
	case warns > 0:
		p.line("%s %s can be run: %s.", p.good("✓"), clean(name), plural(warns, "warning"))
	default:
		p.line("%s %s is valid: %s.", p.good("✓"), clean(name), plural(len(e.Compiled.Steps), "step"))
	}
}
