#!/usr/bin/env python3
"""Says what a cluster needs, as jetpack.autoscale did, to the autoscaler for Azure CycleCloud. docs/python.md shows how.

One file for Python 3.6 and newer, with the standard library only. A failure is an AutoscalerError: its text says what to do and never has
a key, and its `code` is the exit code of the command.
"""
import argparse
import base64
import gzip
import http.client
import json
import math
import os
import re
import runpy
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import warnings
from xml.sax.saxutils import escape


class AutoscalerError(Exception):
    """The app refused. `status` is its HTTP status, and `problem` its answer (application/problem+json)."""

    code = 1

    def __init__(self, text, status=None, problem=None):
        super().__init__(text)
        self.status = status
        self.problem = problem


class UsageError(AutoscalerError):
    """The arguments or the settings are wrong. Nothing was sent."""

    code = 2


class NoAnswerError(AutoscalerError):
    """No answer after all tries. Demand that was sent before stays valid until it expires."""

    code = 3


# ---------------------------------------------------------------- demand


def set(name=None, corecount=None, instancecount=None, request_set="standard", expiration_interval=None, **attributes):
    """Sets the total of one node array, in cores or in nodes. Targets of other arrays in the request set stay until they expire."""
    if name is None or (corecount is None) == (instancecount is None):
        raise UsageError("set: expected name, and one of corecount and instancecount")
    target = {"TargetCount": instancecount} if corecount is None else {"TargetCoreCount": corecount}
    array = dict(attributes, Name=name, **target)
    for tries_left in reversed(range(_TRIES)):
        try:
            return push(request_set, expiration_interval, nodearrays=[array], others="stay")
        except AutoscalerError as error:
            # Another script has set another array of the request set at this moment.
            if error.status != 409 or not tries_left:
                raise
            time.sleep(0.1)
    raise AssertionError("unreachable")


def update(nodearrays, request_set="standard", expiration_interval=None):
    """States all node arrays that the request set needs now. An empty list takes all of its demand back."""
    return push(request_set, expiration_interval, nodearrays=nodearrays)


def scale_by_jobs(jobs, array_definitions=(), request_set="standard", expiration_interval=None):
    """States the node arrays that jobs need: [{"name": "1", "nodearray": "execute", "request_cpus": 4, "average_runtime": 10}].

    A job of `average_runtime` minutes uses its cores for that part of an hour (without it, a whole one), so five jobs of 10 minutes share
    what one needs. Jobs that are `grouped` have groups of their cores. Definitions say more of the arrays: MachineType, Configuration.
    """
    cores, groups = {}, {}
    for each in jobs:
        array, cpus, minutes = each.get("nodearray"), each.get("request_cpus", 1), each.get("average_runtime", 60)
        if not array or not _is_number(cpus) or not _is_number(minutes):
            text = "job %s: expected nodearray, and request_cpus and average_runtime (minutes) as numbers"
            raise UsageError("scale_by_jobs: " + text % each.get("name", "without a name"))
        part = min(1, minutes / 60.0)
        if each.get("grouped"):
            groups[array, cpus] = groups.get((array, cpus), 0) + part
        else:
            most, used = cores.get(array, (0, 0))
            cores[array] = max(most, cpus), used + cpus * part
    more = {one.get("Name"): one for one in array_definitions}
    arrays = [(array, {"TargetCoreCount": max(most, _up(used))}) for array, (most, used) in cores.items()]
    for (array, cpus), count in groups.items():
        arrays.append((array, {"TargetGroupCount": _up(count), "GroupCoreCount": cpus}))
    return update([dict(more.get(array, {}), Name=array, **target) for array, target in arrays], request_set, expiration_interval)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def _up(value):
    """Sixths of an hour do not add up exactly."""
    return int(math.ceil(round(value, 6)))


def push(request_set="standard", expiration_interval=None, **lists):
    """Sends a demand message (docs/demand.md) with the lists that are given: nodearrays, jobs, schedulerNodes, pools."""
    message = {"version": 1, "cluster": _setting("cluster"), "requestSet": request_set, "revision": _next_revision()}
    if expiration_interval is not None:
        seconds = getattr(expiration_interval, "total_seconds", None)
        message["expirationInterval"] = seconds() if seconds else expiration_interval
    message.update((key, value) for key, value in lists.items() if value is not None)
    return _send(message)


def remove(request_set="standard"):
    """Ends a request set at once: it asks for nothing any more."""
    if _find("queue"):
        return update([], request_set)
    return _call("DELETE", _path(request_set), "key")


def outcomes(request_set="standard"):
    """Reads a request set. `outcomes` in it has for each target and job what was asked, what is placed, and why the rest is not."""
    if not _find("url"):
        if _find("queue"):
            raise UsageError("the queue gives no answers: to read outcomes, set an address too: " + _HOW["url"])
        _setting("url")
    role = "reader_key" if _find("reader_key") else "key"
    answer = _call("GET", _path(request_set), role)
    read = answer
    for _ in range(_MOST_PAGES):
        if not read.get("next"):
            break
        read = _call("GET", _path(request_set) + "?" + urllib.parse.urlencode({"page": read["next"]}), role)
        answer["outcomes"] += read["outcomes"]
    return answer


# ---------------------------------------------------------------- builders: the parts of a message

_JOB_KEYS = (
    "user priority iterations node_count colocated exclusive packing_strategy placed span spot walltime metadata".split()
)

EXCLUSIVE = {"exclusive": True}
EXCLUSIVE_TASK = {"exclusive-task": True}
IN_A_PLACEMENT_GROUP = {"in-a-placement-group": True}


def job(name, *constraints, **keys):
    """A job: job("42", needs(ncpus=4), iterations=10, placed=["ip-0A000404"]). Each mention of a host in `placed` is a slot that runs there."""
    wrong = sorted(key for key in keys if key not in _JOB_KEYS)
    if wrong:
        raise UsageError("job %s: found %s, expected one of %s" % (name, ", ".join(wrong), ", ".join(_JOB_KEYS)))
    made = {"name": str(name)}
    made.update((key.replace("_", "-"), value) for key, value in keys.items() if value is not None)
    if "placed" in made:
        hosts = list(made["placed"])
        made["placed"] = [{"hostname": host, "iterations": hosts.count(host)} for host in sorted(frozenset(hosts))]
    if constraints:
        made["constraints"] = list(constraints)
    return made


def needs(**amounts):
    """What a slot takes of a node, or must find there: needs(ncpus=4, mem=memory("8g"), project="open")."""
    return amounts


def memory(amount):
    """An amount of memory: "512m", "8g", or a number of GiB."""
    return "memory::" + (amount if isinstance(amount, str) else "%gg" % amount)


def node(**properties):
    """What the node must be: node(vm_size=["Standard_F16", "Standard_F8*"], spot=False)."""
    return {"node." + name: value for name, value in properties.items()}


def all_of(*constraints):
    return {"and": list(constraints)}


def any_of(*constraints):
    """In the order of preference."""
    return {"or": list(constraints)}


def one_of(*constraints):
    return {"xor": list(constraints)}


def is_not(constraint):
    return {"not": constraint}


def never(why):
    return {"never": why}


def pool(name, amount_or_value):
    """An amount of a shared pool, or the value that it must have."""
    return {"pool": {name: amount_or_value}}


def host(hostname, jobs=(), **keys):
    """A host of the scheduler with the jobs on it, for schedulerNodes. Keys: state, resources, available."""
    return dict(keys, hostname=hostname, jobs=[str(name) for name in jobs])


# ---------------------------------------------------------------- settings

_HOW = {
    "url": "AUTOSCALER_URL=https://NAME.azurewebsites.net",
    "key": "AUTOSCALER_KEY, a sender's function key",
    "reader_key": "AUTOSCALER_READER_KEY, a reader's function key",
    "cluster": "AUTOSCALER_CLUSTER, the name of the cluster",
}
_JETPACK = {"cluster": "cyclecloud.cluster.name", "url": "autoscaler.url", "key": "autoscaler.key", "queue": "autoscaler.queue"}
_read = {}


def _setting(name):
    value = _find(name)
    if not value:
        raise UsageError("no %s: set %s, or write it into %s" % (name, _HOW[name], _settings_file()))
    return value


def _find(name):
    """A setting from the environment, the settings file, or the node's own configuration. None if none of them has it."""
    value = os.environ.get("AUTOSCALER_" + name.upper())
    if value:
        return value
    if "file" not in _read:
        _read["file"] = _read_file(_settings_file())
    value = _read["file"].get(name)
    if value is None and name in _JETPACK:
        if name not in _read:
            _read[name] = _jetpack_config(_JETPACK[name])
        value = _read[name]
    return value


def _settings_file():
    return os.environ.get("AUTOSCALER_FILE") or os.path.join(os.path.expanduser("~"), ".cyclecloud-autoscaler.json")


def _read_file(path):
    try:
        with open(path, encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if os.name == "posix" and status.st_mode & 0o077:
                raise UsageError("%s: others may read it; run: chmod 600 %s" % (path, path))
            if os.name == "posix" and status.st_uid not in (0, os.getuid()):
                raise UsageError("%s: it belongs to another user, who can read the key and change the address" % path)
            read = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise UsageError("%s: %s" % (path, why)) from None
    if not isinstance(read, dict) or not all(isinstance(value, str) for value in read.values()):
        raise UsageError('%s: expected an object of texts: {"url": ..., "key": ..., "cluster": ...}' % path)
    return read


def _jetpack_config(name):
    program = shutil.which("jetpack") or "/opt/cycle/jetpack/bin/jetpack"
    try:
        ran = subprocess.run([program, "config", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    value = ran.stdout.decode("utf-8", "replace").strip()
    return value if ran.returncode == 0 and value not in ("", "None") else None


# ---------------------------------------------------------------- sending

_TRIES = 4
_WAIT_SECONDS = 20
_LONGEST_PAUSE_SECONDS = 10
_AGAIN = (408, 429, 500, 502, 503, 504)
_MOST_ANSWER_BYTES = 64 * 1024 * 1024
_MOST_PAGES = 1000
_PACKED_FROM_BYTES = 48 * 1024
_MOST_QUEUE_BYTES = 64 * 1024
_last_revision = 0


def _next_revision():
    """Rises with each message of this process, also within a millisecond."""
    global _last_revision
    _last_revision = max(int(time.time() * 1000), _last_revision + 1)
    return _last_revision


def _send(message):
    text = _json(message)
    queue = _find("queue")
    if queue:
        packed = text if len(text) < _PACKED_FROM_BYTES else base64.b64encode(gzip.compress(text.encode())).decode()
        if len(packed) <= _MOST_QUEUE_BYTES:
            _enqueue(queue, packed)
            return {"requestSet": message["requestSet"], "queued": True}
        if not _find("url"):
            raise UsageError("the message is too large for the queue (64 KiB); send it over HTTP: set " + _HOW["url"])
    return _call("PUT", _path(message["requestSet"], message["cluster"]), "key", text)


def _json(value):
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError("the message is no JSON: %s" % error) from None


def _path(request_set, cluster=None):
    names = (str(cluster or _setting("cluster")), str(request_set))
    if any(not name or "/" in name or name in (".", "..") for name in names):
        raise UsageError("%r: expected names without a slash" % (names,))
    return "/api/clusters/%s/request-sets/%s" % tuple(urllib.parse.quote(name, safe="") for name in names)


def _call(method, path, role, body=None):
    """One request of the app, with a function key. Returns the answer's JSON."""
    url, key = _setting("url").rstrip("/"), _setting(role)
    if not re.match("^[\x21-\x7e]+$", key):
        raise UsageError("the key has a space, a line break or another character that no function key has")
    headers = {"x-functions-key": key, "content-type": "application/json"}
    status, text, where = _exchange(method, url + path, headers, body, [key])
    problem = _parse(text)
    if 200 <= status < 300:
        if not isinstance(problem, dict):
            raise AutoscalerError("%s answers %s, but not with JSON: is it the address of the function app?" % (where, status))
        return problem
    why = _refusal(status, problem, where)
    problem = problem if isinstance(problem, dict) else None
    if status in _AGAIN:
        raise NoAnswerError("%s; after %d tries, try again later" % (why, _TRIES), status, problem)
    raise AutoscalerError(why, status, problem)


def _refusal(status, problem, where):
    if isinstance(problem, dict) and "title" in problem:
        text = "%s %s: %s" % (status, problem["title"], problem.get("detail", ""))
        parts = ["%(path)s: found %(found)s, expected %(expected)s" % part for part in problem.get("problems", [])]
        return "; ".join([text] + [part for part in parts if part not in text])
    if status == 401:
        return "401: %s does not accept the key: it must be a function key of this app, and of the role that the call needs" % where
    if status == 404:
        return "404: %s has no such route: is it the address of the function app?" % where
    return "%s answers %s" % (where, status)


def _enqueue(address, text):
    parts = _split(address, "queue")
    query = dict(urllib.parse.parse_qsl(parts.query))
    if "sig" not in query:
        raise UsageError(
            "the queue: expected a signed address (https://NAME.queue.core.windows.net/demand?...&sig=...); "
            "the command cyclecloud-autoscaler also sends with an identity or a connection string"
        )
    if parts.scheme != "https" and not _is_loopback(parts):
        raise UsageError("the queue: found plain http to %s, expected an https address" % parts.hostname)
    path = parts.path.rstrip("/")
    path = path if path.endswith("/demand") else path + "/demand"
    url = "%s://%s%s/messages?%s" % (parts.scheme, parts.netloc, path, parts.query)
    body = "<QueueMessage><MessageText>%s</MessageText></QueueMessage>" % escape(text)
    status, _, where = _exchange("POST", url, {"content-type": "application/xml"}, body, [query["sig"], parts.query])
    if status in _AGAIN:
        raise NoAnswerError("%s answers %s after %d tries; try again later" % (where, status, _TRIES), status)
    if status != 201:
        why = "has it ended? sign a new one, with the permission add" if status == 403 else "is it that of the queue demand?"
        raise AutoscalerError("%s answers %s to the signed address: %s" % (where, status, why), status)


def _exchange(method, url, headers, body, secrets):
    """The status and text of the answer, and whose it is. Tries again where that can help, four times in all."""
    parts = _split(url, "address")
    where = "%s://%s" % (parts.scheme, parts.netloc)
    if parts.scheme == "http" and not _is_loopback(parts):
        warnings.warn("%s: the key travels in plain text; use https" % where, stacklevel=2)
    request = urllib.request.Request(url, None if body is None else body.encode(), headers, method=method)
    for tries_left in reversed(range(_TRIES)):
        pause = 2 ** (_TRIES - 1 - tries_left)
        try:
            status, text, retry_after = _try(request)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if not tries_left:
                why = getattr(error, "reason", None) or error
                raise NoAnswerError("no answer from %s after %d tries: %s" % (where, _TRIES, _hide(str(why), secrets))) from None
        else:
            if 300 <= status < 400:
                raise AutoscalerError("%s redirects; that is not followed, because the key would be sent along" % where, status)
            if status not in _AGAIN or not tries_left:
                return status, _hide(text, secrets), where
            pause = max(pause, retry_after)
        time.sleep(min(pause, _LONGEST_PAUSE_SECONDS))
    raise AssertionError("unreachable")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _try(request):
    try:
        answer = _opener.open(request, timeout=_WAIT_SECONDS)
    except urllib.error.HTTPError as error:
        answer = error
    ends = time.time() + 2 * _WAIT_SECONDS
    pieces, size = [], 0
    with answer:
        while True:
            piece = answer.read(65536)
            size += len(piece)
            if size > _MOST_ANSWER_BYTES or time.time() > ends:
                raise OSError("its answer is too large or too slow")
            if not piece:
                break
            pieces.append(piece)
    after = answer.headers.get("retry-after", "0")
    return answer.getcode(), b"".join(pieces).decode("utf-8", "replace"), int(after) if after.isdigit() else 0


def _split(url, what):
    try:
        parts = urllib.parse.urlsplit(url)
        parts.port
    except ValueError:
        parts = urllib.parse.urlsplit("")
    # Nothing of it is shown: it may be a key that was put into the wrong place.
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or re.search(r"[\x00-\x20]", url):
        raise UsageError("the %s is none: expected https://NAME..., without a user, a password and spaces" % what)
    return parts


def _is_loopback(parts):
    return parts.hostname in ("localhost", "::1") or parts.hostname.startswith("127.")


def _hide(text, secrets):
    for secret in secrets:
        for spelling in (secret, urllib.parse.quote(secret, safe=""), urllib.parse.unquote(secret)):
            text = text.replace(spelling, "***") if spelling else text
    return text


def _parse(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


# ---------------------------------------------------------------- the command


def main(words=None):
    """Runs the command. Returns its exit code: 0 done, 1 refused, 2 wrong arguments or settings, 3 no answer."""
    words = sys.argv[1:] if words is None else words
    if words[:1] == ["run"]:
        return _run(words[1:])
    options = _parser().parse_args(words)
    if options.command is None:
        _parser().print_help()
        return UsageError.code
    try:
        return options.act(options)
    except AutoscalerError as error:
        sys.stderr.write("%s\n" % error)
        return error.code


def _parser():
    parser = argparse.ArgumentParser(description="Says what a cluster needs to the CycleCloud autoscaler (docs/python.md).")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def add(name, text, act, *arguments):
        command = commands.add_parser(name, help=text, description=text)
        for argument, keys in arguments:
            command.add_argument(argument, **keys)
        command.set_defaults(act=act)

    sets = ("--request-set", {"default": "standard"})
    interval = ("--expiration-interval", {"type": float, "metavar": "SECONDS"})
    file = ("--file", {"required": True, "help": "JSON; - reads standard input"})
    counts = [("--corecount", {"type": int}), ("--instancecount", {"type": int})]
    add("set", "set the total of one node array", _do_set, ("--name", {"required": True}), *counts, sets, interval)
    add("update", "state all node arrays that are needed now", _do_update, file, sets, interval)
    add("push", "send a demand message with jobs, hosts or pools", _do_push, file, sets, interval)
    add("remove", "end a request set", _do_remove, sets)
    add("outcomes", "print what became of a request set, as JSON", _do_outcomes, sets)
    commands.add_parser("run", help="run SCRIPT [ARGUMENT...] with this jetpack.autoscale")
    return parser


def _do_set(options):
    return _tell(
        set(options.name, options.corecount, options.instancecount, options.request_set, options.expiration_interval)
    )


def _do_update(options):
    return _tell(update(_load(options.file), options.request_set, options.expiration_interval))


def _do_push(options):
    message = _load(options.file)
    if not isinstance(message, dict):
        raise UsageError("%s: expected an object: a demand message" % options.file)
    return _tell(push(**dict({"request_set": options.request_set, "expiration_interval": options.expiration_interval}, **message)))


def _do_remove(options):
    return _tell(remove(options.request_set))


def _do_outcomes(options):
    print(json.dumps(outcomes(options.request_set), indent=2))
    return 0


def _load(file):
    try:
        if file == "-":
            return json.load(sys.stdin)
        with open(file, encoding="utf-8") as opened:
            return json.load(opened)
    except (OSError, ValueError) as error:
        raise UsageError("%s: %s" % (file, error)) from None


def _tell(answer):
    """Prints what was accepted. 1 if jobs are left out."""
    name = answer.get("requestSet")
    if answer.get("queued"):
        print("sent to the queue: request set %s; it is read within seconds" % name)
    else:
        print("accepted: request set %s, valid until %s" % (name, answer.get("expiresAt")))
    for note in answer.get("notes", []):
        sys.stderr.write("note: %s\n" % note)
    for left in answer.get("rejectedJobs", []):
        why = "; ".join("%(path)s: found %(found)s, expected %(expected)s" % part for part in left["problems"])
        sys.stderr.write("job %s is left out: %s\n" % (left["name"], why))
    return 1 if answer.get("rejectedJobs") else 0


def _run(words):
    """Runs a script as python3 would, with this folder before all others on its path, so that its jetpack.autoscale is ours."""
    if not words:
        sys.stderr.write("run: expected a script\n")
        return UsageError.code
    sys.argv = words
    sys.path[:1] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.abspath(words[0]))]
    runpy.run_path(words[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
