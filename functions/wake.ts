import { app } from "@azure/functions";
import { randomUUID } from "node:crypto";
import { forCluster } from "./for-cluster.ts";

/**
 * Puts a wake message with an id into the queue. Once GET /api/clusters names the id, the queue function has read it. It asks for a look
 * that is due anyway, so it does no harm.
 */
app.http("wake", {
  methods: ["POST"],
  authLevel: "function",
  route: "clusters/{cluster}/wake",
  handler: forCluster(async ({ app: { ports } }, { cluster }) => {
    const id = randomUUID();
    await ports.queue.wake(cluster, ports.clock.now(), id);
    return { status: 202, jsonBody: { cluster, id } };
  }),
});
