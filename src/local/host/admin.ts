/**
 * Admin routes, with the master key: run a function by hand, `POST /admin/functions/<name>` with `{"input": "..."}`; and what is loaded,
 * `GET /admin/functions`.
 */
import { z } from "zod";
import { isDisabled } from "./app-settings.ts";
import { emptyAnswer } from "./http-trigger.ts";
import { keyOf, opensAdmin, type HostKeys } from "./host-keys.ts";
import { invokeWithMessage } from "./queue-delivery.ts";
import { listFunctions } from "./load-app.ts";
import { findFunction, triggerOf, type Runtime } from "./runtime.ts";
import { invokeTimer } from "./timer-trigger.ts";

const listPath = /^\/admin\/functions\/?$/i;
const adminPath = /^\/admin\/functions\/(?<name>[^/]+)\/?$/i;
const adminBody = z.object({ input: z.string().default("") });

type AdminAnswer = {
  readonly response: Response;
  /** The run that was started. The answer 202 does not wait for it. */
  readonly run?: Promise<unknown>;
};

/** Answers an admin request. Undefined if the request is not one. It runs disabled functions as well, as in Azure. */
export async function answerAdminRequest(
  runtime: Runtime,
  keys: HostKeys,
  request: Request,
): Promise<AdminAnswer | undefined> {
  const { pathname } = new URL(request.url);
  if (request.method === "GET" && listPath.test(pathname))
    return {
      response: opensAdmin(keys, keyOf(request)) ? listAnswer(runtime) : emptyAnswer(401),
    };
  const inPath = adminPath.exec(pathname)?.groups?.["name"];
  if (inPath === undefined) return undefined;
  if (request.method !== "POST") return { response: emptyAnswer(404) };
  if (!opensAdmin(keys, keyOf(request))) return { response: emptyAnswer(401) };
  const registered = findFunction(runtime.registry, decodeURIComponent(inPath));
  if (registered === undefined) return { response: emptyAnswer(404) };
  const body = adminBody.safeParse(await request.json().catch(() => undefined));
  if (!body.success) return { response: emptyAnswer(400) };
  switch (triggerOf(registered.metadata).type) {
    case "timertrigger":
      return {
        response: emptyAnswer(202),
        run: invokeTimer(runtime, registered),
      };
    case "queuetrigger":
      return { response: emptyAnswer(202), run: invokeWithMessage(runtime, registered, body.data.input) };
    default:
      return { response: emptyAnswer(400) };
  }
}

/** The list of functions. Azure's host says more about each; this is the part that `verify` reads. */
function listAnswer({ registry, settings }: Runtime): Response {
  return Response.json(
    listFunctions(registry).map(({ name }) => ({ name, isDisabled: isDisabled(name, settings) })),
  );
}
