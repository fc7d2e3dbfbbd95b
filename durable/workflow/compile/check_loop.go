package compile

import (
	"errors"
	"fmt"
	"math"

	"github.com/waybill/waybill/durable/canon"
)

// prepareControls checks each loop against its kind and parses the conditions of controls.
func (c *Compiled) prepareControls() error {
	for i := range c.Loops {
		l := &c.Loops[i]
		if err := c.prepareLoop(l); err != nil {
			return fmt.Errorf("loop %q: %w", l.LoopID, err)
		}
	}
	return nil
}

// prepareLoop checks that a loop has exactly the members of its kind.
func (c *Compiled) prepareLoop(l *Loop) error {
	if l.MaxIterations < 1 {
		return fmt.Errorf("maxIterations %d", l.MaxIterations)
	}
	decided := l.Kind == While || l.Kind == Until
	for _, rule := range []struct {
		broken bool
		why    string
	}{
		{!decided && l.Kind != For && l.Kind != ForEach, fmt.Sprintf("unknown kind %q", l.Kind)},
		{decided != (l.Control != nil), "only while and until have a control, and need one"},
		{(l.Kind == For) != !l.Count.IsZero(), "only for has a count, and needs one"},
		{(l.Kind == ForEach) != (l.Items != ""), "only forEach has items, and needs them"},
		{l.Kind == For && !validCount(l.Count), "count is neither a whole number nor a path"},
		{l.Kind != ForEach && l.ItemVar+l.IndexVar != "", "only forEach has an item and an index"},
	} {
		if rule.broken {
			return errors.New(rule.why)
		}
	}
	if l.Control == nil {
		return nil
	}
	return c.prepareControl(l.Control)
}

// validCount reports whether v is a whole number from 0, or a context path.
func validCount(v canon.Value) bool {
	if v.Kind() == canon.Number {
		return v.Float() >= 0 && v.Float() <= math.MaxInt32 && v.Float() == math.Trunc(v.Float())
	}
	return v.Text() != ""
}

// prepareControl parses the condition of a control and checks that it is equal to the named
// condition to which it refers.
func (c *Compiled) prepareControl(control *Control) (err error) {
	if control.parsed, err = c.checkControl(*control); err != nil || control.ConditionID == "" {
		return err
	}
	n, ok := find(c.Conditions, func(n NamedCondition) bool { return n.ConditionID == control.ConditionID })
	switch {
	case !ok:
		return fmt.Errorf("condition %q does not exist", control.ConditionID)
	case !same(n, NamedCondition{n.ConditionID, control.Kind, control.ContractRef, control.LoopID, control.Condition}):
		return fmt.Errorf("condition %q has another definition", n.ConditionID)
	}
	return nil
}
