import asyncio
import time
from threading import Event

import pytest

from lakehouse_assets.pages.shared import Looking, Paced, Shared, SharedBy


def test_however_many_ask_at_once_it_is_looked_once() -> None:
    looks: list[float] = []

    def look() -> int:
        looks.append(time.time())
        time.sleep(0.05)
        return len(looks)

    async def ask() -> list[int]:
        shared = Shared(look, fresh_s=60, patience_s=5)
        first = await asyncio.gather(*[shared.seen() for _ in range(50)])
        return [seen.value for seen in [*first, await shared.seen()]]

    assert asyncio.run(ask()) == [1] * 51


def test_a_slow_look_is_not_waited_for_if_there_is_an_older_answer() -> None:
    slow, answers = Event(), iter([1, 2])

    def look() -> int:
        found = next(answers)
        if found == 2:
            slow.wait(10)
        return found

    async def ask() -> list[int]:
        shared = Shared(look, fresh_s=0, patience_s=0.2)
        found = [(await shared.seen()).value, (await shared.seen()).value]
        slow.set()
        await asyncio.sleep(0.1)
        return [*found, (await shared.seen()).value]

    assert asyncio.run(ask()) == [1, 1, 2]


def test_of_a_first_look_that_takes_long_everybody_is_told() -> None:
    slow = Event()

    async def ask() -> None:
        shared = Shared(lambda: slow.wait(10), fresh_s=0, patience_s=0.05)
        for _ in range(2):
            with pytest.raises(Looking, match="Try again"):
                await shared.seen()
        slow.set()

    asyncio.run(ask())


def test_the_first_look_may_be_given_longer_than_the_others() -> None:
    async def ask() -> int:
        shared = Shared(lambda: time.sleep(0.3) or 7, fresh_s=0, patience_s=0.01, first_s=5)
        return (await shared.seen()).value

    assert asyncio.run(ask()) == 7


def test_a_look_that_fails_is_told_to_who_asked_and_tried_again() -> None:
    answers = iter([ValueError("away"), 7])

    def look() -> int:
        if isinstance(found := next(answers), Exception):
            raise found
        return int(found)

    async def ask() -> int:
        shared = Shared(look, fresh_s=60, patience_s=5)
        with pytest.raises(ValueError, match="away"):
            await shared.seen()
        return (await shared.seen()).value

    assert asyncio.run(ask()) == 7


def test_who_ask_alike_share_a_look_and_old_questions_are_forgotten() -> None:
    looks: list[int] = []

    async def ask() -> int:
        shared = SharedBy(looks.append, fresh_s=60, patience_s=5)
        for detail in [1, 1, 2, *range(3, 200), 1]:
            await shared.seen(detail)
        return len(shared._by)

    assert asyncio.run(ask()) == 32
    assert looks == [1, 2, *range(3, 200), 1]


def test_a_dear_question_is_asked_at_its_own_pace() -> None:
    answers = iter(range(9))
    paced, hurried = Paced(lambda: next(answers), 60), Paced(lambda: next(answers), 0)
    assert [paced(), paced(), hurried(), hurried()] == [0, 0, 1, 2]
