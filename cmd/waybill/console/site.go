package console

import (
	"context"
	"crypto/sha256"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/current"
	"github.com/waybill/waybill/cmd/waybill/cli/diagnosis"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/pages"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/infra/consoleserver"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/markup"
	"github.com/waybill/waybill/projections/runs"
)

// site implements consoleserver.Site for one store, which stays open while the server runs.
type site struct {
	app   *cli.App
	store *cli.Store
	pages pages.Console
	polls *polls
}

var _ consoleserver.Site = (*site)(nil)

// pageLength is how many runs or items a page lists.
const pageLength = 50

// Page implements consoleserver.Site.
func (s *site) Page(ctx context.Context, path string, query map[string]string) (*markup.Node, error) {
	name, ref, one := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if one && (ref == "" || strings.Contains(ref, "/")) {
		return nil, noPage(path)
	}
	switch {
	case name == pages.RunsPage && one:
		return s.run(ctx, ref)
	case name == pages.RunsPage:
		return s.runs(ctx, query)
	case name == pages.ProposalsPage && one:
		return s.proposal(ctx, ref)
	case one:
	case name == pages.InboxPage:
		return s.inbox(ctx, query)
	case name == pages.ProposalsPage:
		list, err := s.store.Proposals(ctx, learning.ProposalQuery{Workspace: s.app.Flags.Workspace})
		return s.pages.Proposals(list), err
	case name == pages.FeedbackPage:
		sums, err := s.store.SummarizeAnnotations(ctx, learning.SummaryQuery{})
		return s.pages.Feedback(sums), err
	case name == pages.DoctorPage:
		facts, err := diagnosis.Facts(ctx, s.app, false)
		return s.pages.Doctor(doctor.Judge(facts)), err
	}
	return nil, noPage(path)
}

// noPage is the error for an address without a page.
func noPage(path string) error {
	return fault.New(fault.TargetNotFound, "the console has no page %q", path).Suggest("Choose one of the pages above.")
}

// runs lists runs.
func (s *site) runs(ctx context.Context, query map[string]string) (*markup.Node, error) {
	q := lists.Selection{Workflow: query["workflow"], Text: query["text"], Label: query["label"], Cursor: query["cursor"], Limit: pageLength}
	if status := query["status"]; status != "" {
		q.Status = []runs.Status{runs.Status(status)}
	}
	if since := query["since"]; since != "" {
		at, ok := page.Since(since, s.app.Clock())
		if !ok {
			return nil, fault.New(fault.ValidationError, "since: %q is neither a time nor a duration", since).
				Suggest("Give a date such as 2006-01-02, or a duration before now: 36h, 7d, 2w.")
		}
		q.SinceMs = at.UnixMilli()
	}
	list, err := lists.SelectRuns(ctx, s.store.Lists, q)
	return s.pages.Runs(list, q, query["since"]), err
}

// run shows one run.
func (s *site) run(ctx context.Context, ref string) (*markup.Node, error) {
	r, err := s.store.Reports.Report(ctx, ref, report.Options{MadeAtMs: s.app.NowMs(), Version: s.app.Version})
	if err != nil {
		return nil, err
	}
	r.Run = current.Run(ctx, s.app, s.store, r.Run)
	return s.pages.Run(r), nil
}

// inbox lists what waits for a person.
func (s *site) inbox(ctx context.Context, query map[string]string) (*markup.Node, error) {
	list, err := s.store.Inbox.List(ctx, inbox.Query{Workspace: s.app.Flags.Workspace, Cursor: query["cursor"], Limit: pageLength,
		Trusted: func(ctx context.Context, hash canon.Digest) bool {
			_, ok, err := s.store.TrustedHere(ctx, hash)
			return ok && err == nil
		}})
	return s.pages.Inbox(list), err
}

// proposal shows one proposal with its difference.
func (s *site) proposal(ctx context.Context, ref string) (*markup.Node, error) {
	p, d, err := s.store.Proposal(ctx, s.app.Flags.Workspace, ref)
	if err != nil {
		return nil, err
	}
	diff, err := learning.DifferenceOf(ctx, s.store.Learning, s.app.Flags.Workspace, d, cli.FindReplaced(s.app))
	return s.pages.Proposal(p, d, &diff), err
}

// Fault implements consoleserver.Site.
func (s *site) Fault(err error) *markup.Node { return s.pages.Fault(err) }

// Changes implements consoleserver.Site. A run is woken by its logs, and a list by the polls.
func (s *site) Changes(path string, query map[string]string) consoleserver.Waiter {
	name, ref, one := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if one && name == pages.RunsPage {
		if at, err := s.store.Locate(context.Background(), ref); err == nil {
			return ports.WaiterOf(s.store.Ports, session.LogsOf(at.Session)...)
		}
	}
	if name == pages.DoctorPage {
		return never{}
	}
	return s.polls.waiter(path, query)
}

// never is the waiter of a page that is made when it is asked for.
type never struct{}

// Woken implements consoleserver.Waiter.
func (never) Woken() <-chan struct{} { return nil }

// Close implements consoleserver.Waiter.
func (never) Close() {}

// digest is that of a page as it is now.
func (s *site) digest(ctx context.Context, path string, query map[string]string) [sha256.Size]byte {
	n, err := s.Page(ctx, path, query)
	if err != nil {
		n = s.Fault(err)
	}
	sum := sha256.New()
	_ = markup.Render(sum, n) // a hash takes everything
	return [sha256.Size]byte(sum.Sum(nil))
}
