package chaos

// endpoint is one that operations are sent to, and what its answers mean. Any other answer must not be met.
type endpoint struct {
	path     string
	function string   // logical id
	finals   []string // answers after which a client is done
	again    []string // answers after which it tries again, besides none at all
}

var payments = &endpoint{
	path:     "/payments",
	function: "PaymentsFunction",
	finals:   []string{"201", "402 card-declined"},
	again: []string{"409 in-progress", "429 provider-busy", "500 gateway", "503 gateway", "503 provider-unavailable",
		"503 store-unavailable", "503 outcome-unknown"},
}

// orders has one more: a step whose record is not answered for fails the request.
var orders = &endpoint{
	path:     "/orders",
	function: "OrdersFunction",
	finals:   append([]string{"409 out-of-stock"}, payments.finals...),
	again:    append([]string{"500 handler-failed"}, payments.again...),
}
