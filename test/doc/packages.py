#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""debian/ agrees with the tree: what is built with, and what is installed.

Build-Depends are packages that usertools/packages.sh installs, Build-Depends-Indep those of the book, and all of
those that building takes are in it or, where only a running program needs them, wanted by a package. Each file that
meson installs in the build folder $WEFT_BUILD is named by one line of debian/*.install, and each line names one. libweft0.symbols has the
calls of libweft.map, and the changelog meson's version.

Before that the checks are tried on faults that they must see.
"""

import fnmatch
import json
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# What each Debian system that builds has, and what only building outside of debian/ calls.
IMPLIED = {"gcc", "libc6-dev", "xz-utils"}
# Of a program that runs: shell scripts of usertools, DPDK's drivers one by one, mounts.
AT_RUN_TIME = {"dpdk": "librte-net-memif23", "iproute2": "librte-net-af-packet23", "fuse3": "fuse3"}
# The package's own tools, and its plugin's header, which a build without it does without.
PACKAGING = {"debhelper-compat"}
# Without their libraries these are not built (meson says so), and not looked for.
OPTIONAL = ("weft-fuse", "weft-fm", "nbdkit-weft-plugin")
# No package has DPDK drivers: Debian has no headers for them (usertools/driver-headers.sh fetches them).
NOT_PACKAGED = ("rte_dma_weft", "rte_pmd_dma_weft")


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as f:
        return f.read()


def package_lists(text):
    """The lists of usertools/packages.sh by name."""
    return {m[1]: set(m[2].split()) for m in re.finditer(r'^(WEFT_\w+)="([^"]*)"', text, re.M)}


def fields(text, name):
    """Packages that a field names, in all paragraphs of debian/control."""
    out = set()
    for m in re.finditer(rf"^{name}:((?:.*\n)(?:[ \t].*\n)*)", text, re.M):
        for word in m[1].replace("\n", " ").split(","):
            word = re.sub(r"\(.*?\)", "", word).strip()
            if word and not word.startswith("${"):
                out.add(word)
    return out


def check_depends(control, lists):
    faults = []
    have = fields(control, "Build-Depends")
    wanted = set().union(*(fields(control, f) for f in ("Depends", "Recommends", "Suggests")))
    known = set().union(*lists.values())
    faults += [f"debian/control: Build-Depends has {p}, usertools/packages.sh has not"
               for p in sorted(have - known - PACKAGING)]
    for p in sorted(lists["WEFT_BUILD_PACKAGES"] - IMPLIED):
        if p in AT_RUN_TIME:
            if AT_RUN_TIME[p] not in wanted:
                faults.append(f"debian/control: no package wants {AT_RUN_TIME[p]}, for {p} of usertools/packages.sh")
        elif p not in have:
            faults.append(f"usertools/packages.sh: {p} is to build with, debian/control has no such Build-Depends")
    have, doc = fields(control, "Build-Depends-Indep"), lists.get("WEFT_DOC_PACKAGES", set())
    faults += [f"debian/control: Build-Depends-Indep: expected the WEFT_DOC_PACKAGES of usertools/packages.sh, not so: {p}"
               for p in sorted(have ^ doc)]
    return faults


def installed(plan):
    """Where debian/rules has meson install what the plan of a build says."""
    at = {"prefix": "usr", "bindir": "usr/bin", "includedir": "usr/include", "datadir": "usr/share",
          "mandir": "usr/share/man", "libdir": "usr/lib/ARCH", "libdir_shared": "usr/lib/ARCH",
          "libdir_static": "usr/lib/ARCH", "moduledir_shared": "usr/lib/ARCH", "systemd": "lib/systemd/system"}
    out = set()
    for kind in plan.values():
        for row in kind.values():
            path = re.sub(r"^\{(\w+)\}", lambda m: at[m[1]], row["destination"])
            out.add(re.sub(r"^usr/lib/systemd/", "lib/systemd/", path))
    return {p for p in out if not any(w in p for w in NOT_PACKAGED)}


def matches(path, pattern):
    return fnmatch.fnmatch(path, pattern) or path.startswith(pattern + "/")


def check_files(files, patterns):
    """patterns: of each debian/*.install."""
    faults = []
    for path in sorted(files):
        by = [f"{name}: {p}" for name, lines in patterns.items() for p in lines if matches(path, p)]
        if len(by) != 1:
            faults.append(f"{path} is installed: expected one line of debian/*.install, got {by or 'none'}")
    for name, lines in patterns.items():
        for p in lines:
            # meson's plan leaves out the links of a shared library.
            if p.endswith("/libweft.so") or any(w in p for w in OPTIONAL):
                continue
            if not any(matches(f, p) for f in files):
                faults.append(f"debian/{name}: {p}: meson installs no such file")
    return faults


def check_symbols(symbols, version_map):
    calls = {f"{c}@WEFT_0" for c in re.findall(r"^\t(weft_\w+);", version_map, re.M)} | {"WEFT_0@WEFT_0"}
    have = set(re.findall(r"^ (\S+@\S+) ", symbols, re.M))
    return [f"debian/libweft0.symbols: {c}: expected the calls of libweft.map" for c in sorted(calls ^ have)]


def try_known():
    """Faults that must be seen."""
    lists = {"WEFT_BUILD_PACKAGES": {"gcc", "a", "dpdk"}, "WEFT_TEST_PACKAGES": {"b"}}
    good = "Build-Depends: debhelper-compat (= 13),\n a (>= 1),\n b\nPackage: p\nDepends: librte-net-memif23, ${misc:Depends}\n"
    assert check_depends(good, lists) == []
    for bad in (good.replace(" b\n", " c\n"), good.replace(" a (>= 1),\n", ""), good.replace("memif23", "ring23")):
        assert len(check_depends(bad, lists)) == 1, bad
    assert len(check_depends(good, lists | {"WEFT_DOC_PACKAGES": {"d"}})) == 1
    assert check_depends(good + "Build-Depends-Indep: d\n", lists | {"WEFT_DOC_PACKAGES": {"d"}}) == []
    plan = {"targets": {"x": {"destination": "{libdir_shared}/libweft.so.0"}},
            "data": {"y": {"destination": "{prefix}/lib/systemd/system/weftd@.service"}}}
    files = installed(plan)
    assert files == {"usr/lib/ARCH/libweft.so.0", "lib/systemd/system/weftd@.service"}, files
    lines = {"p": ["usr/lib/*/libweft.so.*", "usr/lib/*/libweft.so"], "q": ["lib/systemd"]}
    assert check_files(files, lines) == []
    assert len(check_files(files | {"usr/bin/z"}, lines)) == 1
    assert len(check_files(files, lines | {"r": ["lib/systemd/system"]})) == 1
    assert len(check_files(files, lines | {"r": ["usr/bin/z"]})) == 1
    assert check_symbols(" WEFT_0@WEFT_0 1\n weft_a@WEFT_0 1\n", "\tweft_a;\n") == []
    assert len(check_symbols(" WEFT_0@WEFT_0 1\n", "\tweft_a;\n")) == 1


def main():
    try_known()
    faults = check_depends(read("debian", "control"), package_lists(read("usertools", "packages.sh")))
    with open(os.path.join(os.environ["WEFT_BUILD"], "meson-info", "intro-install_plan.json"), encoding="utf-8") as f:
        files = installed(json.load(f))
    patterns = {name: read("debian", name).split() for name in sorted(os.listdir(os.path.join(TOP, "debian")))
                if name.endswith(".install")}
    faults += check_files(files, patterns)
    faults += check_symbols(read("debian", "libweft0.symbols"), read("lib", "client", "libweft.map"))
    version = re.search(r"version: '([^']+)'", read("meson.build"))[1]
    if f"weft ({version})" not in read("debian", "changelog").split("\n")[0]:
        faults.append(f"debian/changelog: expected version {version} of meson.build first")
    print("\n".join(faults + [f"{len(files)} files, {len(faults)} faults"]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
