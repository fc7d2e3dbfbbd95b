package commit

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/ports"
)

// StoreID implements ports.Identity. With ports.ReadOnly a missing store and a foreign one have the
// zero id; otherwise the store is created, or the refusal of ToWrite is returned.
func (c *Committer) StoreID(ctx context.Context, create ports.Create) (id.Store, error) {
	if err := ctx.Err(); err != nil {
		return id.Store{}, disk.ReadFault(err)
	}
	if create == ports.ReadOnly {
		// A foreign store and a missing one have no store id: the zero id.
		st, err := c.d.State()
		return st.ID, err
	}
	st, err := c.d.ToWrite()
	return st.ID, err
}

// unnamedTenant is that of a store which was neither created nor opened under a name.
const unnamedTenant = "local"

// Tenant implements ports.Tenancy.
func (c *Committer) Tenant(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", disk.ReadFault(err)
	}
	st, err := c.d.State()
	return cmp.Or(st.Tenant, c.d.Tenant, unnamedTenant), err
}
