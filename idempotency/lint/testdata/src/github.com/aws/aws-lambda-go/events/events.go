// Package events has the names of aws-lambda-go's package that the fixtures need.
package events

type APIGatewayV2HTTPRequest struct {
	RouteKey string
	Body     string
}

type APIGatewayV2HTTPResponse struct {
	StatusCode int
	Body       string
}

type APIGatewayProxyRequest struct {
	HTTPMethod string
	Body       string
}

type APIGatewayProxyResponse struct{ StatusCode int }

type LambdaFunctionURLRequest struct{ Body string }

type LambdaFunctionURLResponse struct{ StatusCode int }

type ALBTargetGroupRequest struct{ Body string }

type ALBTargetGroupResponse struct{ StatusCode int }

type SQSEvent struct{ Records []string }
