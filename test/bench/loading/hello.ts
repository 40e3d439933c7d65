/** The least that a function app can be: what `npm run bench:load` compares the package with. */
import { app } from "@azure/functions";

app.http("hello", { methods: ["GET"], authLevel: "function", handler: () => ({ body: "Hello, world!" }) });
