package compile

import (
	"fmt"
	"math"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// Decode reads a pinned workflow as strictly as it was written: other bytes for the
// same document are refused. An unknown schemaVersion is STORE_NEWER, the pinned form
// of another program STORE_FOREIGN, anything else that does not fit STORE_CORRUPT.
func Decode(data []byte) (Compiled, error) {
	v, err := canon.Parse(data)
	if err != nil {
		return Compiled{}, fault.Wrap(err, fault.StoreCorrupt, "a pinned workflow is not JSON: %s", err)
	}
	if _, ok := v.Get("sourceKind"); ok {
		return Compiled{}, fault.New(fault.StoreForeign,
			"the workflow was pinned by another program: it can be looked at, and not run")
	}
	if version, _ := v.Get("schemaVersion"); version.Kind() == canon.Number && version.Float() > SchemaVersion &&
		version.Float() == math.Trunc(version.Float()) {
		return Compiled{}, fault.New(fault.StoreNewer,
			"the workflow was compiled in version %v of the format; this binary reads version %d", version.Float(),
			SchemaVersion)
	}
	var d Document
	if err := canon.UnmarshalExact(data, &d); err != nil {
		return Compiled{}, fault.Wrap(err, fault.StoreCorrupt,
			"a pinned workflow does not have the form of version %d: %s", SchemaVersion, err)
	}
	c, err := prepare(d)
	if err != nil {
		return Compiled{}, fault.Wrap(err, fault.StoreCorrupt, "a pinned workflow cannot be run: %s", err)
	}
	return c, nil
}

// prepare parses what a document holds in data form and checks what running relies
// on. A document that Compile built passes; one from outside may not.
func prepare(d Document) (c Compiled, err error) {
	c = Compiled{Document: d, index: make(map[string]Place, len(d.Steps))}
	for _, check := range []func() error{c.checkIdentity, c.checkSets, c.place, c.checkNesting, c.prepareSteps,
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

// prepareSteps prepares all steps in place: whoever hands over a document has no
// other use for it.
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

// eachSequence goes over the main sequence and all bodies.
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
