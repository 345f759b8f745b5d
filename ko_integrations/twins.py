"""The async side: every operation runs in a worker thread, so that no call blocks the event loop."""

import asyncio
import contextvars
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

__all__ = ["async_batch", "async_iterator_twin", "async_twin"]

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")

_END = object()

# A batch is a transaction of one thread: what is awaited inside it must run on that thread.
_thread: contextvars.ContextVar[ThreadPoolExecutor | None] = contextvars.ContextVar(
    "ko_batch_thread", default=None
)


def async_twin(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Return the `a...` twin of a method: same parameters, same result, awaited."""

    @functools.wraps(method)
    async def twin(self: S, *args: P.args, **kwargs: P.kwargs) -> T:
        return await _run(functools.partial(method, self, *args, **kwargs))

    _named(twin, method)
    return cast("Callable[Concatenate[S, P], Coroutine[Any, Any, T]]", twin)


def async_iterator_twin(
    method: Callable[Concatenate[S, P], Iterator[T]],
) -> Callable[Concatenate[S, P], AsyncIterator[T]]:
    """Return the twin of a method that yields: an async iterator that fetches in a worker thread.

    One item at a time: what is fetched ahead may be erased before it is asked for.
    """

    @functools.wraps(method)
    async def twin(self: S, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        iterator = await _run(functools.partial(method, self, *args, **kwargs))
        while (item := await _run(functools.partial(next, iterator, _END))) is not _END:
            yield cast("T", item)

    _named(twin, method)
    return cast("Callable[Concatenate[S, P], AsyncIterator[T]]", twin)


def async_batch(open_batch: Callable[[Any], AbstractContextManager[None]]) -> Callable[[Any], Any]:
    """Return the twin of `batch()`: an async context manager whose operations share one worker thread."""

    @asynccontextmanager
    async def twin(self: Any) -> AsyncIterator[None]:
        with ThreadPoolExecutor(1, thread_name_prefix="ko-batch") as executor:
            loop = asyncio.get_running_loop()
            batch = open_batch(self)
            await loop.run_in_executor(executor, batch.__enter__)
            token = _thread.set(executor)
            try:
                yield
            except BaseException as error:
                await loop.run_in_executor(executor, batch.__exit__, type(error), error, error.__traceback__)
                raise
            else:
                await loop.run_in_executor(executor, batch.__exit__, None, None, None)
            finally:
                _thread.reset(token)

    _named(twin, open_batch)
    return twin


async def _run(call: Callable[[], T]) -> T:
    executor = _thread.get()
    if executor is None:
        return await asyncio.to_thread(call)
    return await asyncio.get_running_loop().run_in_executor(executor, call)


def _named(twin: Any, method: Any) -> None:
    twin.__name__ = f"a{method.__name__}"
    twin.__qualname__ = method.__qualname__.replace(method.__name__, twin.__name__)
    twin.__doc__ = f"Do as `{method.__name__}` does, without blocking the event loop."
