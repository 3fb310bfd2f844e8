"""Prints the versions of the peers."""
import json
import sys

found = {}
for name in ("cupy", "torch"):
    try:
        module = __import__(name)
        found[name] = 1
        print(name, module.__version__, file=sys.stderr)
    except ImportError:
        found[name] = 0
print(json.dumps(found))
