//go:build !windows

package httpclient

import "os"

func syncFolder(f *os.File) error { return f.Sync() }
