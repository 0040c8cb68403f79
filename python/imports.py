# imports.py - the DLLs that files for Windows ask for: python/imports.py FILE..., a line "FILE: DLL" for each
# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of imports, also of those that are loaded when they are first called, of PE files of 64 bits."""
import os
import struct
import sys

IMPORTS, DELAYED = (1, 20, 12), (13, 32, 4) # the directory, bytes of an entry, where in it the name is


def imports(path):
    with open(path, 'rb') as f:
        data = f.read()

    def number(size, at):
        return struct.unpack_from({2: '<H', 4: '<I'}[size], data, at)[0]
    header = number(4, 0x3c)
    if data[:2] != b'MZ' or data[header:header + 4] != b'PE\0\0' or number(2, header + 24) != 0x20b:
        sys.exit('%s is no PE file of 64 bits' % path)
    first = header + 24 + number(2, header + 20) # sections
    sections = [struct.unpack_from('<IIII', data, first + 40 * i + 8) for i in range(number(2, header + 6))]

    def place(address):
        for size, at, raw_size, raw in sections:
            if at <= address < at + max(size, raw_size):
                return raw + address - at
        return sys.exit('%s has no section for address %#x' % (path, address))
    for directory, entry, name in (IMPORTS, DELAYED):
        table = number(4, header + 24 + 112 + 8 * directory)
        at = place(table) if table else 0
        while table and number(4, at + name):
            text = place(number(4, at + name))
            yield data[text:data.index(b'\0', text)].decode('ascii')
            at += entry


for file in sys.argv[1:]:
    for dll in imports(file):
        print('%s: %s' % (os.path.basename(file), dll))
