package main

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waybill/waybill/cmd/waybill/cli/stores"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// ofFolders are the scripts that are about the files of a store, or about selecting one in a directory, and why.
var ofFolders = map[string]string{
	"applied_settings": "edits config.json", "attached_bad": "attaches the directory of the store", "bad_store": "edits store.json",
	"bundles": "selects stores by $WAYBILL_HOME", "config": "reads config.json", "damage": "changes segments", "doctor": "the environment of a directory",
	"fork": "selects stores by $WAYBILL_HOME", "gc": "moves the directory of sessions", "home": "selects stores by $WAYBILL_HOME",
	"inbox": "selects the directory", "proposals_gate": "reads segments",
	"keys": "damages the file of the keyring", "links": "puts links into the directory", "notify": "edits config.json", "preferences_store": "edits config.json",
	"proposals_secret": "reads the directory of installed artifacts", "repair": "changes segments", "serve_keys": "reads keys/http.json",
	"settings_consent": "edits config.json", "settings_unconfirmed": "edits config.json", "store_flags": "selects directories",
	"trust_older": "writes an old trust.json", "trust_unconfirmed": "edits trust.json", "verify_heads": "changes segments",
	"openwop": "the tenant of a directory", "audit": "counts the lines of the audit log with those of the settings",
}

// TestScriptOverDatabase runs the scripts with a store in PostgreSQL as the one that is selected without a flag: some of them, and all
// in an exhaustive run.
func TestScriptOverDatabase(t *testing.T) {
	pgtest.Shared(t)
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(path string) bool { return ofFolders[strings.TrimSuffix(filepath.Base(path), ".txtar")] != "" })
	p := scripts(func(env *testscript.Env) error {
		url := pgtest.URL(t)
		if _, err := stores.Init(context.Background(), url, stores.Roles{}); err != nil {
			return err
		}
		env.Setenv("WAYBILL_STORE", url)
		return nil
	})
	some := sample.OneIn(t, 6)
	p.Dir, p.Files = "", slices.DeleteFunc(all, func(string) bool { return !some.Try() })
	testscript.Run(t, p)
}

// databaseSum is the digest of the rows of a store in the database of the tests, without those of caches and leases.
func databaseSum(store string) (string, error) {
	u, err := url.Parse(store)
	if err != nil {
		return "", err
	}
	b, err := pgtest.Current().Dump(u.Query().Get("schema"), "heads", "leases", "briefs", "brief_runs")
	if err != nil {
		return "", err
	}
	// The column "changed" belongs to the catalogue; pg_dump writes a random key around the rows.
	b = regexp.MustCompile(`(?m)^\\(un)?restrict .*$|, (true|false)\);$`).ReplaceAll(b, nil)
	return fmt.Sprintln(canon.Sum(b)), nil
}
