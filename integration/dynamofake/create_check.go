package dynamofake

import (
	"fmt"
	"slices"
	"strings"
)

// check checks the input of CreateTable, in the service's order.
func (in *createInput) check() error {
	if err := checkTableName(&in.TableName); err != nil {
		return err
	}
	if err := in.constraints(); err != nil {
		return err
	}
	if err := checkBilling(in.BillingMode, in.ProvisionedThroughput); err != nil {
		return err
	}
	if err := checkKeySchema(in.KeySchema, in.AttributeDefinitions); err != nil {
		return err
	}
	if err := in.checkLocal(); err != nil {
		return err
	}
	if err := in.checkGlobal(); err != nil {
		return err
	}
	if err := in.StreamSpecification.check(); err != nil {
		return err
	}
	return checkDefinitionsUsed(in.AttributeDefinitions, in.KeySchema, in.LocalSecondaryIndexes, in.GlobalSecondaryIndexes)
}

// constraints checks single parameters, in the order in which the service
// reports them.
func (in *createInput) constraints() error {
	var c constraints
	c.present(in.AttributeDefinitions != nil, "attributeDefinitions")
	for i, a := range in.AttributeDefinitions {
		at := fmt.Sprintf("attributeDefinitions.%d.member.", i+1)
		c.present(a.AttributeName != "", at+"attributeName")
		c.required(a.AttributeType, at+"attributeType", "B", "N", "S")
	}
	c.name(in.TableName, "tableName")
	c.enum(in.BillingMode, "billingMode", provisioned, payPerRequest)
	c.keySchema(in.KeySchema, "keySchema")
	for i := range in.LocalSecondaryIndexes {
		c.index(&in.LocalSecondaryIndexes[i], fmt.Sprintf("localSecondaryIndexes.%d.member.", i+1))
	}
	for i := range in.GlobalSecondaryIndexes {
		c.index(&in.GlobalSecondaryIndexes[i], fmt.Sprintf("globalSecondaryIndexes.%d.member.", i+1))
	}
	c.enum(in.TableClass, "tableClass", "STANDARD", "STANDARD_INFREQUENT_ACCESS")
	return c.err()
}

// checkTableName checks the TableName of a call on tables, which may be an ARN,
// and replaces it by the name. Calls on tables report a missing name and a wrong
// length before and apart from everything else.
func checkTableName(name **string) error {
	*name = bareName(*name)
	switch {
	case *name == nil:
		return invalid("The parameter 'TableName' is required but was not present in the request")
	case len(**name) < 3 || len(**name) > 255:
		return invalid("TableName must be at least 3 characters long and at most 255 characters long")
	}
	return nil
}

// required is enum for a value that must be given.
func (c *constraints) required(v, at string, allowed ...string) {
	c.present(v != "", at)
	c.enum(v, at, allowed...)
}

func (c *constraints) keySchema(elements []keySchemaElement, at string) {
	c.present(elements != nil, at)
	if elements != nil && len(elements) == 0 {
		c.add("'[]'", at, "Member must have length greater than or equal to 1")
	}
	if len(elements) > 2 {
		c.add(quoted(fmt.Sprint(elements)), at, "Member must have length less than or equal to 2")
	}
	for i, e := range elements {
		at := fmt.Sprintf("%s.%d.member.", at, i+1)
		c.present(e.AttributeName != "", at+"attributeName")
		c.required(e.KeyType, at+"keyType", "HASH", "RANGE")
	}
}

func (c *constraints) index(x *indexDefinition, at string) {
	c.present(x.IndexName != "", at+"indexName")
	if x.IndexName != "" {
		c.name(&x.IndexName, at+"indexName")
	}
	c.keySchema(x.KeySchema, at+"keySchema")
	c.enum(x.Projection.ProjectionType, at+"projection.projectionType", "ALL", "INCLUDE", "KEYS_ONLY")
}

// checkBilling wants throughput for the provisioned mode, and none for the other.
func checkBilling(mode string, given *throughput) error {
	switch {
	case mode == payPerRequest && given != nil:
		return invalid("One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST")
	case mode == payPerRequest:
		return nil
	case given == nil || given.ReadCapacityUnits < 1 || given.WriteCapacityUnits < 1:
		return invalid("One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED")
	case given.ReadCapacityUnits > maxThroughput:
		return invalid("Given value %d for ReadCapacityUnits is out of bounds", given.ReadCapacityUnits)
	case given.WriteCapacityUnits > maxThroughput:
		return invalid("Given value %d for WriteCapacityUnits is out of bounds", given.WriteCapacityUnits)
	}
	return nil
}

// checkKeySchema checks the key of a table or index against the attributes that
// are defined.
func checkKeySchema(elements []keySchemaElement, definitions []attributeDefinition) error {
	var keys, defined []string
	for _, d := range definitions {
		defined = append(defined, d.AttributeName)
	}
	missing := false
	for _, e := range elements {
		keys = append(keys, e.AttributeName)
		missing = missing || !slices.Contains(defined, e.AttributeName)
	}
	switch {
	case missing && len(keys) > len(defined):
		return invalid("Invalid KeySchema: Some index key attribute have no definition")
	case missing:
		return invalid("One or more parameter values were invalid: Some index key attributes are not defined in AttributeDefinitions. Keys: [%s], AttributeDefinitions: [%s]",
			strings.Join(keys, ", "), strings.Join(defined, ", "))
	case len(keys) == 2 && keys[0] == keys[1]:
		return invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name")
	case elements[0].KeyType != "HASH":
		return invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
	case len(elements) == 2 && elements[1].KeyType != "RANGE":
		return invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")
	}
	return nil
}

// checkLocal checks the local indexes: they share the partition key of the
// table and have a sort key of their own ("Local secondary indexes").
func (in *createInput) checkLocal() error {
	if in.LocalSecondaryIndexes == nil {
		return nil
	}
	switch {
	case len(in.LocalSecondaryIndexes) == 0:
		return invalid("One or more parameter values were invalid: List of LocalSecondaryIndexes is empty")
	case len(in.KeySchema) != 2:
		return invalid("One or more parameter values were invalid: Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex")
	}
	tableHash := in.KeySchema[0].AttributeName
	for i, x := range in.LocalSecondaryIndexes {
		if err := checkIndex(&x, in.AttributeDefinitions, in.LocalSecondaryIndexes[:i]); err != nil {
			return err
		}
		if len(x.KeySchema) != 2 {
			return invalid("One or more parameter values were invalid: Index KeySchema does not have a range key for index: %s", x.IndexName)
		}
		if hash := x.KeySchema[0].AttributeName; hash != tableHash {
			return invalid("One or more parameter values were invalid: Index KeySchema does not have the same leading hash key as table KeySchema for index: %s. index hash key: %s, table hash key: %s", x.IndexName, hash, tableHash)
		}
	}
	if len(in.LocalSecondaryIndexes) > maxLocalIndexes {
		return invalid("One or more parameter values were invalid: Number of LocalSecondaryIndexes exceeds per-table limit of %d", maxLocalIndexes)
	}
	return nil
}

// checkGlobal checks the global indexes.
func (in *createInput) checkGlobal() error {
	if in.GlobalSecondaryIndexes == nil {
		return nil
	}
	if len(in.GlobalSecondaryIndexes) == 0 {
		return invalid("One or more parameter values were invalid: List of GlobalSecondaryIndexes is empty")
	}
	for i, x := range in.GlobalSecondaryIndexes {
		if err := checkIndex(&x, in.AttributeDefinitions, slices.Concat(in.LocalSecondaryIndexes, in.GlobalSecondaryIndexes[:i])); err != nil {
			return err
		}
		if in.BillingMode == payPerRequest && x.ProvisionedThroughput != nil {
			return invalid("One or more parameter values were invalid: ProvisionedThroughput should not be specified for index: %s when BillingMode is PAY_PER_REQUEST", x.IndexName)
		}
	}
	if len(in.GlobalSecondaryIndexes) > maxGlobalIndexes {
		return invalid("One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the per-table limit of %d", maxGlobalIndexes)
	}
	return nil
}

// checkIndex checks what local and global indexes have in common.
func checkIndex(x *indexDefinition, definitions []attributeDefinition, earlier []indexDefinition) error {
	if err := checkKeySchema(x.KeySchema, definitions); err != nil {
		return err
	}
	switch p := x.Projection; {
	case p.ProjectionType == "":
		return invalid("One or more parameter values were invalid: Unknown ProjectionType: null")
	case p.NonKeyAttributes != nil && p.ProjectionType != "INCLUDE":
		return invalid("One or more parameter values were invalid: ProjectionType is %s, but NonKeyAttributes is specified", p.ProjectionType)
	case p.NonKeyAttributes == nil && p.ProjectionType == "INCLUDE":
		return invalid("One or more parameter values were invalid: ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
	}
	if slices.ContainsFunc(earlier, func(e indexDefinition) bool { return e.IndexName == x.IndexName }) {
		return invalid("One or more parameter values were invalid: Duplicate index name: %s", x.IndexName)
	}
	return nil
}

// checkDefinitionsUsed refuses an attribute definition that is no key anywhere:
// only keys have a type that a table knows. UpdateTable drops such ones instead.
func checkDefinitionsUsed(definitions []attributeDefinition, key []keySchemaElement, indexes ...[]indexDefinition) error {
	keys := slices.Clone(key)
	for _, list := range indexes {
		for _, x := range list {
			keys = append(keys, x.KeySchema...)
		}
	}
	for _, d := range definitions {
		if !slices.ContainsFunc(keys, func(e keySchemaElement) bool { return e.AttributeName == d.AttributeName }) {
			if len(indexes[0]) == 0 && len(indexes[1]) == 0 {
				return invalid("One or more parameter values were invalid: Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions")
			}
			return invalid("One or more parameter values were invalid: Some AttributeDefinitions are not used. AttributeDefinition: [%s] is no key", d.AttributeName)
		}
	}
	return nil
}

// check refuses a stream without a view, or a view without a stream.
func (spec *streamSpecification) check() error {
	if spec == nil {
		return nil
	}
	switch {
	case spec.StreamEnabled && !slices.Contains([]string{"NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"}, spec.StreamViewType):
		return invalid("One or more parameter values were invalid: StreamViewType is required when StreamEnabled is true")
	case !spec.StreamEnabled && spec.StreamViewType != "":
		return invalid("One or more parameter values were invalid: StreamViewType can not be specified when StreamEnabled is false")
	}
	return nil
}
