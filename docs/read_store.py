#!/usr/bin/env python3
"""Lists the entities of a file of store.Save, or of the last checkpoint in the folder of a store.

Each line is an entity with its components, or an element of a container. store-format.md describes the files.
Usage: read_store.py FILE, or read_store.py FOLDER.
"""

import json
import os
import re
import struct
import sys

CRC_TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    CRC_TABLE.append(n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def read_blocks(file):
    """Yields blocks as (kind, index, number of the first element, number of elements, content).

    A list of blocks (kind 8) has the headers of the blocks that follow it. The function yields these blocks,
    but not the list. It does not yield the last block of the file (kind 6).
    """
    begin = file.read(16)
    if begin[:14] != b"vast world\r\n\x1a\x00":
        sys.exit("the file does not hold a world")
    version = int.from_bytes(begin[14:], "little")
    if version not in (1, 2, 3):
        sys.exit(f"version {version} of the format is unknown")
    blocks, listed = 0, b""
    while True:
        header, listed = listed[:40] or file.read(40), listed[40:]
        if len(header) < 40:
            sys.exit(f"block {blocks}: the file ends too early")
        kind, index, first, count, size, crc, crc_header = struct.unpack("<IIQQQII", header)
        content = file.read(size)
        if crc32c(header[:36]) != crc_header or len(content) < size or crc32c(content) != crc:
            sys.exit(f"block {blocks} is damaged")
        if kind == 6:
            if count != blocks:
                sys.exit(f"the file has {blocks} blocks, and its last block counts {count}")
            return
        blocks += 1
        if kind == 8:
            listed = content[:count * 40]
            continue
        yield kind, index, first, count, content


NUMBERS = {("bool", 1): "?", ("float32", 4): "<f", ("float64", 8): "<d"}


def in_memory(typ, data, at=0):
    """Returns the value of type typ at the offset `at` of data. data holds values in their memory layout."""
    kind, size = typ["kind"], typ.get("size", 0)
    if kind == "struct":
        if typ.get("name") == "vast.Entity":
            return entity_name(*struct.unpack_from("<II", data, at))
        return {f["name"]: in_memory(f["type"], data, at + f["offset"]) for f in typ.get("fields", [])}
    if kind == "array":
        step = typ["elem"].get("size", 0) if typ.get("len") else 0
        return [in_memory(typ["elem"], data, at + i * step) for i in range(typ.get("len", 0))]
    if kind in ("complex64", "complex128"):
        return complex(*struct.unpack_from("<2" + ("f" if size == 8 else "d"), data, at))
    if (kind, size) in NUMBERS:
        return struct.unpack_from(NUMBERS[kind, size], data, at)[0]
    return int.from_bytes(data[at:at + size], "little", signed=kind.startswith("int"))


class Encoded:
    """Reads encoded values one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def value(self, typ):
        kind = typ["kind"]
        if kind == "struct":
            values = {f["name"]: self.value(f["type"]) for f in typ.get("fields", [])}
            if typ.get("name") == "vast.Entity":
                return entity_name(values["slot"], values["generation"])
            return values
        if kind == "array":
            return [self.value(typ["elem"]) for _ in range(typ.get("len", 0))]
        if kind == "string":
            return self.take(self.varint()).decode("utf-8", "replace")
        if kind == "opaque":
            return self.take(self.varint())
        if kind in ("slice", "map"):
            n = self.varint()
            if n == 0:
                return None
            if kind == "slice":
                return [self.value(typ["elem"]) for _ in range(n - 1)]
            return [(self.value(typ["key"]), self.value(typ["elem"])) for _ in range(n - 1)]
        if kind == "bool":
            return self.take(1) != b"\x00"
        if kind == "uint8":
            return self.take(1)[0]
        if kind in ("float32", "float64", "complex64", "complex128"):
            return in_memory(typ, self.take(typ["size"]))
        n = self.varint()
        return n >> 1 ^ -(n & 1) if kind.startswith("int") else n


def entity_name(slot, generation):
    return f"{slot}.{generation & 0xFFFFFF}"


def bits(words):
    """Yields the numbers of the set bits in ascending order. words maps the number of a word to the word."""
    for word in sorted(words):
        for bit in range(64):
            if words[word] >> bit & 1:
                yield word * 64 + bit


def elements_of(container, arrays):
    """Yields the elements of a container as text.

    arrays maps (kind, number) to {number of the element: value}.
    """
    def of(kind, number=0):
        return arrays.get((kind, number), {})

    kind, length = container["kind"], container.get("len", 0)
    if kind in ("array", "events"):
        yield from (f"[{i}]={of('elements')[i]}" for i in range(length))
    elif kind == "pool":
        words, apart = of("pool words"), of("pool generations")
        for slot in bits(of("pool live")):
            word = words[slot // 64]
            generation = apart[slot] if word["apart"] >> slot % 64 & 1 else word["generation"]
            yield f" {entity_name(slot, generation)}={of('pool elements').get(slot, {})}"
    elif kind == "dense":
        for slot, s in sorted(of("slots").items()):
            if s["number"] > 0:
                yield f" {entity_name(slot, s['generation'])}={of('elements').get(s['number'] - 1, {})}"
    elif kind == "table":
        for i in range(length):
            row = {name: of("field", n)[i] for n, name in enumerate(container["fields"])}
            yield f"[{i}]={row}"
    elif kind == "lists":
        at = 0
        for _, one in sorted(of("lists").items()):
            values = [of("elements")[at + i] for i in range(one["Len"])]
            at += one["Len"]
            yield f" {one['Place']}.{one['Generation']}={values}"
    else:
        yield from (f"[{p['Key']}]={p['Value']}" for _, p in sorted(of("pairs").items()))


def manifest_of(path):
    with open(path, "rb") as file:
        for _, _, _, _, content in read_blocks(file):
            return json.loads(content)


def files_of(path):
    """Returns the files that hold a checkpoint, oldest first: a complete file, and deltas."""
    files = [path]
    kept = manifest_of(path).get("kept", {})
    while "base" in kept:
        path = os.path.join(os.path.dirname(path), f"checkpoint-{kept['base']:08}")
        base = manifest_of(path)["kept"]
        if base.get("moment") != kept["baseMoment"] or base["store"] != kept["store"]:
            sys.exit(f"{path} is not the checkpoint that {files[0]} continues")
        files.insert(0, path)
        kept = base
    return files


def read(path, found, values):
    """Reads one of the files of a checkpoint into found and values, and returns the manifest of the file.

    The values of the file replace those of older files.

    found maps (name of the column, name of the container, kind, number) to {number of the element: value}.
    values maps the name of a column to its values in the order of slots.
    """
    with open(path, "rb") as file:
        for kind, index, first, count, content in read_blocks(file):
            if kind == 1:
                manifest = json.loads(content)
                known = [key_of(manifest, array) for array in manifest["arrays"]]
                for key in set(found) - set(known):
                    del found[key]
                for key, array in zip(known, manifest["arrays"]):
                    of = found.setdefault(key, {})
                    for i in [i for i in of if i >= array["len"] or array.get("whole")]:
                        del of[i]
                for column in manifest["columns"]:
                    if column.get("whole"):
                        values.pop(column["name"], None)
            elif kind == 3:
                array = manifest["arrays"][index]
                size = array["type"]["size"]
                for i in range(count):
                    found[known[index]][first + i] = in_memory(array["type"], content, i * size)
            elif kind == 4:
                column = manifest["columns"][index]
                encoded = Encoded(content)
                for _ in range(count):
                    value = Encoded(encoded.take(encoded.varint()))
                    values.setdefault(column["name"], []).append(value.value(column["type"]))
            elif kind == 7:
                for i in range(first, first + count):
                    found[known[index]].pop(i, None)
    return manifest


def key_of(manifest, array):
    """Returns the key of an array. The array has this key in all files of a store."""
    column, container = array["column"], array.get("container", 0)
    return (manifest["columns"][column]["name"] if column >= 0 else "",
            manifest["containers"][container - 1]["name"] if container > 0 else "",
            array["kind"], array.get("number", 0))


def main(path):
    found, named = {}, {}
    for file in files_of(path):
        manifest = read(file, found, named)
    arrays = {}  # maps (kind, column) to {number of the element: value}
    contents = {}  # maps the number of a container to {(kind, number): {number of the element: value}}
    values = {i: named[c["name"]] for i, c in enumerate(manifest["columns"]) if c["name"] in named}
    for array in manifest["arrays"]:
        of = found[key_of(manifest, array)]
        if "container" in array:
            contents.setdefault(array["container"], {})[array["kind"], array.get("number", 0)] = of
        else:
            arrays.setdefault((array["kind"], array["column"]), of)

    components = {}  # maps a slot to the texts of its components
    for i, column in enumerate(manifest["columns"]):
        if column.get("private"):
            continue
        elements = arrays.get(("elements", i), {})
        pool = arrays.get(("pool elements", i), {})
        for n, slot in enumerate(bits(arrays.get(("presence", i), {}))):
            text = column["name"]
            if column["storage"] == "heap":
                text += f"={values[i][n]}"
            elif column["storage"] == "sparse":
                text += f"={pool[elements[slot][0]]['value']}"
            elif column["storage"] == "dense" and "pool" not in column and slot in elements:
                text += f"={elements[slot]}"
            components.setdefault(slot, []).append(text)
    generations = arrays.get(("generations", -1), {})
    for slot in bits(arrays.get(("live", -1), {})):
        print(entity_name(slot, generations[slot]), *components.get(slot, []))
    for i, container in enumerate(manifest.get("containers", [])):
        for text in elements_of(container, contents.get(i + 1, {})):
            print(container["name"] + text)


def newest(path):
    """Returns the path of the last checkpoint in the folder path. If path is a file, returns path."""
    if not os.path.isdir(path):
        return path
    checkpoints = [name for name in os.listdir(path)
                   if re.fullmatch(r"checkpoint-[0-9]+", name)]
    if not checkpoints:
        sys.exit(f"{path} holds no checkpoint")
    return os.path.join(path, max(checkpoints, key=lambda name: int(name[11:])))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(newest(sys.argv[1]))
