#!/usr/bin/env python3
"""Documents that are changed in one way, and what section 12 or 13 says of each: vectors.py TESTDATA_FORMAT. A row of
its objects.jsonl is a file of its store, a text in it, what replaces it, and the finding."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import jcs                                                       # noqa: E402
from documents import Problem, check_snapshot, check_workflow    # noqa: E402


def finding(folder, data):
    try:
        (check_snapshot if folder == "snapshots" else check_workflow)(data)
    except Problem as e:
        return e.args[0]
    return ""


def main(root):
    failed = rows = 0
    with open(os.path.join(root, "objects.jsonl"), encoding="utf-8") as f:
        for line in f:
            row = json.loads(line)
            with open(os.path.join(root, "store", row["file"]), encoding="utf-8") as whole:
                text = whole.read()
            got = finding(row["file"].rpartition("/")[0], jcs.encode(jcs.parse(text.replace(row["old"], row["with"], 1).encode("utf-8"))))
            rows += 1
            if got != row["finding"] or row["old"] not in text:
                failed += 1
                print("%s: %s -> %s: %r instead of %r" % (row["file"][:20], row["old"], row["with"], got, row["finding"]))
    print("%d documents, %d otherwise" % (rows, failed))
    return 1 if failed or rows < 50 else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
