import { app } from "@azure/functions";
import { composition } from "../src/compose.ts";

/**
 * Table and queues are made before the first message can come. A storage account that cannot be reached then does not keep the app from
 * starting: every tick tries again.
 */
app.hook.appStart(async () => {
  try {
    await composition().prepare();
  } catch (error) {
    process.stderr.write(`${JSON.stringify({ event: "prepare-failed", message: String(error) })}\n`);
  }
});
