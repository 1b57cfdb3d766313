package idempotency

// MaxBody is the largest request body, in bytes, that the guard takes: [Config.MaxBody]. Adapters that read a stream need
// not read more than one byte beyond it.
func (g *Guard) MaxBody() int { return g.cfg.MaxBody }
