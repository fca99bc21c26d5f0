"""Weather: ten cities, a client that reads their thermometers, a server that logs what it is told.

`readings` makes what is read, a function of its arguments alone; `client` sends each as a GET
request; `app`, run as the service `weather`, is the logging server: it looks at a reading (`door`)
and lets it into Kafka, timed by the moment at which it heard of it. `around` makes records as only
somebody who writes to the topic directly can send them. What every table must hold is told by
`truth`.

A reading has no id: whoever asks twice tells two readings.
"""

FEEDS: dict[str, str] = {}  # one sky: there is nothing to send for itself
TOPIC = "weather"
# The moment of a reading is the server's, and minutes are counted by it, not by Kafka's clock; so
# far the one may be ahead of the other.
TOPIC_CONFIG = {
    "message.timestamp.type": "CreateTime",
    "message.timestamp.after.max.ms": "300000",
}
