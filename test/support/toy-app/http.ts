import { app, output, trigger, type HttpRequest, type InvocationContext } from "@azure/functions";
import { Buffer } from "node:buffer";
import { journal } from "./journal.ts";

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
app.http("special", {
  methods: ["GET"],
  authLevel: "anonymous",
  route: "special",
  handler: () => ({ body: "literal" }),
});
app.http("with-function-key", {
  route: "with-function-key",
  methods: ["GET", "POST"],
  authLevel: "function",
  handler: async (request: HttpRequest) => ({
    body: request.method === "GET" ? "ok" : String((await request.arrayBuffer()).byteLength),
  }),
});
// The typed `app.http` cannot say "nothing"; the platform can be answered with it all the same.
app.generic("says-nothing", {
  trigger: trigger.http({ methods: ["GET"], authLevel: "anonymous", route: "says-nothing" }),
  return: output.http({}),
  handler: () => undefined,
});
app.http("throws", {
  route: "throws",
  methods: ["GET"],
  authLevel: "anonymous",
  handler: () => {
    throw new Error("no answer");
  },
});
app.http("page", {
  methods: ["GET"],
  authLevel: "anonymous",
  route: "page",
  handler: (_: HttpRequest, context: InvocationContext) => {
    context.log("a page was asked for");
    return { headers: { "content-type": "text/html" }, body: Buffer.from("<p>\u00fc</p>") };
  },
});
app.http("switched-off", {
  route: "switched-off",
  methods: ["GET"],
  authLevel: "anonymous",
  handler: () => ({ body: "on" }),
});
app.http("slow", {
  route: "slow",
  methods: ["GET"],
  authLevel: "anonymous",
  handler: async () => {
    journal.push({ functionName: "slow", saw: undefined });
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { body: "done" };
  },
});
app.generic("never-ends", {
  trigger: trigger.http({ methods: ["GET"], authLevel: "anonymous", route: "never-ends" }),
  return: output.http({}),
  handler: () => new Promise<undefined>(() => undefined),
});
app.http("pid", {
  route: "pid",
  methods: ["GET"],
  authLevel: "anonymous",
  handler: () => ({ body: String(process.pid) }),
});
