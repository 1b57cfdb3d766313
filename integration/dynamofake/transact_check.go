package dynamofake

import (
	"fmt"
	"strings"
)

// checkTransaction checks the parameters of TransactWriteItems.
func (r *request) checkTransaction() error {
	var c constraints
	c.token(r.token)
	c.capacity(r)
	c.metrics(r)
	c.actions(r)
	for i := range r.actions {
		var wrong constraints
		if wrong.action(&r.actions[i], ""); len(wrong) > 0 { // then say where
			c.action(&r.actions[i], fmt.Sprintf("transactItems.%d.member.", i+1))
		}
	}
	if err := c.err(); err != nil {
		return err
	}
	for _, a := range r.actions {
		if _, ok := writeOps[a.op]; !ok {
			return invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")
		}
	}
	return nil
}

// maxToken is the length of a client request token (API reference,
// TransactWriteItems).
const maxToken = 36

// token checks the length of the ClientRequestToken.
func (c *constraints) token(token *string) {
	switch {
	case token == nil:
	case *token == "":
		c.add(quoted(*token), "clientRequestToken", "Member must have length greater than or equal to 1")
	case len(*token) > maxToken:
		c.add(quoted(*token), "clientRequestToken", fmt.Sprintf("Member must have length less than or equal to %d", maxToken))
	}
}

// actions checks the number of actions.
func (c *constraints) actions(r *request) {
	shown := "'[" + strings.Repeat("…", min(len(r.actions), 1)) + "]'"
	c.present(r.actions != nil, "transactItems")
	if r.actions != nil && len(r.actions) == 0 {
		c.add(shown, "transactItems", "Member must have length greater than or equal to 1")
	}
	if len(r.actions) > maxActions {
		c.add(shown, "transactItems", fmt.Sprintf("Member must have length less than or equal to %d", maxActions))
	}
}

// action checks the parameters of one action.
func (c *constraints) action(a *action, at string) {
	r := &a.req
	if a.op == "" {
		return
	}
	if at != "" {
		at += strings.ToLower(a.op[:1]) + a.op[1:] + "."
	}
	c.present(r.table != nil, at+"tableName")
	r.table = bareName(r.table)
	c.name(r.table, at+"tableName")
	c.choice(r.returnOnFail, at+"returnValuesOnConditionCheckFailure", "ALL_OLD", "NONE")
	switch a.op {
	case "Put":
		c.present(r.item != nil, at+"item")
	case "Update":
		c.present(r.update != nil, at+"updateExpression")
		c.present(r.key != nil, at+"key")
	case "ConditionCheck":
		c.present(r.condition != nil, at+"conditionExpression")
		c.present(r.key != nil, at+"key")
	default:
		c.present(r.key != nil, at+"key")
	}
}
