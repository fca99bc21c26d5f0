"""Measurements: each starts what it needs in a lake of its own and leaves nothing behind.

A bench asserts nothing about time. It prints figures, beside a rival's from the same run where
there is one, and `run` returns them. Modules with an underscore are what the benches share.
"""
