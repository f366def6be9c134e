#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Weft Authors
"""The vectors for other implementations: what the model makes, of the form that the schema says, and
judged by a checker that notices a spoilt digit."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import jsonschema

import world_vectors

FOLDER = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../vectors"))
CODES = ("crc", "fec", "even_crc", "odd_crc", "bytes_r0_first", "result")


def load(folder, name):
    with open(os.path.join(folder, name), encoding="ascii") as text:
        return json.load(text)


def check(folder):
    """Only the interpreter and its library: no path of this tree, no package."""
    command = [sys.executable, "-I", "-S", os.path.join(FOLDER, "check.py"), folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class World(unittest.TestCase):
    def test_files_are_what_the_model_makes(self):
        for name, make in world_vectors.FILES.items():
            self.assertEqual(load(FOLDER, name), json.loads(json.dumps(make())), name)

    def test_files_keep_the_schema_and_the_schema_refuses(self):
        schema = load(FOLDER, "schema.json")
        jsonschema.Draft7Validator.check_schema(schema)
        for name in world_vectors.FILES:
            file = load(FOLDER, name)
            jsonschema.validate(file, schema)
            for spoil in (lambda c: c.pop("name"), lambda c: c.update(more=1),
                          lambda c: c.update(crc="0", fec="0", flit="0")):
                bad = load(FOLDER, name)
                spoil(bad["cases"][0])
                with self.assertRaises(jsonschema.ValidationError):
                    jsonschema.validate(bad, schema)

    def test_checker_passes_all(self):
        done = check(FOLDER)
        count = sum(len(load(FOLDER, name)["cases"]) for name in world_vectors.FILES)
        self.assertEqual((done.returncode, done.stdout), (0, f"{count} passed, 0 failed\n"))

    def test_checker_is_short_and_alone(self):
        with open(os.path.join(FOLDER, "check.py"), encoding="ascii") as text:
            lines = text.readlines()
        self.assertLessEqual(len(lines), 100)
        imports = [line.split() for line in lines if "import " in line]
        self.assertEqual(imports, [["import", "json"], ["import", "os"], ["import", "sys"]])

    def test_checker_notices_one_wrong_digit(self):
        seed = int(os.environ.get("WEFT_TEST_SEED", random.randrange(1 << 32)))
        print(f"WEFT_TEST_SEED={seed}")
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            for name in world_vectors.FILES:
                shutil.copy(os.path.join(FOLDER, name), folder)
            for name in world_vectors.FILES:
                file = load(FOLDER, name)
                case = rng.choice(file["cases"])
                key = rng.choice([k for k in case if k in CODES])
                at = rng.randrange(len(case[key]))
                digit = format(int(case[key][at], 16) ^ rng.randint(1, 15), "x")
                case[key] = case[key][:at] + digit + case[key][at + 1:]
                path = os.path.join(folder, name)
                with open(path, "w", encoding="ascii") as out:
                    json.dump(file, out)
                done = check(folder)
                self.assertEqual(done.returncode, 1, (name, case["name"], key, at))
                self.assertIn(f"FAIL {name}: {case['name']}", done.stdout)
                shutil.copy(os.path.join(FOLDER, name), folder)


if __name__ == "__main__":
    unittest.main()
