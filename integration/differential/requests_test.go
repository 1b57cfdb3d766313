package differential

import "fmt"

// call is a random call; some are spoiled.
func (g *generator) call() call {
	c := g.valid()
	if g.mistake(6) {
		c = g.spoil(c)
	}
	return c
}

// valid is a call of the right form. What is in it can still be refused.
func (g *generator) valid() call {
	t := g.table()
	n := g.IntN(90)
	if g.transactions {
		n = g.IntN(100)
	}
	switch {
	case n < 22:
		return g.put(t)
	case n < 45:
		return g.updateItem(t)
	case n < 52:
		return g.deleteItem(t)
	case n < 58:
		return g.get(t)
	case n < 70:
		return g.query(t)
	case n < 78:
		return g.scan(t)
	case n < 84:
		return g.batchWrite()
	case n < 90:
		return g.batchGet()
	case n < 97:
		return g.transactWrite()
	}
	return g.transactGet()
}

// sometimes sets a member to one of the choices.
func (g *generator) sometimes(percent int, body object, member string, choices ...any) {
	if g.chance(percent) {
		body[member] = one(g, choices...)
	}
}

// condition adds a condition, and what to return if it does not hold.
func (g *generator) condition(body object, e *expressions, percent int) {
	if g.chance(percent) {
		body["ConditionExpression"] = e.condition(0)
	}
	g.sometimes(30, body, "ReturnValuesOnConditionCheckFailure", "ALL_OLD", "ALL_OLD", "NONE")
}

// reportRead asks for the consumed capacity, reportWrite also for the metrics that writes have.
func (g *generator) reportRead(body object) {
	g.sometimes(15, body, "ReturnConsumedCapacity", "TOTAL", "INDEXES", "NONE")
}

func (g *generator) reportWrite(body object) {
	g.reportRead(body)
	g.sometimes(5, body, "ReturnItemCollectionMetrics", "SIZE", "NONE")
}

func (g *generator) put(t *table) call {
	body, e := object{"TableName": t.name, "Item": g.item(t)}, g.expressions()
	g.condition(body, e, 40)
	e.addTo(body)
	g.reportWrite(body)
	g.sometimes(30, body, "ReturnValues", "ALL_OLD", "ALL_OLD", "NONE")
	if g.mistake(1) {
		body["ReturnValues"] = one(g, "ALL_NEW", "UPDATED_NEW", "UPDATED_OLD")
	}
	return call{op: "PutItem", body: body}
}

func (g *generator) updateItem(t *table) call {
	body, e := object{"TableName": t.name, "Key": g.keyOf(t.keys())}, g.expressions()
	if !g.mistake(3) {
		body["UpdateExpression"] = e.update()
	}
	g.condition(body, e, 30)
	e.addTo(body)
	g.reportWrite(body)
	g.sometimes(60, body, "ReturnValues", "ALL_NEW", "ALL_NEW", "UPDATED_NEW", "UPDATED_OLD", "ALL_OLD", "NONE")
	return call{op: "UpdateItem", body: body}
}

func (g *generator) deleteItem(t *table) call {
	body, e := object{"TableName": t.name, "Key": g.keyOf(t.keys())}, g.expressions()
	g.condition(body, e, 50)
	e.addTo(body)
	g.reportWrite(body)
	g.sometimes(40, body, "ReturnValues", "ALL_OLD", "ALL_OLD", "NONE")
	if g.mistake(1) {
		body["ReturnValues"] = one(g, "ALL_NEW", "UPDATED_NEW", "UPDATED_OLD")
	}
	return call{op: "DeleteItem", body: body}
}

func (g *generator) get(t *table) call {
	body, e := object{"TableName": t.name, "Key": g.keyOf(t.keys())}, g.expressions()
	if g.chance(40) {
		body["ProjectionExpression"] = e.projection()
	}
	e.addTo(body)
	g.reportRead(body)
	g.sometimes(30, body, "ConsistentRead", true, false)
	return call{op: "GetItem", body: body}
}

// reading adds what Query and Scan have in common.
func (g *generator) reading(body object, e *expressions) {
	if g.chance(40) {
		body["FilterExpression"] = e.condition(0)
	}
	if g.chance(25) {
		body["ProjectionExpression"] = e.projection()
	}
	e.addTo(body)
	g.reportRead(body)
	if g.mistakes || body["IndexName"] == nil {
		g.sometimes(20, body, "ConsistentRead", true, false)
	}
	g.sometimes(30, body, "Limit", 1, 2, 3, 100)
	if g.mistakes {
		g.sometimes(10, body, "Select", "COUNT", "ALL_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
	}
}

func (g *generator) query(t *table) call {
	body, e := object{"TableName": t.name}, g.expressions()
	hash, sort := t.hash, t.sort
	if len(t.indexes) > 0 && g.chance(60) {
		x := one(g, t.indexes...)
		body["IndexName"], hash, sort = x.name, x.hash, x.sort
	}
	body["KeyConditionExpression"] = e.keyCondition(hash, sort)
	g.reading(body, e)
	g.sometimes(40, body, "ScanIndexForward", true, false)
	if g.mistake(10) {
		body["ExclusiveStartKey"] = g.keyOf(append(t.keys(), twoKeys(hash, sort)...))
	}
	return call{op: "Query", body: body}
}

// keyCondition selects a partition and, mostly, a part of it.
func (e *expressions) keyCondition(hash, sort key) string {
	first := e.name(hash.name) + " = " + e.literal(e.keyValue(hash.kind))
	if sort.name == "" || e.chance(30) {
		return first
	}
	second := e.sortCondition(e.name(sort.name), sort.kind)
	switch {
	case e.chance(5):
		return second + " AND " + first
	case e.chance(10):
		return "(" + first + ") AND (" + second + ")"
	case e.mistake(2):
		return first + one(e.generator, " OR ", " AND NOT ") + second
	}
	return first + " AND " + second
}

// sortCondition is the condition on the sort key.
func (e *expressions) sortCondition(name, kind string) string {
	value := func() string { return e.literal(e.keyValue(kind)) }
	switch {
	case e.chance(20):
		return fmt.Sprintf("%s BETWEEN %s AND %s", name, value(), value())
	case kind != "N" && e.chance(30) || e.mistake(2):
		return "begins_with(" + name + ", " + value() + ")"
	}
	return name + one(e.generator, " = ", " < ", " <= ", " > ", " >= ", "=") + value()
}

func (g *generator) scan(t *table) call {
	body, e := object{"TableName": t.name}, g.expressions()
	if len(t.indexes) > 0 && g.chance(40) {
		body["IndexName"] = one(g, t.indexes...).name
	}
	g.reading(body, e)
	return call{op: "Scan", body: body}
}
