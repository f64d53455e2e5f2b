//! Which AWS service sent an event, from the event's own text.
