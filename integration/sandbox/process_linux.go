package sandbox

import "syscall"

// childAttributes puts a child into its own process group, and has the kernel kill it if the sandbox is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
