//go:build race

package httpclient

const faultyOperations = 2_000 // the race detector makes each several times as dear

const raceEnabled = true
