#!/usr/bin/env python3
"""Runs tasks on the nodes of a simulated cluster: Redis, the autoscaler (npm start -- --serve), and a Celery worker for each node.

    python3 examples/celery/try.py [--tasks 20] [--bursts 1] [--kill]

Exit code 0: each task was done once, and all nodes have gone. It needs redis-server, Node and npm ci; it installs Celery for itself.
"""
import argparse
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
VENV = os.path.join(ROOT, "node_modules", ".cache", "celery")
PYTHON = os.path.join(VENV, "bin", "python3")
PATHS = os.pathsep.join([HERE, os.path.join(ROOT, "src", "client", "python")])

# Simulated seconds in a real one: a node of the demo boots in five minutes.
SPEED = 10
IDLE_SECONDS = 10
VISIBILITY_SECONDS = 30
EXPIRATION_SECONDS = 3600


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--bursts", type=int, default=1, help="sends the tasks in parts, each after all nodes of the one before have gone")
    parser.add_argument("--kill", action="store_true", help="kill a worker with its node's processes while it works")
    parser.add_argument("--timeout", type=float, default=900, metavar="SECONDS")
    options = parser.parse_args()
    if shutil.which("redis-server") is None:
        sys.exit("redis-server is missing: apt-get install redis-server")
    if os.path.realpath(sys.prefix) != os.path.realpath(VENV):
        install()
        os.execv(PYTHON, [PYTHON] + [os.path.abspath(__file__)] + sys.argv[1:])
    folder = tempfile.mkdtemp(prefix="celery-")
    started = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return Trial(options, folder, started).run()
    finally:
        for process in reversed(started):
            end(process)
        shutil.rmtree(folder, ignore_errors=True)


def install():
    if not os.path.exists(os.path.join(VENV, "bin", "celery")):
        say("installing Celery into %s" % os.path.relpath(VENV))
        subprocess.check_call([sys.executable, "-m", "venv", VENV])
        subprocess.check_call([PYTHON, "-m", "pip", "install", "--quiet", "celery[redis]>=5.4"])


def say(text):
    print("%s %s" % (time.strftime("%H:%M:%S"), text), flush=True)


def start(started, words, **keys):
    """A process that leads a group of its own, so that it ends with all that it has started."""
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True, **keys)
    started.append(process)
    return process


def end(process, how=signal.SIGTERM):
    """Ends the process and what it has started, and waits for all of them."""
    ends = time.time() + 20
    try:
        while True:
            os.killpg(process.pid, how if time.time() < ends else signal.SIGKILL)
            how = 0
            process.poll()
            time.sleep(0.05)
    except ProcessLookupError:
        process.wait()


class Trial:
    def __init__(self, options, folder, started):
        self._options, self._folder, self._started = options, folder, started
        self._ends = time.time() + options.timeout
        self._nodes = {}
        self._most = 0

    def run(self):
        self._start_redis()
        self._start_autoscaler()
        sys.path[:0] = PATHS.split(os.pathsep)
        import redis
        import tasks

        self._client, self._tasks = redis.Redis.from_url(os.environ["BROKER"]), tasks
        threading.Thread(target=self._send_demand, daemon=True).start()
        began = time.time()
        sent = []
        for burst in range(self._options.bursts):
            ids = self._submit(self._options.tasks // self._options.bursts)
            sent += ids
            say("burst %d: %d tasks sent" % (burst + 1, len(ids)))
            if self._options.kill and burst == 0:
                self._until(lambda: self._kill_one(), "a worker that works")
            self._until(lambda: self._client.hlen("example:done") >= len(sent), "all tasks done")
            say("burst %d: all tasks done; the nodes go" % (burst + 1))
            self._until(lambda: not self._nodes, "all nodes gone")
        counts = {name.decode(): int(count) for name, count in self._client.hgetall("example:done").items()}
        once = sum(counts.get(name) == 1 for name in sent)
        say("%d tasks, %d done once; %d nodes at most; all gone after %d s" % (len(sent), once, self._most, time.time() - began))
        return 0 if once == len(sent) == len(counts) else 1

    def _start_redis(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", self._folder]
        start(self._started, words, stdout=subprocess.DEVNULL)
        os.environ.update(BROKER="redis://127.0.0.1:%d/0" % port, VISIBILITY_SECONDS=str(VISIBILITY_SECONDS), PYTHONPATH=PATHS)

    def _start_autoscaler(self):
        """Its own lines for the shell have the address and the key."""
        say("starting the autoscaler and a simulated CycleCloud")
        words = ["npm", "start", "--", "--serve", "--speed", str(SPEED)]
        path = os.path.join(self._folder, "serve.log")
        with open(path, "w") as log:
            serve = start(self._started, words, cwd=ROOT, stdout=log, stderr=log)
        text = ""
        while "Ctrl-C stops everything" not in text:
            if serve.poll() is not None or time.time() > self._ends:
                sys.exit("npm start -- --serve did not start: has npm ci been run?\n" + text)
            time.sleep(0.5)
            with open(path) as log:
                text = log.read()
        for line in text.split("\n"):
            if line.startswith("export "):
                os.environ.update(word.split("=", 1) for word in shlex.split(line)[1:])
        say("the state of the cluster: %s/api/clusters/demo?code=%s" % (os.environ["AUTOSCALER_URL"], os.environ["AUTOSCALER_KEY"]))

    def _submit(self, count):
        """Three of ten are large; one has a time of its own, and one a priority."""
        small, large = self._tasks.small, self._tasks.large
        return [
            (large if index % 10 in (2, 5, 8) else small)
            .apply_async((0.5,), countdown=5 if index == 0 else None, priority=9 if index == 1 else 0)
            .id
            for index in range(count)
        ]

    def _until(self, is_done, what):
        while not is_done():
            if time.time() > self._ends:
                sys.exit("not in time: %s; see the logs in %s" % (what, self._folder))
            self._follow_nodes()
            time.sleep(1)

    def _follow_nodes(self):
        """Each Ready node of the simulator gets a worker, as a service of its image would start one. One that has gone loses it."""
        with urllib.request.urlopen(os.environ["SIMULATOR"] + "/simulator/ready-nodes", timeout=20) as answer:
            lines = answer.read().decode().split("\n")
        ready = {words[0]: words[1:] for words in (line.split(" ") for line in lines) if len(words) == 3}
        for name in [name for name in self._nodes if name not in ready]:
            say("%s has gone" % name)
            end(self._nodes.pop(name).worker, signal.SIGKILL)
        for name, (instance, url) in ready.items():
            if name not in self._nodes:
                say("%s is ready" % name)
                self._nodes[name] = Node(name, instance, url, self._folder, self._started)
        self._most = max(self._most, len(self._nodes))

    def _kill_one(self):
        active = self._tasks.app.control.inspect(timeout=1).active() or {}
        for worker, held in active.items():
            node = self._nodes.get(worker.split("@")[1])
            if held and node is not None:
                say("killing the worker of %s, which holds %d tasks" % (node.name, len(held)))
                end(node.worker, signal.SIGKILL)
                node.start_worker()
                return True
        return False

    def _send_demand(self):
        import demand

        while True:
            try:
                demand.send(self._client, EXPIRATION_SECONDS)
            except Exception as error:
                say("demand: %s" % error)
            time.sleep(3)


class Node:
    """A node with its worker, and its stop script every few seconds."""

    def __init__(self, name, instance, url, folder, started):
        self.name, self._instance, self._url, self._started = name, instance, url, started
        self._folder = os.path.join(folder, name + "-" + instance)
        os.mkdir(self._folder)
        from tasks import QUEUES

        self._queue = next(queue for queue, needs in QUEUES.items() if name.startswith(needs["nodearray"] + "-"))
        self._processes = QUEUES[self._queue]["processes"]
        self.start_worker()
        threading.Thread(target=self._ask, daemon=True).start()

    def start_worker(self):
        words = [PYTHON, "-m", "celery", "-A", "tasks", "worker", "-n", "%s@%s" % (self._queue, self.name), "-Q", self._queue]
        words += ["-c", str(self._processes), "--without-gossip", "--without-mingle", "-l", "INFO"]
        with open(os.path.join(self._folder, "worker.log"), "a") as log:
            self.worker = start(self._started, words, cwd=HERE, stdout=log, stderr=log)

    def _ask(self):
        import cyclecloud_autostop as autostop
        from worker_stop import Worker

        worker = Worker("%s@%s" % (self._queue, self.name), self._queue)
        said = "open"
        while said != "stopping":
            time.sleep(3)
            try:
                said = autostop.Run(worker, self._folder, self._url, self._instance, IDLE_SECONDS).go()
            except Exception as error:
                say("%s: %s" % (self.name, error))


if __name__ == "__main__":
    sys.exit(main())
