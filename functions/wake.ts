import { randomUUID } from "node:crypto";
import type { WakeShown } from "../src/wire/api/answers.ts";
import { forCluster } from "./for-cluster.ts";

/**
 * Puts a wake message with an id into the queue. Once GET /api/clusters shows the id, the queue function has read it. It asks for an
 * observation that is due anyway, so it does no harm.
 */
export const answerWake = forCluster(async ({ app: { ports } }, { cluster }) => {
  const id = randomUUID();
  await ports.queue.wake(cluster, ports.clock.now(), id);
  const jsonBody: WakeShown = { cluster, id };
  return { status: 202, jsonBody };
});
