package read

import "github.com/waybill/waybill/ports"

// Failures implements ports.Availability.
func (r *Reader) Failures() ports.Failures { return r.d.Failures() }
