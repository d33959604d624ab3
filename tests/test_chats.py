"""Chats: templates in the manner of three families of models, and what is refused."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

import pytest

import tessella as ts
from tessella.text import render_chat

CHATML = """
{%- for message in messages %}
    {{- '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
"""

LLAMA_2 = """
{%- set offset = 0 %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system = '<<SYS>>\n' + messages[0]['content'] + '\n<</SYS>>\n\n' %}
    {%- set offset = 1 %}
{%- else %}
    {%- set system = '' %}
{%- endif %}
{%- for message in messages[offset:] %}
    {%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('roles must alternate: user, assistant, user, ...') }}
    {%- endif %}
    {%- if message.role == 'user' %}
        {%- set content = (system if loop.first else '') + message.content %}
        {{- bos_token + '[INST] ' + content.strip() + ' [/INST]' }}
    {%- else %}
        {{- ' ' + message.content | trim + ' ' + eos_token }}
    {%- endif %}
{%- endfor %}
"""

LLAMA_3 = """
{%- for message in messages %}
    {%- set head = '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' %}
    {%- set content = head + message.content | trim + '<|eot_id|>' %}
    {{- bos_token + content if loop.first else content }}
{%- endfor %}
{%- if tools is defined and tools %}{{ tools | tojson }}{% endif %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
"""

CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": " Hi? "},
    {"role": "assistant", "content": "Hello!"},
    {"role": "user", "content": "<b> & \u4f60"},
]


def test_chatml() -> None:
    assert render_chat(CHATML, CHAT) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi? <|im_end|>\n"
        "<|im_start|>assistant\nHello!<|im_end|>\n<|im_start|>user\n<b> & \u4f60<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert render_chat(CHATML, CHAT[:1], add_generation_prompt=False) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
    )
    assert render_chat(CHATML, [], add_generation_prompt=False) == ""


def test_llama_2() -> None:
    assert render_chat(LLAMA_2, CHAT, bos_token="<s>", eos_token="</s>") == (
        "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\n Hi? [/INST] Hello! </s>"
        "<s>[INST] <b> & \u4f60 [/INST]"
    )


def test_llama_3() -> None:
    rendered = render_chat(LLAMA_3, CHAT[:2], bos_token="<|begin_of_text|>")
    assert rendered == (
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nHi?<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    )


def test_json_is_written_as_it_is() -> None:
    tools = [{"name": "<f> & '\u4f60'", "n": 1}]
    assert render_chat("{{ tools | tojson }}", [], tools=tools) == (
        """[{"name": "<f> & '\u4f60'", "n": 1}]"""
    )
    assert render_chat("{{ [1] | tojson(indent=2) }}", []) == "[\n  1\n]"


def test_blocks_take_their_line_along() -> None:
    template = "{% for m in messages %}\n  {% if loop.first %}\n{{ m.content }}\n  {% endif %}\n"
    template += "{% endfor %}"
    assert render_chat(template, [{"content": "a"}, {"content": "b"}]) == "a\n"


def test_loops_can_be_left() -> None:
    template = "{% for m in messages %}{{ m.content }}{% break %}{% endfor %}"
    assert render_chat(template, [{"content": "a"}, {"content": "b"}]) == "a"


def test_parts_marked_as_generated_are_text() -> None:
    part = "{% generation %}{{ m.content }}{% endgeneration %}"
    template = f"{{% for m in messages %}}{part}{{% endfor %}}"
    assert render_chat(template, [{"content": "a"}, {"content": "b"}]) == "ab"


def test_templates_may_ask_for_the_date() -> None:
    before = datetime.now()
    found = datetime.strptime(render_chat("{{ strftime_now('%Y-%m-%d %H:%M:%S') }}", []),
                              "%Y-%m-%d %H:%M:%S")  # fmt: skip
    assert before.replace(microsecond=0) <= found <= datetime.now()


def test_templates_refuse_messages() -> None:
    with pytest.raises(ts.errors.InvalidArgument) as caught:
        render_chat(LLAMA_2, CHAT[2:], bos_token="<s>", eos_token="</s>")
    assert str(caught.value).startswith(
        "text.render_chat: the template refuses these messages: roles must alternate: user, ass"
    )


WRONG: list[tuple[str, str]] = [
    ("{{ messages", "line 1 of the template is wrong: "),
    ("\n\n{% for %}", "line 3 of the template is wrong: "),
    ("{{ none_such.attribute }}", "the template failed: UndefinedError: 'none_such' is undefined"),
    ("{{ 1 / 0 }}", "the template failed: ZeroDivisionError: "),
    ("{{ messages.append(1) }}", "the template failed: SecurityError: "),
    ("{{ ''.__class__.__mro__ }}", "the template failed: SecurityError: "),
    ("{{ raise_exception.__globals__.os }}", "the template failed: SecurityError: "),
    ("{% include 'x' %}", "the template failed: "),
    ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "the template failed: RecursionError: "),
    ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "the template failed: RecursionError: "),
    ("{% for i in range(10 ** 9) %}{% endfor %}", "the template failed: OverflowError: "),
]


@pytest.mark.parametrize("template, what", WRONG)
def test_wrong_templates_are_explained(template: str, what: str) -> None:
    with pytest.raises(ts.errors.FormatError) as caught:
        render_chat(template, CHAT)
    assert str(caught.value).startswith(f"text.render_chat: {what}")


@pytest.mark.parametrize("messages", [None, "hi", {"role": "user"}, ["hi"], [None]])
def test_messages_are_dicts(messages: Any) -> None:
    with pytest.raises(ts.errors.ArgumentError, match="messages must be a list of dicts, got "):
        render_chat(CHATML, messages)


def test_templates_are_text() -> None:
    with pytest.raises(ts.errors.ArgumentError, match="template must be text, got NoneType"):
        render_chat(None, CHAT)  # type: ignore[arg-type]


def test_the_package_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ts.errors.PreconditionFailed) as caught:
        render_chat(CHATML, CHAT)
    message = str(caught.value)
    assert "the package jinja2 fills in templates of chats, and it is not installed" in message
    assert 'hint: pip install "tessella[jinja2]"' in message
