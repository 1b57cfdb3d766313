package provider

import "testing"

func TestIsURL(t *testing.T) {
	for url, want := range map[string]bool{
		"https://psp.example": true, "https://psp.example:8443/v1": true, "http://127.0.0.1:4000": true,
		"http://localhost/psp": true, "http://[::1]:4000": true, "http://host.docker.internal:4000": true,
		"": false, "psp.example": false, "/charges": false, "http://psp.example": false, "ftp://localhost": false,
		"http://127.0.0.1.psp.example": false, "https://": false, "https://:443": false, "https://user:pw@psp.example": false,
		"https://psp.example?a=b": false, "https://psp.example#f": false, "https://psp.example/%zz": false,
	} {
		if got := IsURL(url); got != want {
			t.Errorf("%q: %v", url, got)
		}
	}
}
