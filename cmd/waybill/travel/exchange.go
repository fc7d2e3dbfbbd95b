package travel

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/progress"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/ports"
)

// exchangeLong is what the help of both commands says about an exchange.
const exchangeLong = `The session of the run moves as a whole, under its ids, with annotations, workflows and
artifacts; both stores are directories, as --store takes them. It is checked completely
before anything is written, and an interrupted call leaves no partial session.

A session that both stores have is compared. If the source store continues it, the call
shows who did what there and asks; without a terminal it needs --accept. Then the session
of the target store is extended. If the two are the same, or the target store is ahead,
nothing is written. If they differ behind events that both have, the call is refused;
--as-new adds the session under new ids, to have both. Exchanges are idempotent.

Trust, settings and tokens do not move. Approvals of steps move with the history and do
not count in the other store.`

// exchange is a call of push or pull: from the source store to the target store.
type exchange struct {
	command *cobra.Command
	verb    string // the name of the command, and the kind of its document
	doing   string // for the line of progress
	flag    string // names the other store: --to or --from
	creates ports.Create
	run     string
	other   string // the directory as it was typed
	asNew   bool
	accept  bool
}

// NewPush returns the command "push": an import into another store, which is created if it does not exist, of a session
// of this store.
func NewPush(a *cli.App) *cobra.Command {
	return newExchange(a, exchange{verb: "push", doing: "Pushing", flag: "to", creates: ports.MayCreate},
		"Push a run's session to another store",
		"Write the session of a run of this store to another store, which is created if it does\nnot exist. "+
			"This store is not changed.\n\n"+exchangeLong,
		"  waybill push @last --to ../team-store\n  waybill push k3j2a7 --to /srv/team/waybill --accept",
		"push to the store in the directory STORE")
}

// NewPull returns the command "pull": an import of a session of another store, which is read only.
func NewPull(a *cli.App) *cobra.Command {
	return newExchange(a, exchange{verb: "pull", doing: "Pulling", flag: "from", creates: ports.ReadOnly},
		"Pull a run's session from another store",
		"Write the session of a run of another store to this store, which is created if it does\nnot exist. "+
			"RUN is looked up in the other store, which is not changed.\n\n"+exchangeLong,
		"  waybill pull @last --from ../team-store\n  waybill pull k3j2a7 --from /srv/team/waybill --accept",
		"pull from the store in the directory STORE")
}

// newExchange returns one of the two commands.
func newExchange(a *cli.App, x exchange, short, long, example, flagUsage string) *cobra.Command {
	cmd := &cobra.Command{
		Use: x.verb + " RUN --" + x.flag + " STORE", GroupID: cli.GroupMaintain, Short: short, Long: long, Example: example,
		Args: cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			x.command, x.run = cmd, args[0]
			if err := x.checkOther(); err != nil {
				return err
			}
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error { return x.withOther(ctx, a, o) })
		},
	}
	return cli.WithOptions(cmd,
		cli.Opt(&x.other, x.flag+" STORE", flagUsage),
		cli.Opt(&x.accept, "accept", "extend a session of the target store without a question"),
		cli.Opt(&x.asNew, "as-new", "add the session under new ids, even if the target store does not have it"))
}

// opened is an opened store with the call that its commands select.
type opened struct {
	*cli.Store
	app *cli.App
}

// withOther opens the other store and performs the exchange.
func (x exchange) withOther(ctx context.Context, a *cli.App, o *cli.Store) error {
	beside := cli.OtherStore(a, x.other, x.creates)
	dir, err := beside.StoreName()
	if err == nil {
		err = x.checkApart(o.Ports.Name(), dir)
	}
	if err != nil {
		return err
	}
	other, err := beside.Open(ctx)
	switch {
	case fault.Is(err, fault.TargetNotFound):
		return fault.Of(err).Suggest("Check --%s: it names the directory of a store.", x.flag)
	case fault.Is(err, fault.StoreInvalid):
		return fault.Of(err).Suggest("Check --%s: it names the directory of a store, or for push one that does not exist.", x.flag)
	case err != nil:
		return beside.Selecting(err)
	}
	defer other.Close()
	here, there := opened{o, a}, opened{other, beside}
	if x.flag == "to" {
		return x.perform(ctx, a, here, there, there)
	}
	return x.perform(ctx, a, there, here, there)
}

// perform writes the session of the source store to the target store, and answers with the document of an import, in which
// other is the one of the two that is not that of the call.
func (x exchange) perform(ctx context.Context, a *cli.App, source, target, other opened) error {
	defer cli.LimitMemory()()
	seed, err := a.Seed()
	if err != nil {
		return err
	}
	from, err := origin(ctx, source)
	if err != nil {
		return source.app.Selecting(err)
	}
	req := travel.ImportRequest{AsNew: x.asNew, From: from, Accept: acceptance(a, x.accept,
		arriving{from: "the store in " + page.OneLine(source.Ports.Name()), session: "In " + page.OneLine(target.Ports.Name()) + ", session"})}
	w := progress.Start(ctx, a, x.doing, false)
	watch(w, &req)
	doc, err := move(w, source, target, seed, x.run, req)
	next := fault.Command{x.verb, command.Word(x.run), "--" + x.flag, command.Word(x.other)}
	if fault.Is(err, fault.StoreForeign) && x.flag == "to" {
		err = fault.Of(err).Suggest("Check --to: a store of another program is only read.")
	}
	if err = w.End(err, "nothing was written", next); err != nil {
		return err
	}
	out := travel.Exchanged{Import: doc}
	if out.OtherStore, err = origin(ctx, other); err != nil {
		return other.app.Selecting(err)
	}
	for i := range doc.Runs {
		target.app.SelectStore(doc.Runs[i].Next)
	}
	return a.Answer(x.verb, out, func(p *page.Page) { x.show(a, source, target, doc, p) })
}

// move is the import of a session of one store into another. Commands that errors suggest select the store that they are
// about.
func move(ctx context.Context, source, target opened, seed [16]byte, ref string, req travel.ImportRequest) (travel.Import, error) {
	src, err := source.Source(ctx, seed, ref)
	if err != nil {
		return travel.Import{}, source.app.Selecting(err)
	}
	doc, err := target.Import(ctx, target.Caller(), src, req)
	if travel.IsAboutSource(err) {
		return doc, source.app.Selecting(err)
	}
	return doc, target.app.Selecting(err)
}

// origin returns the id and the place of a store.
func origin(ctx context.Context, o opened) (travel.Origin, error) {
	id, err := o.StoreID(ctx)
	return travel.Origin{StoreID: id, Path: o.Ports.Name()}, err
}

// show prints what the exchange did. For the relations Same and Ahead nothing was written.
func (x exchange) show(a *cli.App, source, target opened, doc travel.Import, p *page.Page) {
	what, place := page.Plural(int(doc.Events), "event"), page.OneLine(target.Ports.Name())
	switch doc.Relation {
	case travel.NewSession:
		done, way := "Pushed", " to "+place
		if x.verb == "pull" {
			done, way = "Pulled", " from "+page.OneLine(source.Ports.Name())
		}
		if doc.SessionID == doc.BundleSessionID {
			p.Text(p.Good("✓ "), done+" "+doc.SessionID.String()+", "+what+","+way+".")
			break
		}
		p.Text(p.Good("✓ "), done+way+" as new: "+doc.SessionID.String()+", "+what+".")
		p.Line("%s", p.Dim("Its id in the source store is "+doc.BundleSessionID.String()+"."))
	case travel.FastForward:
		p.Text(p.Good("✓ "), "Extended "+doc.SessionID.String()+" in "+place+", which has "+what+" now.")
		showArrivals(*doc.Arrived, p)
	case travel.Same:
		p.Text("", "Both stores have the same: "+doc.SessionID.String()+", "+what+". Nothing was written.")
	case travel.Ahead:
		p.Text("", "The store in "+place+" is ahead: its session "+doc.SessionID.String()+" contains that of "+
			page.OneLine(source.Ports.Name())+", and has "+what+". Nothing was written.")
		back := []string{"pull", doc.SessionID.String(), "--from"}
		if x.verb == "pull" {
			back = []string{"push", doc.SessionID.String(), "--to"}
		}
		p.Line("Next: %s", a.Command(append(back, x.other)...))
	}
	showImported(target.app, doc, p)
}
