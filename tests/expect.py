"""What tests share that go on after a failure: expect what is right, and finish with what came of it all."""
import sys

failures = 0


def expect(right, text):
    global failures
    if not right:
        failures += 1
        print("FAILED:", text)


def finish(text):
    print(text, "failed" if failures else "held")
    sys.exit(failures > 0)
