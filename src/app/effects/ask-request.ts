import type { RequestedNode } from "../../domain/cluster.ts";
import type { RequestId } from "../../domain/ids.ts";
import { withCredentials } from "./credentials.ts";
import type { Run } from "./run.ts";

/**
 * Whether CycleCloud knows the id of a create or a start (docs/protocol.md, Creates). Asks for the operation and for the nodes of the
 * request at once, because either may be slow or fail permanently. A "yes" does not wait for the other answer. If the operation cannot be
 * asked for, "no such request" from the other is accepted, but an empty list proves nothing. Throws PortError if neither gives an answer.
 */
export async function knowsRequest({ app, site }: Run, id: RequestId): Promise<boolean> {
  const { cluster, cyclecloud } = site;
  const operation = withCredentials(app, site, () => cyclecloud.knowsRequest(cluster, id));
  const nodes = withCredentials(app, site, () => cyclecloud.nodesOfRequest(cluster, id));
  const yes = Promise.any([operation.then(onlyYes), nodes.then((list) => onlyYes(hasNodes(list)))]);
  const ended = await Promise.any([yes, Promise.allSettled([operation, nodes])]);
  if (ended === true) return true;
  const [byOperation, byNodes] = ended;
  const list = byNodes.status === "fulfilled" ? byNodes.value : [];
  if (hasNodes(list)) return true;
  if (byOperation.status === "fulfilled") return byOperation.value;
  if (list === undefined) return false;
  throw byOperation.reason;
}

function hasNodes(list: readonly RequestedNode[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}

/** Rejects on "no", which decides nothing before the other answer. */
function onlyYes(isKnown: boolean): true | Promise<never> {
  return isKnown ? true : Promise.reject(new Error("not known"));
}
