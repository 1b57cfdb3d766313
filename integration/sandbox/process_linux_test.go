package sandbox

import (
	"fmt"
	"os"
	"strings"
)

// isZombie reports whether a process is dead and only not waited for, as orphans are where nobody adopts them.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(after, "Z")
}
