// Package lambdaurl has the names of aws-lambda-go's package that the fixtures need.
package lambdaurl

import "net/http"

func Start(handler http.Handler) {}
