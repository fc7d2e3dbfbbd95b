package id

// tenantMax is the length of a name of a tenant. Every supported filesystem allows longer directory names.
const tenantMax = 64

// IsTenantName reports a valid name of a tenant or workspace: small letters, digits, _ and -, the first one a letter or
// digit. Such a name is a single directory name, so that the resulting path cannot leave the directory of all stores
// (docs/design.md#tenants).
func IsTenantName(name string) bool {
	for i := range len(name) {
		c := name[i]
		isWord := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !isWord && (i == 0 || c != '_' && c != '-') {
			return false
		}
	}
	return len(name) > 0 && len(name) <= tenantMax
}
