package sandbox

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// services is where a function finds what it talks to.
type services struct {
	region          string
	database        string // URL
	secrets         string // URL
	bus             string // URL
	queues          string // URL
	provider        string // URL
	realCredentials bool   // the database is AWS itself
}

// functionEnv is a function's environment: the template's, then what Lambda sets and a template cannot change, then
// where this machine's services are. The AWS SDK obeys the last by itself, so functions have no code for local runs.
//
// Source: docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
func functionEnv(f function, s services) []string {
	env := map[string]string{"LANG": "en_US.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin", "TZ": ":UTC"}
	maps.Copy(env, f.env)
	maps.Copy(env, awsAccess(s))
	maps.Copy(env, map[string]string{
		"AWS_DEFAULT_REGION":              s.region,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.memoryMB),
		"AWS_LAMBDA_FUNCTION_NAME":        f.id,
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_FORMAT":           logFormat(f),
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + f.id,
		"AWS_LAMBDA_LOG_STREAM_NAME":      localStack,
		"AWS_REGION":                      s.region,
		"LAMBDA_RUNTIME_DIR":              "/var/runtime",
		"LAMBDA_TASK_ROOT":                ".",
		"_HANDLER":                        f.handler,

		"AWS_ENDPOINT_URL_DYNAMODB":        s.database,
		"AWS_ENDPOINT_URL_EVENTBRIDGE":     s.bus,
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": s.secrets,
		"AWS_ENDPOINT_URL_SQS":             s.queues,
	})
	return slices.Sorted(func(yield func(string) bool) {
		for k, v := range env {
			if !yield(k + "=" + v) {
				return
			}
		}
	})
}

func logFormat(f function) string {
	if f.jsonLogs {
		return "JSON"
	}
	return "Text"
}

// awsAccess is the caller's own access to AWS where the database is there, and none elsewhere: made-up keys, and every
// other service's calls end in the sandbox.
func awsAccess(s services) map[string]string {
	out := map[string]string{}
	if !s.realCredentials {
		out["AWS_ACCESS_KEY_ID"], out["AWS_SECRET_ACCESS_KEY"] = localKey, localKey
		out["AWS_EC2_METADATA_DISABLED"] = "true"
		out["AWS_ENDPOINT_URL"] = s.secrets
		return out
	}
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "AWS_") || name == "HOME" {
			out[name] = value
		}
	}
	return out
}
