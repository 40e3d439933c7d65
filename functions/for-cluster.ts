import type { HttpHandler, HttpRequest, HttpResponseInit } from "@azure/functions";
import type { Site } from "../src/app/ports.ts";
import type { Composition } from "../src/compose.ts";
import { composition } from "../src/compose.ts";
import { clusterName } from "../src/domain/ids.ts";
import { answering, unknownCluster } from "./problem.ts";

type ForCluster = (composed: Composition, site: Site, request: HttpRequest) => Promise<HttpResponseInit>;

/** A handler for a route below clusters/{cluster}: 404 for a cluster that is not ours, 503 where nothing can be told. */
export function forCluster(handle: ForCluster): HttpHandler {
  return (request, context) =>
    answering(context, async () => {
      const composed = composition();
      const name = request.params["cluster"] ?? "";
      const site = composed.app.ports.sites.get(clusterName(name));
      return site === undefined
        ? unknownCluster(name, composed.app.ports.sites.keys())
        : handle(composed, site, request);
    });
}
