import { app, output, trigger, type HttpRequest, type InvocationContext } from "@azure/functions";
import { Buffer } from "node:buffer";
import { journal } from "./journal.ts";

const orders = output.storageQueue({ queueName: "%ORDERS_QUEUE%", connection: "AzureWebJobsStorage" });

app.http("echo", {
  methods: ["GET", "POST"],
  authLevel: "anonymous",
  route: "echo/{cluster}",
  handler: async (request: HttpRequest) => ({
    headers: { "x-seen-method": request.method },
    jsonBody: {
      params: request.params,
      query: [...request.query],
      bytes: [...Buffer.from(await request.arrayBuffer())],
      custom: request.headers.get("x-custom"),
    },
  }),
});
app.http("echo-special", {
  methods: ["GET"],
  authLevel: "anonymous",
  route: "echo/special",
  handler: () => ({ body: "literal" }),
});
app.http("rest", { methods: ["GET"], authLevel: "anonymous", route: "files/{*rest}", handler: sayParams });
app.http("number", { methods: ["GET"], authLevel: "anonymous", route: "number/{n:int}", handler: sayParams });
app.http("maybe", { methods: ["GET"], authLevel: "anonymous", route: "maybe/{p?}", handler: sayParams });
app.http("with-function-key", {
  methods: ["GET", "POST"],
  authLevel: "function",
  handler: async (request: HttpRequest) => ({
    body: request.method === "GET" ? "ok" : String((await request.arrayBuffer()).byteLength),
  }),
});
app.http("with-master-key", { methods: ["GET"], authLevel: "admin", handler: () => ({ body: "ok" }) });
// The typed `app.http` cannot say "nothing"; the platform can be answered with it all the same.
app.generic("says-nothing", {
  trigger: trigger.http({ methods: ["GET"], authLevel: "anonymous" }),
  return: output.http({}),
  handler: () => undefined,
});
app.http("throws", {
  methods: ["GET"],
  authLevel: "anonymous",
  handler: () => {
    throw new Error("no answer");
  },
});
// The worker takes a thrown `undefined` for success.
app.generic("throws-undefined", {
  trigger: trigger.http({ methods: ["GET"], authLevel: "anonymous" }),
  return: output.http({}),
  handler: () => Promise.reject<undefined>(undefined),
});
app.http("cookies", {
  methods: ["GET"],
  authLevel: "anonymous",
  handler: () => ({
    cookies: [
      { name: "a", value: "1", path: "/", httpOnly: true, sameSite: "Strict" },
      { name: "b", value: "two words" },
    ],
  }),
});
app.http("hooked", {
  methods: ["GET"],
  authLevel: "anonymous",
  handler: (input: unknown, context: InvocationContext) => {
    context.log(`the secret-word is out: ${String(input)}`);
    return { body: "original result" };
  },
});
app.http("switched-off", { methods: ["GET"], authLevel: "anonymous", handler: () => ({ body: "on" }) });
app.http("slow", {
  methods: ["GET"],
  authLevel: "anonymous",
  handler: async () => {
    journal.push({ functionName: "slow", saw: undefined });
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { body: "done" };
  },
});
app.generic("never-ends", {
  trigger: trigger.http({ methods: ["GET"], authLevel: "anonymous" }),
  return: output.http({}),
  handler: () => new Promise<undefined>(() => undefined),
});
app.http("order", {
  methods: ["POST"],
  authLevel: "anonymous",
  extraOutputs: [orders],
  handler: async (request: HttpRequest, context: InvocationContext) => {
    context.extraOutputs.set(orders, await request.json());
    return { status: 202 };
  },
});
app.http("pid", { methods: ["GET"], authLevel: "anonymous", handler: () => ({ body: String(process.pid) }) });

function sayParams(request: HttpRequest) {
  return { jsonBody: request.params };
}
