package dynamofake

import (
	"slices"
	"strings"
)

type tagInput struct {
	ResourceArn *string
	Tags        []tag
	TagKeys     []string
}

type tagsOutput struct {
	Tags []tag
}

// taggedTable is the table whose ARN it is.
func (in *tagInput) taggedTable() (string, error) {
	if in.ResourceArn == nil {
		return "", invalid("Invalid TableArn")
	}
	name := bareName(in.ResourceArn)
	if *name == *in.ResourceArn || strings.ContainsRune(*name, '/') {
		return "", invalid("Invalid TableArn: Invalid ResourceArn provided as input %s", *in.ResourceArn)
	}
	return *name, nil
}

// changeTags changes the tags of a table by a function.
func (s *Server) changeTags(in *tagInput, change func([]tag) []tag) (struct{}, error) {
	name, err := in.taggedTable()
	if err != nil {
		return struct{}{}, err
	}
	if _, err := s.table(name); err != nil {
		return struct{}{}, in.notFound()
	}
	return struct{}{}, s.changeTable(name, func(d *definition) error {
		d.Tags = change(slices.Clone(d.Tags))
		return nil
	})
}

// notFound has the service's spelling.
func (in *tagInput) notFound() error {
	return fail(codeNotFound, "Requested resource not found: ResourcArn: %s not found", *in.ResourceArn)
}

// tagResource adds tags to a table; one with the same key is replaced.
func (s *Server) tagResource(in *tagInput) (struct{}, error) {
	if in.Tags != nil && len(in.Tags) == 0 {
		return struct{}{}, invalid("Atleast one Tag needs to be provided as Input.")
	}
	return s.changeTags(in, func(tags []tag) []tag {
		for _, t := range in.Tags {
			tags = append(withoutTag(tags, t.Key), t)
		}
		return tags
	})
}

// untagResource removes tags, whether they are there or not.
func (s *Server) untagResource(in *tagInput) (struct{}, error) {
	if in.TagKeys != nil && len(in.TagKeys) == 0 {
		return struct{}{}, invalid("Atleast one Tag Key needs to be provided as Input.")
	}
	return s.changeTags(in, func(tags []tag) []tag {
		for _, key := range in.TagKeys {
			tags = withoutTag(tags, key)
		}
		return tags
	})
}

func withoutTag(tags []tag, key string) []tag {
	return slices.DeleteFunc(tags, func(t tag) bool { return t.Key == key })
}

// listTagsOfResource lists all tags; the service pages, we need not.
func (s *Server) listTagsOfResource(in *tagInput) (*tagsOutput, error) {
	name, err := in.taggedTable()
	if err != nil {
		return nil, err
	}
	t, err := s.table(name)
	if err != nil {
		return nil, in.notFound()
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return &tagsOutput{append([]tag{}, t.def.Tags...)}, nil
}
