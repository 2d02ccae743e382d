"""Calls of compiled code, and the same as plain Python."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest

import volatilis as vl
from tests.helpers.workshop import Workshop, first_mean, rayleigh


def test_plain_python_needs_no_compiler(workshop: Workshop) -> None:
    workshop.write("rayleigh.py", rayleigh())
    program = """
        import json, sys
        import volatilis as vl
        from rayleigh import Rayleigh
        with vl.plain_python():
            mean = vl.run(vl.Leaky(Rayleigh(2.0, 1.0), 0.9), [0.5]).mean.tolist()
        print(json.dumps([mean, "numba" in sys.modules]))
    """
    mean, numba = workshop.run(program)
    assert mean == pytest.approx(first_mean(lambda y: y * y), rel=1e-12)
    assert not numba
    assert not workshop.kernels()


def test_arrays_that_are_not_contiguous_are_refused() -> None:
    from volatilis._compiler import Call

    def driver(x: Any, out: Any) -> None:
        out[0] = x[0]

    with pytest.raises(TypeError, match="contiguous"):
        Call(driver, np.zeros(10)[::2], np.zeros(1))


def test_what_is_rarely_called_is_not_copied_into_its_callers() -> None:
    """LLVM must copy every other function into the kernel."""
    import re

    from volatilis._compiler.instructions import INSTRUCTIONS, OPTIONS
    from volatilis._compiler.translation import register_functions, translate
    from volatilis.running import drivers
    from volatilis.running.arguments import with_recent

    learner = vl.ExactBayes(vl.Gaussian(1.0), 0.1)
    out = drivers.outputs(1, 1, ("mean",), recent=True, onset=True)
    state = with_recent(learner, learner.init(0), 5)
    register_functions(INSTRUCTIONS, OPTIONS)
    texts, _ = translate(drivers.run_observations, (learner, state, np.zeros(1), np.zeros(1, dtype=np.int64), out))
    copied: dict[str, set[bool]] = {}
    for text in texts:
        groups = dict(re.findall(r"^attributes (#\d+) = \{(.*)\}$", text, flags=re.MULTILINE))
        for line in re.findall(r"^define .*", text, flags=re.MULTILINE):
            name = re.search(r"@_ZN\w*?\d(read_onset|recent_change|observe)B", line)
            group = re.search(r"#\d+", line.rpartition(")")[2])
            if name:
                copied.setdefault(name[1], set()).add(group is not None and "alwaysinline" in groups[group[0]])
    assert copied == {"read_onset": {True, False}, "recent_change": {True}, "observe": {True}}  # a method and what it calls


def test_compiled_code_knows_that_arrays_do_not_overlap() -> None:
    """All arrays of the driver itself, and of nothing else: functions it calls may get the same array twice."""
    import re

    from volatilis._compiler.instructions import INSTRUCTIONS, OPTIONS
    from volatilis._compiler.translation import register_functions, translate
    from volatilis.running import drivers

    learner = vl.VarSMiLe(vl.Gaussian(1.0), 0.1)
    register_functions(INSTRUCTIONS, OPTIONS)
    texts, _ = translate(drivers.step, (learner, learner.init(0), np.zeros(1), np.zeros(7)))
    marked = re.findall(r"^define .*ptr noalias %arg\..*$", "\n".join(texts), flags=re.MULTILINE)
    assert len(marked) == 1
    assert re.search(r"\d+stepB", marked[0])
    assert not re.search(r"ptr %arg\.", marked[0])


class Doubling(NamedTuple):
    """With names of methods that families have: no others become known to the whole process."""

    factor: float

    def splits(self) -> bool:
        return False

    def size(self) -> bool:
        return self.factor > 1e300


class Holder(NamedTuple):
    doubling: Doubling


def test_what_a_class_never_does_is_not_compiled() -> None:
    """A branch on a method that is `return False`, here of a field, is left out; one on a method that computes is not."""
    from volatilis._compiler import Call, CompilationError, compiled_methods

    compiled_methods(Doubling)

    def excluded(holder: Holder, out: np.ndarray) -> None:
        doubling = holder.doubling
        out[0] = input("a number") if doubling.splits() else 2.0 * doubling.factor

    def possible(holder: Holder, out: np.ndarray) -> None:
        out[0] = input("a number") if holder.doubling.size() else 1.0

    out = np.zeros(1)
    Call(excluded, Holder(Doubling(1.5)), out)()
    assert out[0] == 3.0
    with pytest.raises(CompilationError, match="input"):
        Call(possible, Holder(Doubling(1.5)), out)


@pytest.mark.parametrize(("answer", "found"), [("return True", True), ("return False", False), ("return 1", None)])
def test_an_answer_is_true_or_false_and_nothing_else(answer: str, found: bool | None) -> None:
    from volatilis._compiler.translation import constant_answer

    namespace: dict[str, Any] = {}
    exec(f"def method(self):\n    {answer}", namespace)
    assert constant_answer(namespace["method"]) is found
    assert constant_answer(len) is None


def test_compiling_leaves_garbage_collection_as_it_was() -> None:
    """And what was young before it is collected after it."""
    from volatilis._compiler.host import no_garbage_collection

    class Mark:
        pass

    mark: Any = Mark()
    mark.itself, alive = mark, weakref.ref(mark)
    frozen = gc.get_freeze_count()
    with no_garbage_collection():
        assert not gc.isenabled()
        del mark
    assert gc.isenabled()
    assert gc.get_freeze_count() == frozen
    gc.collect()
    assert alive() is None


# --- plain Python, in one thread and not in another --------------------------------------------------------------------


def copy_one(x: Any, out: Any) -> None:
    out[0] = x[0]


def test_plain_python_holds_in_one_thread_alone() -> None:
    """Two overlapping contexts: the first ends while the second is open. Neither reaches the other thread, or stays on."""
    from volatilis._compiler import Call

    first_open, second_open, first_closed = (threading.Event() for _ in range(3))

    def is_python() -> bool:
        return Call(copy_one, np.ones(1), np.zeros(1)).words() is None

    def first() -> list[bool]:
        ways = [is_python()]
        with vl.plain_python():
            first_open.set()
            second_open.wait(30)
            ways.append(is_python())
        ways.append(is_python())
        first_closed.set()
        return ways

    def second() -> list[bool]:
        first_open.wait(30)
        ways = [is_python()]
        with vl.plain_python():
            second_open.set()
            first_closed.wait(30)
            ways.append(is_python())
        ways.append(is_python())
        return ways

    with ThreadPoolExecutor(2) as pool:
        assert [future.result() for future in (pool.submit(first), pool.submit(second))] == [[False, True, False]] * 2
    assert not is_python()


def test_plain_python_reaches_the_threads_of_run_many(workshop: Workshop) -> None:
    program = """
        import json, sys
        import numpy as np
        import volatilis as vl
        family = vl.Gaussian(1.0)
        with vl.plain_python():
            learners = (vl.Leaky(family, 0.5), vl.Merge(family, 0.1, 2))
            many = [vl.run_many(learner, np.ones((130, 2)), workers=2) for learner in learners]
        print(json.dumps([float(many[0][7].mean[1]), "numba" in sys.modules]))
    """
    assert workshop.run(program) == [1.0, False]


def test_plain_python_reaches_the_threads_of_a_queue() -> None:
    from volatilis._compiler import Call
    from volatilis._core.jobs import Threads

    def is_python(stop: Any) -> bool:
        return Call(copy_one, np.ones(1), np.zeros(1)).native is None

    with vl.plain_python():
        assert dict(Threads(2).results(is_python, {1: (), 2: ()})) == {1: True, 2: True}
    assert dict(Threads(2).results(is_python, {1: (), 2: ()})) == {1: False, 2: False}


# --- the shortest call -------------------------------------------------------------------------------------------------


def test_a_step_made_by_machine_code_has_the_hash_of_its_numbers() -> None:
    """Python 3.14 keeps a tuple's hash in the tuple; also by the tuple's own method, and for the tuples in a step."""
    for learner in (vl.VarSMiLe(vl.Gaussian(1.0), 0.1), vl.VarSMiLe(vl.Bernoulli(1.0, 1.0), 0.1)):
        stream = vl.Stream(learner)
        for _ in range(2):
            step = stream.update(1.0)
            assert hash(step) == tuple.__hash__(step) == hash(tuple(step))
            assert {step: 1}[type(step)(list(step))] == 1
