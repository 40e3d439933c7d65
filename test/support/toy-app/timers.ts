import { app, type InvocationContext, type Timer } from "@azure/functions";
import { journal } from "./journal.ts";

const write = (timer: Timer, context: InvocationContext) => {
  journal.push({ functionName: context.functionName, saw: timer });
  context.log(`${context.functionName} ticked`);
};

app.timer("tick", { schedule: "%TICK%", handler: write });
app.timer("rare", { schedule: "%RARE%", handler: write });
app.timer("at-start", { schedule: "0 0 0 1 1 *", runOnStartup: true, handler: write });
app.timer("overlong", {
  schedule: "%OVERLONG%",
  handler: async (_: Timer, context: InvocationContext) => {
    journal.push({ functionName: context.functionName, saw: "begin" });
    await new Promise((resolve) => setTimeout(resolve, 250));
    journal.push({ functionName: context.functionName, saw: "end" });
  },
});
