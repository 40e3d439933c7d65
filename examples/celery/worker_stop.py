"""Each minute on a node: closes its Celery worker when it has been idle for long enough, and asks whether the node may stop.

A closed worker takes no new task and ends what it holds. The questions and what follows from the answers are cyclecloud_autostop's.
"""
import os
import socket
import sys

import cyclecloud_autostop as autostop

from tasks import app

_ANSWER_SECONDS = 3


class Worker:
    """The worker of a node, as the stop script sees it."""

    def __init__(self, name, queue):
        self._to, self._name, self._queue = [name], name, queue

    def look(self):
        inspect = app.control.inspect(self._to, timeout=_ANSWER_SECONDS)
        held = [(kind() or {}).get(self._name) for kind in (inspect.active, inspect.reserved, inspect.scheduled)]
        if None in held:
            return "unknown"
        return "busy" if any(held) else "idle"

    def close(self):
        return self._done(app.control.cancel_consumer)

    def reopen(self):
        return self._done(app.control.add_consumer)

    def _done(self, command):
        replies = command(self._queue, destination=self._to, reply=True, timeout=_ANSWER_SECONDS)
        return any("ok" in reply.get(self._name, {}) for reply in replies or [])


def main():
    """QUEUE is the queue of this node. The worker is called QUEUE@HOST."""
    queue = os.environ["QUEUE"]
    return autostop.main(node=Worker("%s@%s" % (queue, socket.gethostname()), queue))


if __name__ == "__main__":
    sys.exit(main())
