import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { memoryDemandQueue } from "../../../src/adapters/memory/demand-queue.ts";
import { storageDemandQueue } from "../../../src/adapters/queue/demand-queue.ts";
import type { DemandQueue, RejectedMessage } from "../../../src/app/ports/demand-queue.ts";
import { clusterName } from "../../../src/domain/ids.ts";
import { minusSeconds, plusSeconds } from "../../../src/domain/units.ts";
import { startAzurite } from "../../../src/local/azurite.ts";
import { SAMPLE_TIME } from "../../support/sample-record.ts";

type Azurite = Awaited<ReturnType<typeof startAzurite>>;

const demo = clusterName("demo & <west>");
const clock = { now: () => SAMPLE_TIME };

const rejection = (number: number): RejectedMessage => ({
  messageId: `m-${number}`,
  rejectedAt: SAMPLE_TIME,
  cluster: "demo",
  problems: [{ path: "/jobs", found: "<null>", expected: "a list", didYouMean: "jobs" }],
  text: `{"jobs":null,"odd":"\u0001\r\uFFFE"} ${number}`,
});

async function withQueue<T>(
  speed: number,
  use: (queue: DemandQueue, service: QueueServiceClient) => Promise<T>,
): Promise<T> {
  const azurite = await startAzurite();
  try {
    const account = { kind: "connection-string", connectionString: azurite.connectionString } as const;
    const queue = storageDemandQueue(account, clock, { speed });
    await queue.ensureQueues();
    await queue.ensureQueues();
    return await use(queue, QueueServiceClient.fromConnectionString(azurite.connectionString));
  } finally {
    await azurite.close();
  }
}

/** The texts that are visible now. */
async function receive(service: QueueServiceClient): Promise<readonly string[]> {
  const answer = await service.getQueueClient("demand").receiveMessages({ numberOfMessages: 32 });
  return answer.receivedMessageItems.map(({ messageText }) => messageText);
}

describe("rejected messages", () => {
  const inMemory = (use: (queue: DemandQueue) => Promise<void>) => use(memoryDemandQueue(clock));
  const onAzurite = (use: (queue: DemandQueue) => Promise<void>) => withQueue(1, use);

  test.each([
    { name: "memory", run: inMemory },
    { name: "Azurite", run: onAzurite },
  ])("are counted and shown as they were put aside, the oldest first: $name", async ({ run }) => {
    await run(async (queue) => {
      expect(await queue.rejected()).toStrictEqual({ count: 0, oldest: [] });
      for (let number = 0; number < 40; number++) await queue.reject(rejection(number));
      const { count, oldest } = await queue.rejected();
      expect(count).toBe(40);
      expect(oldest).toHaveLength(32);
      expect(oldest[0]).toStrictEqual(rejection(0));
      expect(oldest[31]).toStrictEqual(rejection(31));
    });
  });

  test("what others have put there is counted and not shown", async () => {
    await withQueue(1, async (queue, service) => {
      const message = { messageId: "m", rejectedAt: 1, problems: [], text: "" };
      const nonsense = [
        { ...message, rejectedAt: 1e308 },
        { ...message, rejectedAt: 0.5 },
        { ...message, problems: [null] },
        { ...message, problems: [{ path: 1, found: "", expected: "" }] },
        { ...message, cluster: {} },
      ].map((one) => JSON.stringify(one));
      for (const text of ["not JSON", "[]", '{"messageId":1}', "null", ...nonsense]) {
        await service.getQueueClient("demand-rejected").sendMessage(text);
      }
      expect(await queue.rejected()).toStrictEqual({ count: 9, oldest: [] });
    });
  });
});

describe("messages that the host gave up on", () => {
  test("are taken once for a while, the oldest first, and gone when they are dropped: memory", async () => {
    const queue = memoryDemandQueue(clock);
    for (const text of ["a", "b", "c"]) queue.addPoison(text);
    await checkPoison(queue);
  });

  test("the same: Azurite", async () => {
    await withQueue(1, async (queue, service) => {
      for (const text of ["a", "b", "c"]) await service.getQueueClient("demand-poison").sendMessage(text);
      await checkPoison(queue);
    });
  });

  async function checkPoison(queue: DemandQueue): Promise<void> {
    // Dated by the second.
    const { count, oldestAt = 0 } = await queue.poison();
    expect(count).toBe(3);
    expect(Math.abs(oldestAt - SAMPLE_TIME)).toBeLessThan(5000);
    const first = await queue.takePoison(2);
    expect(first).toMatchObject([
      { text: "a", taken: 1 },
      { text: "b", taken: 1 },
    ]);
    const [last] = await queue.takePoison(2);
    expect(last).toMatchObject({ text: "c", taken: 1 });
    // What is being handled counts, and has no age.
    expect(await queue.poison()).toEqual({ count: 3 });
    for (const message of first) await queue.dropPoison(message);
    expect(await queue.poison()).toEqual({ count: 1 });
    for (const message of first) await queue.dropPoison(message);
    expect(await queue.poison()).toEqual({ count: 1 });
    expect(await queue.takePoison(2)).toEqual([]);
  }
});

test("what is put aside is kept for 30 days", async () => {
  await withQueue(1, async (queue, service) => {
    await queue.reject(rejection(1));
    const { peekedMessageItems } = await service.getQueueClient("demand-rejected").peekMessages();
    const [message] = peekedMessageItems;
    const life = (message?.expiresOn.getTime() ?? 0) - (message?.insertedOn.getTime() ?? 0);
    expect(life).toBe(30 * 24 * 3600 * 1000);
  });
});

describe("waking and sending again on Azurite", () => {
  test("a wake that is due is there at once, in plain JSON", async () => {
    await withQueue(1, async (queue, service) => {
      await queue.wake(demo, plusSeconds(SAMPLE_TIME, 0.999));
      await queue.wake(demo, minusSeconds(SAMPLE_TIME, 30));
      expect(await receive(service)).toStrictEqual([
        `{"version":1,"cluster":"demo & <west>","wake":true,"at":${SAMPLE_TIME + 999}}`,
        `{"version":1,"cluster":"demo & <west>","wake":true,"at":${SAMPLE_TIME - 30_000}}`,
      ]);
    });
  });

  test.each([
    { name: "real time", speed: 1, delay: 2, hiddenFor: 2 },
    { name: "sixty times as fast: whole real seconds, rounded down", speed: 60, delay: 179, hiddenFor: 2 },
  ])("a delay hides the message: $name", async ({ speed, delay, hiddenFor }) => {
    await withQueue(speed, async (queue, service) => {
      const started = Date.now();
      await queue.wake(demo, plusSeconds(SAMPLE_TIME, delay));
      await queue.resend("again", delay);
      const seen: string[] = [];
      const receiveMore = async () => seen.push(...(await receive(service)));
      await expect.poll(receiveMore).toBe(2);
      // Message times have a resolution of one second.
      expect(Date.now() - started).toBeGreaterThan((hiddenFor - 1) * 1000);
    });
  });

  test("texts arrive as they were, or in a form that the parser takes", async () => {
    await withQueue(1, async (queue, service) => {
      await queue.resend('{"a":"<&>\\u0001 ü"}', 0);
      await queue.resend("{\r\n}", 0);
      await queue.resend("x".repeat(65_536), 0);
      expect(await receive(service)).toStrictEqual(['{"a":"<&>\\u0001 ü"}', "ew0KfQ==", "x".repeat(65_536)]);
    });
  });

  test("the largest rejected message is taken", async () => {
    await withQueue(1, async (queue) => {
      await queue.reject({ ...rejection(1), text: '"'.repeat(65_536) });
      await queue.reject({ ...rejection(2), text: "x".repeat(65_536) });
      const { oldest } = await queue.rejected();
      expect(oldest.map(({ messageId }) => messageId)).toStrictEqual(["m-1", "m-2"]);
    });
  });
});

describe("failures", () => {
  let azurite: Azurite;
  beforeAll(async () => {
    azurite = await startAzurite();
  });
  afterAll(() => azurite.close());

  test("a queue that does not exist is made by the first call that misses it, and the call is done", async () => {
    const queue = storageDemandQueue(
      { kind: "connection-string", connectionString: azurite.connectionString },
      clock,
    );
    expect(await queue.takePoison(1)).toEqual([]);
    await queue.wake(demo, SAMPLE_TIME);
    const sent = await QueueServiceClient.fromConnectionString(azurite.connectionString)
      .getQueueClient("demand")
      .peekMessages();
    expect(sent.peekedMessageItems.map(({ messageText }): unknown => JSON.parse(messageText))).toEqual([
      { version: 1, cluster: demo, wake: true, at: SAMPLE_TIME },
    ]);
  });

  test("a wrong key is denied", async () => {
    const connectionString = azurite.connectionString.replace(/AccountKey=[^;]+/, "AccountKey=d3Jvbmc=");
    const queue = storageDemandQueue({ kind: "connection-string", connectionString }, clock);
    await expect(queue.rejected()).rejects.toMatchObject({ kind: "denied", status: 403 });
  });

  test("a text that fits in no form is refused before it is sent", async () => {
    const text = Array.from({ length: 60_000 }, (_, at) =>
      String.fromCharCode(256 + ((at * 48_271) % 40_000)),
    ).join("");
    const queue = storageDemandQueue(
      { kind: "connection-string", connectionString: azurite.connectionString },
      clock,
    );
    await expect(queue.resend(text, 0)).rejects.toThrow("a text of 60000 characters does not fit");
  });
});

test("a queue in memory gives what was put in, once, in order", async () => {
  const queue = memoryDemandQueue(clock);
  await queue.wake(demo, plusSeconds(SAMPLE_TIME, 5));
  await queue.resend("again", 30);
  expect(queue.drain()).toStrictEqual([
    { kind: "wake", cluster: demo, at: plusSeconds(SAMPLE_TIME, 5) },
    { kind: "text", text: "again", at: plusSeconds(SAMPLE_TIME, 30) },
  ]);
  expect(queue.drain()).toStrictEqual([]);
});
