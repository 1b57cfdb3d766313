package sandbox

import "context"

// startMessaging starts EventBridge and SQS. Which buses and queues there are, the template says later.
func (s *Sandbox) startMessaging() (busURL, queuesURL string, err error) {
	events, err := openJournal[event](s.cfg.Data, eventsFile)
	if err != nil {
		return "", "", err
	}
	s.onClose(events.close)
	messages, err := openJournal[message](s.cfg.Data, queuesFile)
	if err != nil {
		return "", "", err
	}
	s.onClose(messages.close)
	s.bus, s.queues = &bus{events: events}, &queues{region: s.cfg.Region, messages: messages}
	if busURL, err = s.serve("127.0.0.1:0", s.bus); err != nil {
		return "", "", err
	}
	queuesURL, err = s.serve("127.0.0.1:0", s.queues)
	return busURL, queuesURL, err
}

// startDeliveries starts the event source mappings. One whose table has no stream is told of and left out.
func (s *Sandbox) startDeliveries(ctx context.Context) error {
	at, err := openPositions(s.cfg.Data)
	if err != nil {
		return err
	}
	for _, m := range s.template.mappings {
		stream, err := openStream(ctx, s.services, m.table)
		if err != nil {
			s.log.printf("sandbox", "%s gets no events: %v", m.function, err)
			continue
		}
		d := &delivery{mapping: m, stream: stream, positions: at, function: s.pools[m.function].invoke, arn: s.pools[m.function].arn,
			queues: s.queues, log: s.log}
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			d.run(ctx)
		}()
		s.onClose(func() error { stop(); <-done; return nil })
	}
	return nil
}
