"""Chats as text: templates, as files of language models carry them, filled in by Jinja.

Templates come with models, so they are foreign code: they run in Jinja's sandbox, where they can
neither change what they are given nor reach anything else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

from tessella.errors import TessellaError
from tessella.located import located
from tessella.text import text_errors


@located("text.render_chat")
def render_chat(
    template: str,
    messages: Sequence[Mapping[str, object]],
    add_generation_prompt: bool = True,
    **variables: object,
) -> str:
    """Give a chat as the text that a model was trained on.

    Each message is a dict with a role and its content. `add_generation_prompt` adds what comes
    before an answer. Further variables are what the template reads: bos_token, eos_token, tools.

    >>> template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\\n{% endfor %}"
    >>> template += "{% if add_generation_prompt %}<assistant>{% endif %}"
    >>> ts.text.render_chat(template, [{"role": "user", "content": "Hello"}])
    '<user>Hello\\n<assistant>'
    """
    if not isinstance(template, str):
        raise text_errors.no_text("template", template)
    if not isinstance(messages, list | tuple) or not all(
        isinstance(message, Mapping) for message in messages
    ):
        raise text_errors.no_messages(messages)
    jinja2 = need_jinja()
    given = {**variables, "messages": messages, "add_generation_prompt": add_generation_prompt}
    try:
        rendered: str = _compiled(template).render(given)
        return rendered
    except TessellaError:
        raise
    except jinja2.TemplateSyntaxError as error:
        raise text_errors.template_syntax(error.lineno, str(error.message)) from None
    except Exception as error:  # a template may do whatever an expression can
        raise text_errors.template_failed(f"{type(error).__name__}: {error}") from None


def need_jinja() -> Any:
    """Give the package, or say how it is installed."""
    try:
        import jinja2
    except ImportError:
        raise text_errors.no_package("jinja2", "fills in templates of chats") from None
    return jinja2


@lru_cache(maxsize=16)
def _compiled(template: str) -> Any:
    return _environment().from_string(template)


@lru_cache(maxsize=1)
def _environment() -> Any:
    """Give the environment that templates are written for."""
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """Marks what a model said, for those who train on it: here it is text like any other."""

        tags = {"generation"}

        def parse(self, parser: Any) -> Any:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = _now
    return environment


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Give JSON as it is: Jinja's own filter writes <, > and & for pages of a browser."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _refuse(why: object) -> NoReturn:
    raise text_errors.template_refused(str(why))


def _now(form: str) -> str:
    return datetime.now().strftime(form)
