package sandbox

import "fmt"

// nameResources makes each resource known to Ref and GetAtt.
func (r *resolver) nameResources(resources *node) error {
	for _, id := range resources.keys {
		if err := r.nameResource(id, resources.fields[id]); err != nil {
			return err
		}
	}
	return nil
}

// nameResource gives a resource the name that its property says, where its type has such a property, or one made of the
// stack's and its id.
func (r *resolver) nameResource(id string, res *node) (err error) {
	kind := res.get("Type")
	if kind == nil || kind.kind != scalarNode {
		return res.errorf("resource %s has no Type", id)
	}
	region, name := r.refs["AWS::Region"], localStack+"-"+id
	if property := namedBy[kind.text]; property != "" {
		if name, err = r.textOr(res.get("Properties").get(property), name); err != nil {
			return err
		}
	}
	r.refs[id] = name
	switch {
	case kind.text == "AWS::Serverless::Function":
		r.refs[id] = id
		r.attrs[id] = map[string]string{"Arn": functionARN(region, id)}
	case kind.text == "AWS::DynamoDB::Table":
		arn := fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", region, localAccount, name)
		r.attrs[id] = map[string]string{"Arn": arn, "StreamArn": arn + streamSuffix}
	case kind.text == "AWS::Events::EventBus":
		r.attrs[id] = map[string]string{"Arn": fmt.Sprintf("arn:aws:events:%s:%s:event-bus/%s", region, localAccount, name)}
	case kind.text == "AWS::SQS::Queue":
		r.refs[id] = queueURL(region, name)
		r.attrs[id] = map[string]string{"Arn": queueARN(region, name), "QueueName": name}
	case kind.text != "AWS::Serverless::HttpApi" && !isInert(kind.text):
		return kind.errorf("resource %s: the sandbox does not support the type %s", id, kind.text)
	}
	return nil
}

// namedBy is the property of a resource type that names it.
var namedBy = map[string]string{
	"AWS::DynamoDB::Table":  "TableName",
	"AWS::Events::EventBus": "Name",
	"AWS::SQS::Queue":       "QueueName",
}
