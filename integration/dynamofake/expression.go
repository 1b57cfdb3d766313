package dynamofake

import "sync"

// expressionKind is the request member that an expression came in; the parser
// and the messages depend on it.
type expressionKind string

const (
	conditionExpression    expressionKind = "ConditionExpression"
	filterExpression       expressionKind = "FilterExpression"
	keyConditionExpression expressionKind = "KeyConditionExpression"
	updateExpression       expressionKind = "UpdateExpression"
	projectionExpression   expressionKind = "ProjectionExpression"
)

// expression is a parsed expression. It holds placeholders by number, so that
// one parse serves every request with the same text.
type expression struct {
	kind   expressionKind
	cond   condition // of a condition, filter or key condition
	update *update   // of an update
	paths  []path    // of a projection, or what an update changes
	all    []path    // every path in it
	names  []string  // the #placeholders in it, each once
	values []string  // the :placeholders in it, each once
}

// scope is what the placeholders of one expression stand for in one request.
type scope struct {
	names  []string
	values []value
}

// maxCached bounds the expressions that are kept parsed: programs use a few
// texts over and over, and one that builds new texts must not fill memory.
const maxCached = 4096

// expressionCache keeps parsed expressions. The zero value is empty.
type expressionCache struct {
	mu     sync.RWMutex
	parsed map[cacheKey]*expression
}

type cacheKey struct {
	kind expressionKind
	text string
}

// parse returns the parsed form of text; errors are not kept.
func (c *expressionCache) parse(kind expressionKind, text string) (*expression, error) {
	key := cacheKey{kind, text}
	c.mu.RLock()
	e := c.parsed[key]
	c.mu.RUnlock()
	if e != nil {
		return e, nil
	}
	e, err := parseExpression(kind, text)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parsed == nil || len(c.parsed) >= maxCached {
		c.parsed = map[cacheKey]*expression{}
	}
	c.parsed[key] = e
	return e, nil
}
