import pytest

from lakehouse_assets.sources.webhooks.limits import BURST_S, MAX_SENDERS, Rates, Room
from lakehouse_assets.sources.webhooks.refusal import Refused


def test_a_sender_above_its_rate_is_told_when_to_come_again() -> None:
    at = [0.0]
    rates = Rates(2, clock=lambda: at[0])
    for _ in range(2 * BURST_S):
        rates.take("1.2.3.4")
    with pytest.raises(Refused) as refused:
        rates.take("1.2.3.4")
    assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "1"})
    rates.take("5.6.7.8")  # the flood of one is not another's
    at[0] = 0.5
    rates.take("1.2.3.4")
    with pytest.raises(Refused):
        rates.take("1.2.3.4")


def test_rates_of_endlessly_many_senders_are_not_remembered() -> None:
    rates = Rates(1, clock=lambda: 0.0)
    for n in range(MAX_SENDERS * 2):
        rates.take(f"sender {n}")
    assert len(rates._left) == MAX_SENDERS


def test_there_is_room_for_so_many_and_places_come_back() -> None:
    room = Room(most=2)
    with room.place(), pytest.raises(ZeroDivisionError), room.place():
        with pytest.raises(Refused) as refused, room.place():
            pass
        assert (refused.value.status, refused.value.code) == (503, "busy")
        assert refused.value.headers["Retry-After"] == "1"
        raise ZeroDivisionError
    with room.place(), room.place():
        assert room.taken == 2
