package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// TestScenariosOverDatabase plays scenarios of all files, each over a store in PostgreSQL: some of them, and all in an exhaustive run. Those
// that damage files are left out.
func TestScenariosOverDatabase(t *testing.T) {
	pgtest.Shared(t)
	files, err := filepath.Glob(scenariosDir + "/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	some := sample.OneIn(t, 40)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all, err := parseScenarios(string(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if s.isOfFiles() || !some.Try() {
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+s.name, func(t *testing.T) {
				for _, wrong := range playOverDatabase(t, s) {
					t.Errorf("%s %s", filepath.Base(file), wrong)
				}
			})
		}
	}
}

// isOfFiles reports a scenario that needs a store in files.
func (s scenario) isOfFiles() bool {
	for _, say := range s.says {
		if say.word == "given" && say.text == "disk" {
			return true
		}
	}
	return false
}

// playOverDatabase is playScenario over a store of its own in PostgreSQL.
func playOverDatabase(t *testing.T, s scenario) []string {
	address, err := pgstore.Parse(pgtest.URL(t))
	if err == nil {
		_, err = pgstore.Init(t.Context(), address, pgstore.Options{}, pgstore.Roles{})
	}
	if err != nil {
		t.Fatal(err)
	}
	p := newPlayer(t, s)
	p.open = func(wait time.Duration) enginetest.Store {
		s := pgstore.Open(address, pgstore.Options{LockWait: wait})
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	p.g = p.process()
	return p.play()
}
