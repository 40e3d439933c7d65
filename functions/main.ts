/**
 * The only entry of the function app. The platform loads this file at every start and waits for it, so it contains only the registrations.
 * The first invocation loads the handlers and everything they need (docs/benchmarks.md, Loading; docs/decisions.md, "The package's entry
 * holds registrations alone").
 */
import { app } from "@azure/functions";
import { demandConnection } from "../src/config/demand-storage.ts";
import { ROUTES } from "./routes.ts";

const handlers = () => import("./handlers.ts");

for (const { name, ...route } of ROUTES)
  app.http(name, {
    ...route,
    handler: async (request, context) => (await handlers()).HTTP[name](request, context),
  });

app.storageQueue("demand", {
  queueName: "demand",
  connection: demandConnection(process.env),
  handler: async (message, context) => (await handlers()).onDemand(message, context),
});

// Its monitor stays on (docs/decisions.md, "The timer's monitor stays on").
app.timer("snapshot", {
  schedule: "0 * * * * *",
  handler: async (timer, context) => (await handlers()).onTick(timer, context),
});
