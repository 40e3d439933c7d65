import { app, type InvocationContext } from "@azure/functions";
import { concurrency, gate, journal } from "./journal.ts";

const connection = "AzureWebJobsStorage";

/** What a message may ask of the function that gets it. */
type Wish = {
  readonly fail?: boolean;
  /** Fail until it has been dequeued so often. */
  readonly failUntil?: number;
  /** Never end until it has been dequeued so often. */
  readonly hangUntil?: number;
  readonly takeMs?: number;
  /** Run until the test opens this gate. */
  readonly gate?: string;
};

app.storageQueue("orders", {
  queueName: "orders",
  connection,
  handler: async (message: unknown, context: InvocationContext) => {
    concurrency.now += 1;
    concurrency.most = Math.max(concurrency.most, concurrency.now);
    journal.push({ functionName: "orders", saw: { message, metadata: context.triggerMetadata } });
    const wish = readWish(message);
    if (wish.takeMs !== undefined) await new Promise((resolve) => setTimeout(resolve, wish.takeMs));
    if (wish.gate !== undefined) await gate(wish.gate).promise;
    const count = Number(context.triggerMetadata?.["dequeueCount"]);
    if (count < (wish.hangUntil ?? 0)) await new Promise(() => undefined);
    concurrency.now -= 1;
    if (wish.fail === true || count < (wish.failUntil ?? 0)) throw new Error("as asked");
  },
});
app.storageQueue("absent", {
  queueName: "absent-queue",
  connection,
  handler: () => {
    journal.push({ functionName: "absent", saw: undefined });
  },
});
app.storageQueue("off", {
  queueName: "off-queue",
  connection,
  handler: () => {
    journal.push({ functionName: "off", saw: undefined });
  },
});

function readWish(message: unknown): Wish {
  return typeof message === "object" && message !== null ? message : {};
}
