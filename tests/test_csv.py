"""read_csv and Table: against Python's csv module and float(); what is refused, with its line."""

from __future__ import annotations

import csv
import io
import math
import random
import struct
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

import tessella as ts
from nested import listed
from tessella import data

FormatError = ts.errors.FormatError
ANY: Any = 1  # of no type that is asked for


def read(text: str | bytes, **options: Any) -> data.Table:
    file = io.BytesIO(text) if isinstance(text, bytes) else io.StringIO(text)
    return data.read_csv(file, **options)


def column(texts: list[str], **options: Any) -> ts.Tensor:
    table = read("".join(f"{text}\n" for text in texts), header=False, names=["x"], **options)
    return table["x"]


# --- numbers -------------------------------------------------------------------------------------

NUMBERS = [
    "0", "-0", "0.0", "-0.0", "1", "+1", "-1", ".5", "5.", "-.5e1", "1e5", "1E+5", "1e-5",
    "1e22", "1e23", "123456789012345678", "9007199254740993", "9007199254740992.5", "0.1",
    "3.14159", "2.5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "4.9e-324",
    "2.2250738585072011e-308", "2.2250738585072014e-308", "1.7976931348623157e308",
    "1.7976931348623159e308", "1e309", "-1e400", "1e-400", "-1e-400", "1e99999999999999999999",
    "1e-99999999999999999999", "0e999999999999", "inf", "-Infinity", "INF", "+inf", "nan",
    "-nan", "NaN", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
    "-9223372036854775809", "18446744073709551616", "1" * 400, "0." + "0" * 400 + "1",
    "1" + "0" * 330 + "e-330", "0." + "0" * 330 + "1e331", " 7 ", "\t8.5", "000123",
    "1e0000000000000000001",
]  # fmt: skip


DECIMAL = r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,4})?"


def bits(number: float) -> bytes:
    return struct.pack("<d", number) if number == number else b"nan"


def assert_bits(texts: list[str]) -> None:
    found = listed(column([*texts, "0.5"]))[:-1]
    wrong = [
        (text, value)
        for text, value in zip(texts, found, strict=True)
        if bits(value) != bits(float(text))
    ]
    assert not wrong


def test_numbers_have_the_bits_of_float() -> None:
    assert_bits(NUMBERS)


@given(st.lists(st.floats(width=64), min_size=1, max_size=50))
def test_repr_of_any_double_is_read_back(values: list[float]) -> None:
    assert_bits([repr(value) for value in values])


@given(
    st.lists(
        st.from_regex(DECIMAL, fullmatch=True),
        min_size=1, max_size=50,
    )
)  # fmt: skip
def test_any_decimal_has_the_bits_of_float(texts: list[str]) -> None:
    assert_bits(texts)


def test_many_random_decimals_have_the_bits_of_float(rng: random.Random) -> None:
    texts = []
    for _ in range(20_000):
        digits = str(rng.randrange(10 ** rng.randint(1, 20)))
        point = rng.randint(0, len(digits))
        texts.append(f"{digits[:point]}.{digits[point:]}e{rng.randint(-330, 310)}")
        texts.append(repr(struct.unpack("<d", rng.randbytes(8))[0]))
        texts.append(f"{rng.gauss(0, 100):.{rng.randint(0, 17)}f}")
    assert_bits(texts)


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=50))
def test_integers_are_exact(values: list[int]) -> None:
    found = column([str(value) for value in values])
    assert found.dtype is ts.int64 and found.tolist() == values


def test_integers_beyond_64_bits_are_floats() -> None:
    assert column(["1", "9223372036854775808"]).tolist() == [1.0, 2.0**63]


NO_NUMBERS = ["1_000", "0x10", "1e", "1e+", ".", "+", "-", "--1", "+-1", "1 2", "nan(1)", "infin",
              "1.2.3", "e5", "\u0661", "1,5", "1\0"]  # fmt: skip


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number_is_text(text: str) -> None:
    table = read(f'"{text}"\n1\n', header=False)
    assert table.kinds == {"x0": "text"} and table.texts("x0") == [text, "1"]


# --- tables --------------------------------------------------------------------------------------


def test_columns_are_of_the_narrowest_kind_that_holds_them() -> None:
    table = read("a,b,c,d,e\n1,2,x,,\n-2,2.5,3,4,NA\n")
    assert table.kinds == {"a": "int", "b": "float", "c": "text", "d": "float", "e": "float"}
    assert table["a"].dtype is ts.int64 and table["b"].dtype is ts.float64
    assert math.isnan(table["d"][0].item()) and table["d"][1].item() == 4
    assert table.categories("c") == ("3", "x") and table["c"].tolist() == [1, 0]


def test_kinds_do_not_depend_on_where_the_rows_are() -> None:
    """Those of the first block are looked at first."""
    plain = "1,1,1\n" * 200_000
    table = read("a,b,c\n" + plain + "2,2.5,x\n" + plain)
    assert table.kinds == {"a": "int", "b": "float", "c": "text"} and len(table) == 400_001
    assert table["a"].sum().item() == 400_002
    assert table["b"].sum().item() == 400_002.5
    assert table.categories("c") == ("1", "x") and table["c"].sum().item() == 1


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_tables_are_the_same_at_any_number_of_threads(threads: int) -> None:
    rng = random.Random(1)
    rows: list[Any] = [
        [rng.randrange(100), rng.gauss(0, 1), f'"{rng.choice("abcd")}\n{rng.randrange(3)}"']
        for _ in range(90_000)
    ]
    text = "i,f,t\n" + "".join(f"{a},{b!r},{c}\n" for a, b, c in rows)
    with ts.num_threads(threads):
        table = read(text)
    assert table["i"].tolist() == [row[0] for row in rows]
    assert table["f"].tolist() == [row[1] for row in rows]
    assert table.texts("t") == [row[2][1:-1] for row in rows]


TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=8)


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(TEXTS, min_size=n, max_size=n), min_size=1, max_size=12)
    ),
    st.sampled_from([",", ";", "\t", "|", " "]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.booleans(),
)
def test_what_csv_writes_is_read_back(
    rows: list[list[str]], delimiter: str, ending: str, quoting: Any, has_bom: bool
) -> None:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator=ending, quoting=quoting).writerows(rows)
    names = [f"n{i}" for i in range(len(rows[0]))]
    content = (b"\xef\xbb\xbf" if has_bom else b"") + file.getvalue().encode()
    options = {"dtype": dict.fromkeys(names, str), "header": False, "names": names, "missing": []}
    expected = list(csv.reader(io.StringIO(file.getvalue(), newline=""), delimiter=delimiter))
    assume(expected == rows)  # before Python 3.13, csv writes a lone CR without quotes
    table = read(content, delimiter=delimiter, **options)
    found = zip(*(table.texts(name) for name in names), strict=True)
    assert [list(row) for row in found] == rows


@given(st.lists(st.lists(st.floats() | st.integers(-99, 99), min_size=3, max_size=3), min_size=1))
def test_numbers_that_csv_writes_are_read_back(rows: list[list[float]]) -> None:
    file = io.StringIO()
    csv.writer(file).writerows([["a", "b", "c"], *rows])
    table = read(file.getvalue())
    for i, name in enumerate(table.names):
        assert [bits(x) for x in listed(table[name])] == [
            bits(float(row[i]) if table.kinds[name] == "float" else row[i]) for row in rows
        ]


@given(st.binary(max_size=200) | st.text(alphabet='0,"\r\n#a.-e', max_size=60).map(str.encode))
@settings(max_examples=300)
def test_any_bytes_are_a_table_or_a_format_error(content: bytes) -> None:
    choices: list[dict[str, Any]] = [{}, {"header": False, "comment": "#"}, {"quote": None}]
    for options in choices:
        try:
            table = read(content, **options)
        except FormatError as error:
            assert "line " in str(error) and "hint" in str(error)
        else:
            assert all(table[name].shape == (len(table),) for name in table)
            repr(table)


def test_headers_are_found_where_no_field_is_a_number() -> None:
    assert read("a,b\n1,2\n").names == ("a", "b")
    assert read("1,2\n3,4\n").names == ("x0", "x1")
    assert read("a,1\n3,4\n").names == ("x0", "x1")
    assert read("a,\n3,4\n").names == ("x0", "x1")
    assert read("1,2\n3,4\n", header=True).names == ("1", "2")
    assert read("a,b\nc,d\n", header=False).names == ("x0", "x1")
    assert len(read("a,b\nc,d\n")) == 1
    named = read("a,b\n1,2\n", names=["p", "q"])
    assert named.names == ("p", "q") and len(named) == 1
    assert read("1,2\n3,4\n", names=["p", "q"]).shape == (2, 2)


def test_blank_lines_and_comments_are_left_out() -> None:
    table = read('\n# one\na,b\n\n1,2\r\n#3,4\n\r\n5,"#6"\n\n', comment="#")
    assert table["a"].tolist() == [1, 5] and table.texts("b") == ["2", "#6"]
    assert read("a\n#1\n").texts("a") == ["#1"]


def test_empty_texts_are_empty_tables() -> None:
    assert read("").shape == (0, 0)
    assert read("\n\n").shape == (0, 0)
    empty = read("a,b\n")
    assert empty.shape == (0, 2) and empty.to_tensor().shape == (0, 2)
    assert read("", names=["a"]).shape == (0, 1)


def test_the_last_line_needs_no_end() -> None:
    assert read("a,b\n1,2").to_tensor().tolist() == [[1, 2]]
    assert read('a,b\n1,"2"').to_tensor().tolist() == [[1, 2]]
    assert read("a,b\n1,").texts is not None and math.isnan(read("a,b\n1,")["b"].item())


def test_columns_are_chosen_and_their_kinds_said() -> None:
    text = "zip,size,name\n01234,3,a\n00007,4,b\n"
    table = read(text, columns=["size", "zip"], dtype={"zip": str, "size": float})
    assert table.names == ("size", "zip")
    assert table.texts("zip") == ["01234", "00007"] and table["size"].dtype is ts.float64
    assert read(text, dtype={"size": ts.float32}).kinds["size"] == "float"
    assert read(text, dtype={"size": "int"}).kinds["size"] == "int"


def test_missing_words_are_those_that_are_named() -> None:
    table = read("a,b\n?,x\n3,?\n", missing=["?"])
    assert listed(table["a"])[1] == 3 and math.isnan(table["a"][0].item())
    assert table.texts("b") == ["x", None] and table["b"].tolist() == [0, -1]
    assert read("a\nNA\n", missing=[], header=True).texts("a") == ["NA"]


def test_files_are_read_by_path_and_in_their_encoding(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,n\nÄpfel,1\n", encoding="utf-8-sig")
    assert data.read_csv(path).texts("name") == ["Äpfel"]
    assert data.read_csv(str(path)).names == ("name", "n")
    path.write_text("name,n\nÄpfel,1\n", encoding="latin-1")
    assert data.read_csv(path, encoding="latin-1").texts("name") == ["Äpfel"]
    with pytest.raises(FormatError, match=r"line 2: byte 0 of .* is not UTF-8"):
        data.read_csv(path)
    with open(path, encoding="latin-1") as file:
        assert data.read_csv(file).texts("name") == ["Äpfel"]
    with open(path, "rb") as binary:
        assert data.read_csv(binary, encoding="latin-1").texts("name") == ["Äpfel"]


def test_many_categories_are_told_apart() -> None:
    rng = random.Random(2)
    words = [f"w{rng.randrange(30_000)}" + '"' * rng.randrange(2) for _ in range(60_000)]
    file = io.StringIO()
    csv.writer(file).writerows([["a"], *([word] for word in words)])
    table = read(file.getvalue())
    assert table.texts("a") == words and list(table.categories("a")) == sorted(set(words))
    mixed = read('a\nx"y\n"x""y"\nxy\n')
    assert mixed["a"].tolist() == [0, 0, 1]


def test_a_hundred_megabytes_take_less_than_a_second(tmp_path: Path) -> None:
    """Of the processor's time, all threads together: a tenth of the size stands for it."""
    rng = random.Random(1)
    lines = [",".join(f"{rng.gauss(0, 1):.6f}" for _ in range(10)) for _ in range(10_000)]
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,d,e,f,g,h,i,j\n" + "\n".join(lines * 11))

    def seconds() -> float:
        start = time.process_time()
        data.read_csv(path)
        return time.process_time() - start

    assert min(seconds() for _ in range(5)) < path.stat().st_size / 100e6


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, options, message",
    [
        ("a,b\n1,2\n3\n4,5\n", {}, "line 3: 1 field, and there are 2 columns\n  in '3'"),
        ("a,b\n1,2,3\n", {}, "line 2: 3 fields, and there are 2 columns\n  in '1,2,3'"),
        ('a,b\n"x\ny",2\n\n1\n', {}, "line 5: 1 field, and there are 2 columns\n  in '1'"),
        ("a,b\r1,2\r3,4,5\r", {}, "line 3: 3 fields"),
        ('a,b\n1,"2\n3,4\n', {}, "line 2: a quote is opened and never closed\n  in '1,\"2'"),
        ('a,b\n1,"2"3\n', {}, "line 2: text follows a closing quote"),
        ("a,a\n1,2\n", {}, "line 1: two columns are called 'a'"),
        ("a,b\n1,2\n", {"names": ["x"]}, "line 1: 2 columns, and 1 names were given"),
        ("a\n1\nx\n", {"dtype": {"a": int}}, "line 3: 'x' is no number, in column 'a'"),
        ("a\n1\n1.5\n", {"dtype": {"a": int}}, "line 3: '1.5' is no number, in column 'a'"),
        ("a,b\n1,2\nx,3\n", {"dtype": {"a": float}}, "line 3: 'x' is no number, in column 'a'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(text: str, options: Any, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text, **options)
    assert str(caught.value).startswith(f"data.read_csv: {message}")


def test_the_first_mistake_of_a_large_file_is_the_one_that_is_said() -> None:
    lines = ["1,2"] * 300_000
    for place in (290_000, 170_000, 240_000):
        lines[place] = "1"
    with pytest.raises(FormatError, match="line 170001: 1 field, and there are 2 columns"):
        read("\n".join(lines))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"delimiter": ",,"}, "delimiter is ',,'"),
        ({"delimiter": "1"}, "delimiter is '1'"),
        ({"delimiter": '"'}, "delimiter, quote, comment is"),
        ({"quote": "\n"}, r"quote is '\\n'"),
        ({"comment": "ä"}, "comment is 'ä'"),
        ({"header": 0}, "header must be True or False, got int"),
        ({"columns": ["c"]}, r"there is no column 'c'"),
        ({"dtype": {"c": int}}, r"there is no column 'c'"),
        ({"dtype": {"a": bool}}, "dtype of 'a' is"),
        ({"missing": "NA"}, "missing must be a list of texts, got str"),
        ({"encoding": "utf-99"}, "encoding is 'utf-99'"),
    ],
)
def test_arguments_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=f"data.read_csv: {message}"):
        read(b"a,b\n1,2\n", **options)
    with pytest.raises(TypeError, match="path must be a path, or a file that is open, got int"):
        data.read_csv(ANY)


def test_memory_is_counted_and_limited(live: int, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1.5,2\n" * 100_000)
    with ts.memory.track() as m:
        table = data.read_csv(path)
    assert m.live == 2 * 8 * 100_000
    assert 2_200_000 < m.peak < 2_300_000  # the text, and the columns
    del table
    size = ts.memory.stats().live
    with ts.memory.limit(size + 1_000_000), pytest.raises(ts.errors.OutOfMemory):
        data.read_csv(path)
    assert ts.memory.stats().live == size


def test_only_the_columns_are_in_the_scope_of_the_caller() -> None:
    arena = ts.memory.Arena("1MB")
    with ts.memory.use(arena):
        table = read("a,b\n" + "1,2\n" * 1000)
    assert arena.live == 2 * 8 * 1000 and table["a"].allocator == arena


# --- Table ---------------------------------------------------------------------------------------


def table() -> data.Table:
    return data.Table({"n": [1, 2, 3], "x": ts.tensor([0.5, 1.5, 2.5]), "t": ["b", None, "a"]})


def test_tables_hold_columns_of_numbers_and_text() -> None:
    found = table()
    assert found.shape == (3, 3) and len(found) == 3 and list(found) == ["n", "x", "t"]
    assert found.kinds == {"n": "int", "x": "float", "t": "text"} and "t" in found
    assert found.texts("t") == ["b", None, "a"]
    assert found.to_tensor(["x", "n"]).tolist() == [[0.5, 1.0], [1.5, 2.0], [2.5, 3.0]]
    assert found.to_tensor("n", ts.int32).dtype is ts.int32
    assert found.take([2, 0]).texts("t") == ["a", "b"]
    assert found.take(slice(1, None))["n"].tolist() == [2, 3]
    assert found.drop("t").to_tensor(dtype=ts.float64).shape == (3, 2)
    assert found.take(found["t"] >= 0).one_hot("t", ts.int64).tolist() == [[0, 1], [1, 0]]
    assert repr(found) == "Table 3 rows x 3 columns\nn    x  t\n1  0.5  b\n2  1.5\n3  2.5  a"
    assert repr(data.Table({"n": list(range(9))})).endswith("4\n…")


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda t: t["q"], r"data.Table: there is no column 'q'"),
        (lambda t: t.to_tensor(), "data.Table.to_tensor: column 't' holds text"),
        (lambda t: t.categories("n"), "data.Table.categories: column 'n' holds numbers"),
        (lambda t: t.one_hot("t"), "data.Table.one_hot: row 1 of column 't' is missing"),
        (lambda t: t.select(["q"]), "data.Table.select: there is no column 'q'"),
        (lambda t: t.drop("q"), "data.Table.drop: there is no column 'q'"),
        (lambda t: data.Table({"a": [1], "b": [1, 2]}), "data.Table: column 'b' has 2 rows"),
        (lambda t: data.Table({"a": [[1]]}), "data.Table: shape of 'a' is"),
        (lambda t: data.Table({"a": ["x", 1]}), "data.Table: column 'a' must be text or None"),
        (lambda t: data.Table({ANY: [1]}), "data.Table: name of a column must be text, got int"),
    ],
)
def test_tables_say_what_is_wrong(act: Any, message: str) -> None:
    with pytest.raises(ts.errors.TessellaError, match=message):
        act(table())
