package workflows

import (
	"cmp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/redact/faults"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/delegation"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/unfilled"
)

// sourceKinds are the values of --source-kind. "" is the kind that follows from the location of
// the file.
var sourceKinds = []source.SourceKind{"", source.SourceBundled, source.SourceInstalled, source.SourceUser,
	source.SourceProject, source.SourceRemote, source.SourcePlugin}

// kindNames returns the values of --source-kind as the user types them.
func kindNames() []string { return strings.Split(page.JoinWords(sourceKinds[1:]), ", ") }

// checkAs returns a workflow, valid or not, validated by the rules of the value of --source-kind: some
// ids and features are reserved for certain kinds. An unknown kind is a USAGE_ERROR.
func checkAs(cmd *cobra.Command, a *cli.App, ref, kind string) (catalog.Entry, error) {
	as := source.SourceKind(kind)
	if !slices.Contains(sourceKinds, as) {
		return catalog.Entry{}, cli.UsageFault(cmd, "unknown source kind %q", kind).
			Suggest("Use bundled, installed, user, project, remote or plugin.")
	}
	return a.WorkflowAs(cmd.Context(), ref, as)
}

// newValidate returns "workflows validate". The answer lists all problems. Errors end with exit
// status 2, warnings alone with 0. The document is "validation" in both cases, so that editors
// can display it.
func newValidate(a *cli.App) *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use:   "validate FILE|ID",
		Short: "Validate a workflow and list all problems",
		Long: `Validate a workflow and list all its problems, each with place, message and correction.
Exit status 0: the workflow can be run; 2: it cannot. Warnings do not change the exit
status; placeholders that no input, loop or output fills are among them, and prompts that
ask for agents and leave open how. Nothing is written.`,
		Example: "  waybill workflows validate ./release.yaml\n" +
			"  waybill workflows validate ./release.yaml --json | jq .data.problems",
		Args: cli.Exactly("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			// A large file leaves much garbage; the heap stays small at the cost of some time.
			defer debug.SetGCPercent(debug.SetGCPercent(validateGCPercent))
			e, err := checkAs(cmd, a, args[0], kind)
			if err != nil {
				return err
			}
			if e.Err == nil {
				src, _ := source.Parse(e.Ref, e.Kind, e.Data)
				advice := delegation.Check(src.Root)
				if e.Valid() {
					advice = append(advice, unfilled.Check(src, e.Compiled)...)
				}
				if len(advice) > 0 {
					e.Problems = source.Locate(e.Ref, e.Data, append(slices.Clone(e.Problems), faults.Problems(advice)...))
				}
			}
			doc := document.Validation{OK: e.Valid(), WorkflowID: e.ID, SourceKind: e.Kind, SourceRef: e.Ref, Source: e.Source(),
				WorkflowHash: e.Compiled.Hash(), Problems: e.Problems}
			if err := a.Answer("validation", doc, func(p *page.Page) { showValidation(p, args[0], e) }); err != nil ||
				doc.OK {
				return err
			}
			return cli.ExitWith(fault.ExitUsage)
		},
	}
	cli.WithOptions(cmd, cli.OptOf(&kind, "source-kind KIND", kindNames(),
		"validate by the rules of KIND: bundled, installed, user, project, remote or plugin"))
	return cmd
}

// validateGCPercent is the growth of the heap, in percent, after which it is collected.
const validateGCPercent = 60

// showValidation prints the problems in the order of the file, each with its line and column, pointer
// and correction, and a last line with the totals. name is the argument as typed.
func showValidation(p *page.Page, name string, e catalog.Entry) {
	// Errors and warnings are printed in the same form and counted separately.
	counts := map[problem.Severity]int{}
	for _, f := range e.Problems {
		counts[f.Severity]++
		word := p.Warn("warning")
		if f.Severity == problem.Error {
			word = p.Bad("error")
		}
		// A problem without a pointer is about the file as a whole.
		where := cmp.Or(f.Pointer, "the file")
		if f.Line > 0 {
			where = "line " + f.Position() + ", " + where
		}
		p.Line("%s at %s", word, page.OneLine(where))
		p.Text("  ", f.Message)
		if f.Fix != "" {
			p.Text("  → ", f.Fix)
		}
	}
	if len(e.Problems) > 0 {
		p.Line("")
	}
	switch errs, warns := counts[problem.Error], counts[problem.Warning]; {
	case errs > 0:
		p.Line("%s %s: %s.", p.Bad("✗"), page.OneLine(name), page.ErrorCount(errs, warns))
		p.Line("Guide: %s", catalog.GuidePage(e.Errors()[0].Pointer))
	case warns > 0:
		p.Line("%s %s can be run: %s.", p.Good("✓"), page.OneLine(name), page.Plural(warns, "warning"))
	default:
		p.Line("%s %s is valid: %s.", p.Good("✓"), page.OneLine(name), page.Plural(len(e.Compiled.Steps), "step"))
	}
}
