package provider

import (
	"net/url"
	"slices"
)

// IsURL tells whether secrets and card tokens may go to a URL: by TLS, or to this machine (which a container
// calls host.docker.internal).
func IsURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	local := []string{"127.0.0.1", "::1", "localhost", "host.docker.internal"}
	return u.Scheme == "https" || u.Scheme == "http" && slices.Contains(local, u.Hostname())
}
