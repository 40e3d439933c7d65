/** One run of a registered function, as the Node worker makes it (platform.md section 3b). */
import { randomBytes, randomUUID } from "node:crypto";
import type { InvocationRequest, LogLevel, RegisteredFunction, TypedData } from "./core.ts";
import { triggerOf, type Runtime } from "./runtime.ts";

export type Outcome =
  | { readonly kind: "succeeded"; readonly invocationId: string; readonly returnValue: TypedData | undefined }
  | { readonly kind: "failed"; readonly invocationId: string; readonly error: unknown };

/**
 * Runs a function on `data`. Never throws: an error of the function is in the outcome, and logged. As in the worker,
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
  const log = (level: LogLevel, category: string, message: string) =>
    runtime.log({ level, category, message, functionName: name, invocationId });
  try {
    const returnValue = await run(runtime, registered, {
      invocationId,
      metadata: registered.metadata,
      state: undefined,
      request: {
        invocationId,
        functionId: name,
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
  { metadata, callback }: RegisteredFunction,
  request: InvocationRequest,
): Promise<TypedData | undefined> {
  const { model } = runtime.registry;
  if (model === undefined) throw new Error("no programming model is registered");
  const invocation = model.getInvocationModel(request);
  const { context, inputs } = await invocation.getArguments();
  request.state = "invocation";
  const running = invocation.invokeFunction(context, inputs, callback);
  const result = await withinTimeout(runtime, metadata.name, running).finally(() => {
    request.state = undefined;
  });
  const response = await invocation.getResponse(context, result);
  return response.returnValue ?? undefined;
}

async function withinTimeout(runtime: Runtime, name: string, running: Promise<unknown>): Promise<unknown> {
  const limit = runtime.hostSettings.functionTimeoutMs;
  const finished = new AbortController();
  const timeout = runtime.clock.sleep(limit, finished.signal).then(() => {
    throw new Error(`function "${name}" ran longer than functionTimeout, ${limit} ms`);
  });
  return Promise.race([running, timeout]).finally(() => finished.abort());
}

const traceParent = () => `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
