package awsconfig

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

func TestEndpoints(t *testing.T) {
	const db, secrets, any = "http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:3"
	for name, c := range map[string]struct {
		env                 map[string]string
		wantDB, wantSecrets string
	}{
		"AWS's own":   {nil, "", ""},
		"by service":  {map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": db, "AWS_ENDPOINT_URL_SECRETS_MANAGER": secrets}, db, secrets},
		"for all":     {map[string]string{"AWS_ENDPOINT_URL": any}, any, any},
		"service won": {map[string]string{"AWS_ENDPOINT_URL": any, "AWS_ENDPOINT_URL_DYNAMODB": db}, db, any},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := FromEnv(func(name string) string { return c.env[name] })
			gotDB := aws.ToString(dynamodb.NewFromConfig(cfg).Options().BaseEndpoint)
			gotSecrets := aws.ToString(secretsmanager.NewFromConfig(cfg).Options().BaseEndpoint)
			if gotDB != c.wantDB || gotSecrets != c.wantSecrets {
				t.Errorf("got %q, %q; want %q, %q", gotDB, gotSecrets, c.wantDB, c.wantSecrets)
			}
		})
	}
}

func TestCredentials(t *testing.T) {
	env := map[string]string{"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key",
		"AWS_SESSION_TOKEN": "token"}
	cfg := FromEnv(func(name string) string { return env[name] })
	got, err := cfg.Credentials.Retrieve(t.Context())
	if err != nil || got.AccessKeyID != "id" || got.SecretAccessKey != "key" || got.SessionToken != "token" {
		t.Errorf("got %q, %v", got.AccessKeyID, err)
	}
	if cfg.Region != "eu-central-1" {
		t.Errorf("Region %q", cfg.Region)
	}
}
