import type { HttpHandler, HttpRequest, HttpResponseInit } from "@azure/functions";
import type { Site } from "../src/app/ports/site.ts";
import type { Composition } from "../src/compose.ts";
import { composition } from "../src/compose.ts";
import { PortError } from "../src/app/ports/port-error.ts";
import { clusterName } from "../src/domain/ids.ts";
import { observingText } from "../src/domain/mode.ts";
import { answering } from "./answering.ts";
import { unknownCluster } from "./problem.ts";

type ForCluster = (composed: Composition, site: Site, request: HttpRequest) => Promise<HttpResponseInit>;

/** A handler for a route below clusters/{cluster}: 404 for an unknown cluster, 503 if no answer is possible now. */
export function forCluster(handle: ForCluster): HttpHandler {
  return (request, context) =>
    answering(context, async () => {
      const composed = composition();
      const name = request.params["cluster"] ?? "";
      const site = composed.app.ports.sites.get(clusterName(name));
      if (site === undefined) return unknownCluster(name, composed.app.ports.sites.keys());
      return sayObserving(await handle(composed, site, request), composed, site);
    });
}

/** Adds to every answer of a cluster which arrays are only observed. Left out if the configuration cannot be read now. */
async function sayObserving(
  answer: HttpResponseInit,
  { app: { ports } }: Composition,
  { cluster }: Site,
): Promise<HttpResponseInit> {
  const body: unknown = answer.jsonBody;
  // The comparison has a list of this name, which shows what is observed.
  if (typeof body !== "object" || body === null || "observing" in body) return answer;
  try {
    const observing = observingText(await ports.policyOf(cluster));
    return observing === undefined ? answer : { ...answer, jsonBody: { ...body, observing } };
  } catch (error) {
    if (error instanceof PortError) return answer;
    throw error;
  }
}
