import { QueueServiceClient, type QueueClient } from "@azure/storage-queue";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startAzurite } from "../../../src/local/azurite.ts";
import { paced } from "../../support/patience.ts";
import { concurrency, journal, openGate, seenBy } from "../../support/toy-app/journal.ts";
import { startToyHost, type ToyOptions } from "../../support/toy-app/start.ts";
import type { startHost } from "../../../src/local/host/host.ts";
type Host = Awaited<ReturnType<typeof startHost>>;

type Azurite = Awaited<ReturnType<typeof startAzurite>>;

let azurite: Azurite;
let service: QueueServiceClient;

beforeAll(async () => {
  azurite = await startAzurite();
  service = QueueServiceClient.fromConnectionString(azurite.connectionString);
});
afterAll(() => azurite.close());
beforeEach(async () => {
  for (const name of ["orders", "orders-poison"]) {
    const queue = service.getQueueClient(name);
    await queue.createIfNotExists();
    await queue.clearMessages();
  }
  journal.length = 0;
  concurrency.now = 0;
  concurrency.most = 0;
});

/** The queue "orders" with these messages alone, watched by the function of a host that runs while `scenario` does. */
async function withOrders(
  options: Omit<ToyOptions, "connectionString">,
  scenario: (queue: QueueClient, host: Host) => Promise<void>,
  messages: readonly object[] = [],
): Promise<void> {
  const queue = service.getQueueClient("orders");
  for (const message of messages) await queue.sendMessage(JSON.stringify(message));
  const host = await startToyHost({ ...options, connectionString: azurite.connectionString });
  try {
    await scenario(queue, host);
  } finally {
    await host.stop();
  }
}

const left = async (queue: QueueClient) => (await queue.getProperties()).approximateMessagesCount;
const textsIn = async (queue: string) => {
  if (!(await service.getQueueClient(queue).exists())) return [];
  const { peekedMessageItems } = await service.getQueueClient(queue).peekMessages({ numberOfMessages: 32 });
  return peekedMessageItems.map((message) => message.messageText).sort();
};
const seconds = (n: number) => new Promise((resolve) => setTimeout(resolve, n * 1000));
const patiently = { interval: 50 };

describe("what the function gets", () => {
  test.each([
    { name: "JSON as an object", sent: '{"a":1}', message: { a: 1 } },
    { name: "other text as text", sent: "plain <text>", message: "plain <text>" },
    { name: "text in quotes without them, being JSON", sent: '"quoted"', message: "quoted" },
    { name: "base64 as it is", sent: "eA==", message: "eA==" },
  ])("$name", ({ sent, message }) =>
    withOrders({}, async (queue) => {
      await queue.sendMessage(sent);
      await expect.poll(() => seenBy("orders"), patiently).toMatchObject([{ message }]);
      await expect.poll(() => left(queue), patiently).toBe(0);
    }),
  );

  test("metadata: id, count, time on the scaled clock, and the message's own fields", () => {
    const origin = Date.now() - 100_000; // simulated time is 5,900 s ahead of real time
    return withOrders({ origin }, async (queue) => {
      const sent = await queue.sendMessage('{"color":"red"}');
      await expect.poll(() => seenBy("orders"), patiently).toHaveLength(1);
      expect(seenBy("orders")).toMatchObject([
        { metadata: { id: sent.messageId, dequeueCount: 1, color: "red" } },
      ]);
      const [{ metadata }] = seenBy("orders") as [{ metadata: Record<string, string> }];
      const sentAt = origin + (sent.insertedOn.getTime() - origin) * 60;
      expect(Math.abs(Date.parse(metadata["insertionTime"] ?? "") - sentAt)).toBeLessThan(5000); // both are of the moment that storage noted
    });
  });
});

describe("failure", () => {
  test("fails always: after maxDequeueCount attempts the message is in the poison queue, as it was sent", () =>
    withOrders({ queues: { maxDequeueCount: 3 } }, async (queue) => {
      await queue.sendMessage('{"fail": true}');
      await expect.poll(() => textsIn(`${queue.name}-poison`), patiently).toEqual(['{"fail": true}']);
      await expect.poll(() => left(queue), patiently).toBe(0);
      expect(seenBy("orders")).toMatchObject(
        [1, 2, 3].map((dequeueCount) => ({ metadata: { dequeueCount } })),
      );
    }));

  test("fails once: the second attempt settles it", () =>
    withOrders({ queues: { maxDequeueCount: 3 } }, async (queue) => {
      await queue.sendMessage('{"failUntil": 2}');
      await expect.poll(() => seenBy("orders"), patiently).toHaveLength(2);
      await expect.poll(() => left(queue), patiently).toBe(0);
      expect(await textsIn(`${queue.name}-poison`)).toEqual([]);
    }));

  test("visibilityTimeout of 2 simulated minutes: the second attempt comes a real second later, at speed 120", () =>
    withOrders({ speed: 120, queues: { visibilityTimeout: "00:02:00" } }, async (queue) => {
      await queue.sendMessage('{"failUntil": 2}');
      await expect.poll(() => seenBy("orders"), patiently).toHaveLength(1);
      const failedAt = performance.now();
      await expect.poll(() => seenBy("orders"), patiently).toHaveLength(2);
      expect(performance.now() - failedAt).toBeGreaterThan(700);
    }));

  test("already dequeued more often than allowed: poison, and the function does not see it", async () => {
    const queue = service.getQueueClient("orders");
    await queue.sendMessage("worn out");
    for (let i = 0; i < 2; i++) {
      const [message] = (await queue.receiveMessages({ visibilityTimeout: 30 })).receivedMessageItems;
      await queue.updateMessage(message?.messageId ?? "", message?.popReceipt ?? "", undefined, 0);
    }
    await withOrders({ queues: { maxDequeueCount: 2 } }, async () => {
      await expect.poll(() => textsIn(`${queue.name}-poison`), patiently).toEqual(["worn out"]);
      expect(seenBy("orders")).toEqual([]);
    });
  });
});

test("a message stays hidden while its function runs, however long: 1.8 times a visibility of ten minutes, 1 s at speed 600", () => {
  const speed = paced(600);
  return withOrders({ speed }, async (queue) => {
    await queue.sendMessage(JSON.stringify({ takeMs: Math.round((1.8 * 600_000) / speed) }));
    await expect.poll(() => seenBy("orders"), patiently).toHaveLength(1);
    const shown: string[] = [];
    const isLeft = async () => {
      shown.push(...(await textsIn(queue.name)));
      return left(queue);
    };
    await expect.poll(isLeft, { interval: 200 }).toBe(0);
    expect(shown).toEqual([]);
    expect(seenBy("orders")).toHaveLength(1);
  });
});

test("no more than batchSize + newBatchThreshold messages run at once, and that many do", () =>
  withOrders(
    { queues: { batchSize: 3, newBatchThreshold: 1 } },
    async () => {
      await expect.poll(() => concurrency.now, patiently).toBe(3);
      // When only one of the first batch is left, three more come beside it.
      openGate("first");
      await expect.poll(() => concurrency.now, patiently).toBe(4);
      openGate("later");
      await expect.poll(() => seenBy("orders"), patiently).toHaveLength(7);
      await expect.poll(() => concurrency.now, patiently).toBe(0);
      expect(concurrency.most).toBe(4);
    },
    ["first", "first", "later", "later", "later", "later", "later"].map((gate) => ({ gate })),
  ));

test("stopping waits for the message in hand and settles it", async () => {
  let queue: QueueClient | undefined;
  await withOrders({}, async (orders) => {
    queue = orders;
    await orders.sendMessage('{"takeMs":300}');
    await expect.poll(() => seenBy("orders"), patiently).toHaveLength(1);
  });
  expect(queue === undefined ? undefined : await left(queue)).toBe(0);
});

test("a trigger does not create its queue, and finds it when somebody does", async () => {
  const absent = service.getQueueClient("absent-queue");
  await withOrders({}, async () => {
    await seconds(0.2);
    expect(await absent.exists()).toBe(false);
    await absent.create();
    await absent.sendMessage("x");
    await expect.poll(() => seenBy("absent"), patiently).toHaveLength(1);
  });
});

test("a disabled function leaves its queue alone", async () => {
  const off = service.getQueueClient("off-queue");
  await off.create();
  await off.sendMessage("x");
  await withOrders({}, async () => {
    await seconds(0.3);
    expect(seenBy("off")).toEqual([]);
    expect(await textsIn("off-queue")).toEqual(["x"]);
  });
});
