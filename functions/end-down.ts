import { orderEndDown } from "../src/app/record/order-end-down.ts";
import { arrayName } from "../src/domain/ids.ts";
import { isoTime } from "../src/domain/units.ts";
import type { EndDownShown } from "../src/wire/api/answers.ts";
import { isKeptName, NAME_EXPECTED } from "../src/wire/json/name.ts";
import { problemShowing } from "../src/wire/json/problem.ts";
import { forCluster } from "./for-cluster.ts";
import { badRequest, problem } from "./problem.ts";

/** An operator ends the nodes of one node array that are down now, also where they would be kept. */
export const answerEndDown = forCluster(async (composed, site, request) => {
  const name = request.params["nodearray"];
  // An encoded slash arrives as %2F, which no name contains.
  if (!isKeptName(name)) return badRequest([problemShowing("nodearray", name, NAME_EXPECTED)]);
  const ordered = await orderEndDown(composed.app, site.cluster, arrayName(name));
  if (ordered.kind === "unknown")
    return problem(404, "Unknown node array", `cluster "${site.cluster}" has no node array "${name}"`);
  if (ordered.kind === "contended")
    return problem(503, "Cannot tell now", "too many writers at once", { retryAfterSeconds: 5 });
  const jsonBody: EndDownShown = {
    cluster: site.cluster,
    nodearray: name,
    count: ordered.nodes.length,
    nodes: ordered.nodes,
    until: isoTime(ordered.until),
  };
  return { status: 202, jsonBody };
});
