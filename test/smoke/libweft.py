# SPDX-License-Identifier: BSD-3-Clause
"""libweft for tests, by ctypes: as any language with calls of C has it. See lib/client/weft.h."""
import ctypes

READ, WRITE, UIO = 1, 2, 4


class Opts(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("entries", ctypes.c_uint32), ("buffer", ctypes.c_uint64),
                ("spin_ns", ctypes.c_int64), ("map_cache", ctypes.c_uint64)]


def load(path):
    """The library, its calls with the types that they have."""
    lib = ctypes.CDLL(path)
    pointer, number, size = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t
    lib.weft_error.restype = ctypes.c_char_p
    for name, types in {
            "weft_attach": (ctypes.c_char_p, pointer, pointer),
            "weft_open": (pointer, ctypes.c_char_p, ctypes.c_int, pointer),
            "weft_read": (pointer, number, ctypes.c_char_p, size),
            "weft_write": (pointer, number, ctypes.c_char_p, size),
            "weft_error": (pointer,), "weft_detach": (pointer,), "weft_close": (pointer,)}.items():
        getattr(lib, name).argtypes = types
    return lib


def attach(lib, host, opts=None):
    """What weft_attach() returns, and what it attached."""
    weft = ctypes.c_void_p()
    rc = lib.weft_attach(host.encode(), None if opts is None else ctypes.byref(opts), ctypes.byref(weft))
    return rc, weft


def open_region(lib, weft, name, flags=READ | WRITE):
    region = ctypes.c_void_p()
    return lib.weft_open(weft, name.encode(), flags, ctypes.byref(region)), region


def read(lib, region, offset, n):
    data = ctypes.create_string_buffer(n)
    return lib.weft_read(region, offset, data, n), data.raw
