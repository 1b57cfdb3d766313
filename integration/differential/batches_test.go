package differential

import "fmt"

// batchWrite writes up to six items of one or two tables; equal targets are left in rarely.
func (g *generator) batchWrite() call {
	requests, seen := object{}, map[string]bool{}
	for range 1 + g.IntN(6) {
		t := g.table()
		item, kind, member := g.item(t), "PutRequest", "Item"
		if g.chance(30) {
			item, kind, member = g.keyOf(t.keys()), "DeleteRequest", "Key"
		}
		target := t.name + text(item["pk"]) + text(item["sk"])
		if seen[target] && !g.mistake(3) {
			continue
		}
		seen[target] = true
		writes, _ := requests[t.name].(list)
		requests[t.name] = append(writes, object{kind: object{member: item}})
	}
	body := object{"RequestItems": requests}
	g.reportWrite(body)
	return call{op: "BatchWriteItem", body: body}
}

func (g *generator) batchGet() call {
	requests := object{}
	for range 1 + g.IntN(2) {
		t := g.table()
		keys, seen := list{}, map[string]bool{}
		for range 1 + g.IntN(4) {
			k := g.keyOf(t.keys())
			if !seen[text(k)] || g.mistake(3) {
				keys = append(keys, k)
			}
			seen[text(k)] = true
		}
		get, e := object{"Keys": keys}, g.expressions()
		if g.chance(30) {
			get["ProjectionExpression"] = e.projection()
		}
		e.addTo(get)
		g.sometimes(30, get, "ConsistentRead", true, false)
		requests[t.name] = get
	}
	body := object{"RequestItems": requests}
	g.reportRead(body)
	return call{op: "BatchGetItem", body: body}
}

// transactWrite is a transaction of one to four actions.
func (g *generator) transactWrite() call {
	var actions list
	seen := map[string]bool{}
	for range 1 + g.IntN(4) {
		t := g.table()
		kind, body := g.action(t)
		key := body["Key"]
		if item, ok := body["Item"].(object); ok {
			key = object{"pk": item["pk"], "sk": item["sk"]}
		}
		if seen[t.name+text(key)] && !g.mistake(3) {
			continue
		}
		seen[t.name+text(key)] = true
		actions = append(actions, object{kind: body})
	}
	body := object{"TransactItems": actions}
	if g.tokens && g.chance(20) {
		body["ClientRequestToken"] = fmt.Sprint("token-", g.IntN(2))
	}
	g.reportWrite(body)
	return call{op: "TransactWriteItems", body: body}
}

// action is one action of a transaction, made of the single call that it is like.
func (g *generator) action(t *table) (kind string, body object) {
	switch g.IntN(4) {
	case 0:
		kind, body = "Put", g.put(t).body
	case 1:
		kind, body = "Delete", g.deleteItem(t).body
	case 2:
		e := g.expressions()
		kind, body = "ConditionCheck", object{"TableName": t.name, "Key": g.keyOf(t.keys())}
		g.condition(body, e, 100)
		if g.mistake(1) {
			delete(body, "ConditionExpression")
		}
		e.addTo(body)
	default:
		kind, body = "Update", g.updateItem(t).body
	}
	for _, single := range []string{"ReturnValues", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics"} {
		delete(body, single)
	}
	return kind, body
}

func (g *generator) transactGet() call {
	var actions list
	for range 1 + g.IntN(3) {
		get := g.get(g.table()).body
		delete(get, "ReturnConsumedCapacity")
		delete(get, "ReturnItemCollectionMetrics")
		delete(get, "ConsistentRead")
		actions = append(actions, object{"Get": get})
	}
	body := object{"TransactItems": actions}
	g.reportRead(body)
	return call{op: "TransactGetItems", body: body}
}
