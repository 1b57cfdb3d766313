// Package noimport has no client: nothing is looked at.
package noimport

import "time"

type header map[string]string

func (h header) Set(name, value string) { h[name] = value }

func set(h header) { h.Set("Idempotency-Key", time.Now().String()) }
