#!/usr/bin/env python3
"""Run each minute on a node: when it has been idle for long enough, closes it in its scheduler and asks the autoscaler whether it may stop.

docs/python.md shows how. The rules are those of docs/protocol.md, Questions of nodes. One file for Python 3.6 and newer, with the standard
library only, for nodes without bash. It is written for PBS; --look, --close and --open name the commands of other schedulers.
"""
import argparse
import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

_BETWEEN_QUESTIONS_SECONDS = 30
_ANSWER_SECONDS = 20
_SETTLE_SECONDS = 5
# By then no stop can be under way: since the last question for one. The longer time counts once an answer has named one.
_OVER_SECONDS = 180
_LONGEST_SECONDS = 1200
_DEFAULT_IDLE_SECONDS = 1800


class Commands:
    """A node by the commands of its scheduler. `look` exits with 0 if the node is idle, 1 if it is busy, 3 if an administrator closed it."""

    def __init__(self, look, close, reopen):
        self._look, self._close, self._reopen = look, close, reopen

    def look(self):
        """"idle", "busy", "closed" by an administrator, or "unknown"."""
        return {0: "idle", 1: "busy", 3: "closed"}.get(subprocess.call(self._look, shell=True), "unknown")

    def close(self):
        return subprocess.call(self._close, shell=True) == 0

    def reopen(self):
        return subprocess.call(self._reopen, shell=True) == 0


class Pbs:
    """A node by pbsnodes."""

    def __init__(self, host):
        self._host = host

    def look(self):
        text = _output("pbsnodes", "-v", self._host)
        if text is None:
            return "unknown"
        if re.search(r"^ *jobs = \S", text, re.MULTILINE):
            return "busy"
        return "closed" if re.search(r"^ *state = .*offline", text, re.MULTILINE) else "idle"

    def close(self):
        return _output("pbsnodes", "-o", self._host) is not None

    def reopen(self):
        return _output("pbsnodes", "-r", self._host) is not None


class Run:
    """One run. What it has to remember until the next one is a file in the folder."""

    def __init__(self, node, folder, url, instance, idle_seconds):
        self._node, self._folder, self._url, self._instance = node, folder, url, instance
        self._idle_seconds = idle_seconds
        self._file = os.path.join(folder, "autostop.json")
        self._kept = _read_json(self._file)
        self._notice_boot()

    def _notice_boot(self):
        """A deallocated node keeps its disk. At another boot what was asked before is over: the node asks whether it is, and begins no stop."""
        boot = _boot_id()
        if boot is None or self._kept.get("boot") == boot:
            return
        if "boot" in self._kept:
            self._keep(idle_since=None, granted=None, **({"asked": time.time()} if "asked" in self._kept else {}))
        self._keep(boot=boot)

    def go(self):
        """Returns "open", "closed" (no verdict yet) or "stopping"."""
        begins = self._continue() if "asked" in self._kept else self._begin()
        return "open" if begins is None else self._ask(begins)

    def _continue(self):
        """The node was closed by an earlier run. Whether a question may begin its stop; None if it takes jobs again."""
        if self._kept.get("granted"):
            return True
        if time.time() - self._kept["asked"] >= (_LONGEST_SECONDS if self._kept.get("held") else _OVER_SECONDS):
            return self._reopen()
        return False

    def _begin(self):
        seen = self._node.look()
        if seen == "busy":
            self._keep(idle_since=None)
        if seen != "idle":
            return None
        if "idle_since" not in self._kept:
            self._keep(idle_since=time.time())
        if time.time() - self._kept["idle_since"] < self._idle_seconds:
            return None
        # Closed first, then looked at again: a job may have started in between.
        self._keep(asked=time.time(), granted=None, held=None, unclear=None)
        if not self._node.close():
            self._keep(asked=None)
            return None
        time.sleep(_SETTLE_SECONDS)
        seen = self._node.look()
        if seen == "busy":
            self._keep(idle_since=None)
        return True if seen in ("idle", "closed") else self._reopen()

    def _ask(self, begins):
        """Two questions. Later runs ask what became of the stop, and begin none."""
        for is_last in (False, True):
            began = time.time()
            if begins and not self._kept.get("granted"):
                self._keep(asked=began)
            is_first = not self._kept.get("unclear")
            self._keep(unclear=True)
            query = {"instance": self._instance, "asked": int(began * 1000)}
            status, answer = ask(self._url, dict(query, **({} if begins else {"begin": "no"})), token_in(self._folder))
            undrain = answer.get("undrain")
            if status == 200 and answer.get("stop") is True:
                self._keep(granted=True)
                return "stopping"
            not_ours = undrain is None and status in (403, 404) and is_first
            if undrain is True or not_ours or (undrain is None and status == 409):
                if status != 503:
                    self._keep(idle_since=None)
                self._reopen()
                return "open"
            if answer.get("stopUnderWay") is True:
                self._keep(held=True)
            if not is_last:
                time.sleep(max(0, began + _BETWEEN_QUESTIONS_SECONDS - time.time()))
        return "closed"

    def _reopen(self):
        if self._node.reopen():
            self._keep(asked=None, granted=None, held=None, unclear=None)

    def _keep(self, **changes):
        self._kept.update(changes)
        self._kept = {key: value for key, value in self._kept.items() if value is not None}
        with open(self._file + ".new", "w", encoding="utf-8") as file:
            json.dump(self._kept, file)
        os.replace(self._file + ".new", self._file)


def ask(url, query, token=None):
    """One question. The HTTP status, 0 if there was no answer, and the answer's JSON. The address has a secret: it is never printed."""
    headers = {"x-node-token": token} if token else {}
    request = urllib.request.Request(url + "?" + urllib.parse.urlencode(query), b"", headers, method="POST")
    try:
        answer = urllib.request.build_opener(_NoRedirect).open(request, timeout=_ANSWER_SECONDS)
    except urllib.error.HTTPError as error:
        answer = error
    except (OSError, ValueError):
        return 0, {}
    try:
        with answer:
            read = json.loads(answer.read(65536).decode("utf-8", "replace"))
    except (OSError, ValueError):
        read = {}
    return answer.getcode(), read if isinstance(read, dict) else {}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def bind(folder, url, instance):
    """Makes a token of the node's own. From the first answer on only calls with it count for this node. Returns the exit code."""
    if token_in(folder) is None:
        text = base64.b64encode(os.urandom(24)).decode()
        with open(os.open(_token_file(folder), os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(text + "\n")
    for _ in range(60):
        status, answer = ask(url, {"instance": instance, "begin": "no"}, token_in(folder))
        if status in (200, 409) or (status == 503 and answer.get("undrain") is True):
            return 0
        if status == 403:
            sys.stderr.write("bind: another token is known for %s\n" % instance)
            return 1
        time.sleep(60)
    return 1


def token_in(folder):
    try:
        with open(_token_file(folder)) as file:
            return file.read().strip() or None
    except FileNotFoundError:
        return None


def _token_file(folder):
    return os.path.join(folder, "node.token")


def _read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            read = json.load(file)
        return read if isinstance(read, dict) else {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        # Something was kept, so a stop may be under way: as if it had been asked for now.
        return {"asked": time.time(), "unclear": True}


def _boot_id():
    """The id of this boot. None where the system has none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip() or None
    except OSError:
        return None


def _output(*words):
    """What a command prints. None if it fails."""
    try:
        ran = subprocess.run(words, stdout=subprocess.PIPE, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout.decode("utf-8", "replace") if ran.returncode == 0 else None


def _config(name, default=None):
    program = shutil.which("jetpack") or "/opt/cycle/jetpack/bin/jetpack"
    value = _output(program, "config", name, *([] if default is None else [str(default)]))
    return value.strip() if value is not None else None


def _lock(folder):
    """One run at a time: an open file with a lock, or None. The lock ends with the process."""
    file = open(os.path.join(folder, "autostop.lock"), "w")
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def main(words=None, node=None):
    """`node`: what has look, close and reopen, instead of the commands of a scheduler."""
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bind", action="store_true", help="at boot: make a token of this node's own")
    parser.add_argument("--folder", default=here, help="where to keep what it has asked (default: beside this file)")
    for name, text in (("look", "exits with 0: idle, 1: busy, 3: closed by an administrator"), ("close", ""), ("open", "")):
        parser.add_argument("--" + name, metavar="COMMAND", help=("of the scheduler for this node: " + text).rstrip(": "))
    options = parser.parse_args(words)
    commands = [options.look, options.close, options.open]
    if any(commands) and not all(commands):
        parser.error("expected --look, --close and --open together")
    if options.bind:
        url, instance = _config("cyclecloud.cluster.autoscale.stop_callback"), _config("cyclecloud.instance.id")
        return bind(options.folder, url, instance) if url and instance else 0
    lock = _lock(options.folder)
    enabled = _config("cyclecloud.cluster.autoscale.stop_enabled", "true")
    limit = _config("cyclecloud.cluster.autoscale.idle_time_after_jobs", _DEFAULT_IDLE_SECONDS)
    url, instance = _config("cyclecloud.cluster.autoscale.stop_callback"), _config("cyclecloud.instance.id")
    if lock is None or not (limit and url and instance) or (enabled or "").lower() != "true":
        return 0
    if node is None:
        node = Commands(*commands) if any(commands) else Pbs(socket.gethostname())
    Run(node, options.folder, url, instance, float(limit)).go()
    return 0


if __name__ == "__main__":
    sys.exit(main())
