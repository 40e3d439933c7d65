import { readStopUrl } from "../../../src/local/play/stop-url.ts";
import { z } from "zod";
import { call } from "./doors.ts";
import type { Question } from "./judge-stops.ts";
import type { Parts } from "./parts.ts";
import type { EventOf } from "./simulator-process.ts";

export interface AskingNodes {
  /** Every question so far. */
  readonly questions: readonly Question[];
  /** How long each took, in real milliseconds. */
  readonly askMs: readonly number[];
  /** Resolves when the questions that are open have ended; no new ones begin. */
  stop(): Promise<void>;
}

const ASK_WAIT_SECONDS = 20;
const RETRY_SECONDS = 30;
const answer = z.object({ undrain: z.boolean().optional() });

/**
 * Every node that is Ready, or becomes it, asks to stop: first within `spreadSeconds` (simulated), then again until the answer is 200, as
 * Retry-After says or 30 s later. Each question goes to a host that is drawn, as behind a load balancer.
 */
export function letNodesAsk(parts: Parts, spreadSeconds: number, uniform: () => number): AskingNodes {
  const { simulator, clock, hosts, speed } = parts;
  const questions: Question[] = [];
  const askMs: number[] = [];
  const stopping = new AbortController();
  const nodes: Promise<void>[] = [];

  const ask = async (node: EventOf<"node-ready">): Promise<Question & { readonly retrySeconds: number }> => {
    const told = new URL(readStopUrl(node.configuration) ?? "http://127.0.0.1/none");
    const url = new URL(told.pathname, hosts[Math.floor(uniform() * hosts.length)]?.url);
    const askedAt = clock.now();
    url.searchParams.set("instance", node.instanceId);
    url.searchParams.set("asked", String(askedAt));
    const begun = Date.now();
    const got = await call(url.href, {}, Math.round((ASK_WAIT_SECONDS * 1000) / speed));
    if (got.status !== undefined) askMs.push(Date.now() - begun);
    const undrain = answer.safeParse(got.body).data?.undrain;
    const question = {
      nodeId: node.nodeId,
      askedAt,
      ...(got.status === undefined ? {} : { status: got.status, answeredAt: clock.now() }),
      ...(undrain === undefined ? {} : { undrain }),
    };
    questions.push(question);
    return { ...question, retrySeconds: got.retryAfterSeconds ?? RETRY_SECONDS };
  };

  const live = async (node: EventOf<"node-ready">): Promise<void> => {
    await clock.sleep(uniform() * spreadSeconds * 1000, stopping.signal);
    while (!stopping.signal.aborted) {
      const { status, askedAt, retrySeconds } = await ask(node);
      if (status === 200) return;
      // From beginning to beginning, spread a little so that nodes do not march in step.
      const again = askedAt + retrySeconds * (0.9 + 0.2 * uniform()) * 1000;
      await clock.sleep(Math.max(0, again - clock.now()), stopping.signal);
    }
  };

  const end = simulator.onEvent((event) => {
    if (event.kind === "node-ready") nodes.push(live(event));
  });
  for (const event of simulator.events) if (event.kind === "node-ready") nodes.push(live(event));
  return {
    questions,
    askMs,
    async stop() {
      end();
      stopping.abort();
      await Promise.all(nodes);
    },
  };
}
