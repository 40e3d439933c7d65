import type { Problem } from "../../domain/demand.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Rejection } from "../../domain/troubles.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { Change } from "../record/commit.ts";
import { commitRecord } from "../record/commit.ts";
import { unlessOtherState } from "../record/load-record.ts";
import type { RejectedMessage } from "../ports/demand-queue.ts";
import { PortError } from "../ports/port-error.ts";
import type { App } from "../process/lanes.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** Maximum number of rejections on the state page. */
const SHOWN_REJECTIONS = 20;
/** Maximum number of problems of each. The queue has all of them, and every renewal writes those that are stored here. */
const SHOWN_PROBLEMS = 5;
/** At most this many rejections are written to the record in this many seconds, because accepts of good demand wait for each write. */
const WRITTEN = { rejections: 10, seconds: 60 } as const;

/**
 * Puts a message that cannot be accepted into `demand-rejected` with all its problems, and shows it on the state page of its cluster.
 * Throws only PortError: if the message could not be put into the queue, or the record could not be saved.
 */
export async function putAside(app: App, message: RejectedMessage): Promise<void> {
  const { queue, log } = app.ports;
  log("message-rejected", {
    messageId: message.messageId,
    cluster: message.cluster,
    set: message.set,
    problems: message.problems.map(
      (problem: Problem) => `${problem.path}: found ${problem.found}, expected ${problem.expected}`,
    ),
  });
  const leave = await app.lanes.aside.enter("small", 1, app.ports.clock);
  try {
    await queue.reject(message);
  } finally {
    leave?.();
  }
  try {
    await show(app, message);
  } catch (error) {
    if (error instanceof PortError) throw error;
    // The message is in the queue. It must not be put aside repeatedly only because it cannot be shown.
    log("rejection-not-shown", { messageId: message.messageId, message: String(error) });
  }
}

async function show(app: App, message: RejectedMessage): Promise<void> {
  const site = [...app.ports.sites.values()].find((candidate) => candidate.cluster === message.cluster);
  if (site === undefined) return;
  const rejection: Rejection = {
    at: message.rejectedAt,
    messageId: message.messageId,
    ...withoutAbsent({ set: message.set }),
    problems: message.problems.slice(0, SHOWN_PROBLEMS),
  };
  const memory = app.lanes.memoryOf(site.cluster);
  // Without a load, for which accepts of good demand would wait.
  if (isFull(memory, rejection)) return;
  // Under a newer record the message is only in the queue. It must not be put aside repeatedly until it can be shown.
  await unlessOtherState(() =>
    commitRecord(app, site.cluster, ({ record }): Change<undefined> => {
      memory.rejections = record.rejections;
      if (isFull(record, rejection)) return { result: undefined };
      // Delivered again after a crash: shown once.
      const others = record.rejections.filter((shown) => shown.messageId !== rejection.messageId);
      const rejections = [...others, rejection].slice(-SHOWN_REJECTIONS);
      return { save: { record: { ...record, rejections }, changes: {} }, result: undefined };
    }),
  );
}

/** True if the limit is reached for now. The rejection is then only in the queue and the log. */
function isFull({ rejections }: Pick<ClusterRecord, "rejections">, { at }: Rejection): boolean {
  const recent = rejections.filter((shown) => Math.abs(secondsBetween(shown.at, at)) < WRITTEN.seconds);
  return recent.length >= WRITTEN.rejections;
}
