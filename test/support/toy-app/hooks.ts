import { app } from "@azure/functions";
import { journal } from "./journal.ts";

app.hook.appStart(() => {
  journal.push({ functionName: "appStart", saw: process.env["TOY_SETTING"] });
});
app.hook.appTerminate(() => {
  journal.push({ functionName: "appTerminate", saw: undefined });
});
app.hook.preInvocation((context) => {
  if (context.invocationContext.functionName !== "hooked") return;
  context.hookData["note"] = "from before";
  context.inputs = ["replaced input"];
});
app.hook.postInvocation((context) => {
  if (context.invocationContext.functionName !== "hooked") return;
  journal.push({ functionName: "postInvocation", saw: [context.hookData["note"], context.result] });
  context.result = { status: 200, body: "replaced result" };
});
app.hook.log((context) => {
  const speaker = context.invocationContext?.functionName ?? "nobody";
  context.message = context.message.replace("secret-word", `*** (hidden for ${speaker})`);
});
