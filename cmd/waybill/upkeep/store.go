package upkeep

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/stores"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/doctor"
)

// storeLong is what 'waybill store --help' prints above the usage.
const storeLong = `A store is a directory, or a schema of a PostgreSQL database that many machines share. A
database is selected by its URL, with --store or $WAYBILL_STORE:

  postgres://USER@HOST1,HOST2/DATABASE?schema=NAME
  postgres:///DATABASE?host=DIRECTORY&user=USER&schema=NAME   (a socket)

The URL has no password: it comes from the file that PGPASSFILE names, from a service file
or from PGPASSWORD.`

// NewStore returns the command "store" with its subcommands.
func NewStore(a *cli.App) *cobra.Command {
	return cli.NewGroup("store", cli.GroupSetup, "Create or check a store in a database", storeLong, newStoreInit(a), newStoreCheck(a))
}

// storeInitLong is what 'waybill store init --help' prints above the usage.
const storeInitLong = `Create the schema and the tables of a store in a PostgreSQL database, or change the tables
of an older version. What is stored stays. The role of the connection must be permitted to
create schemas in the database, or be the owner of the schema.

--writer and --reader give existing roles the least rights that they need: a writer may do
all but change tables, a reader may read. The command may be repeated.

A store in a directory needs no such command: the first run creates it.`

// newStoreInit returns "store init".
func newStoreInit(a *cli.App) *cobra.Command {
	var roles stores.Roles
	return cli.WithOptions(&cobra.Command{
		Use:     "init",
		Short:   "Create or upgrade the tables of a store",
		Long:    storeInitLong,
		Example: "  waybill store init --store 'postgres:///team?host=/run/postgresql'\n  waybill store init --writer agents --reader audit",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			name, err := databaseName(a, "store init")
			if err != nil {
				return err
			}
			made, err := stores.Init(cmd.Context(), name, roles)
			if err != nil {
				return a.Flags.Selecting(err)
			}
			doc := document.StoreInit{Store: name, FromVersion: made.From, ToVersion: made.To}
			return a.Answer("store_init", doc, func(p *page.Page) { showStoreInit(p, doc, roles) })
		},
	},
		cli.Opt(&roles.Writers, "writer ROLE", "let a ROLE of the database write to the store"),
		cli.Opt(&roles.Readers, "reader ROLE", "let a ROLE of the database read the store"))
}

// showStoreInit prints what was created.
func showStoreInit(p *page.Page, doc document.StoreInit, roles stores.Roles) {
	switch {
	case doc.FromVersion == 0:
		p.Text(p.Good("✓ "), fmt.Sprintf("Created the tables of a store, version %d.", doc.ToVersion))
	case doc.FromVersion < doc.ToVersion:
		p.Text(p.Good("✓ "), fmt.Sprintf("Changed the tables from version %d to version %d.", doc.FromVersion, doc.ToVersion))
	default:
		p.Text(p.Good("✓ "), fmt.Sprintf("The tables have version %d: nothing to change.", doc.ToVersion))
	}
	for _, role := range roles.Writers {
		p.Text("  ", fmt.Sprintf("%s may write.", page.OneLine(role)))
	}
	for _, role := range roles.Readers {
		p.Text("  ", fmt.Sprintf("%s may read.", page.OneLine(role)))
	}
}

// storeCheckLong is what 'waybill store check --help' prints above the usage.
const storeCheckLong = `Check the database of a store: the server and its version, the tables, the rights of the
role, whether locks exclude other connections, and what an acknowledged commit survives
(fsync, full_page_writes, replicas). Five commits are timed. Nothing is changed.

Exit status: 0 when no check failed, 1 when a check failed. 'waybill doctor' checks the
integrity of sessions as well.`

// newStoreCheck returns "store check".
func newStoreCheck(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "check",
		Short:   "Check the database of a store",
		Long:    storeCheckLong,
		Example: "  waybill store check\n  waybill store check --json",
		Args:    cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			name, err := databaseName(a, "store check")
			if err != nil {
				return err
			}
			report := doctor.Judge(doctor.Facts{Database: stores.Database(cmd.Context(), name)})
			status := fault.ExitDone
			if !report.OK {
				status = fault.ExitFailed
			}
			return a.AnswerVerdict("doctor", report, func(p *page.Page) { showReport(p, report) }, status)
		},
	}
}

// databaseName returns the URL that selects the store of the call; USAGE_ERROR for a directory.
func databaseName(a *cli.App, command string) (string, error) {
	name, err := a.StoreName()
	if err == nil && !stores.IsURL(name) {
		err = fault.New(fault.UsageError, "%s is about a store in a database; this store is a directory: %s", command, name).
			Suggest("Give the URL of the database: --store postgres://USER@HOST/DATABASE?schema=NAME. A directory is checked by %s.",
				fault.Command{"doctor"})
	}
	return name, err
}
