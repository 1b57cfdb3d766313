package sandbox

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
)

var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func testIssuer() *issuer {
	return newIssuer(authorizerSpec{issuer: "https://me.test", audience: []string{"api", "other"}}, testKey())
}

// sign makes a token by hand.
func sign(t *testing.T, claims jwt.MapClaims, key *rsa.PrivateKey, kid string) string {
	t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	token.Header["kid"] = kid
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// good are the claims of a token that passes; without lists claims to leave out.
func good(changes jwt.MapClaims, without ...string) jwt.MapClaims {
	now := time.Now()
	c := jwt.MapClaims{"iss": "https://me.test", "aud": "api", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	for k, v := range changes {
		c[k] = v
	}
	for _, k := range without {
		delete(c, k)
	}
	return c
}

func TestAuthorizeRefuses(t *testing.T) {
	i := testIssuer()
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	hs := jwt.NewWithClaims(jwt.SigningMethodHS256, good(nil))
	hs.Header["kid"] = keyID
	symmetric, err := hs.SignedString([]byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, tt := range map[string]struct{ header, why string }{
		"no header":       {"", ""},
		"no token":        {"Bearer ", ""},
		"garbage":         {"Bearer abc", "malformed"},
		"other key":       {sign(t, good(nil), other, keyID), "signature"},
		"other kid":       {sign(t, good(nil), testKey(), "x"), "invalid"},
		"symmetric":       {symmetric, "signature"},
		"expired":         {sign(t, good(jwt.MapClaims{"exp": now.Add(-time.Second).Unix()}), testKey(), keyID), "expired"},
		"no expiry":       {sign(t, good(nil, "exp"), testKey(), keyID), "invalid"},
		"not yet":         {sign(t, good(jwt.MapClaims{"nbf": now.Add(time.Hour).Unix()}), testKey(), keyID), "not yet"},
		"from tomorrow":   {sign(t, good(jwt.MapClaims{"iat": now.Add(time.Hour).Unix()}), testKey(), keyID), "not yet"},
		"other issuer":    {sign(t, good(jwt.MapClaims{"iss": "https://you.test"}), testKey(), keyID), "issuer"},
		"other audience":  {sign(t, good(jwt.MapClaims{"aud": "web"}), testKey(), keyID), "audience"},
		"no audience":     {sign(t, good(nil, "aud"), testKey(), keyID), "audience"},
		"other client":    {sign(t, good(jwt.MapClaims{"client_id": "web"}, "aud"), testKey(), keyID), "audience"},
		"aud over client": {sign(t, good(jwt.MapClaims{"client_id": "api", "aud": "web"}), testKey(), keyID), "audience"},
	} {
		t.Run(name, func(t *testing.T) {
			_, no := i.authorize(tt.header, nil)
			if no == nil {
				t.Fatal("let in")
			}
			r := no.reply()
			challenge := r.header.Get("Www-Authenticate")
			if r.status != http.StatusUnauthorized || string(r.body) != `{"message":"Unauthorized"}` || !strings.HasPrefix(challenge, "Bearer") {
				t.Errorf("%d %s %s", r.status, r.body, challenge)
			}
			if !strings.Contains(challenge, tt.why) || (tt.why != "") != strings.Contains(challenge, `error="invalid_token"`) {
				t.Errorf("challenge %s, want %q in it", challenge, tt.why)
			}
		})
	}
}

func TestAuthorizeAccepts(t *testing.T) {
	i := testIssuer()
	token := sign(t, good(nil), testKey(), keyID)
	for name, header := range map[string]string{
		"bearer":            "Bearer " + token,
		"any case":          "bEARER  " + token,
		"bare":              token,
		"second audience":   sign(t, good(jwt.MapClaims{"aud": "other"}), testKey(), keyID),
		"one of many":       sign(t, good(jwt.MapClaims{"aud": []string{"x", "api"}}), testKey(), keyID),
		"client for no aud": sign(t, good(jwt.MapClaims{"client_id": "api"}, "aud"), testKey(), keyID),
	} {
		if _, no := i.authorize(header, nil); no != nil {
			t.Errorf("%s: refused: %s", name, no.challenge)
		}
	}
}

func TestAuthorizeScopes(t *testing.T) {
	i := testIssuer()
	for name, tt := range map[string]struct {
		claims jwt.MapClaims
		want   int // 0: let in
	}{
		"has it":    {jwt.MapClaims{"scope": "read admin"}, 0},
		"as a list": {jwt.MapClaims{"scp": []string{"admin"}}, 0},
		"has not":   {jwt.MapClaims{"scope": "read"}, 403},
		"no scopes": {nil, 403},
	} {
		a, no := i.authorize(sign(t, good(tt.claims), testKey(), keyID), []string{"admin", "root"})
		switch {
		case tt.want == 0 && (no != nil || len(a.JWT.Scopes) == 0):
			t.Errorf("%s: refused, or no scopes in the event", name)
		case tt.want != 0 && (no == nil || no.reply().status != tt.want || string(no.reply().body) != `{"message":"Forbidden"}`):
			t.Errorf("%s: %+v", name, no)
		}
	}
}

func TestClaimsAreStrings(t *testing.T) {
	claims := jwt.MapClaims{
		"s": "x", "n": json.Number("1787996002"), "a": []any{"a", "b"}, "b": true, "null": nil,
	}
	want := map[string]string{"s": "x", "n": "1787996002", "a": "[a b]", "b": "true"}
	if diff := cmp.Diff(want, claimTexts(claims)); diff != "" {
		t.Error(diff)
	}
}

func TestTokenClaims(t *testing.T) {
	i := testIssuer()
	now := time.Now()
	for _, tt := range []struct{ tenant, sub string }{{"acme", "alice"}, {"", "alice"}, {"acme", ""}, {"", ""}} {
		text, err := i.token(tt.tenant, tt.sub, now)
		if err != nil {
			t.Fatal(err)
		}
		a, no := i.authorize("Bearer "+text, nil)
		if no != nil {
			t.Fatal(no.challenge)
		}
		c := a.JWT.Claims
		_, hasTenant := c["tenant_id"]
		_, hasSub := c["sub"]
		if c["tenant_id"] != tt.tenant || c["sub"] != tt.sub || hasTenant != (tt.tenant != "") || hasSub != (tt.sub != "") {
			t.Errorf("%+v: claims %v", tt, c)
		}
	}
	text, err := i.token("acme", "alice", now.Add(-tokenLife-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if _, no := i.authorize(text, nil); no == nil {
		t.Error("a token is good for more than 12 hours")
	}
}

func TestSigningKeyIsKept(t *testing.T) {
	dir := t.TempDir()
	first, err := signingKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := signingKey(dir)
	if err != nil || !first.Equal(second) {
		t.Errorf("another key after a restart, error %v", err)
	}
	if _, err := decodeKey([]byte("nonsense")); err == nil {
		t.Error("nonsense is a key")
	}
}
