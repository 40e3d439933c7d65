/** Admin routes: run a function by hand, `POST /admin/functions/<name>` with `{"input": "..."}` and the master key. */
import { z } from "zod";
import { emptyAnswer } from "./http-trigger.ts";
import { keyOf, opens, type HostKeys } from "./host-keys.ts";
import { invokeWithMessage } from "./queue-delivery.ts";
import { findFunction, triggerOf, type Runtime } from "./runtime.ts";
import { invokeTimer } from "./timer-trigger.ts";

const adminPath = /^\/admin\/functions\/([^/]+)\/?$/i;
const adminBody = z.object({ input: z.string().default("") });

export type AdminAnswer = {
  readonly response: Response;
  /** The run that was started; the answer, 202, does not wait for it. */
  readonly run?: Promise<unknown>;
};

/** Answers an admin request; `undefined` if the request is none. Disabled functions can be run this way too, as in Azure. */
export async function answerAdminRequest(
  runtime: Runtime,
  keys: HostKeys,
  request: Request,
): Promise<AdminAnswer | undefined> {
  const match = adminPath.exec(new URL(request.url).pathname);
  if (match === null) return undefined;
  if (request.method !== "POST") return { response: emptyAnswer(404) };
  const name = decodeURIComponent(match[1] ?? "");
  if (!opens(keys, keyOf(request), "admin", name)) return { response: emptyAnswer(401) };
  const registered = findFunction(runtime.registry, name);
  if (registered === undefined) return { response: emptyAnswer(404) };
  const body = adminBody.safeParse(await request.json().catch(() => undefined));
  if (!body.success) return { response: emptyAnswer(400) };
  switch (triggerOf(registered.metadata).type) {
    case "timertrigger":
      return { response: emptyAnswer(202), run: invokeTimer(runtime, registered, false, undefined) };
    case "queuetrigger":
      return { response: emptyAnswer(202), run: invokeWithMessage(runtime, registered, body.data.input) };
    default:
      return { response: emptyAnswer(400) };
  }
}
