package main

import (
	"errors"
	"net/url"
	"strings"
)

// settings is the function's environment, checked.
type settings struct {
	bus      string // name or ARN
	queueURL string
}

// settingsFrom reads the environment. The error is one line that names every variable that must be set otherwise.
func settingsFrom(getenv func(string) string) (settings, error) {
	s := settings{bus: getenv("EVENT_BUS"), queueURL: getenv("DEAD_LETTER_QUEUE")}
	var wrong []string
	if s.bus == "" {
		wrong = append(wrong, "set EVENT_BUS to the name of the EventBridge bus")
	}
	if u, err := url.Parse(s.queueURL); err != nil || u.Host == "" {
		wrong = append(wrong, "set DEAD_LETTER_QUEUE to the URL of the SQS queue for events that cannot be published")
	}
	if getenv("AWS_REGION") == "" {
		wrong = append(wrong, "set AWS_REGION to the Region of the bus and the queue")
	}
	if len(wrong) > 0 {
		return settings{}, errors.New(strings.Join(wrong, "; "))
	}
	return s, nil
}
