package idempotency

import (
	"context"
	"sync"
)

// Usage is what a request cost at its store.
type Usage struct {
	Calls      int
	WriteUnits float64
	ReadUnits  float64
	Estimated  bool // some of the units are computed from item sizes, because the service did not report them
}

// meter adds up the usage of one request.
type meter struct {
	mu    sync.Mutex
	usage Usage // guarded by mu
}

type meterKey struct{}

// withMeter returns a context in which [Spend] is added up.
func withMeter(ctx context.Context) (context.Context, *meter) {
	m := &meter{}
	return context.WithValue(ctx, meterKey{}, m), m
}

// Spend is called by stores to report what a call has cost.
func Spend(ctx context.Context, u Usage) {
	m, ok := ctx.Value(meterKey{}).(*meter)
	if !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.usage.Calls += u.Calls
	m.usage.WriteUnits += u.WriteUnits
	m.usage.ReadUnits += u.ReadUnits
	m.usage.Estimated = m.usage.Estimated || u.Estimated
}

func (m *meter) read() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.usage
}
