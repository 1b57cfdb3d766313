//go:build race

package conformance

// raceDetector says that the tests run under the race detector, which takes several times as long.
const raceDetector = true
