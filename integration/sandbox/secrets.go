package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// secrets is as much of AWS Secrets Manager as a function needs: GetSecretValue of the one secret that the sandbox
// passes as ProviderSecretArn. It also answers for every AWS service that the sandbox does not have, so that no call
// leaves the machine by mistake.
type secrets struct {
	arn     string
	value   string
	created time.Time
}

// secretARN is the ARN of the provider's API key on this machine.
func secretARN(region string) string {
	return fmt.Sprintf("arn:aws:secretsmanager:%s:%s:secret:%s-provider-AbCdEf", region, localAccount, localStack)
}

func (s *secrets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if target := r.Header.Get("X-Amz-Target"); target != "secretsmanager.GetSecretValue" {
		awsError(w, "UnknownOperationException", fmt.Sprintf("the sandbox has no such AWS call: %q", target))
		return
	}
	var in struct {
		SecretID string `json:"SecretId"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 64<<10)).Decode(&in); err != nil {
		awsError(w, "SerializationException", "the body is not JSON")
		return
	}
	if in.SecretID != s.arn {
		awsError(w, "ResourceNotFoundException", "Secrets Manager can't find the specified secret.")
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"ARN":           s.arn,
		"Name":          localStack + "-provider",
		"VersionId":     "00000000-0000-4000-8000-000000000000",
		"VersionStages": []string{"AWSCURRENT"},
		"SecretString":  s.value,
		"CreatedDate":   float64(s.created.UnixMilli()) / 1000,
	})
}

// awsError answers as the AWS JSON protocol has it.
func awsError(w http.ResponseWriter, kind, message string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": kind, "message": message})
}
