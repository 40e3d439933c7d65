/** One run of a registered function with its hooks and outputs, in the order of the Node worker (platform.md section 3b). */
import { randomBytes, randomUUID } from "node:crypto";
import type { Callback, InvocationRequest, LogLevel, RegisteredFunction, TypedData } from "./core.ts";
import { deliverOutputs } from "./queue-message.ts";
import { triggerOf, type Runtime } from "./runtime.ts";

export type Outcome =
  | { readonly kind: "succeeded"; readonly invocationId: string; readonly returnValue: TypedData | undefined }
  | { readonly kind: "failed"; readonly invocationId: string; readonly error: unknown };

/**
 * Runs a function on `data`. Never throws: an error of the function, a hook or an output is in the outcome, and logged. As in the worker,
 * `throw undefined` counts as success. A run that takes longer than host.json's functionTimeout fails. It continues in the background,
 * because a function cannot be stopped from outside. Azure would end its process.
 */
export async function invokeFunction(
  runtime: Runtime,
  registered: RegisteredFunction,
  data: TypedData,
  triggerMetadata: Readonly<Record<string, TypedData>> = {},
): Promise<Outcome> {
  const invocationId = randomUUID();
  const { name } = registered.metadata;
  const scope: { context: unknown } = { context: undefined };
  const log = (level: LogLevel, category: string, message: string) =>
    runtime.log({ level, category, message, functionName: name, invocationId }, scope.context);
  try {
    const returnValue = await run(runtime, registered, scope, {
      invocationId,
      metadata: registered.metadata,
      state: undefined,
      request: {
        invocationId,
        functionId: registered.metadata.functionId ?? name,
        inputData: [{ name: triggerOf(registered.metadata).bindingName, data }],
        triggerMetadata,
        traceContext: { traceParent: traceParent(), traceState: "", attributes: {} },
      },
      log,
    });
    return { kind: "succeeded", invocationId, returnValue };
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log("error", "host", `Executed '${name}' (Failed): ${text}`);
    return { kind: "failed", invocationId, error };
  }
}

async function run(
  runtime: Runtime,
  registered: RegisteredFunction,
  scope: { context: unknown },
  request: InvocationRequest,
): Promise<TypedData | undefined> {
  const { model, hooks, appHookData } = runtime.registry;
  if (model === undefined) throw new Error("no programming model is registered");
  const invocation = model.getInvocationModel(request);
  const { context, inputs } = await invocation.getArguments();
  scope.context = context;
  const shared = { hookData: {}, appHookData, invocationContext: context };

  request.state = "preInvocationHooks";
  // A hook may replace the inputs and the callback in this object.
  const before: { inputs: unknown[]; functionCallback: Callback } = {
    inputs,
    functionCallback: registered.callback,
  };
  const beforeContext = Object.assign(before, shared);
  for (const hook of hooks.preInvocation) await hook(beforeContext);

  request.state = "invocation";
  const after: { result: unknown; error: unknown } = { result: undefined, error: undefined };
  try {
    const running = invocation.invokeFunction(context, before.inputs, before.functionCallback);
    after.result = await withinTimeout(runtime, registered.metadata.name, running);
  } catch (error) {
    after.error = error;
  }

  request.state = "postInvocationHooks";
  const afterContext = Object.assign(after, shared, { inputs: before.inputs });
  for (const hook of hooks.postInvocation) await hook(afterContext);
  request.state = undefined;
  if (after.error !== undefined && after.error !== null) throw after.error;

  const response = await invocation.getResponse(context, after.result);
  await deliverOutputs(runtime, registered.metadata, response);
  return response.returnValue ?? undefined;
}

async function withinTimeout(runtime: Runtime, name: string, running: Promise<unknown>): Promise<unknown> {
  const limit = runtime.hostSettings.functionTimeoutMs;
  if (limit === undefined) return running;
  const finished = new AbortController();
  const timeout = runtime.clock.sleep(limit, finished.signal).then(() => {
    throw new Error(`function "${name}" ran longer than functionTimeout, ${limit} ms`);
  });
  return Promise.race([running, timeout]).finally(() => finished.abort());
}

const traceParent = () => `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
