package httpclient

import "os"

// syncFolder does nothing: Windows cannot sync a folder.
func syncFolder(*os.File) error { return nil }
