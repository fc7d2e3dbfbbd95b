package serve

// ForcesVersions implements httpserver.Host.
func (h *host) ForcesVersions() bool { return h.served.Testing != nil }
