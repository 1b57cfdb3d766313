//go:build unix && !linux

package sandbox

import "syscall"

// childAttributes puts a child into its own process group. There is no Pdeathsig here: after a SIGKILL of the sandbox
// a bootstrap ends by itself, since the Runtime API that it polls has gone.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
