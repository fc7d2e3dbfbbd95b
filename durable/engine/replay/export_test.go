package replay

import (
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/redrive"
)

// Altering returns the replayer with a change of recorded attempts before they are decided.
func (x *Replayer) Altering(alter func(redrive.Operation, *advance.Attempt)) *Replayer {
	out := *x
	out.alter = alter
	return &out
}
