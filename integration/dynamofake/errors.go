package dynamofake

import (
	"fmt"
	"net/http"
	"strings"
)

// Error codes of the service, with the namespace it sends them under.
const (
	coral          = "com.amazon.coral.service#"
	dynamo         = "com.amazonaws.dynamodb.v20120810#"
	codeValidation = "com.amazon.coral.validate#ValidationException"

	codeSerialization    = coral + "SerializationException"
	codeUnknownOperation = coral + "UnknownOperationException"
	codeThrottling       = coral + "ThrottlingException"

	codeInternal           = dynamo + "InternalServerError"
	codeConditionFailed    = dynamo + "ConditionalCheckFailedException"
	codeNotFound           = dynamo + "ResourceNotFoundException"
	codeLimitExceeded      = dynamo + "LimitExceededException"
	codeInUse              = dynamo + "ResourceInUseException"
	codeThroughputExceeded = dynamo + "ProvisionedThroughputExceededException"
	codeCanceled           = dynamo + "TransactionCanceledException"
	codeConflict           = dynamo + "TransactionConflictException"
	codeInProgress         = dynamo + "TransactionInProgressException"
	codeTokenMismatch      = dynamo + "IdempotentParameterMismatchException"
	codeExpiredIterator    = dynamo + "ExpiredIteratorException"
	codeTrimmed            = dynamo + "TrimmedDataAccessException"
)

// apiError is an answer that is an error: every refusal of a request is one.
type apiError struct {
	code    string // with its namespace
	message string
	status  int // 0: 400
	// item is the stored item of a failed condition, if the caller asked for it.
	item item
	// reasons are those of a canceled transaction, by position.
	reasons []reason
	// cancels: in a transaction, this is the reason of one action, which
	// cancels it, and not the answer itself.
	cancels bool
}

func (e *apiError) Error() string { return e.message }

// httpStatus is 400 for what the caller can mend, else the error's own.
func (e *apiError) httpStatus() int {
	if e.status == 0 {
		return http.StatusBadRequest
	}
	return e.status
}

// invalid is a ValidationException.
func invalid(format string, args ...any) error {
	return fail(codeValidation, format, args...)
}

// misfit is a ValidationException about a key that does not fit its table. The
// service sees that only when it has begun the transaction that the key is in
// (API reference, TransactWriteItems: a reason ValidationError).
func misfit(format string, args ...any) error {
	return &apiError{code: codeValidation, message: fmt.Sprintf(format, args...), cancels: true}
}

// fail is an error answer with the given code.
func fail(code, format string, args ...any) error {
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	return &apiError{code: code, message: format}
}

// internal is the answer when the log cannot be written: nothing was promised.
func internal(err error) error {
	return &apiError{code: codeInternal, message: "dynamofake: " + err.Error(), status: http.StatusInternalServerError}
}

// Messages that several calls share.
var (
	errConditionFailed = fail(codeConditionFailed, "The conditional request failed")
	errKeySchema       = misfit("The provided key element does not match the schema")
	errNoTable         = fail(codeNotFound, "Requested resource not found")
	errItemTooLarge    = invalid("Item size has exceeded the maximum allowed size")
	errUpdateTooLarge  = invalid("Item size to update has exceeded the maximum allowed size")
	errTooDeep         = invalid("Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit")
	errNoName          = invalid("Empty attribute name")
	errOneItemTwice    = invalid("Transaction request cannot include multiple operations on one item")
	errConflict        = fail(codeConflict, "Transaction is ongoing for the item")
)

// messageField is the spelling of the member that has the message: it differs
// by where in the service the error comes from.
func (e *apiError) messageField() string {
	if strings.HasPrefix(e.code, coral) || e.code == codeCanceled {
		return "Message"
	}
	return "message"
}
