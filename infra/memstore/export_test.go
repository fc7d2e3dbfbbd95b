package memstore

import "github.com/waybill/waybill/durable/id"

// ReleasePresent releases the lease of a session for any holder: what a release without a comparison would do.
func (d *Disk) ReleasePresent(s id.Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leases[s.String()].held = false
}

// Token returns the token of a session's latest lease.
func (d *Disk) Token(s id.Session) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.leases[s.String()]; g != nil {
		return g.token
	}
	return 0
}
