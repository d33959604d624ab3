"""Zip archives, as .npz and .pt files are: where their members lie, and their bytes.

Read wholly and strictly before any member is: an archive is refused whose members overlap (one
stretch of bytes could then stand for any number of them) or whose sizes cannot be, so that what a
file takes in memory is bounded by its own size. Members are stored as they are or deflated.
"""

from __future__ import annotations

import struct
import zlib

from tessella import _core
from tessella._core import Tensor
from tessella.dtypes import uint8
from tessella.hints import Any, Iterator
from tessella.io import file_errors
from tessella.io.sources import Mapped, Source

_STORED, _DEFLATED = 0, 8
_MOST_INFLATION = 1032  # deflate's: 258 bytes out of 2 bits
_PIECE = 1 << 18  # bytes of compressed data that are read at once

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_ENCRYPTED, _UTF8 = 1, 1 << 11


class Member:
    """One file of an archive: its place, its sizes, its checksum."""

    __slots__ = ("checksum", "name", "offset", "packed", "size", "start", "way")

    def __init__(self, name: str, way: int, checksum: int, packed: int, size: int, offset: int):
        self.name = name
        self.way = way
        self.checksum = checksum
        self.packed = packed  # bytes in the archive
        self.size = size
        self.offset = offset  # of its own header
        self.start = 0  # of its bytes


class Archive:
    """The members of an archive by name."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.members: dict[str, Member] = {}
        start, size, count = _directory(source)
        for member in _members(source, start, size, count):
            if member.name in self.members:
                raise file_errors.member_twice(source.name, start, member.name)
            self.members[member.name] = member
        end, last = 0, ""
        for member in sorted(self.members.values(), key=lambda each: each.offset):
            member.start = _start_of(source, member)
            if member.offset < end or member.start + member.packed > start:
                raise file_errors.members_overlap(source.name, member.offset, last, member.name)
            end, last = member.start + member.packed, member.name

    def find(self, name: str) -> Member | None:
        """Give the member of a name within the one folder that PyTorch puts everything in."""
        return next((m for n, m in self.members.items() if n.partition("/")[2] == name), None)

    def read(self, member: Member, most: int) -> bytes:
        """Give the bytes of a small member."""
        if member.size > most:
            raise file_errors.member_size(self.source.name, member.name, member.size, most)
        return bytes(memoryview(self.flat(member)))

    def flat(self, member: Member) -> Tensor:
        """Give the bytes of a member as a uint8 tensor: over the file, if it is mapped."""
        if member.way == _STORED:
            out = self.source.flat(member.start, member.size)
            if type(self.source) is Mapped:  # to read all of it now is not what a mapping is for
                return out
        else:
            out = self._inflate(member)
        if out.size and zlib.crc32(memoryview(out)) != member.checksum:
            raise file_errors.checksum(self.source.name, member.start, member.name)
        return out

    def _inflate(self, member: Member) -> Tensor:
        out = _core.empty((member.size,), uint8.id)
        target = memoryview(out)
        done = 0
        for piece in self._inflated(member):
            if done + len(piece) > member.size:
                raise file_errors.inflation(self.source.name, member.start, member.name)
            target[done : done + len(piece)] = piece
            done += len(piece)
        if done < member.size:
            raise file_errors.inflation(self.source.name, member.start, member.name)
        return out

    def _inflated(self, member: Member) -> Iterator[bytes]:
        """Inflate a piece at a time, never more than a few megabytes."""
        stream = zlib.decompressobj(-zlib.MAX_WBITS)
        place, end = member.start, member.start + member.packed
        try:
            while place < end and not stream.eof:
                data = self.source.read(place, min(_PIECE, end - place))
                place += len(data)
                while data and not stream.eof:
                    yield stream.decompress(data, _PIECE * 4)
                    data = stream.unconsumed_tail
        except zlib.error:
            raise file_errors.inflation(self.source.name, place, member.name) from None


# --- the directory -------------------------------------------------------------------------------


def _directory(source: Source) -> tuple[int, int, int]:
    """Find the table of members at the end: its start, its bytes, the number of members."""
    tail = min(source.size, _END.size + 0xFFFF)  # a comment may follow
    end = source.read(source.size - tail, tail)
    at = end.rfind(b"PK\5\6")
    if at < 0 or len(end) - at < _END.size:
        raise file_errors.no_directory(source.name, source.size)
    _, disk, first, here, count, size, start, comment = _END.unpack_from(end, at)
    place = source.size - tail + at
    is_whole = len(end) - at == _END.size + comment
    is_large = at >= _LOCATOR.size and end[at - _LOCATOR.size :].startswith(b"PK\6\7")
    if not is_whole or (not is_large and (disk or first or here != count)):
        raise file_errors.no_directory(source.name, place)
    if is_large:
        place, start, size, count = _directory_64(source, place - _LOCATOR.size)
    if start + size != place:  # the table is what comes before its end
        raise file_errors.no_directory(source.name, place)
    return start, size, count


def _directory_64(source: Source, place: int) -> tuple[int, int, int, int]:
    """Read the record that large archives have before the usual one, and PyTorch's always."""
    _, _, record, _ = _LOCATOR.unpack(source.read(place, _LOCATOR.size))
    if record > place - _END_64.size:
        raise file_errors.no_directory(source.name, place)
    parts = _END_64.unpack(source.read(record, _END_64.size))
    if parts[0] != b"PK\6\6":
        raise file_errors.no_directory(source.name, record)
    count, size, start = parts[7:10]
    return record, start, size, count


def _members(source: Source, start: int, size: int, count: int) -> Iterator[Member]:
    table = source.read(start, size)
    place = 0
    for _ in range(count):
        if len(table) - place < _CENTRAL.size or table[place : place + 4] != b"PK\1\2":
            raise file_errors.no_directory(source.name, start + place)
        parts = _CENTRAL.unpack_from(table, place)
        name_end = place + _CENTRAL.size + parts[10]
        extra_end = name_end + parts[11]
        if extra_end + parts[12] > len(table):
            raise file_errors.no_directory(source.name, start + place)
        raw = table[place + _CENTRAL.size : name_end]
        yield _member(source, start + place, parts, raw, table[name_end:extra_end])
        place = extra_end + parts[12]
    if place != len(table):
        raise file_errors.no_directory(source.name, start + place)


def _member(source: Source, at: int, parts: tuple[Any, ...], raw: bytes, extra: bytes) -> Member:
    flags, way, checksum = parts[3], parts[4], parts[7]
    packed, size, offset = _wide([parts[8], parts[9], parts[16]], extra)
    try:
        name = raw.decode("utf-8" if flags & _UTF8 else "cp437")
    except UnicodeDecodeError:
        raise file_errors.no_directory(source.name, at) from None
    if flags & _ENCRYPTED or way not in (_STORED, _DEFLATED):
        raise file_errors.member_kind(source.name, at, name, bool(flags & _ENCRYPTED))
    most = packed if way == _STORED else packed * _MOST_INFLATION
    if size > most or (way == _STORED and size != packed):
        raise file_errors.member_sizes(source.name, at, name, packed, size)
    return Member(name, way, checksum, packed, size, offset)


def _wide(narrow: list[int], extra: bytes) -> tuple[int, int, int]:
    """Give packed size, size and offset, from the 64-bit field where 32 bits are too few."""
    packed, size, offset = narrow
    wide: list[int] = []
    place = 0
    while len(extra) - place >= 4 and not wide:
        kind, length = struct.unpack_from("<2H", extra, place)
        if kind == 1:
            count = min(length, len(extra) - place - 4, 24) // 8
            wide = list(struct.unpack_from(f"<{count}Q", extra, place + 4))
        place += 4 + length
    # The field holds those that did not fit, in this order.
    if size == 0xFFFFFFFF and wide:
        size = wide.pop(0)
    if packed == 0xFFFFFFFF and wide:
        packed = wide.pop(0)
    if offset == 0xFFFFFFFF and wide:
        offset = wide.pop(0)
    return packed, size, offset


def _start_of(source: Source, member: Member) -> int:
    """Give where a member's bytes begin: after its own header, of which only lengths are used."""
    parts = _LOCAL.unpack(source.read(member.offset, _LOCAL.size))
    if parts[0] != b"PK\3\4":
        raise file_errors.no_member(source.name, member.offset, member.name)
    return member.offset + _LOCAL.size + int(parts[9]) + int(parts[10])
