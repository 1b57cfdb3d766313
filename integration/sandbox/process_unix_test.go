//go:build unix && !linux

package sandbox

func isZombie(int) bool { return false }
