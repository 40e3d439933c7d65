"""A Celery application with two queues of different needs. BROKER is the address of Redis."""
import os
import time

from celery import Celery
from kombu import Queue

BROKER = os.environ.get("BROKER", "redis://127.0.0.1:6379/0")

# What one task of each queue takes, where its nodes come from, and how many tasks a node runs at once. No more slots than `most` are asked for.
QUEUES = {
    "small": {"nodearray": "htc", "vm_size": "Standard_F2s_v2", "ncpus": 1, "processes": 2, "most": 6},
    "large": {"nodearray": "hpc", "vm_size": "Standard_HB120rs_v3", "ncpus": 60, "processes": 2, "most": 4},
}

app = Celery("tasks", broker=BROKER, backend=BROKER)
app.conf.update(
    task_queues=[Queue(name) for name in QUEUES],
    task_default_queue="small",
    task_routes={"tasks.large": {"queue": "large"}},
    # A task stays in the broker until it has ended: if its worker dies with its node, another one runs it.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    # A process takes no task before it can run it. Otherwise tasks wait behind others, although new nodes could run them.
    worker_prefetch_multiplier=1,
    # After this time Redis gives back what a dead worker had taken. It must be longer than the longest task, and than the longest eta.
    broker_transport_options={"visibility_timeout": int(os.environ.get("VISIBILITY_SECONDS", "3600"))},
    broker_connection_retry_on_startup=True,
)


def _work(task, seconds):
    time.sleep(seconds)
    # Counted for try.py: each task is to be done once.
    app.backend.client.hincrby("example:done", task.request.id, 1)


@app.task(bind=True)
def small(self, seconds=1.0):
    _work(self, seconds)


@app.task(bind=True)
def large(self, seconds=1.0):
    _work(self, seconds)
