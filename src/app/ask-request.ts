import type { RequestedNode } from "../domain/cluster.ts";
import type { RequestId } from "../domain/ids.ts";
import { withCredentials } from "./credentials.ts";
import type { Run } from "./run.ts";

/**
 * Whether CycleCloud knows the id of a create or a start (docs/protocol.md, Creates). There are two witnesses, the operation and the nodes
 * of the request, and both are asked at once, as either may be slow or fail for ever. "Yes" from one does not wait for the other. Where
 * the operation cannot be asked for, "no such request" from the other is believed, but an empty list proves nothing. Throws PortError
 * where neither witness can tell.
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

/** Rejects "no": it decides nothing before the other witness has answered. */
function onlyYes(isKnown: boolean): true | Promise<never> {
  return isKnown ? true : Promise.reject(new Error("not known"));
}
