import { readDemandMessage } from "../../src/wire/message/demand-message.ts";
import { type MessageContext, type MessageRead } from "../../src/wire/message/message-read.ts";
import type { PartialUpdate, RequestSetUpdate, WholeUpdate } from "../../src/domain/demand.ts";
import { instant } from "../../src/domain/units.ts";
import type { Fields } from "../../src/domain/fields.ts";

/** 2025-11-20T11:00:00Z, the moment at which the messages of these tests are read. */
export const NOW = instant(1_763_636_400_000);

export const CONTEXT: MessageContext = {
  messageId: "message-1",
  insertedAt: instant(1_763_636_399_750),
  now: NOW,
  maxExpirationSeconds: 86_400,
  knownClusters: new Set(["prod", "test"]),
};

/** The update that a good message with demand comes to; fails the test with its problems if it does not. */
export function updateOf(read: MessageRead): WholeUpdate {
  const update = anyUpdateOf(read);
  if (update.demand === undefined) throw new Error(`no demand: ${JSON.stringify(read)}`);
  return update;
}

/** The same of a message without demand. */
export function partialOf(read: MessageRead): PartialUpdate {
  const update = anyUpdateOf(read);
  if (update.demand !== undefined) throw new Error(`a demand: ${JSON.stringify(read)}`);
  return update;
}

function anyUpdateOf(read: MessageRead): RequestSetUpdate {
  if (read.kind !== "update") throw new Error(`not an update: ${JSON.stringify(read)}`);
  return read.update;
}

/** Reads a message to cluster prod with the given members. */
export function readMembers(members: Fields): MessageRead {
  return readDemandMessage({ version: 1, cluster: "prod", ...members }, CONTEXT);
}

/** The problems of a message, each as "path: found -> expected (didYouMean)". */
export function problemLines(read: MessageRead): readonly string[] {
  if (read.kind !== "rejected") throw new Error(`not rejected: ${JSON.stringify(read)}`);
  return read.problems.map(lineOf);
}

export function lineOf(problem: {
  path: string;
  found: string;
  expected: string;
  didYouMean?: string;
}): string {
  const suggestion = problem.didYouMean === undefined ? "" : ` (${problem.didYouMean}?)`;
  return `${problem.path}: ${problem.found} -> ${problem.expected}${suggestion}`;
}
