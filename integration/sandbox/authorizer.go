package sandbox

import (
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// tokenLife is how long a token of the local issuer is good.
const tokenLife = 12 * time.Hour

// keyID names the signing key in tokens.
const keyID = "sandbox"

// issuer signs tokens and, as the API's JWT authorizer, checks them.
//
// Source: docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html
type issuer struct {
	spec   authorizerSpec
	key    *rsa.PrivateKey
	parser *jwt.Parser
}

func newIssuer(spec authorizerSpec, key *rsa.PrivateKey) *issuer {
	return &issuer{spec: spec, key: key, parser: jwt.NewParser(
		jwt.WithValidMethods([]string{"RS256", "RS384", "RS512"}),
		jwt.WithIssuer(spec.issuer),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithJSONNumber(),
	)}
}

// token signs a token with the claims tenant_id and sub; an empty value leaves its claim out.
func (i *issuer) token(tenant, sub string, now time.Time) (string, error) {
	claims := jwt.MapClaims{
		"iss": i.spec.issuer,
		"aud": i.spec.audience[0],
		"iat": now.Unix(),
		"exp": now.Add(tokenLife).Unix(),
	}
	if tenant != "" {
		claims["tenant_id"] = tenant
	}
	if sub != "" {
		claims["sub"] = sub
	}
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	t.Header["kid"] = keyID
	return t.SignedString(i.key)
}

// refusal is a request that the authorizer turns away.
type refusal struct {
	status    int
	challenge string // the www-authenticate header
}

func (r refusal) reply() reply {
	message := "Unauthorized"
	if r.status == http.StatusForbidden {
		message = "Forbidden"
	}
	out := gatewayReply(r.status, message)
	out.header.Set("Www-Authenticate", r.challenge)
	return out
}

// authorize checks the Authorization header for a route that asks for one of scopes, or for none.
func (i *issuer) authorize(header string, scopes []string) (*authorizer, *refusal) {
	text := strings.TrimSpace(header)
	if scheme, rest, _ := strings.Cut(text, " "); strings.EqualFold(scheme, "Bearer") {
		text = strings.TrimSpace(rest)
	}
	if text == "" {
		return nil, &refusal{http.StatusUnauthorized, "Bearer"}
	}
	claims := jwt.MapClaims{}
	if _, err := i.parser.ParseWithClaims(text, claims, i.publicKey); err != nil {
		return nil, invalidToken(err)
	}
	if !i.forUs(claims) {
		return nil, invalidToken(jwt.ErrTokenInvalidAudience)
	}
	granted := grantedScopes(claims)
	if len(scopes) > 0 && !slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(granted, s) }) {
		return nil, &refusal{http.StatusForbidden, fmt.Sprintf("Bearer scope=%q error=\"insufficient_scope\"", strings.Join(scopes, " "))}
	}
	out := &authorizer{JWT: jwtContext{Claims: claimTexts(claims)}}
	if len(scopes) > 0 {
		out.JWT.Scopes = granted
	}
	return out, nil
}

func (i *issuer) publicKey(t *jwt.Token) (any, error) {
	if t.Header["kid"] != keyID {
		return nil, errors.New("unknown kid")
	}
	return i.key.Public(), nil
}

// forUs reports whether aud, or client_id where a token has no aud, names one of our audiences.
func (i *issuer) forUs(claims jwt.MapClaims) bool {
	aud, err := claims.GetAudience()
	if err != nil {
		return false
	}
	if claims["aud"] == nil {
		client, _ := claims["client_id"].(string)
		aud = jwt.ClaimStrings{client}
	}
	return slices.ContainsFunc(aud, func(a string) bool { return slices.Contains(i.spec.audience, a) })
}

// invalidToken says what is wrong with a token in the challenge alone, as the gateway does.
func invalidToken(err error) *refusal {
	why := "the token is invalid"
	switch {
	case errors.Is(err, jwt.ErrTokenInvalidAudience):
		why = "the token does not have a valid audience"
	case errors.Is(err, jwt.ErrTokenExpired):
		why = "the token has expired"
	case errors.Is(err, jwt.ErrTokenNotValidYet), errors.Is(err, jwt.ErrTokenUsedBeforeIssued):
		why = "the token is not yet valid"
	case errors.Is(err, jwt.ErrTokenInvalidIssuer):
		why = "the token does not have a valid issuer"
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		why = "the token has an invalid signature"
	case errors.Is(err, jwt.ErrTokenMalformed):
		why = "the token is malformed"
	}
	return &refusal{http.StatusUnauthorized, fmt.Sprintf(`Bearer scope="" error="invalid_token" error_description="%s"`, why)}
}

// grantedScopes reads the claim scope, or scp: one string with spaces, or an array.
func grantedScopes(claims jwt.MapClaims) []string {
	value := claims["scope"]
	if value == nil {
		value = claims["scp"]
	}
	switch v := value.(type) {
	case string:
		return strings.Fields(v)
	case []any:
		var out []string
		for _, s := range v {
			out = append(out, fmt.Sprint(s))
		}
		return out
	}
	return nil
}

// claimTexts writes every claim as a string, as HTTP APIs do: numbers by their digits, arrays as "[a b]", nulls left
// out.
func claimTexts(claims jwt.MapClaims) map[string]string {
	out := make(map[string]string, len(claims))
	for name, v := range claims {
		switch v := v.(type) {
		case nil:
		case string:
			out[name] = v
		case json.Number:
			out[name] = v.String()
		default:
			out[name] = fmt.Sprint(v)
		}
	}
	return out
}
