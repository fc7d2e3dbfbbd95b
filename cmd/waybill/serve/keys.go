package serve

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

// keysLong is what 'waybill serve keys --help' prints above the usage.
const keysLong = `A program that calls the server sends a key. Each key has a name, which is recorded with
what the program does, and scopes, which say what it may do. A key belongs to one store.

Keys are added and removed by a person at a terminal. The store has the SHA-256 of each
key only, in keys/http.json, and that file counts only as a person confirmed it.`

// newKeys returns "serve keys" with its subcommands.
func newKeys(a *cli.App) *cobra.Command {
	return cli.NewGroup("keys", "", "Add, list or remove keys of programs", keysLong, newKeysAdd(a), newKeysList(a),
		newKeysRemove(a))
}

// newKeysAdd returns "serve keys add". The name and the scopes are checked before the question; the key is made after it.
func newKeysAdd(a *cli.App) *cobra.Command {
	var scopes []string
	long := `Add a key for a program and print it, once: the store keeps its SHA-256 only. You are
asked at a terminal, after the name and the scopes are shown. With --json the question is
the same, and the key is in the document. The scopes:

`
	for _, s := range httpkeys.Scopes() {
		long += "  " + page.Pad(string(s), -18) + s.Allows() + "\n"
	}
	var sign cli.Signing
	cmd := cli.WithOptions(&cobra.Command{
		Use:   "add NAME",
		Short: "Add a key and print it once",
		Long:  strings.TrimSuffix(long, "\n"),
		Example: "  waybill serve keys add ci --scope runs:create,runs:read\n" +
			"  waybill serve keys add board --scope manifest:read --scope runs:read --json",
		Args: cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := httpkeys.CheckName(args[0]); err != nil {
				return err
			}
			parsed, err := httpkeys.ParseScopes(scopes)
			if err != nil {
				return err
			}
			return cli.Show(a, cmd, "serve_key",
				func(ctx context.Context, o *cli.Store) (document.ServeKey, error) {
					return addKey(ctx, a, o, args[0], parsed, &sign)
				},
				func(p *page.Page, doc document.ServeKey) {
					p.Line("%s The key %s is added. It is shown this once:", p.Good("✓"), doc.Name)
					p.Line("%s", doc.Key)
				})
		},
	},
		cli.OptOf(&scopes, "scope SCOPES", strings.Split(page.JoinWords(httpkeys.Scopes()), ", "),
			"what the key may do: one or more SCOPES with commas between; may be repeated"))
	sign.AddSign(a, cmd)
	return cmd
}

// addKey asks, makes a key and stores its digest.
func addKey(ctx context.Context, a *cli.App, o *cli.Store, name string, scopes []httpkeys.Scope,
	sign *cli.Signing) (document.ServeKey, error) {
	doc := document.ServeKey{Name: name, Scopes: scopes}
	change, err := o.PlanAddHTTPKey(ctx, name, scopes, a.NowMs())
	if err != nil {
		return doc, err
	}
	if err := sign.Check(ctx, o); err != nil {
		return doc, err
	}
	err = sign.Asked(func(p *page.Page) {
		p.Line("A program with this key may call the server of this store:")
		p.Verbatim("  ", page.Argument(o.Ports.Name()), page.Plain)
		p.Line("It may do this, and is recorded as an agent with the name of the key:")
		render.HTTPKey(p, *change.Added)
		showUnconfirmed(p, change)
	}, "Add it?")
	if err != nil {
		return doc, err
	}
	var random [httpkeys.EntropyBytes]byte
	if err := a.Random(random[:]); err != nil {
		return doc, err
	}
	doc.Key = httpkeys.Text(random)
	_, err = o.AddHTTPKey(ctx, sign.Caller(o), change, doc.Key)
	return doc, err
}

// showUnconfirmed prints the keys that the answer confirms with the change, because they are not the ones that a person
// confirmed.
func showUnconfirmed(p *page.Page, c settings.HTTPKeysChange) {
	if c.Unconfirmed == nil {
		return
	}
	p.Text("", "The keys are not as a person confirmed them last. The answer confirms these:")
	list := *c.Unconfirmed
	if c.Removed != nil {
		list = list.Without(c.Removed.Name)
	}
	render.HTTPKeys(p, list)
}

// newKeysList returns "serve keys list". It lists the keys as they are stored, also where they are not confirmed.
func newKeysList(a *cli.App) *cobra.Command {
	return cli.WithOptions(&cobra.Command{
		Use:   "list",
		Short: "List the keys with their scopes",
		Long: `List the names and scopes of the keys. Where keys/http.json is not as a person confirmed
it, the list says so, and no key counts. Nothing is changed.`,
		Example: "  waybill serve keys list\n  waybill serve keys list --json | jq -r '.data.keys[].name'",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Show(a, cmd, "serve_keys", listKeys, showKeys)
		},
	}, cli.Lines(a, "keys"))
}

// listKeys returns the keys, and whether they count. Keys that cannot be read are an error.
func listKeys(ctx context.Context, o *cli.Store) (document.ServeKeys, error) {
	list, err := o.ListHTTPKeys(ctx)
	_, counts := o.HTTPKeys(ctx)
	if counts != nil && (err != nil || !fault.Is(counts, fault.PolicyUnconfirmed)) {
		err = counts // for keys that cannot be read it says what to do
	}
	return document.ServeKeysOf(list, counts == nil), err
}

// showKeys prints the keys.
func showKeys(p *page.Page, doc document.ServeKeys) {
	if len(doc.Keys) == 0 {
		p.Line("No program has a key for this store.")
	}
	var rows [][]page.Cell
	for _, k := range doc.Keys {
		rows = append(rows, []page.Cell{{Text: k.Name}, {Text: page.ClockTime(k.AddedMs, "2006-01-02 15:04")},
			{Text: page.JoinWords(k.Scopes)}})
	}
	if len(rows) > 0 {
		p.Table([]page.Column{{Title: "NAME"}, {Title: "ADDED"}, {Title: "SCOPES", Flex: true}}, rows)
	}
	if !doc.Confirmed {
		p.Blank()
		p.Text(p.Warn("! "), "These keys are not the ones that a person confirmed, so that none counts. Read and confirm "+
			"them with 'waybill config confirm' at a terminal.")
	}
}

// newKeysRemove returns "serve keys remove".
func newKeysRemove(a *cli.App) *cobra.Command {
	var sign cli.Signing
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a key",
		Long: `Remove a key: the next request with it is refused, also by a server that is running. What
was recorded with its name stays. You are asked at a terminal.`,
		Example: "  waybill serve keys remove ci\n  waybill serve keys remove ci --tenant work",
		Args:    cli.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "serve_keys",
				func(ctx context.Context, o *cli.Store) (document.ServeKeys, error) {
					return removeKey(ctx, a, o, args[0], &sign)
				},
				func(p *page.Page, _ document.ServeKeys) { p.Line("%s The key %s is removed.", p.Good("✓"), args[0]) })
		},
	}
	sign.AddSign(a, cmd)
	return cmd
}

// removeKey asks, removes a key and returns the others.
func removeKey(ctx context.Context, a *cli.App, o *cli.Store, name string, sign *cli.Signing) (doc document.ServeKeys, err error) {
	change, err := o.PlanRemoveHTTPKey(ctx, name)
	if err != nil {
		return doc, err
	}
	if err := sign.Check(ctx, o); err != nil {
		return doc, err
	}
	err = sign.Asked(func(p *page.Page) {
		p.Line("Programs with this key can no longer call the server of this store:")
		p.Verbatim("  ", page.Argument(o.Ports.Name()), page.Plain)
		render.HTTPKey(p, *change.Removed)
		showUnconfirmed(p, change)
	}, "Remove it?")
	if err != nil {
		return doc, err
	}
	if err := o.RemoveHTTPKey(ctx, sign.Caller(o), change); err != nil {
		return doc, err
	}
	return listKeys(ctx, o)
}
