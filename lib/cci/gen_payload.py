# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""Codecs of CCI payloads from layouts.txt: gen_payload.py opcodes|header|code|rows LAYOUTS OUTPUT.

What is made is plain C: a struct in host byte order, loads and stores of single fields at constant
offsets, and rows that describe the same to programs (weft_cci_layout.h).
"""

import re
import sys
from collections import namedtuple

# kind: number, bytes, words, list (of entries or of numbers) or data (a list of bytes). size: bytes on the
# wire, of a list those of one element. count: the field that says how many; "*" if the length does. must: what it may
# be, if a request by names must have it.
Field = namedtuple('Field', 'name kind size at n count entry must')
Layout = namedtuple('Layout', 'name text fields len list min')
Command = namedtuple('Command', 'opcode key name req rsp')

PUBLIC = '''/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by lib/cci/gen_payload.py from lib/cci/layouts.txt: change those. */
'''


class Tables:
    """What layouts.txt says."""

    def __init__(self, path):
        self.entries, self.commands, self.may = {}, {}, {}
        with open(path, encoding='utf-8') as f:
            for number, line in enumerate(f, 1):
                line = line.split('#')[0].rstrip()
                try:
                    if line:
                        self._line(line)
                except (KeyError, ValueError) as e:
                    sys.exit('%s:%d: %s: %r' % (path, number, line.strip(), e))
        self.commands = dict(sorted(self.commands.items()))
        for c in self.commands.values():
            if c.req is not None and any(f.must == '?' for f in c.req.fields):
                sys.exit('%s: %s: nothing says what a field may be' % (path, c.key))

    def _line(self, line):
        words = line.split()
        if line[0] == '\t':
            last = list(self.commands.values())[-1]
            if words[0] == 'may':
                self.commands[last.opcode] = last._replace(req=self._say(last.req, words[1], ' '.join(words[2:])))
                return
            if getattr(last, words[0]) is not None or words[0] not in ('req', 'rsp'):
                raise ValueError('not another one')
            if words[1] == 'as':
                same = getattr(self.commands[int(words[2], 16)], words[0])
                layout = same._replace(name=last.key + '_' + words[0], text=last.name)
            else:
                layout = self._layout(last.key + '_' + words[0], last.name, words[1:])
            if words[0] == 'rsp' and layout.min != layout.len:
                raise ValueError('an answer is whole')
            if words[0] == 'rsp' and any(f.must for f in layout.fields):
                raise ValueError('nobody writes an answer')
            self.commands[last.opcode] = last._replace(**{words[0]: layout})
        elif words[0] == 'entry':
            self._new(words[1], self.entries)
            self.entries[words[1]] = self._layout(words[1], words[1], words[2:])
            if self.entries[words[1]].list or any(f.must for f in self.entries[words[1]].fields):
                raise ValueError('a list in an entry, or a field to name')
        elif words[0] == 'may':
            self._new(words[1], self.may)
            self.may[words[1]] = ' '.join(words[2:])
        elif words[0] == 'command':
            opcode = int(words[1], 16)
            self._new(opcode, self.commands)
            self._new(words[2], [c.key for c in self.commands.values()])
            self.commands[opcode] = Command(opcode, words[2], ' '.join(words[3:]), None, None)
        else:
            raise ValueError('entry or command wanted')

    @staticmethod
    def _say(layout, name, text):
        """The request with what its field may be."""
        if not text or name not in [f.name for f in layout.fields if f.must]:
            raise ValueError('no field to name ' + name)
        return layout._replace(fields=[f._replace(must=text) if f.name == name else f for f in layout.fields])

    @staticmethod
    def _new(key, those):
        if key in those:
            raise ValueError('twice')

    def _layout(self, name, text, words):
        least = None
        if words[0].startswith('min='):
            least = int(words.pop(0)[4:])
        if words[-2:-1] != ['=']:
            raise ValueError('no size')
        size = int(words[-1])
        fields, at = [], 0
        for word in words[:-2]:
            f = self._field(word, at, fields)
            fields.append(f)
            at += f.size * f.n if f.count is None else 0
        lists = [f for f in fields if f.count is not None]
        names = [f.name for f in fields if f.name != 'r']
        if at != size or len(lists) > 1 or len(set(names)) != len(names) or (least is not None and lists):
            raise ValueError('%d bytes' % at)
        return Layout(name, text, fields, size, lists[0] if lists else None, size if least is None else least)

    def _field(self, word, at, before):
        must = None
        if word[0] == '!':
            word = word[1:]
            must = self.may.get(word.split(':')[0], '?')
        m = re.fullmatch(r'(\w+)(?::(?:(\d+)|(\d+)b|(\d+)x(\d+)|\[(\w+|\*)\](\w+)))?', word)
        if m is None:
            raise ValueError(word)
        name, size, n_bytes, n, each, count, entry = m.groups()
        if count is not None:
            if count != '*' and count not in [f.name for f in before if f.kind == 'number']:
                raise ValueError('no count ' + count)
            if entry == 'b':
                return Field(name, 'data', 1, at, 1, count, None, must)
            if entry.isdigit():
                return Field(name, 'list', int(entry), at, 1, count, None, must)
            return Field(name, 'list', self.entries[entry].len, at, 1, count, entry, must)
        if n_bytes is not None:
            return Field(name, 'bytes', int(n_bytes), at, 1, None, None, must)
        if n is not None:
            return Field(name, 'words', int(each), at, int(n), None, None, must)
        size = int(size or 1)
        if name != 'r' and size not in (1, 2, 3, 4, 8):
            raise ValueError(word)
        return Field(name, 'number', size, at, 1, None, None, must)

    def payloads(self):
        return [p for c in self.commands.values() for p in (c.req, c.rsp) if p is not None]


def own(layout):
    """The fields that are in the struct."""
    return [f for f in layout.fields if f.name != 'r']


def counter(layout):
    """The member that counts the elements of the list."""
    return layout.list.count if layout.list.count != '*' else 'n_' + layout.list.name


def ident(name):
    """The member of a field: a word of C cannot be one."""
    return name + '_' if name in ('volatile',) else name


def width(size):
    return {1: 8, 2: 16, 3: 32, 4: 32, 8: 64}[size]


def member(layout, f):
    """The declaration of a field."""
    if f.kind == 'bytes':
        return 'uint8_t %s[%d];' % (f.name, f.size)
    if f.kind == 'words':
        return 'uint%d_t %s[%d];' % (width(f.size), f.name, f.n)
    if f.kind == 'number':
        return 'uint%d_t %s;' % (width(f.size), ident(f.name))
    what = 'bytes' if f.kind == 'data' else 'entries ' + f.entry if f.entry else 'numbers of %d bytes' % f.size
    more = '\n\tsize_t %s;' % counter(layout) if f.count == '*' else ''
    return 'const uint8_t *%s; /**< %s %s */%s' % (f.name, counter(layout), what, more)


def struct(layout):
    return ['struct weft_cci_%s {' % layout.name] + ['\t' + member(layout, f) for f in own(layout)] + ['};', '']


def byte(at):
    return '%s[%s]' % tuple(at.split(' + ', 1))


def load(size, at):
    if size == 1:
        return byte(at)
    if size == 3:
        return 'weft_get_le16(%s) | (uint32_t)(%s)[2] << 16' % (at, at)
    return 'weft_get_le%d(%s)' % (8 * size, at)


def store(size, at, value):
    if size == 1:
        return '%s = %s;' % (byte(at), value)
    if size == 3:
        return 'weft_put_le16(%s, (uint16_t)%s);\n\t(%s)[2] = (uint8_t)(%s >> 16);' % (at, value, at, value)
    return 'weft_put_le%d(%s, %s);' % (8 * size, at, value)


def gets(f, at):
    """The lines that take a field from the bytes at an address, an expression."""
    if f.kind == 'bytes':
        return ['memcpy(p->%s, %s, %d);' % (f.name, at, f.size)]
    if f.kind == 'words':
        return ['for (unsigned int k = 0; k < %d; k++)' % f.n,
                '\tp->%s[k] = %s;' % (f.name, load(f.size, '%s + %d * k' % (at, f.size)))]
    return ['p->%s = %s;' % (ident(f.name), load(f.size, at))]


def puts(f, at):
    if f.kind == 'bytes':
        return ['memcpy(%s, p->%s, %d);' % (at, f.name, f.size)]
    if f.kind == 'words':
        return ['for (unsigned int k = 0; k < %d; k++)' % f.n,
                '\t' + store(f.size, '%s + %d * k' % (at, f.size), 'p->%s[k]' % f.name)]
    return [store(f.size, at, 'p->' + ident(f.name))]


def each_field(layout, make):
    """Lines for all fields but the list; those after it are found from `after`."""
    lines, behind = [], False
    for f in layout.fields:
        if f is layout.list:
            behind = True
        elif f.name != 'r':
            at = 'after + %d' % (f.at - layout.list.at) if behind else 'b + %d' % f.at
            lines += ['\t' + line for line in make(f, at)]
    return lines


def trailing(layout):
    return layout.list is not None and layout.len > layout.list.at


def get_function(layout):
    name, lines = layout.name, []
    lines += ['int', 'weft_cci_get_%s(struct weft_cci_%s *p, const uint8_t *b, size_t len)' % (name, name), '{']
    if trailing(layout):
        lines += ['\tconst uint8_t *after;', '']
    if layout.min < layout.len:
        lines += ['\tuint8_t whole[%d] = { 0 };' % layout.len, '']
    if layout.list is not None:
        if layout.len:
            lines += ['\tif (len < %d)' % layout.len, '\t\treturn -EMSGSIZE;']
        if layout.list.count == '*':
            lines += ['\tif ((len - %d) %% %d != 0)' % (layout.len, layout.list.size), '\t\treturn -EINVAL;']
            lines += ['\tp->%s = (len - %d) / %d;' % (counter(layout), layout.len, layout.list.size)]
    elif layout.min < layout.len:
        lines += ['\tif (len < %d || len > %d)' % (layout.min, layout.len), '\t\treturn -EMSGSIZE;',
                  '\tmemcpy(whole, b, len);', '\tb = whole;']
    else:
        lines += ['\tif (len != %d)' % layout.len, '\t\treturn -EMSGSIZE;']
    if trailing(layout):
        lines += ['\tafter = b + %d + (len - %d);' % (layout.list.at, layout.len)]
    lines += each_field(layout, gets)
    if layout.list is not None:
        where = 'b + %d' % layout.list.at if layout.list.at else 'b'
        lines += ['\tp->%s = %s;' % (layout.list.name, where)]
        if layout.list.count != '*':
            lines += ['\treturn cci_is_list(len - %d, p->%s, %d) ? 0 : -EINVAL;' %
                      (layout.len, counter(layout), layout.list.size), '}', '']
            return lines
    return lines + ['\treturn 0;', '}', '']


def put_function(layout):
    name, lines = layout.name, []
    lines += ['int', 'weft_cci_put_%s(uint8_t *b, size_t room, const struct weft_cci_%s *p)' % (name, name), '{']
    if layout.list is None:
        lines += ['\tif (room < %d)' % layout.len, '\t\treturn -ENOBUFS;', '\tmemset(b, 0, %d);' % layout.len]
        return lines + each_field(layout, puts) + ['\treturn %d;' % layout.len, '}', '']
    if trailing(layout):
        lines += ['\tuint8_t *after;']
    lines += ['\tsize_t list_len;', '', '\tif (!cci_fits(room, %d, p->%s, %d))' % (
        layout.len, counter(layout), layout.list.size), '\t\treturn -ENOBUFS;',
              '\tlist_len = (size_t)p->%s * %d;' % (counter(layout), layout.list.size),
              '\tcci_put_list(b + %d, p->%s, list_len);' % (layout.list.at, layout.list.name)]
    if layout.list.at:
        lines += ['\tmemset(b, 0, %d);' % layout.list.at]
    if trailing(layout):
        lines += ['\tafter = b + %d + list_len;' % layout.list.at,
                  '\tmemset(after, 0, %d);' % (layout.len - layout.list.at)]
    lines += each_field(layout, puts)
    return lines + ['\treturn (int)(%d + list_len);' % layout.len, '}', '']


def entry_functions(layout):
    name = layout.name
    return (['void', 'weft_cci_get_%s(const uint8_t *list, unsigned int i, struct weft_cci_%s *p)' % (name, name),
             '{', '\tconst uint8_t *b = list + (size_t)i * %d;' % layout.len, ''] + each_field(layout, gets) +
            ['}', '', 'void',
             'weft_cci_put_%s(uint8_t *list, unsigned int i, const struct weft_cci_%s *p)' % (name, name),
             '{', '\tuint8_t *b = list + (size_t)i * %d;' % layout.len, '', '\tmemset(b, 0, %d);' % layout.len] +
            each_field(layout, puts) + ['}', ''])


def opcodes(tables):
    lines = [PUBLIC, '/* Opcodes of CCI commands. Included by weft_cci.h. */', '#ifndef WEFT_CCI_OPCODES_H',
             '#define WEFT_CCI_OPCODES_H', '', 'enum weft_cci_opcode {']
    lines += ['\tWEFT_CCI_%s = 0x%04X, /**< %s */' % (c.key.upper(), c.opcode, c.name)
              for c in tables.commands.values()]
    return lines + ['};', '', '#endif /* WEFT_CCI_OPCODES_H */']


HEADER_TEXT = '''
/*
 * Payloads of CCI commands (fabric.md 4.6): for each a struct in host byte order and two functions, of
 * any thread. b and len are the bytes behind the header of a message.
 *
 * weft_cci_get_*(p, b, len): 0; -EMSGSIZE: the fixed part is not whole, or something follows what has no
 *   list; -EINVAL: the count and the length disagree. p is then of no use. A list stays where it is, in the
 *   caller's bytes. Reserved bytes are not looked at, values are not judged.
 * weft_cci_put_*(b, room, p): bytes written; -ENOBUFS: they are more than room. Reserved bytes are 0. A
 *   list may already be in its place in b; of no elements it may be NULL.
 * weft_cci_get_<entry>(list, i, p), weft_cci_put_<entry>(list, i, p): element i of a list, whose room is
 *   the caller's to see to.
 *
 * *_LEN: bytes of all but the list; *_LIST: where the list begins; *_MAX: most elements in
 * WEFT_CCI_MAX_PAYLOAD bytes.
 */
#ifndef WEFT_CCI_PAYLOAD_H
#define WEFT_CCI_PAYLOAD_H

#include "weft_base.h"

WEFT_BEGIN_DECLS
'''


def header(tables):
    lines = [PUBLIC + HEADER_TEXT]
    for e in tables.entries.values():
        lines += ['#define WEFT_CCI_%s_LEN %d' % (e.name.upper(), e.len)] + struct(e)
        lines += ['void weft_cci_get_%s(const uint8_t *list, unsigned int i, struct weft_cci_%s *p);' % (
            e.name, e.name), 'void weft_cci_put_%s(uint8_t *list, unsigned int i, const struct weft_cci_%s *p);' % (
                e.name, e.name), '']
    for c in tables.commands.values():
        for p, what in ((c.req, 'request'), (c.rsp, 'response')):
            if p is None:
                continue
            lines += ['/* %04Xh %s, %s. */' % (c.opcode, c.name, what),
                      '#define WEFT_CCI_%s_LEN %d' % (p.name.upper(), p.len)]
            if p.list is not None:
                lines += ['#define WEFT_CCI_%s_LIST %d' % (p.name.upper(), p.list.at),
                          '#define WEFT_CCI_%s_MAX %d' % (p.name.upper(), (1024 - p.len) // p.list.size)]
            lines += struct(p)
            lines += ['int weft_cci_get_%s(struct weft_cci_%s *p, const uint8_t *b, size_t len);' % (p.name, p.name),
                      'int weft_cci_put_%s(uint8_t *b, size_t room, const struct weft_cci_%s *p);' % (
                          p.name, p.name), '']
    return lines + ['WEFT_END_DECLS', '', '#endif /* WEFT_CCI_PAYLOAD_H */']


def code(tables):
    lines = [PUBLIC, '#include "weft_cci_payload.h"', '', '#include <errno.h>', '', '#include "cci_priv.h"', '']
    for e in tables.entries.values():
        lines += entry_functions(e)
    for p in tables.payloads():
        lines += get_function(p) + put_function(p)
    return lines


def field_row(layout, f):
    kind = {'number': 'NUMBER', 'bytes': 'BYTES', 'words': 'WORDS', 'list': 'LIST', 'data': 'DATA'}[f.kind]
    name = 'struct weft_cci_' + layout.name
    row = '.name = "%s", .kind = WEFT_CCI_FIELD_%s, .size = %d, .n = %d, .at = offsetof(%s, %s)' % (
        f.name, kind, f.size, f.n, name, ident(f.name))
    if f.kind in ('number', 'words'):
        row += ', .width = %d' % (width(f.size) // 8)
    if f.count is not None:
        count = counter(layout)
        row += ', .count_at = offsetof(%s, %s), .count_width = sizeof(((%s *)0)->%s)' % (name, count, name, count)
        row += ', .is_counted = %s' % ('false' if f.count == '*' else 'true')
    if f.must is not None:
        row += ', .must = "%s"' % f.must
    if f.entry is not None:
        row += ', .entry = &layout_%s' % f.entry
    return '\t{ %s },' % row


def layout_rows(layout, is_entry):
    name = layout.name
    lines = ['static int', 'rows_get_%s(void *p, const uint8_t *b, size_t len)' % name, '{']
    if is_entry:
        lines += ['\tif (len != %d)' % layout.len, '\t\treturn -EMSGSIZE;',
                  '\tweft_cci_get_%s(b, 0, p);' % name, '\treturn 0;']
    else:
        lines += ['\treturn weft_cci_get_%s(p, b, len);' % name]
    lines += ['}', '', 'static int', 'rows_put_%s(uint8_t *b, size_t room, const void *p)' % name, '{']
    if is_entry:
        lines += ['\tif (room < %d)' % layout.len, '\t\treturn -ENOBUFS;',
                  '\tweft_cci_put_%s(b, 0, p);' % name, '\treturn %d;' % layout.len]
    else:
        lines += ['\treturn weft_cci_put_%s(b, room, p);' % name]
    fields = own(layout)
    lines += ['}', '', 'static const struct weft_cci_field fields_%s[] = {' % name]
    lines += [field_row(layout, f) for f in fields] + ['};', '']
    lines += ['static const struct weft_cci_layout layout_%s = { "%s", fields_%s, %d, %d, %d, rows_get_%s, rows_put_%s };' % (
        name, name, name, len(fields), layout.len, layout.min, name, name)]
    return lines + ['static_assert(sizeof(struct weft_cci_%s) <= WEFT_CCI_STRUCT_MAX, "room");' % name, '']


def rows(tables):
    lines = [PUBLIC, '#include "weft_cci_layout.h"', '', '#include <errno.h>', '',
             '#include "weft_cci_payload.h"', '']
    for e in tables.entries.values():
        lines += layout_rows(e, True)
    for p in tables.payloads():
        lines += layout_rows(p, False)
    lines += ['const struct weft_cci_layout *const weft_cci_entries[] = {']
    lines += ['\t&layout_%s,' % e for e in tables.entries] + ['};']
    lines += ['const unsigned int weft_cci_n_entries = %d;' % len(tables.entries), '']
    lines += ['const struct weft_cci_command_layout weft_cci_commands[] = {']
    for c in tables.commands.values():
        sides = ['&layout_%s' % p.name if p else 'NULL' for p in (c.req, c.rsp)]
        lines += ['\t{ 0x%04X, "%s", "%s", %s, %s },' % (c.opcode, c.key, c.name, *sides)]
    return lines + ['};', 'const unsigned int weft_cci_n_commands = %d;' % len(tables.commands)]


def main():
    make = {'opcodes': opcodes, 'header': header, 'code': code, 'rows': rows}[sys.argv[1]]
    with open(sys.argv[3], 'w', encoding='utf-8') as f:
        f.write('\n'.join(make(Tables(sys.argv[2]))) + '\n')


if __name__ == '__main__':
    main()
