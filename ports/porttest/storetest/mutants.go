package storetest

import (
	"slices"
	"testing"

	"github.com/waybill/waybill/ports/porttest/mutant"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// Mutant is a store as a wrong change of an implementation would make it.
type Mutant struct {
	Name  string // what is wrong with it
	In    string // the name of the case that must detect it
	Setup suite.Setup
}

// DetectMutants fails for each mutant over which its case passes. sound is the same store without the change: the
// case must pass over it, so that a mutant does not fail for another reason.
func DetectMutants(t *testing.T, sound suite.Setup, mutants []Mutant) {
	t.Helper()
	all := suite.Cases()
	for _, m := range mutants {
		at := slices.IndexFunc(all, func(c suite.Case) bool { return c.Name == m.In })
		if at < 0 {
			t.Errorf("%q: the suite has no case %q", m.Name, m.In)
			continue
		}
		over := func(setup suite.Setup) string {
			return mutant.Failure(t, func(t testing.TB) { all[at].Run(t, setup(t)) })
		}
		if why := over(sound); why != "" {
			t.Errorf("the case %q fails over the sound store: %s", m.In, why)
		} else if why := over(m.Setup); why == "" {
			t.Errorf("a store where %s passes the case %q", m.Name, m.In)
		} else {
			t.Logf("%s: %s", m.Name, why)
		}
	}
}
