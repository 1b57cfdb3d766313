// Command startup measures how long the payments function takes from the start of its process to its first request to
// the Lambda Runtime API, beside a minimal function with a DynamoDB client, and how large its binary is. Run it from
// the project's root: go run ./integration/startup. It exits with 1 where a limit is passed.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

const (
	starts   = 40  // of each function, one after the other, in turns
	maxRatio = 1.5 // of the medians
	maxSize  = 11  // MiB of the binary for Lambda
)

func main() {
	within, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "startup:", err)
	}
	if err != nil || !within {
		os.Exit(1)
	}
}

// run builds, measures and prints. It reports whether all is within the limits.
func run() (within bool, err error) {
	dir, err := os.MkdirTemp("", "startup-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	payments, minimal, forLambda := filepath.Join(dir, "payments"), filepath.Join(dir, "minimal"), filepath.Join(dir, "lambda")
	if err := build(payments, minimal, forLambda); err != nil {
		return false, err
	}
	binary, err := os.Stat(filepath.Join(forLambda, "bootstrap"))
	if err != nil {
		return false, err
	}
	a, err := newAWS(dir)
	if err != nil {
		return false, err
	}
	defer a.close()
	took, err := measure(a, filepath.Join(minimal, "bootstrap"), filepath.Join(payments, "bootstrap"))
	if err != nil {
		return false, err
	}
	return report(median(took[0]), median(took[1]), float64(binary.Size())/(1<<20)), nil
}

// report prints the results: the two medians, their ratio, and the size in MiB.
func report(minimal, payments time.Duration, size float64) (within bool) {
	ratio := float64(payments) / float64(minimal)
	fmt.Printf("process start to first poll, median of %d starts each\n", starts)
	fmt.Printf("  minimal   %8.2f ms\n", millis(minimal))
	fmt.Printf("  payments  %8.2f ms\n", millis(payments))
	fmt.Printf("  ratio     %8.2f     (at most %.1f)\n", ratio, maxRatio)
	fmt.Println("payments bootstrap for Lambda")
	fmt.Printf("  size      %8.2f MiB (at most %d)\n", size, maxSize)
	return ratio <= maxRatio && size <= maxSize
}

// build makes the payments function by its own recipe, for this machine and for Lambda, and the minimal one with the
// same flags.
func build(payments, minimal, forLambda string) error {
	here := []string{"GOOS=" + runtime.GOOS, "GOARCH=" + runtime.GOARCH}
	for _, args := range [][]string{
		append([]string{"make", "-s", "build-PaymentsFunction", "ARTIFACTS_DIR=" + payments}, here...),
		{"make", "-s", "build-PaymentsFunction", "ARTIFACTS_DIR=" + forLambda},
		{"go", "build", "-trimpath", "-tags", "lambda.norpc", "-ldflags", "-s -w -buildid=",
			"-o", filepath.Join(minimal, "bootstrap"), "./integration/startup/minimal"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s %s: %w", args[0], args[1], err)
		}
	}
	return nil
}

// measure starts the binaries in turns, so that whatever else the machine does meets all of them. One start of each
// comes first and is not counted: it reads the binary from the disk.
func measure(a *aws, binaries ...string) (took [][]time.Duration, err error) {
	took = make([][]time.Duration, len(binaries))
	for round := range starts + 1 {
		for i, binary := range binaries {
			d, err := a.start(binary)
			if err != nil {
				return nil, fmt.Errorf("start of %s: %w", binary, err)
			}
			if round > 0 {
				took[i] = append(took[i], d)
			}
		}
	}
	return took, nil
}

func median(ds []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(ds))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
