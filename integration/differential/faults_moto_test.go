package differential

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	transactPage = "TransactWriteItems, API reference"
	recordPage   = "StreamRecord, API reference"
)

// motoFaults are those of moto 5.2. Its messages are its own, and are not compared; nor is its capacity, which is a
// constant.
var motoFaults = []*fault{
	{
		in:       refusal,
		rule:     "what a request says is no reason for an internal error",
		source:   "Error handling with DynamoDB",
		explains: func(x exchange) bool { return x.theirs.status == 500 },
	},
	{
		in:     refusal,
		rule:   "values are of the types that their operators take, BETWEEN has the lower bound first",
		source: conditionPage,
		explains: either(oursSays("Incorrect operand type for operator or function"),
			oursSays("requires upper bound to be greater"), oursSays("requires same data type for lower and upper")),
	},
	{
		in:     refusal,
		rule:   "an attribute that is not there has no size, and a comparison with it is false",
		source: conditionPage,
		explains: func(x exchange) bool {
			return strings.Contains(text(x.theirs.body)+x.theirs.message, "Invalid attribute name") && strings.Contains(text(x.call.body), "size(")
		},
	},
	{
		in:     refusal,
		rule:   "a placeholder in a projection is used, whatever the item has",
		source: "Expression attribute names (aliases) in DynamoDB",
		explains: func(x exchange) bool {
			return strings.Contains(x.theirs.message, "unused in expressions") && strings.Contains(text(x.call.body), "ProjectionExpression")
		},
	},
	{
		in:     refusal,
		rule:   "an update in a transaction that cannot be done cancels it, with the reason ValidationError",
		source: transactPage,
		explains: func(x exchange) bool {
			return x.op == "TransactWriteItems" && x.ours.code == "TransactionCanceledException" &&
				strings.Contains(x.ours.message, "ValidationError") && x.theirs.code == "ValidationException"
		},
	},
	{
		in:     only(aspectAnswer),
		rule:   "UPDATED_OLD and UPDATED_NEW return all that was updated, and only that; moto adds the key, or leaves sets out",
		source: updateAPIPage,
		explains: func(x exchange) bool {
			ours, _ := x.ours.body["Attributes"].(object)
			theirs, _ := x.theirs.body["Attributes"].(object)
			for name, value := range theirs {
				inside := name == "l" && strings.Contains(x.expressions(), "[") // moto returns all of it
				if name != "pk" && name != "sk" && !inside && text(value) != text(ours[name]) {
					return false
				}
			}
			return x.body["ReturnValues"] == "UPDATED_OLD" || x.body["ReturnValues"] == "UPDATED_NEW"
		},
	},
	{
		in:       only(aspectAnswer),
		rule:     "a query that stops at its limit returns a LastEvaluatedKey",
		source:   queryPage,
		explains: func(x exchange) bool { return x.body["Limit"] != nil && lacks("LastEvaluatedKey")(x) },
	},
	{
		in:       []aspect{aspectHidden, aspectOutcome},
		rule:     "an update that is refused changes nothing; moto keeps what it did before the mistake",
		source:   updateAPIPage,
		explains: func(x exchange) bool { return x.op == "UpdateItem" && x.ours.code == "ValidationException" },
	},
	{
		in:     refusal,
		rule:   "NOT is followed by any condition, another NOT too",
		source: conditionPage,
		explains: func(x exchange) bool {
			return strings.Contains(x.theirs.message, "Bad NOT expression") && notNot.MatchString(text(x.call.body))
		},
	},
	{
		in:     []aspect{aspectOutcome, aspectAnswer},
		rule:   "NULL is a value, and an attribute that is not there has none",
		source: conditionPage,
		explains: func(x exchange) bool {
			return strings.Contains(text(x.call.body), `{"NULL":true}`) && comparesEqual.MatchString(text(x.call.body))
		},
	},
	{
		in:     []aspect{aspectOutcome, aspectAnswer},
		rule:   "BETWEEN takes any value; in moto 0 and empty ones are none",
		source: conditionPage,
		explains: func(x exchange) bool {
			isBetween := strings.Contains(strings.ToUpper(text(x.call.body)), " BETWEEN ")
			return isBetween && slices.ContainsFunc(append(x.before, x), func(y exchange) bool { return zero.Match(y.bytes()) })
		},
	},
	{
		in:       only(aspectAnswer),
		rule:     "the reasons of a canceled transaction have the documented codes, not the names of Python's exceptions",
		source:   transactPage,
		explains: func(x exchange) bool { return exception.MatchString(x.theirs.message) },
	},
	{
		in:     only(aspectAnswer),
		rule:   "a Get has a ProjectionExpression, which says what is returned",
		source: "TransactGetItems, API reference",
		explains: on("TransactGetItems", func(x exchange) bool {
			return strings.Contains(text(x.call.body), "ProjectionExpression")
		}),
	},
	{
		in:       refusal,
		rule:     "the actions of a TransactGetItems cannot be about one item twice",
		source:   "TransactGetItems, API reference",
		explains: on("TransactGetItems", oursSays("cannot include multiple operations on one item")),
	},
	{
		in:       refusal,
		rule:     "the key of an index has the type that the table defines for it, and is not too long",
		source:   "Quotas in Amazon DynamoDB",
		explains: either(oursSays("Type mismatch for Index Key"), oursSays("size of all range keys has exceeded"), oursSays("size limit of2048")),
	},
	{
		in:       refusal,
		rule:     "the filter of a query cannot contain attributes of the key",
		source:   "Filter expressions for the Query operation in DynamoDB",
		explains: on("Query", oursSays("Filter Expression can only contain non-primary key attributes")),
	},
	{
		in:       refusal,
		rule:     "of a global index, only attributes that are projected into it can be requested",
		source:   queryPage,
		explains: on("Query Scan", oursSays("does not project")),
	},
	{
		in:       only(aspectAnswer),
		rule:     "a local index fetches from the table what is asked for and not projected",
		source:   "Local secondary indexes",
		explains: fetches,
	},
	{
		in:       only(aspectAnswer),
		rule:     "ReturnItemCollectionMetrics: statistics about item collections, if the table has a local index",
		source:   updateAPIPage,
		explains: lacks("ItemCollectionMetrics"),
	},
	{
		in: only(aspectStreams),
		rule: "one record of each change, with the item's key; moto writes two of an update that makes an item, some of no " +
			"change, and some of transactions that it takes back, and encodes binary keys twice",
		source: recordPage,
		explains: func(x exchange) bool {
			if slices.ContainsFunc(x.before, canceled) {
				return true
			}
			ours, theirs := maps.Clone(x.ours.body), maps.Clone(x.theirs.body)
			binary := func(item string, _ any) bool { return strings.HasPrefix(item, "differential-binary ") }
			maps.DeleteFunc(ours, binary)
			maps.DeleteFunc(theirs, binary)
			for item, records := range theirs {
				theirs[item] = necessary(records.(list))
			}
			return text(ours) == text(theirs)
		},
	},
}

var (
	// comparesEqual matches = and <> in a condition.
	comparesEqual = regexp.MustCompile(`=|<>`)
	zero          = regexp.MustCompile(`"[SBN]":"0?"`)
	exception     = regexp.MustCompile(`\b(Assertion|Attribute|Index|Key|Type|Value)Error\b`)
)

func canceled(x exchange) bool { return x.op == "TransactWriteItems" && !x.ours.ok() }

// necessary leaves out what should not have been recorded: an insertion before another one, and what changes nothing.
func necessary(records list) list {
	var out list
	for i, r := range records {
		record := r.(object)
		again := i+1 < len(records) && record["eventName"] == "INSERT" && records[i+1].(object)["eventName"] == "INSERT"
		if !again && text(record["OldImage"]) != text(record["NewImage"]) {
			out = append(out, r)
		}
	}
	return out
}
