import type { QueueServiceClient } from "@azure/storage-queue";
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { sweepPoison } from "../../functions/poison.ts";
import { composition } from "../../src/compose.ts";
import type { LocalApp } from "../support/local-app.ts";

/*
 * Shared by the tests of messages: an app with queues, what it shows of a message, and messages that cannot be read.
 */

/** An app that plans only because of messages. */
export interface Stage {
  readonly app: LocalApp;
  readonly queues: QueueServiceClient;
}

const patiently = { interval: 20 };

/** Waits until both queues are empty. The timer does not run here, so this function sweeps demand-poison itself. */
export async function quiet({ queues }: Stage): Promise<void> {
  for (const name of ["demand", "demand-poison"]) {
    if (name === "demand-poison") await sweepPoison(composition());
    await expect
      .poll(
        async () => (await queues.getQueueClient(name).getProperties()).approximateMessagesCount,
        patiently,
      )
      .toBe(0);
  }
}

export async function rejected({ app }: Stage): Promise<readonly Record<string, unknown>[]> {
  const texts = await app.peek("demand-rejected");
  return texts.map((text): Record<string, unknown> => JSON.parse(text));
}

/** The set on the state page. Undefined if it is not there. */
export async function shownSet({ app }: Stage, name: string): Promise<Record<string, unknown> | undefined> {
  const { body } = await app.call("GET", "/api/clusters/prod");
  return listIn(body, "demand").find((set) => set["requestSet"] === name);
}

export async function shownRejections(
  { app }: Stage,
  messageId: string,
): Promise<readonly Record<string, unknown>[]> {
  const { body } = await app.call("GET", "/api/clusters/prod");
  return listIn(body, "rejections").filter((rejection) => rejection["messageId"] === messageId);
}

/** A list of objects in a JSON answer. */
export function listIn(body: unknown, key: string): readonly Record<string, unknown>[] {
  const list: unknown = typeof body === "object" && body !== null ? Reflect.get(body, key) : undefined;
  if (!Array.isArray(list)) throw new Error(`no list "${key}" in ${JSON.stringify(body)}`);
  return list;
}

/** How often the demand of the cluster "prod" has changed. */
export const generation = async ({ app }: Stage) => {
  const { body } = await app.call("GET", "/api/clusters/prod");
  return typeof body === "object" && body !== null ? Reflect.get(body, "generation") : undefined;
};

/** A target for the array "other", which has ten nodes at most. */
export const targets = (...counts: readonly number[]) =>
  counts.map((count) => ({ Name: "other", TargetCount: count }));
/** One hour of the app's clock is one real minute. */
export const lasting = { version: 1, expirationInterval: 3600 };
export const text = (requestSet: string, more: object = {}) =>
  JSON.stringify({ ...lasting, cluster: "prod", requestSet, nodearrays: targets(1), ...more });
export const put = ({ app }: Stage, requestSet: string, body: unknown) =>
  app.call("PUT", `/api/clusters/prod/request-sets/${requestSet}`, body);

export const ENCODINGS = "JSON, base64 of JSON, or base64 of gzipped JSON";
const KEYS =
  "one of the keys version, cluster, requestSet, revision, expirationInterval, nodearrays, jobs, schedulerNodes, pools, readAt, others";

/** Messages that no reader accepts, each with all problems that are named to its sender. */
export const UNREADABLE = [
  {
    name: "not JSON",
    sent: "demand: 3 nodes",
    problems: [{ path: "", found: "text of 15 characters", expected: ENCODINGS }],
    onStatePage: false,
    http: 400,
  },
  {
    name: "undecodable: gzip that is cut off",
    sent: gzipSync(text("cut")).subarray(0, 40).toString("base64"),
    problems: [{ path: "", found: "gzip data that is cut off or damaged", expected: ENCODINGS }],
    onStatePage: false,
    http: 400,
  },
  {
    name: "JSON that is no message",
    sent: "[1,2]",
    problems: [{ path: "", found: "list of 2 items", expected: "an object: a demand message" }],
    onStatePage: false,
    http: 400,
  },
  {
    name: "wrong types, all of them at once",
    sent: text("wrong-types", { expirationInterval: "300", nodearrays: 5 }),
    problems: [
      { path: "expirationInterval", found: '"300"', expected: "a number of seconds above 0" },
      { path: "nodearrays", found: "5", expected: "a list of objects, or one object" },
    ],
    onStatePage: true,
    http: 400,
  },
  {
    name: "an unknown key, with the nearest known one",
    sent: text("unknown-key", { nodearray: [] }),
    problems: [{ path: "", found: '"nodearray"', expected: `${KEYS}, wake`, didYouMean: "nodearrays" }],
    onStatePage: true,
    http: 400,
  },
  {
    name: "a revision of the future",
    sent: text("future", { revision: 4_000_000_000_000 }),
    problems: [
      {
        path: "revision",
        found: "4000000000000",
        expected: expect.stringContaining("milliseconds since 1970, at most 5 minutes ahead of"),
      },
    ],
    onStatePage: true,
    http: 400,
  },
  {
    name: "a wake message with a wrong value",
    sent: JSON.stringify({ version: 1, cluster: "prod", wake: "yes" }),
    problems: [{ path: "wake", found: "text of 3 characters", expected: "true" }],
    onStatePage: true,
    http: 400,
  },
];
