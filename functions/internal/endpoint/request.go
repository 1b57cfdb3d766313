package endpoint

import (
	"encoding/base64"
	"strconv"

	"github.com/aws/aws-lambda-go/events"
)

const (
	tenantClaim = "tenant_id"
	maxTenant   = 1024 // bytes; keys hold the tenant and must stay below DynamoDB's 2,048
)

// Request is what the gateway sends.
type Request = events.APIGatewayV2HTTPRequest

// Tenant is the caller's tenant, "" where the token names none that keys can hold. It comes from the token that the
// gateway has verified, and from nowhere else.
func Tenant(e Request) string {
	authorizer := e.RequestContext.Authorizer
	if authorizer == nil || authorizer.JWT == nil || len(authorizer.JWT.Claims[tenantClaim]) > maxTenant {
		return ""
	}
	return authorizer.JWT.Claims[tenantClaim]
}

// TenantKey makes one key of a tenant and a name within it. The length in front keeps them apart whatever they hold, so
// no choice of a name reaches another tenant.
func TenantKey(tenant, name string) string {
	return strconv.Itoa(len(tenant)) + "#" + tenant + "#" + name
}

// Body decodes the body. What is marked as base64 and is not becomes an empty body, which is refused.
func Body(e Request) []byte {
	if !e.IsBase64Encoded {
		return []byte(e.Body)
	}
	body, err := base64.StdEncoding.DecodeString(e.Body)
	if err != nil {
		return nil
	}
	return body
}
