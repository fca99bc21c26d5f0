"""The memory of what was let in, without Kafka: futures stand for its answers."""

import asyncio
from collections.abc import Awaitable, Callable

from lakehouse_assets.sources.webhooks.recent import Recent

Test = Callable[[], Awaitable[None]]


def done_in_a_loop(test: Test) -> None:
    async def run() -> None:
        await test()

    asyncio.run(run())


async def sent(recent: Recent, *names: str, error: Exception | None = None) -> None:
    for name in names:
        future = asyncio.get_running_loop().create_future()
        recent.begin((name,), future)
        if error:
            future.set_exception(error)
        else:
            future.set_result(None)
        await asyncio.sleep(0)


def test_an_event_is_known_only_after_its_acknowledgement() -> None:
    async def test() -> None:
        recent, future = Recent(), asyncio.get_running_loop().create_future()
        recent.begin(("a",), future)
        assert not recent.knows(("a",)) and recent.under_way(("a",)) is future
        future.set_result(None)
        await asyncio.sleep(0)
        assert recent.knows(("a",)) and recent.under_way(("a",)) is None

    done_in_a_loop(test)


def test_what_failed_or_was_given_up_is_forgotten() -> None:
    async def test() -> None:
        recent = Recent()
        await sent(recent, "a", error=RuntimeError("Kafka is away"))
        future = asyncio.get_running_loop().create_future()
        recent.begin(("b",), future)
        future.cancel()
        await asyncio.sleep(0)
        for name in "ab":
            assert not recent.knows((name,)) and recent.under_way((name,)) is None

    done_in_a_loop(test)


def test_the_window_is_bounded_in_number_and_in_time() -> None:
    async def test() -> None:
        at = [0.0]
        recent = Recent(most=3, seconds=10, clock=lambda: at[0])
        await sent(recent, "a", "b", "c", "d")
        assert [recent.knows((n,)) for n in "abcd"] == [False, True, True, True]
        at[0] = 9.9
        assert recent.knows(("d",))
        at[0] = 10.0
        assert not recent.knows(("d",))
        await sent(recent, "e")
        assert len(recent) == 1, "what is too old goes as soon as something comes"

    done_in_a_loop(test)
