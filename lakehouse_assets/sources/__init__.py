"""Where events come from: one generator per source, each runs alone; and a door for real ones.

Here belongs what makes events, sends them to Kafka, and tells the truth about them: the content
that every table must end with, worked out from the events by code that shares nothing with the
engine. Making events is pure: the same arguments give the same bytes, with no clock and no Kafka.

Here does not belong: anything that reads or writes a table. Sources import no table, no layer and
nothing from `lake/`, else the truth would agree with the engine's mistakes.
"""
