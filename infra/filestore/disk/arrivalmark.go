package disk

import (
	"path"
	"strings"

	"github.com/waybill/waybill/infra/filestore/layout"
)

// ArrivalMark starts the content of the suspect file of a session that was moved in and whose
// rename is not known to be durable. A process that is about to acknowledge something about the log
// reads that file.
const ArrivalMark = "arriving"

// ArrivalMark adds the boot id: after a restart of the machine everything that exists was durable.
func (d *Disk) ArrivalMark() string { return ArrivalMark + " " + d.Boot + "\n" }

// HasArrivalMark reports a log with an arrival mark.
func (d *Disk) HasArrivalMark(root string) (bool, error) {
	b, err := d.ReadFile(path.Join(root, layout.SuspectFile), ArrivalMarkBytesMax)
	return strings.HasPrefix(string(b), ArrivalMark), UnlessMissing(err)
}

// RollBackTries is how often a session is moved back after a failed sync.
const RollBackTries = 3

// ArrivalMarkBytesMax is more than a mark needs: a boot id has 36 bytes.
const ArrivalMarkBytesMax = 1 << 10
