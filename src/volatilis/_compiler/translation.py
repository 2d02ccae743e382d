"""A driver as LLVM's text, by Numba. Together with `instructions`, `words` and a target (`host`) all that knows Numba and LLVM.

Numba translates Python to LLVM's language, for each function that the driver reaches; LLVM then inlines, optimises and
vectorises the whole once, for one target. (Numba by itself optimises and assembles every function with all that it calls,
again and again, which takes several times as long.)
"""

from __future__ import annotations

import contextlib
import dis
import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from volatilis._compiler import registry as _registry
from volatilis._compiler.instructions import OPTIONS
from volatilis._compiler.words import loader, numba_type, tuple_classes


class CompilationError(TypeError):
    """A family or learner uses something that cannot be compiled; the message has the lines of Numba's report that say what."""


class Translation(NamedTuple):
    """A driver in LLVM's language: one text for each function, and the symbol of the driver, which stands in the first."""

    texts: list[str]
    symbol: str


def translate(driver: Callable[..., None], args: tuple[object, ...]) -> Translation:
    """The driver for arguments of these types, as a function of the address of their words."""
    from numba.core.errors import NumbaError

    classes = list(dict.fromkeys(tuple_classes(args)))
    dispatchers = _user_dispatchers(classes)
    try:
        with _translation_only(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:  # without counting references, which arrays from words do not need: half the text
                function = _translated(driver, args, counting=bool(dispatchers))
            except NumbaError:
                function = _translated(driver, args, counting=True)  # it may be that it allocates
    except (NumbaError, AttributeError, NotImplementedError) as error:
        raise CompilationError(failure_text(driver, classes, error)) from error
    finally:
        for dispatcher in dispatchers:
            dispatcher._reset_overloads()  # translated only: Python must compile it again before it calls it
    texts = [mark_noalias(text, driver.__name__) for text in _texts_of(function._library)]
    return Translation(texts, function.native_name)


def _translated(driver: Callable[..., None], args: tuple[object, ...], counting: bool) -> Any:
    """Numba's function of the address of the words. Functions that it calls count references as it does."""
    import numba

    load = loader(numba_type(args))
    body = numba.njit(**OPTIONS | {"forceinline": False})(driver)

    def entry(address):  # type: ignore[no-untyped-def]
        body(*load(address))

    return numba.cfunc("void(int64)", error_model="numpy", _nrt=counting)(entry)


def failure_text(driver: Callable[..., None], classes: list[type], error: Exception) -> str:
    """What could not be compiled, and the part of Numba's report that names the offending line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    place = next((i for i, line in enumerate(lines) if re.match(r'File ".*", line \d+', line)), None)
    reason = "\n".join(lines[-8:] if place is None else lines[max(place - 2, 0) : place + 5])
    return f"cannot compile {driver.__name__} for {', '.join(cls.__name__ for cls in classes)}: {reason}"


def mark_noalias(text: str, name: str) -> str:
    """Tell LLVM that the arrays of the driver's arguments do not overlap, so that what it reads may stay in registers."""
    return re.sub(
        rf"^define .*@_ZN\w*\d+{name}B.*$",
        lambda line: re.sub(r"ptr (?=%arg\.)", "ptr noalias ", line.group()),
        text,
        flags=re.MULTILINE,
    )


def _user_dispatchers(classes: list[type]) -> list[Any]:
    """The functions that a user compiled with Numba and that the user's classes call."""
    from numba.core.dispatcher import Dispatcher

    dispatchers: dict[int, Any] = {}
    waiting: list[Any] = [m for cls in classes for _, m in inspect.getmembers(cls, inspect.isfunction)]
    seen: set[int] = set()
    while waiting:
        function = waiting.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        if isinstance(function, Dispatcher):
            dispatchers[id(function)] = function
            function = function.py_func
        if inspect.isfunction(function):
            waiting += [function.__globals__[n] for n in function.__code__.co_names if n in function.__globals__]
            waiting += [cell.cell_contents for cell in function.__closure__ or ()]
    return list(dispatchers.values())


# --- Numba -----------------------------------------------------------------------------------------------------------

_known_functions: set[Any] = set()
_known_methods: set[str] = set()


def import_numba() -> None:
    """Import Numba's functions of arrays without SciPy's linear algebra: Numba looks for it here, and again where it is used."""
    with contextlib.suppress(AttributeError, ImportError):  # another version may look elsewhere
        from numba.np import linalg

        with _replaced(linalg, "ensure_blas", lambda: None):
            from numba.np import arraymath
        arraymath.ensure_blas = linalg.ensure_blas


def register_functions(instructions: Mapping[str, Callable[..., None]], options: Mapping[str, object]) -> None:
    """Tell Numba of all functions and methods that compiled code may call, as far as it does not know them."""
    from numba import types
    from numba.extending import overload_method, register_jitable

    for function in _registry.instructions:
        if function not in _known_functions:
            _known_functions.add(function)
            instructions[function.__name__](function)
    for function in _registry.functions:
        if function not in _known_functions:
            _known_functions.add(function)
            not_copied = {"forceinline": False} if "forceinline" in options and function in _registry.apart else {}
            register_jitable(**{**options, **not_copied})(function)
    for name, signature in _registry.method_signatures.items():
        if name not in _known_methods:
            _known_methods.add(name)
            overload_method(types.BaseNamedTuple, name, strict=False, jit_options=dict(options))(_method_chooser(name, signature))


def _method_chooser(name: str, signature: inspect.Signature) -> Callable[..., Any]:
    def choose(self: Any, *args: Any) -> Any:
        return getattr(self.instance_class, name, None)

    choose.__signature__ = signature  # type: ignore[attr-defined]
    return choose


@contextlib.contextmanager
def _translation_only() -> Iterator[None]:
    """Numba stops at LLVM's language, one text for each function: it links, checks and optimises nothing."""
    import llvmlite.binding as llvm
    from numba.core import cgutils, codegen, untyped_passes, utils
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.typing import context

    def nothing(*_: Any) -> None:
        return None

    def keep_text(library: Any, module: Any) -> None:
        text = str(llvm.parse_assembly(cgutils.normalize_ir_text(str(module))))  # in LLVM's own spelling
        library._texts = (*getattr(library, "_texts", ()), text)
        # should somebody compile in the ordinary way what calls this function
        library._get_module_for_linking = lambda: linked(_texts_of(library))

    def finished(library: Any) -> None:
        library._finalized = True

    def no_address(library: Any, name: str) -> int:
        library._ensure_finalized()
        return 0

    order, orders = utils.order_by_target_specificity, dict[Any, Any]()

    def known_order(target: Any, templates: Any, fnkey: str = "") -> Any:  # Numba asks thousands of times
        key = (target, *templates)
        if key not in orders:
            orders[key] = order(target, templates, fnkey)
        return orders[key]

    prune = untyped_passes.DeadBranchPrune.run_pass

    def answer_and_prune(its_pass: Any, state: Any) -> bool:
        _answer_by_type(state)
        return prune(its_pass, state)

    changes = [
        (utils, "order_by_target_specificity", known_order),
        (context, "order_by_target_specificity", known_order),
        (untyped_passes.DeadBranchPrune, "run_pass", answer_and_prune),
        (codegen.CPUCodeLibrary, "add_ir_module", keep_text),
        (codegen.CPUCodeLibrary, "finalize", finished),
        (codegen.JITCodeLibrary, "get_pointer_to_function", no_address),
        (codegen.JITCPUCodegen, "set_env", nothing),
    ]
    with global_compiler_lock, contextlib.ExitStack() as stack:
        for owner, name, replacement in changes:
            stack.enter_context(_replaced(owner, name, replacement))
        yield


def _answer_by_type(state: Any) -> None:
    """Put the answer in place of a call whose method says True or False for the whole class: `if family.splits()`.

    Numba then leaves the other branch out, with all that it would compile for it: a seventh of the time.
    """
    from numba import types
    from numba.core import ir
    from numba.core.ir_utils import get_definition, guard

    program = state.func_ir

    def kind(variable: Any) -> Any:
        """The type of an argument, or of a field of one."""
        definition = guard(get_definition, program, variable)
        if isinstance(definition, ir.Arg):
            return state.args[definition.index]
        if isinstance(definition, ir.Expr) and definition.op == "getattr":
            owner = kind(definition.value)
            if isinstance(owner, types.BaseNamedTuple) and definition.attr in owner.fields:
                return owner[owner.fields.index(definition.attr)]
        return None

    for call in (statement for block in program.blocks.values() for statement in block.find_insts(ir.Assign)):
        if not isinstance(call.value, ir.Expr) or call.value.op != "call" or call.value.args or call.value.kws:
            continue
        method = guard(get_definition, program, call.value.func)
        owner = kind(method.value) if isinstance(method, ir.Expr) and method.op == "getattr" else None
        if isinstance(owner, types.BaseNamedTuple):
            answer = constant_answer(getattr(owner.instance_class, method.attr, None))
            if answer is not None:
                definitions = program._definitions[call.target.name]
                where = definitions.index(call.value)
                call.value = definitions[where] = ir.Const(answer, loc=call.loc)


def constant_answer(method: Any) -> bool | None:
    """What a method answers that is `return True` or `return False` and nothing else; None of any other."""
    if not inspect.isfunction(method):
        return None
    steps = [step for step in dis.get_instructions(method) if step.opname not in ("RESUME", "NOP")]
    whole = [step.opname for step in steps] in (["LOAD_CONST", "RETURN_VALUE"], ["RETURN_CONST"])
    return steps[0].argval if whole and isinstance(steps[0].argval, bool) else None


@contextlib.contextmanager
def _replaced(owner: Any, name: str, replacement: Any) -> Iterator[None]:
    missing = object()
    getattr(owner, name)  # an error where this interface of Numba has moved
    before = vars(owner).get(name, missing)
    setattr(owner, name, replacement)
    try:
        yield
    finally:
        if before is missing:
            delattr(owner, name)
        else:
            setattr(owner, name, before)


def _texts_of(library: Any) -> list[str]:
    """What a function needs, itself first, each text once."""
    texts: dict[str, None] = {}
    ordinary: dict[str, None] = {}  # last: LLVM takes of them only what those before refer to
    waiting, seen = [library], {id(library)}
    while waiting:
        library = waiting.pop()
        if hasattr(library, "_texts"):
            texts |= dict.fromkeys(library._texts)
            new = [other for other in library._linking_libraries if id(other) not in seen]
            seen |= {id(other) for other in new}
            waiting += new
        else:  # compiled in the ordinary way before, with all that it calls
            ordinary[str(library._get_module_for_linking())] = None
    return [*texts, *ordinary]


def linked(texts: list[str]) -> Any:
    """One module, whose functions may be there again in another."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(texts[0])
    for text in texts[1:]:
        module.link_in(llvm.parse_assembly(text))
    for function in module.functions:
        if not function.is_declaration and function.linkage == llvm.Linkage.external:
            function.linkage = "linkonce_odr"
    return module
