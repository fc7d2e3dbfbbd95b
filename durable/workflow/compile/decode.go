package compile

import (
	"errors"
	"fmt"
	"math"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// Decode decodes a pinned workflow. It accepts only the canonical bytes that Bytes returns,
// so that the hash identifies the document. It fails with STORE_NEWER for a higher
// schemaVersion, STORE_FOREIGN for a workflow pinned by WorkRail, SESSION_UNHEALTHY and
// ErrLimits for one beyond the limits of this format, and STORE_CORRUPT for all other invalid
// content.
func Decode(data []byte) (Compiled, error) {
	if err := checkSize(data); err != nil {
		return Compiled{}, beyondLimits(err)
	}
	v, err := canon.Parse(data)
	if err != nil {
		return Compiled{}, fault.Wrap(err, fault.StoreCorrupt, "a pinned workflow is not JSON: %s", err)
	}
	// Only the documents of WorkRail have this member.
	if _, ok := v.Get("sourceKind"); ok {
		return Compiled{}, fault.New(fault.StoreForeign,
			"the workflow was pinned by another program: it can be inspected but not run")
	}
	version, _ := v.Get("schemaVersion")
	if version.Kind() == canon.Number && version.Float() > SchemaVersion &&
		version.Float() == math.Trunc(version.Float()) {
		return Compiled{}, fault.New(fault.StoreNewer,
			"the workflow was compiled in version %v of the format; this binary reads versions up to %d",
			version.Float(), SchemaVersion)
	}
	if err := errors.Join(checkTexts(v), checkNumbers(v)); err != nil {
		return Compiled{}, beyondLimits(err)
	}
	var d Document
	if err := canon.UnmarshalExact(data, &d); err != nil {
		return Compiled{}, fault.Wrap(err, fault.StoreCorrupt,
			"a pinned workflow does not have the form of version %d: %s", int(version.Float()), err)
	}
	if err := d.checkLimits(); err != nil {
		return Compiled{}, beyondLimits(err)
	}
	c, err := prepare(d)
	if err != nil {
		return Compiled{}, fault.Wrap(err, fault.StoreCorrupt, "a pinned workflow cannot be run: %s", err)
	}
	return c, nil
}

// beyondLimits is the fault for a document that no compiler wrote.
func beyondLimits(why error) error {
	return fault.Wrap(fmt.Errorf("%w: %w", ErrLimits, why), fault.SessionUnhealthy,
		"the workflow can be read but not continued: %s", why)
}

// prepare parses the conditions and criteria of a document, computes its bytes and checks
// everything on which running relies. It must accept every document of Compile and reject
// forged ones.
func prepare(d Document) (c Compiled, err error) {
	c = Compiled{Document: d, index: make(map[string]StepPlace, len(d.Steps))}
	// The order matters: each check relies on the earlier ones.
	for _, check := range []func() error{c.checkIdentity, c.checkInputs, c.checkSets, c.indexSteps, c.checkNesting, c.prepareSteps,
		c.prepareControls} {
		if err := check(); err != nil {
			return Compiled{}, err
		}
	}
	if c.bytes, err = canon.Marshal(d); err != nil {
		return Compiled{}, err
	}
	c.hash = canon.Sum(c.bytes)
	return c, nil
}

// prepareSteps prepares all steps in place, which modifies the document that was passed to
// prepare; callers do not use it afterwards.
func (c *Compiled) prepareSteps() error {
	return c.eachSequence(func(_ string, steps []Step) error {
		for i := range steps {
			if err := steps[i].prepare(c); err != nil {
				return fmt.Errorf("step %q: %w", steps[i].StepID, err)
			}
		}
		return nil
	})
}

// eachSequence calls each for the main sequence, with loopID "", and for all bodies. It
// stops at the first error, to which it adds the loop's id.
func (c *Compiled) eachSequence(each func(loopID string, steps []Step) error) error {
	if err := each("", c.Steps); err != nil {
		return err
	}
	for _, l := range c.Loops {
		if err := each(l.LoopID, l.Body); err != nil {
			return fmt.Errorf("loop %q: %w", l.LoopID, err)
		}
	}
	return nil
}
