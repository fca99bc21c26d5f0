"""Where rows came from: the write-ahead commit log, who may be trusted, and the way back.

A table whose contract asks for it (`commit_log`) has each attempt to publish written down, with the
files that it would add, before readers can see them (`log`). `trust` gives the files of an attempt
that readers see now, `rewriting` keeps that true when files are rewritten, `cleaning` removes what
no reader will ever see. `trace` follows rows back to Kafka.

The engine writes the log and knows nothing else of this.
"""
