package sandbox

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// mapped is a template with a table T with a stream, a queue Q, and a function F that T invokes by these properties.
func mapped(properties string) string {
	return "Resources:\n  T: {Type: AWS::DynamoDB::Table, Properties: {AttributeDefinitions: [], KeySchema: [], StreamSpecification: {StreamViewType: NEW_IMAGE}}}\n" +
		"  Q: {Type: AWS::SQS::Queue, Properties: {QueueName: dead}}\n" +
		"  F:\n    Type: AWS::Serverless::Function\n    Metadata: {BuildMethod: makefile}\n    Properties:\n      Runtime: provided.al2023\n      Events:\n" +
		"        E: {Type: DynamoDB, Properties: {" + properties + "}}\n"
}

const fromT = "Stream: !GetAtt T.StreamArn, StartingPosition: TRIM_HORIZON"

func TestMappings(t *testing.T) {
	base := mapping{function: "F", table: "sandbox-T", batchSize: 100, retries: -1}
	with := func(change func(*mapping)) mapping { m := base; change(&m); return m }
	for properties, want := range map[string]mapping{
		fromT: base,
		fromT + ", BatchSize: 7, MaximumRetryAttempts: 0, MaximumRecordAgeInSeconds: 60, BisectBatchOnFunctionError: true": with(func(m *mapping) {
			m.batchSize, m.retries, m.maxAge, m.bisect = 7, 0, time.Minute, true
		}),
		fromT + ", MaximumRetryAttempts: -1, MaximumRecordAgeInSeconds: -1":                 base,
		fromT + ", FunctionResponseTypes: [ReportBatchItemFailures]":                        with(func(m *mapping) { m.partial = true }),
		fromT + ", DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt Q.Arn}}": with(func(m *mapping) { m.onFailure = "dead" }),
		strings.Replace(fromT, "!GetAtt T.StreamArn", "{'Fn::GetAtt': [T, StreamArn]}", 1):  base,
		fromT + ", FilterCriteria: {Filters: [{Pattern: '{\"eventName\":[\"INSERT\"],\"a\":{\"b\":[1]}}'}]}": with(func(m *mapping) {
			m.filters = []*pattern{{members: map[string]*pattern{
				"eventName": {values: []any{"INSERT"}}, "a": {members: map[string]*pattern{"b": {values: []any{1.0}}}},
			}}}
		}),
	} {
		tpl, err := read(mapped(properties), nil)
		if err != nil {
			t.Errorf("%s: %v", properties, err)
			continue
		}
		if diff := cmp.Diff([]mapping{want}, tpl.mappings, cmp.AllowUnexported(mapping{}, pattern{})); diff != "" {
			t.Errorf("%s: %s", properties, diff)
		}
	}
}

func TestMappingsThatAreRefused(t *testing.T) {
	for properties, want := range map[string]string{
		"StartingPosition: TRIM_HORIZON":                                                    "Stream is needed here",
		"Stream: arn:aws:dynamodb:x, StartingPosition: TRIM_HORIZON":                        "Stream must be a GetAtt of the StreamArn",
		"Stream: !GetAtt T.Arn, StartingPosition: TRIM_HORIZON":                             "Stream must be a GetAtt of the StreamArn",
		"Stream: !GetAtt T.StreamArn":                                                       "the sandbox supports StartingPosition: TRIM_HORIZON alone",
		"Stream: !GetAtt T.StreamArn, StartingPosition: LATEST":                             "the sandbox supports StartingPosition: TRIM_HORIZON alone",
		fromT + ", BatchSize: 0":                                                            "BatchSize 0 is not between 1 and 10000",
		fromT + ", MaximumRetryAttempts: often":                                             `"often" is not a whole number`,
		fromT + ", ParallelizationFactor: 2":                                                "does not support ParallelizationFactor",
		fromT + ", DestinationConfig: {OnSuccess: {}}":                                      "does not support OnSuccess",
		fromT + ", DestinationConfig: {OnFailure: {Type: SNS, Destination: x}}":             "the sandbox supports an OnFailure of Type: SQS alone",
		fromT + ", DestinationConfig: {OnFailure: {Type: SQS}}":                             "Destination is needed here",
		fromT + ", DestinationConfig: {OnFailure: {Type: SQS, Destination: !GetAtt T.Arn}}": "Destination must be the Arn of one of the template's queues",
		fromT + ", FilterCriteria: {}":                                                      "FilterCriteria needs Filters",
		fromT + ", FilterCriteria: {Filters: [{}]}":                                         "Pattern is needed here",
		fromT + ", FilterCriteria: {Filters: [{Pattern: 'x'}]}":                             "Pattern: an object, or a list of values, is expected, not x",
		fromT + ", FilterCriteria: {Filters: [{Pattern: '{\"a\":[{\"prefix\":\"b\"}]}'}]}":  "Pattern: the sandbox supports plain values alone",
		fromT + ", FilterCriteria: {Filters: [{Pattern: '{\"a\":[]}'}]}":                    "Pattern: an object, or a list of values, is expected, not []",
	} {
		_, err := read(mapped(properties), nil)
		if err == nil || !strings.HasPrefix(err.Error(), "10: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want 10: … %s", properties, err, want)
		}
	}
	if _, err := read(strings.Replace(mapped(""), ", Properties: {}}", "}", 1), nil); err == nil || !strings.Contains(err.Error(), "Properties are needed") {
		t.Errorf("without properties: %v", err)
	}
}

func TestPatternMatches(t *testing.T) {
	p, err := parsePattern([]byte(`{"eventName":["INSERT","MODIFY"],"dynamodb":{"NewImage":{"n":{"N":["1",null]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for record, want := range map[string]bool{
		`{"eventName":"INSERT","dynamodb":{"NewImage":{"n":{"N":"1"},"o":{"S":"x"}}}}`: true,
		`{"eventName":"MODIFY","dynamodb":{"NewImage":{"n":{"N":null}}}}`:              true,
		`{"eventName":"REMOVE","dynamodb":{"NewImage":{"n":{"N":"1"}}}}`:               false,
		`{"eventName":"INSERT","dynamodb":{"NewImage":{"n":{"N":"2"}}}}`:               false,
		`{"eventName":"INSERT","dynamodb":{"NewImage":{"n":{}}}}`:                      false,
		`{"eventName":"INSERT","dynamodb":{"NewImage":{"n":{"N":["1"]}}}}`:             false,
		`{"eventName":"INSERT","dynamodb":7}`:                                          false,
		`{"eventName":"INSERT"}`:                                                       false,
		`7`:                                                                            false,
	} {
		var v any
		if err := json.Unmarshal([]byte(record), &v); err != nil {
			t.Fatal(err)
		}
		if got := p.matches(v); got != want {
			t.Errorf("%s: %v", record, got)
		}
	}
}
