package travel

import (
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
)

// parties are the names of the two sides of an import, for messages.
type parties struct {
	source, target string
	stores         bool // the source is a store
}

// partiesOf returns the names for a session of a store, or of a bundle for the zero Origin.
func partiesOf(from Origin) parties {
	if from == (Origin{}) {
		return parties{source: "the bundle", target: "the store"}
	}
	return parties{source: "the source store", target: "the target store", stores: true}
}

// suggestBoth adds to a refusal of another history how to have both.
func (p parties) suggestBoth(f *fault.Fault) *fault.Fault {
	if p.stores {
		return f.Suggest("Repeat the call with --as-new to have both. Nothing was written.")
	}
	return f.Suggest("Import it with --as-new to have both; %s compares them. Nothing was imported.",
		fault.Command{"bundle", "diff"})
}

// checkSource adds to an error about the session of the source how to check it, and nil to nil. A bundle has to be
// sent again, which its codes suggest.
func (p parties) checkSource(err error, s id.Session) error {
	if !p.stores || !IsAboutSource(err) {
		return err
	}
	f := *fault.Of(err)
	f.Message = "the session of " + p.source + " is not valid: " + f.Message
	return f.Suggest("Check it with %s. Nothing was written.", fault.Command{"verify", s.String()})
}

// IsAboutSource reports an error of an import that is about what was to be imported, and not about the store.
func IsAboutSource(err error) bool {
	switch fault.CodeOf(err) {
	case fault.BundleIntegrityFailed, fault.BundleMissingSnapshot, fault.BundleMissingPinnedWorkflow, fault.BundleInvalidFormat:
		return true
	}
	return false
}
