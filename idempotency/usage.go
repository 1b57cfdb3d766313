package idempotency

import "context"

// Usage is what a request cost at its store.
type Usage struct {
	Calls      int
	WriteUnits float64
	ReadUnits  float64
	Estimated  bool // some of the units are computed from item sizes, because the service did not report them
}

// Spend is called by stores to report what a call has cost.
func Spend(ctx context.Context, u Usage) {
	t, ok := ctx.Value(storeKey{}).(*Attempt)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.usage.Calls += u.Calls
	t.usage.WriteUnits += u.WriteUnits
	t.usage.ReadUnits += u.ReadUnits
	t.usage.Estimated = t.usage.Estimated || u.Estimated
}

func (t *Attempt) spent() Usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.usage
}
