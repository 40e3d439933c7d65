"""Each minute on one machine (or with --every SECONDS): says to the autoscaler what waits and runs in the queues of tasks.py."""
import argparse
import json
import sys
import time
from datetime import datetime, timedelta, timezone

import redis
from cyclecloud_autoscaler import AutoscalerError, job, needs, node, push

from tasks import BROKER, QUEUES, app

# A task whose eta comes later than a node takes to boot needs no node yet.
BOOT_SECONDS = 600
_PAGE = 1000


def count_tasks(client, now=None):
    """By queue, the tasks that need a process: those that wait in the broker, and those that a worker has taken and not ended."""
    horizon = (now or datetime.now(timezone.utc)) + timedelta(seconds=BOOT_SECONDS)
    counts = {name: sum(is_due(message, horizon) for message in waiting(client, name)) for name in QUEUES}
    # Taken and not acknowledged: a worker runs it, will run it next, or waits for its eta; or the worker is dead, and Redis gives it back.
    for _, text in client.hscan_iter("unacked", count=_PAGE):
        message, _exchange, queue = json.loads(text)
        if queue in counts:
            counts[queue] += is_due(message, horizon)
    return counts


def waiting(client, queue):
    """The messages of a queue. Redis has no priorities: each step of priority is a list of its own."""
    options = app.conf.broker_transport_options
    steps, separator = options.get("priority_steps", [0, 3, 6, 9]), options.get("sep", "\x06\x16")
    for step in steps:
        key = "%s%s%s" % (queue, separator, step) if step else queue
        for begin in range(0, client.llen(key), _PAGE):
            for text in client.lrange(key, begin, begin + _PAGE - 1):
                yield json.loads(text)


def is_due(message, horizon):
    eta = message["headers"].get("eta")
    return not eta or datetime.fromisoformat(eta.replace("Z", "+00:00")).astimezone(timezone.utc) <= horizon


def send(client, expiration_interval=None):
    """Sends the whole demand. Raises an error of Redis, and sends nothing, if the broker does not answer: the last demand stays valid."""
    jobs = []
    for name, count in count_tasks(client).items():
        queue = QUEUES[name]
        where = node(nodearray=queue["nodearray"], vm_size=queue["vm_size"])
        if count:
            jobs.append(job(name, needs(ncpus=queue["ncpus"]), where, iterations=min(count, queue["most"])))
    return push("celery", expiration_interval, jobs=jobs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=float, metavar="SECONDS", help="send again and again (default: once)")
    parser.add_argument("--expiration-interval", type=float, metavar="SECONDS")
    options = parser.parse_args()
    client = redis.Redis.from_url(BROKER, decode_responses=True)
    while True:
        code = 0
        try:
            send(client, options.expiration_interval)
        except (AutoscalerError, redis.RedisError) as error:
            sys.stderr.write("demand: %s\n" % error)
            code = getattr(error, "code", 3)
        if options.every is None:
            return code
        time.sleep(options.every)


if __name__ == "__main__":
    sys.exit(main())
