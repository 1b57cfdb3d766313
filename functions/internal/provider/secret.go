package provider

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

const (
	secretLifetime = 10 * time.Minute // how long a fetched secret is used before it is fetched again
	secretRetry    = time.Minute      // when to try again where that failed
	secretTimeout  = 2 * time.Second  // of one fetch, the SDK's retries included
)

// Secret is the provider's secret, a plain string in Secrets Manager. It is fetched when it is first needed and kept in
// memory, so that a cold start does not wait for it and a rotation is seen.
type Secret struct {
	cfg aws.Config // makes the client when it is needed: at the start there is no time for it
	arn string
	now func() time.Time

	turn    chan struct{} // holds one element while someone uses the fields below; unlike a mutex it obeys a context
	value   string        // "" before the first fetch and after a rejection
	refresh time.Time     // from when on to fetch it again
}

// NewSecret makes the secret with an ARN. Nothing is fetched before it is needed.
func NewSecret(cfg aws.Config, arn string, now func() time.Time) *Secret {
	return &Secret{cfg: cfg, arn: arn, now: now, turn: make(chan struct{}, 1)}
}

// get returns the secret. Where a fetch fails it goes on with the one it has, for a minute at a time: that is the old
// value at worst, and the provider says so.
func (s *Secret) get(ctx context.Context) (string, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return "", fmt.Errorf("provider: wait for the provider's secret: %w", ctx.Err())
	}
	if s.value != "" && s.now().Before(s.refresh) {
		return s.value, nil
	}
	value, err := s.fetch(ctx)
	switch {
	case err == nil:
		s.value, s.refresh = value, s.now().Add(secretLifetime)
	case s.value != "":
		s.refresh = s.now().Add(secretRetry)
	default:
		return "", err
	}
	return s.value, nil
}

// reject forgets a secret that the provider refused, so that the next call fetches it anew.
func (s *Secret) reject(value string) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if s.value == value {
		s.value = ""
	}
}

func (s *Secret) fetch(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	out, err := secretsmanager.NewFromConfig(s.cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String(s.arn)})
	if err != nil {
		return "", fmt.Errorf("provider: read the provider's secret: %w", err)
	}
	value := strings.TrimSpace(aws.ToString(out.SecretString)) // a pasted secret often ends with a newline
	if value == "" {
		return "", fmt.Errorf("provider: the provider's secret must be a non-empty SecretString")
	}
	return value, nil
}
