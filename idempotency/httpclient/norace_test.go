//go:build !race

package httpclient

const faultyOperations = 10_000

const raceEnabled = false
