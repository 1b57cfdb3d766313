package differential

import (
	"regexp"
	"slices"
	"strings"
)

// Titles of pages of the Amazon DynamoDB documentation.
const (
	conditionPage = "Condition and filter expressions, operators, and functions in DynamoDB"
	updatePage    = "Using update expressions in DynamoDB"
	putPage       = "PutItem, API reference"
	updateAPIPage = "UpdateItem, API reference"
	deletePage    = "DeleteItem, API reference"
	queryPage     = "Query, API reference"
	scanPage      = "Scan, API reference"
	capacityPage  = "Read and write operations"
)

var notNot = regexp.MustCompile(`(?i)not\s+not`)

// dynaliteFaults are those of dynalite 4.0.0, in which some rules are missing that the service got later.
var dynaliteFaults = []*fault{
	{
		in:     refusal,
		rule:   "a bad request is answered with an error; dynalite crashes",
		source: "Error handling with DynamoDB",
		explains: func(x exchange) bool {
			return x.theirs.code == crash && (x.ours.code == "ValidationException" || x.ours.code == "SerializationException")
		},
	},
	{
		in:     []aspect{aspectOutcome, aspectAnswer},
		rule:   "IN, BETWEEN, attribute_type and size take any value; in dynalite an empty one or false is none",
		source: conditionPage,
		explains: func(x exchange) bool {
			return takesAnyValue.MatchString(x.expressions()) && slices.ContainsFunc(x.before, hasEmpty) &&
				(x.aboutCondition() || (x.op == "Query" || x.op == "Scan") && x.ours.ok() && x.theirs.ok())
		},
	},
	{
		in:       refusal,
		rule:     "a number has up to 38 digits of precision; more is an error",
		source:   "Supported data types and naming rules in Amazon DynamoDB",
		explains: on("UpdateItem", either(oursSays("more than 38 significant digits"), oursSays("Number overflow"))),
	},
	{
		in:     only(aspectMessage),
		rule:   "a syntax error names the token and its neighbours; dynalite's parser has its own words",
		source: conditionPage,
		explains: func(x exchange) bool {
			before, ours, _ := strings.Cut(x.ours.message, "Syntax error; ")
			theirs, ok := strings.CutPrefix(x.theirs.message, before+"Syntax error; ")
			return ok && strings.HasPrefix(ours, "token: ") && strings.HasPrefix(theirs, "Expected ")
		},
	},
	{
		in:     refusal,
		rule:   "# and : are followed by a name; dynalite takes them alone",
		source: "Expression attribute names (aliases) in DynamoDB",
		explains: func(x exchange) bool {
			return strings.Contains(x.ours.message, `Syntax error; token: "#"`) || strings.Contains(x.ours.message, `Syntax error; token: ":"`)
		},
	},
	{
		in:     refusal,
		rule:   "NOT is followed by any condition, another NOT too",
		source: conditionPage,
		explains: func(x exchange) bool {
			return strings.Contains(x.theirs.message, `Expected "(" but "`) && notNot.MatchString(x.expressions())
		},
	},
	{
		in:       refusal,
		rule:     "<, <=, >, >= and BETWEEN take strings, numbers and binaries only",
		source:   conditionPage,
		explains: comparedUnordered,
	},
	{
		in:       only(aspectAnswer),
		rule:     "ReturnValuesOnConditionCheckFailure: the item is returned if the condition failed",
		source:   updateAPIPage,
		explains: func(x exchange) bool { return x.ours.code == "ConditionalCheckFailedException" && lacks("Item")(x) },
	},
	{
		in:       only(aspectAnswer),
		rule:     "ReturnItemCollectionMetrics: statistics about item collections, if the table has a local index",
		source:   updateAPIPage,
		explains: lacks("ItemCollectionMetrics"),
	},
	{
		in:     refusal,
		rule:   "ReturnValuesOnConditionCheckFailure is a string, NONE or ALL_OLD",
		source: updateAPIPage,
		explains: func(x exchange) bool {
			switch given := x.body["ReturnValuesOnConditionCheckFailure"]; given {
			case nil, "ALL_OLD", "NONE":
				return false
			}
			return x.ours.code == "SerializationException" || oursSays("at 'returnValuesOnConditionCheckFailure' failed")(x)
		},
	},
	{
		in:     refusal,
		rule:   "a partition key has at most 2048 bytes and a sort key 1024, also those of an index",
		source: "Quotas in Amazon DynamoDB",
		explains: on("PutItem UpdateItem BatchWriteItem",
			either(oursSays("Size of hashkey has exceeded"), oursSays("size of all range keys has exceeded"))),
	},
	{
		in:       []aspect{aspectAnswer, aspectCapacity},
		rule:     "a local index fetches from the table what is asked for and not projected",
		source:   "Local secondary indexes",
		explains: fetches,
	},
	{
		in:       refusal,
		rule:     "DeleteItem does not recognize any ReturnValues other than NONE or ALL_OLD",
		source:   deletePage,
		explains: on("DeleteItem", oursSays("ReturnValues can only be ALL_OLD or NONE")),
	},
	{
		in:     refusal,
		rule:   "a string or binary must not be empty if it is a key, also of an index",
		source: putPage,
		explains: either(oursSays("A value specified for a secondary index key is not supported"),
			oursSays("attempted to update a secondary index key to a value that is not supported"),
			on("Query Scan", oursSays("The AttributeValue for a key attribute cannot contain an empty "))),
	},
	{
		in:     only(aspectMessage),
		rule:   "a string or binary must not be empty if it is a key; dynalite has older words for it",
		source: putPage,
		explains: func(x exchange) bool {
			_, ours, _ := strings.Cut(x.ours.message, "are not valid. The Attribute")
			_, theirs, ok := strings.Cut(x.theirs.message, "were invalid: The Attribute")
			return ok && ours == theirs
		},
	},
	{
		in:       only(aspectMessage),
		rule:     "a table name has at least one character; an empty one is told alone, in newer words",
		source:   putPage,
		explains: on("PutItem UpdateItem DeleteItem GetItem Query Scan", oursSays("Value at 'TableName' failed to satisfy constraint")),
	},
	{
		in:     only(aspectMessage),
		rule:   "a key is compared once, and with a value of its type; dynalite has older words for what is wrong",
		source: queryPage,
		explains: on("Query", either(oursSays("must only contain one condition per key"), oursSays("The number of query conditions"),
			oursSays("Condition parameter type does not match schema type"))),
	},
	{
		in:       refusal,
		rule:     "of a global index, only attributes that are projected into it can be requested",
		source:   queryPage,
		explains: on("Query Scan", oursSays("does not project")),
	},
	{
		in:     refusal,
		rule:   "Select: ALL_PROJECTED_ATTRIBUTES only with an index, SPECIFIC_ATTRIBUTES with a projection, others without",
		source: queryPage,
		explains: on("Query Scan", either(oursSays("ALL_PROJECTED_ATTRIBUTES can be used only"),
			oursSays("when choosing to get SPECIFIC_ATTRIBUTES"), oursSays("Cannot specify the ProjectionExpression when choosing"))),
	},
	{
		in:     refusal,
		rule:   "Scan has ConsistentRead, which a global index does not allow",
		source: scanPage,
		explains: func(x exchange) bool {
			return x.op == "Scan" && x.body["ConsistentRead"] != nil &&
				(x.ours.code == "SerializationException" || oursSays("Consistent reads are not supported")(x))
		},
	},
	{
		in:     only(aspectCapacity),
		rule:   "Scan has ConsistentRead, which costs twice as much",
		source: scanPage,
		explains: func(x exchange) bool {
			return x.op == "Scan" && x.body["ConsistentRead"] == true && x.ours.units() == 2*max(x.theirs.units(), 0.5)
		},
	},
	{
		in:     only(aspectCapacity),
		rule:   "a query without results consumes the minimum number of read units",
		source: queryPage,
		explains: func(x exchange) bool {
			return x.ours.body["ScannedCount"] == 0.0 && x.ours.units() > 0 && x.ours.units() <= 1 && x.theirs.units() == 0
		},
	},
	{
		in:     only(aspectCapacity),
		rule:   "a write costs units of each index that it changes",
		source: capacityPage,
		explains: func(x exchange) bool {
			return !x.reads() && x.names("differential-sorted") && x.ours.units() > x.theirs.units()
		},
	},
	{
		in:     []aspect{aspectOutcome, aspectAnswer, aspectTables},
		rule:   "SET copies what it assigns; in dynalite later changes show in the copy too, and it crashes when a map is put into itself",
		source: updatePage,
		explains: func(x exchange) bool {
			return x.ours.ok() && slices.ContainsFunc(append(x.before, x), copies)
		},
	},
	{
		in:     []aspect{aspectOutcome, aspectAnswer, aspectTables},
		rule:   "REMOVE takes all elements out at once; dynalite one by one, so that the next are others",
		source: updatePage,
		explains: func(x exchange) bool {
			return x.ours.ok() && slices.ContainsFunc(append(x.before, x), removesUpward)
		},
	},
	{
		in:     only(aspectMessage),
		rule:   "a validation message shows the refused value; how a long one is shown is not documented",
		source: undocumented,
		explains: func(x exchange) bool {
			return shownValue.MatchString(x.ours.message) &&
				shownValue.ReplaceAllString(x.ours.message, "") == shownValue.ReplaceAllString(x.theirs.message, "")
		},
	},
	{
		in:     only(aspectMessage),
		rule:   "a bad value in ExclusiveStartKey is named with or without the key; which is not documented",
		source: undocumented,
		explains: func(x exchange) bool {
			return x.body["ExclusiveStartKey"] != nil && x.theirs.message == "The provided starting key is invalid: "+x.ours.message
		},
	},
	{
		in:     only(aspectMessage),
		rule:   "an expression with a placeholder that is not defined and another mistake; which one is told is not documented",
		source: undocumented,
		explains: func(x exchange) bool {
			ours, _, _ := strings.Cut(x.ours.message, ": ")
			return strings.HasPrefix(x.theirs.message, ours+": ") && strings.HasPrefix(ours, "Invalid ") &&
				strings.Contains(x.ours.message, " is not defined; attribute ")
		},
	},
	{
		in:     only(aspectMessage),
		rule:   "a batch that is wrong in two ways; which one is told is not documented",
		source: undocumented,
		explains: either(
			on("BatchGetItem", oursSays("does not match the schema"), func(x exchange) bool {
				return x.theirs.message == "Provided list of item keys contains duplicates"
			}),
			on("BatchWriteItem", oursSays("Supplied AttributeValue has more than one datatypes set")),
		),
	},
	{
		in:     refusal,
		rule:   "a function without operands; whether that is a mistake of syntax is not documented",
		source: undocumented,
		explains: func(x exchange) bool {
			return strings.Contains(x.theirs.message, `but ")" found`) && strings.Contains(x.expressions(), "()")
		},
	},
	{
		in:     []aspect{aspectAnswer, aspectCapacity},
		rule:   "the order of items with equal keys in an index, and so where a page begins, is not documented",
		source: undocumented,
		explains: on("Query Scan", func(x exchange) bool {
			return x.body["IndexName"] != nil && x.body["ExclusiveStartKey"] != nil
		}),
	},
	{
		in:     refusal,
		rule:   "a word right before a placeholder, without a space; whether it may stand there is not documented",
		source: undocumented,
		explains: func(x exchange) bool {
			return strings.Contains(x.theirs.message, "Syntax error; Expected ") && wordAndPlaceholder.MatchString(x.expressions())
		},
	},
	{
		in:       only(aspectMessage),
		rule:     "an update that cannot be done in two ways; which one is told is not documented",
		source:   undocumented,
		explains: on("UpdateItem", func(x exchange) bool { return updateMistakes[x.ours.message] && updateMistakes[x.theirs.message] }),
	},
	{
		in:     refusal,
		rule:   "a null among the members of a set, a null or empty name for a placeholder; what that means is not documented",
		source: undocumented,
		explains: func(x exchange) bool {
			return nullMember.Match(x.bytes()) && !(x.ours.ok() && x.theirs.ok())
		},
	},
}

// copies matches updates that set an attribute to what is in another one, and change something inside of an attribute.
func copies(x exchange) bool {
	return x.op == "UpdateItem" && copied.MatchString(x.expressions()) && changedInside.MatchString(x.expressions())
}

// removesUpward matches updates that remove an element of the list before one behind it.
func removesUpward(x exchange) bool {
	return x.op == "UpdateItem" && upward.MatchString(x.expressions())
}

// hasEmpty matches calls with a value that JavaScript takes for false.
func hasEmpty(x exchange) bool { return empty.Match(x.bytes()) }

// undocumented marks differences in which neither is known to be wrong.
const undocumented = "not documented"

// updateMistakes are what can be wrong with an update once the item is known.
var updateMistakes = map[string]bool{
	"An operand in the update expression has an incorrect data type":                        true,
	"The provided expression refers to an attribute that does not exist in the item":        true,
	"The document path provided in the update expression is invalid for update":             true,
	"The update expression attempted to update the secondary index key to unsupported type": true,
}

var (
	copied             = regexp.MustCompile(`(?i)\bset\b.*(=\s*[#a-z][\w.\[\]]*\s*(,|$|add|delete|remove|;)|if_not_exists)`)
	changedInside      = regexp.MustCompile(`(?i)\badd\b|\bdelete\b|[\w\]]\.#?\w+\s*=|\]\s*=`)
	upward             = regexp.MustCompile(`(?i)\bremove\b.*l\[0\].*l\[[12]\]|\bremove\b.*l\[1\].*l\[2\]`)
	empty              = regexp.MustCompile(`"[SB]":""|"BOOL":false`)
	takesAnyValue      = regexp.MustCompile(`(?i)\bin\b|between|attribute_type|size`)
	wordAndPlaceholder = regexp.MustCompile(`[A-Za-z][:#]`)
	shownValue         = regexp.MustCompile(`Value '.*' at`)
	nullMember         = regexp.MustCompile(`"[SNB]S":\[[^]]*null|"[#:]\w+":(null|"")`)
)

// comparedUnordered matches refusals of a comparison that has no order.
func comparedUnordered(x exchange) bool {
	for _, operator := range []string{"<", "<=", ">", ">=", "BETWEEN"} {
		if oursSays("Incorrect operand type for operator or function; operator or function: " + operator + ",")(x) {
			return true
		}
	}
	return false
}
