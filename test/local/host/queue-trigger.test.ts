import { QueueServiceClient, type QueueClient } from "@azure/storage-queue";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startAzurite, type Azurite } from "../../../src/local/azurite.ts";
import type { Host } from "../../../src/local/host/host.ts";
import { paced } from "../../support/patience.ts";
import { concurrency, journal, openGate, seenBy } from "../../support/toy-app/journal.ts";
import { startToyHost, type ToyOptions } from "../../support/toy-app/start.ts";

let azurite: Azurite;
let service: QueueServiceClient;
let lastQueue = 0;

beforeAll(async () => {
  azurite = await startAzurite();
  service = QueueServiceClient.fromConnectionString(azurite.connectionString);
});
afterAll(() => azurite.close());
beforeEach(() => {
  journal.length = 0;
  concurrency.now = 0;
  concurrency.most = 0;
});

/** A new queue with these messages, watched by the function "orders" of a host that runs while `scenario` does. */
async function withOrders(
  options: Omit<ToyOptions, "connectionString">,
  scenario: (queue: QueueClient, host: Host) => Promise<void>,
  messages: readonly object[] = [],
): Promise<void> {
  const queue = service.getQueueClient(`orders-${++lastQueue}`);
  await queue.create();
  for (const message of messages) await queue.sendMessage(JSON.stringify(message));
  const settings = {
    ORDERS_QUEUE: queue.name,
    "AzureWebJobs.orders-poison.Disabled": "true",
    ...options.settings,
  };
  const host = await startToyHost({ ...options, connectionString: azurite.connectionString, settings });
  try {
    await scenario(queue, host);
  } finally {
    await host.stop();
  }
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
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
    { name: "JSON as an object", encoding: "none", sent: '{"a":1}', message: { a: 1 } },
    { name: "other text as text", encoding: "none", sent: "plain <text>", message: "plain <text>" },
    {
      name: "text in quotes without them, being JSON",
      encoding: "none",
      sent: '"quoted"',
      message: "quoted",
    },
    { name: "base64 as it is, without encoding", encoding: "none", sent: base64("x"), message: "eA==" },
    { name: "JSON in base64 as an object", encoding: "base64", sent: base64('{"a":1}'), message: { a: 1 } },
    { name: "text in base64 as text", encoding: "base64", sent: base64("ümlaut"), message: "ümlaut" },
  ])("$name (messageEncoding $encoding)", ({ encoding, sent, message }) =>
    withOrders({ queues: { messageEncoding: encoding } }, async (queue) => {
      await queue.sendMessage(sent);
      await expect.poll(() => seenBy("orders"), patiently).toMatchObject([{ message }]);
      await expect.poll(() => left(queue), patiently).toBe(0);
    }),
  );

  test("metadata: id, counts, times on the scaled clock, and the message's own fields", () => {
    const origin = Date.now() - 100_000; // simulated time is 5,900 s ahead of real time
    return withOrders({ origin }, async (queue) => {
      const sent = await queue.sendMessage('{"color":"red"}');
      await expect.poll(() => seenBy("orders"), patiently).toHaveLength(1);
      expect(seenBy("orders")).toMatchObject([
        { metadata: { id: sent.messageId, dequeueCount: 1, color: "red", queueTrigger: { color: "red" } } },
      ]);
      const [{ metadata }] = seenBy("orders") as [{ metadata: Record<string, string> }];
      const time = (name: string) => Date.parse(metadata[name] ?? "");
      const sentAt = origin + (sent.insertedOn.getTime() - origin) * 60;
      expect(Math.abs(time("insertionTime") - sentAt)).toBeLessThan(5000); // both are of the moment that storage noted
      // Hidden for 10 simulated minutes from when it was received; storage reports whole real seconds, 60 simulated ones.
      const hiddenFor = (time("nextVisibleTime") - time("insertionTime")) / 1000;
      expect(hiddenFor).toBeGreaterThanOrEqual(600);
      expect(hiddenFor).toBeLessThanOrEqual(600 + 180);
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
    const queue = service.getQueueClient(`orders-${lastQueue + 1}`); // the one that withOrders takes
    await queue.create();
    await queue.sendMessage("worn out");
    for (let i = 0; i < 2; i++) {
      const [message] = (await queue.receiveMessages({ visibilityTimeout: 30 })).receivedMessageItems;
      await queue.updateMessage(message?.messageId ?? "", message?.popReceipt ?? "", undefined, 0);
    }
    await withOrders({ queues: { maxDequeueCount: 2 } }, async (watched) => {
      expect(watched.name).toBe(queue.name);
      await expect.poll(() => textsIn(`${queue.name}-poison`), patiently).toEqual(["worn out"]);
      expect(seenBy("orders")).toEqual([]);
    });
  });

  test("not base64 where base64 is asked for: raw to poison at once, and the function does not see it", () =>
    withOrders({ queues: { messageEncoding: "base64", maxDequeueCount: 5 } }, async (queue) => {
      await queue.sendMessage("{not base64}");
      await expect.poll(() => textsIn(`${queue.name}-poison`), patiently).toEqual(["{not base64}"]);
      await expect.poll(() => left(queue), patiently).toBe(0);
      expect(seenBy("orders")).toEqual([]);
    }));

  test("a poison queue has none of its own: what fails there stays, hidden", async () => {
    const sad = service.getQueueClient("sad-poison");
    await sad.create();
    await sad.sendMessage("x");
    await withOrders({ queues: { maxDequeueCount: 1 } }, async () => {
      await expect.poll(() => seenBy("sad-poison"), patiently).toHaveLength(1);
      await seconds(0.5);
      expect(seenBy("sad-poison")).toHaveLength(1);
      expect(await left(sad)).toBe(1);
      expect(await textsIn("sad-poison")).toEqual([]);
    });
    await sad.delete();
  });

  test("a function on the poison queue gets what failed", () =>
    withOrders(
      { queues: { maxDequeueCount: 1 }, settings: { "AzureWebJobs.orders-poison.Disabled": "false" } },
      async (queue) => {
        await queue.sendMessage('{"fail":true}');
        await expect.poll(() => seenBy("orders-poison"), patiently).toEqual([{ fail: true }]);
      },
    ));
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

describe("output bindings", () => {
  test.each([
    { encoding: "none", sent: (text: string) => text, arrives: ["a", '{"b":2}'] },
    { encoding: "base64", sent: base64, arrives: ["YQ==", "eyJiIjoyfQ=="] },
  ])(
    "an array becomes one message per element, in a queue made for it (messageEncoding $encoding)",
    async (row) => {
      const inBox = service.getQueueClient("in-box");
      const outBox = service.getQueueClient("out-box");
      await Promise.all([inBox.createIfNotExists(), outBox.deleteIfExists()]);
      await withOrders({ queues: { messageEncoding: row.encoding } }, async () => {
        await inBox.sendMessage(row.sent('["a",{"b":2}]'));
        await expect.poll(() => textsIn("out-box"), patiently).toEqual(row.arrives);
      });
    },
  );

  test("wake a trigger of the same host that would have polled much later", () =>
    withOrders({ speed: 0.005, queues: { maxPollingInterval: "00:10:00" } }, async (_, host) => {
      await seconds(0.2); // polls at about 0 s; the next one is due after 20 s
      const response = await fetch(`${host.url}/api/order`, { method: "POST", body: '{"n":1}' });
      expect(response.status).toBe(202);
      await expect.poll(() => seenBy("orders"), patiently).toHaveLength(1);
    }));
});
