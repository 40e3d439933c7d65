import type { Answer } from "../../src/adapters/cyclecloud/transport.ts";
import { openRandomStream } from "../../src/local/workload/random.ts";
import { oneArray, target } from "./clusters.ts";
import { HostsStage } from "./hosts-stage.ts";
import { isFields } from "../../src/domain/fields.ts";

/** Statuses that leave out nodes, also of their counts. */

const DAY = { expirationInterval: 86_400 };

export interface Omissions {
  readonly seed: number;
  readonly nodes: number;
  /** The share of the nodes that each status leaves out, also of its counts. */
  readonly share: number;
  readonly hours: number;
}

export interface Omitted {
  /** Nodes that were made beyond the demand. */
  readonly tooMany: number;
  /** Needed nodes that were told that they are stopped, and were not. */
  readonly toldAndNotStopped: number;
}

const ASK_EACH_SECONDS = 20;

/** Every node is needed, and each status leaves out some, drawn again each time. One node after the other asks to stop. */
export async function playOmissions({ seed, nodes, share, hours }: Omissions): Promise<Omitted> {
  const { uniform } = openRandomStream(seed);
  let isLeavingOut = false;
  const stage = new HostsStage({
    simulator: oneArray("demo"),
    between: (send) => async (request) => {
      const answer = await send(request);
      const isStatus = request.path.endsWith("/status");
      return isStatus && isLeavingOut ? withoutNodes(answer, () => uniform() < share) : answer;
    },
  });
  stage.push(target("demo", nodes, DAY));
  await stage.pass(600);
  const needed = stage.readyNodes;
  const told = new Set<string>();
  let turn = 0;
  const askNext = async (): Promise<void> => {
    const node = needed[(turn += 1) % needed.length];
    if (node !== undefined && (await stage.ask(node)).status === 200) told.add(node.nodeId);
  };
  stage.every(ASK_EACH_SECONDS, () => void askNext());
  isLeavingOut = true;
  await stage.pass(3600 * hours);
  const lied = [...told].filter((nodeId) => stage.stoppedAt(nodeId) === undefined);
  return { tooMany: stage.count("node-created") - nodes, toldAndNotStopped: lied.length };
}

/** The status without some nodes: in its list, and in the names and counts of its buckets. `isLeftOut` is asked once for each name. */
export function withoutNodes(answer: Answer, isLeftOut: (name: unknown) => boolean): Answer {
  const { body } = answer;
  if (!isFields(body) || !Array.isArray(body["nodes"]) || !Array.isArray(body["nodearrays"])) return answer;
  const out = new Set<unknown>();
  const nodes = body["nodes"].filter((node) => {
    if (!isFields(node) || !isLeftOut(node["Name"])) return true;
    out.add(node["Name"]);
    return false;
  });
  const bucketWithout = (bucket: unknown): unknown => {
    if (!isFields(bucket) || !Array.isArray(bucket["activeNodes"])) return bucket;
    const activeNodes = bucket["activeNodes"].filter((name) => !out.has(name));
    const lost = bucket["activeNodes"].length - activeNodes.length;
    const less = (key: string): number => Number(bucket[key]) - lost;
    return { ...bucket, activeNodes, activeCount: less("activeCount") };
  };
  const nodearrays = body["nodearrays"].map((array: unknown) => {
    if (!isFields(array) || !Array.isArray(array["buckets"])) return array;
    return { ...array, buckets: array["buckets"].map(bucketWithout) };
  });
  return { ...answer, body: { ...body, nodes, nodearrays } };
}
