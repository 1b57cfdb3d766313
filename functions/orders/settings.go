package main

import "firstwriter/functions/internal/endpoint"

// settings is the function's environment, checked.
type settings struct {
	endpoint.Settings
	stockTable  string
	ordersTable string
	outboxTable string
}

// settingsFrom reads the environment. The error is one line that names every variable that must be set otherwise.
func settingsFrom(getenv func(string) string) (s settings, err error) {
	s.Settings, err = endpoint.ReadSettings(getenv,
		endpoint.Table{Variable: "STOCK_TABLE", Name: &s.stockTable, What: "the table of prices and stock"},
		endpoint.Table{Variable: "ORDERS_TABLE", Name: &s.ordersTable, What: "the table of the orders"},
		endpoint.Table{Variable: "OUTBOX_TABLE", Name: &s.outboxTable, What: "the table of the events to publish"})
	return s, err
}
