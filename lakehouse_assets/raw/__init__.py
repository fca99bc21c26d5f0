"""Every Kafka record of a topic, once, typed, with its coordinates. No cleaning, no joining, no
refusing.
"""
