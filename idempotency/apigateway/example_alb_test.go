package apigateway_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/golang-jwt/jwt/v5"

	"firstwriter/idempotency"
	"firstwriter/idempotency/apigateway"
)

const loadBalancer = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/app/payments/50dc6c495c0c9188"

// verified makes an ALBCaller that believes x-amzn-oidc-data once its signature, its signer and its expiry are checked.
// publicKey gets the load balancer's key with an id, from https://public-keys.auth.elb.REGION.amazonaws.com/ID, and keeps
// it; it must refuse ids that are not UUIDs.
func verified(publicKey func(ctx context.Context, id string) (*ecdsa.PublicKey, error)) apigateway.ALBCaller {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithExpirationRequired(), jwt.WithPaddingAllowed())
	return func(ctx context.Context, e events.ALBTargetGroupRequest) idempotency.Caller {
		var claims jwt.MapClaims
		_, err := parser.ParseWithClaims(e.Headers["x-amzn-oidc-data"], &claims, func(t *jwt.Token) (any, error) {
			if t.Header["signer"] != loadBalancer {
				return nil, errors.New("signed by another load balancer")
			}
			id, _ := t.Header["kid"].(string)
			return publicKey(ctx, id)
		})
		subject, _ := claims["sub"].(string)
		if err != nil || subject == "" {
			return idempotency.Caller{} // nobody: 403 caller-unknown
		}
		return idempotency.Caller{Claims: map[string]string{"sub": subject}}
	}
}

func ExampleALB() {
	ours, theirs := newKey(), newKey()
	publicKey := func(context.Context, string) (*ecdsa.PublicKey, error) { return &ours.PublicKey, nil }
	guard := guardBy(idempotency.JWTClaim("sub"))
	handler := apigateway.ALB(guard, verified(publicKey), func(context.Context, events.ALBTargetGroupRequest) (events.ALBTargetGroupResponse, error) {
		return events.ALBTargetGroupResponse{StatusCode: 201}, nil
	})
	send := func(what, data string) {
		e := sample[events.ALBTargetGroupRequest]("alb-oidc-post.json")
		e.Headers["x-amzn-oidc-data"] = data
		r, err := handler(context.Background(), e)
		fmt.Println(what+":", r.StatusDescription, err)
	}
	send("signed", sign(ours, loadBalancer, time.Hour))
	send("expired", sign(ours, loadBalancer, -time.Hour))
	send("another load balancer", sign(ours, loadBalancer+"0", time.Hour))
	send("another key", sign(theirs, loadBalancer, time.Hour))
	send("made up", "e30.eyJzdWIiOiJhbGljZSJ9.e30")
	// Output:
	// signed: 201 Created <nil>
	// expired: 403 Forbidden <nil>
	// another load balancer: 403 Forbidden <nil>
	// another key: 403 Forbidden <nil>
	// made up: 403 Forbidden <nil>
}

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}

// sign makes what the load balancer puts into x-amzn-oidc-data.
func sign(key *ecdsa.PrivateKey, signer string, life time.Duration) string {
	t := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"sub": "alice", "exp": time.Now().Add(life).Unix()})
	t.Header["signer"], t.Header["kid"] = signer, "8f3b8c1e-4d5f-4a6b-9c7d-0e1f2a3b4c5d"
	data, err := t.SignedString(key)
	if err != nil {
		panic(err)
	}
	return data
}
