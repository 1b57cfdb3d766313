package endpoint

import "testing"

func TestTenantKeyKeepsTenantsApart(t *testing.T) {
	seen := map[string][2]string{}
	for _, pair := range [][2]string{{"a", "b"}, {"a#b", "c"}, {"a", "b#c"}, {"", "a#b"}, {"1#a", "b"}, {"a", ""}, {"ab", ""}, {"", "ab"}} {
		key := TenantKey(pair[0], pair[1])
		if other, ok := seen[key]; ok {
			t.Errorf("%q and %q share %q", pair, other, key)
		}
		seen[key] = pair
	}
}
