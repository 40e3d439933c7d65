import { app, type InvocationContext, type Timer } from "@azure/functions";
import { journal } from "./journal.ts";

const schedule = "0 * * * * *";

app.timer("tick", {
  schedule,
  handler: (_: Timer, context: InvocationContext) => {
    journal.push({ functionName: "tick", saw: Date.now() });
    context.log("tick ticked");
  },
});
app.timer("overlong", {
  schedule,
  handler: async () => {
    journal.push({ functionName: "overlong", saw: "begin" });
    await new Promise((resolve) => setTimeout(resolve, 250));
    journal.push({ functionName: "overlong", saw: "end" });
  },
});
