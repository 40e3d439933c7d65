import { z } from "zod";
import { CLUSTER, type Parts } from "./parts.ts";

/** What a sender sends: a demand message without the members that name cluster and set. */
export interface SetContent {
  readonly revision: number;
  readonly expirationInterval: number;
  readonly nodearrays?: readonly object[];
  readonly jobs?: readonly object[];
  readonly pools?: readonly object[];
}

/** The result of a call: its status, or undefined without an answer. */
export interface Answered {
  readonly status: number | undefined;
  readonly body: unknown;
  readonly bytes: number;
  /** By the header of that name. */
  readonly retryAfterSeconds?: number;
}

const WAIT_MS = 30_000;

/** One call of a host. Never throws for the network's sake. */
export async function call(url: string, init: RequestInit = {}, waitMs = WAIT_MS): Promise<Answered> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(waitMs) });
    const text = await response.text();
    const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
    return {
      status: response.status,
      body: jsonOf(text),
      bytes: text.length,
      ...(Number.isFinite(retryAfter) ? { retryAfterSeconds: retryAfter } : {}),
    };
  } catch {
    return { status: undefined, body: undefined, bytes: 0 };
  }
}

export function putSet(
  { key }: Pick<Parts, "key">,
  host: string,
  set: string,
  content: SetContent,
  waitMs?: number,
): Promise<Answered> {
  const url = `${host}/api/clusters/${CLUSTER}/request-sets/${set}`;
  const body = JSON.stringify({ version: 1, ...content });
  return call(url, { method: "PUT", headers: { "x-functions-key": key }, body }, waitMs);
}

/** Sends a set to the queue, past the proxies. Resolves when the queue has it. */
export async function sendSet({ demandQueue }: Parts, set: string, content: SetContent): Promise<void> {
  const message = { version: 1, cluster: CLUSTER, requestSet: set, ...content };
  await demandQueue.sendMessage(JSON.stringify(message));
}

const state = z.object({
  health: z.object({ ok: z.boolean(), restingUntil: z.string().optional() }),
  generation: z.number(),
  observedGeneration: z.number(),
  nodes: z.object({ byPhase: z.record(z.string(), z.number()) }),
  intents: z.array(z.unknown()),
  inFlight: z.array(z.unknown()),
  demand: z.array(z.object({ requestSet: z.string(), state: z.string() })),
});

/** What the loads read of the state page. */
export type State = z.infer<typeof state>;

export const stateUrl = (host: string): string => `${host}/api/clusters/${CLUSTER}`;

/** Undefined: the page cannot be had now. */
export async function stateOf({ key }: Parts, host: string): Promise<State | undefined> {
  const { body } = await call(stateUrl(host), { headers: { "x-functions-key": key } });
  return state.safeParse(body).data;
}

/** What is planned for is planned for, and scale-down does not rest. */
export const isSettled = ({ health, generation, observedGeneration }: State): boolean =>
  health.restingUntil === undefined && generation === observedGeneration;

/** Waits until it holds. Throws after this many real seconds, and names what it waited for. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  realSeconds: number,
  everyMs = 100,
): Promise<void> {
  const end = Date.now() + realSeconds * 1000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${realSeconds} s`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
