import type { HttpMethod } from "@azure/functions";

interface Route<Name extends string> {
  readonly name: Name;
  /** Below /api. */
  readonly route: string;
  readonly methods: HttpMethod[];
  readonly authLevel: "function" | "anonymous";
}

/** A function whose callers need a key. */
function keyed<Name extends string>(name: Name, route: string, ...methods: HttpMethod[]): Route<Name> {
  return { name, route, methods, authLevel: "function" };
}

/** A function for callers without a key: nodes, probes, and browsers that load the page. */
function anonymous<Name extends string>(name: Name, route: string, ...methods: HttpMethod[]): Route<Name> {
  return { name, route, methods, authLevel: "anonymous" };
}

const CONFIG = "clusters/{cluster}/config";
const REQUEST_SET = "clusters/{cluster}/request-sets/{set}";

/**
 * The HTTP functions (docs/http.md). Each gives its key level explicitly, because the programming model's default is anonymous. Reading and
 * writing are two functions, because a function key opens a whole function and a reader's key must not write (src/domain/roles.ts).
 */
export const ROUTES = [
  anonymous("autostop", "autostop/{cluster}/{token}", "GET", "POST"),
  anonymous("health", "health", "GET"),
  anonymous("page", "page", "GET"),
  anonymous("page-file", "page/{file}", "GET"),
  keyed("openapi", "openapi.json", "GET"),
  keyed("clusters", "clusters", "GET"),
  keyed("cluster", "clusters/{cluster}", "GET"),
  keyed("comparison", "clusters/{cluster}/comparison", "GET"),
  keyed("config", CONFIG, "GET"),
  keyed("write-config", CONFIG, "PUT", "PATCH"),
  keyed("config-history", `${CONFIG}/history`, "GET"),
  keyed("rollback-config", `${CONFIG}/rollback`, "POST"),
  keyed("explain", "clusters/{cluster}/explain", "GET"),
  keyed("history", "clusters/{cluster}/history", "GET"),
  keyed("node-history", "clusters/{cluster}/history/nodes", "GET"),
  keyed("plan", "clusters/{cluster}/plan", "POST"),
  keyed("request-set", REQUEST_SET, "GET"),
  keyed("write-request-set", REQUEST_SET, "PUT", "DELETE"),
  keyed("restored", "clusters/{cluster}/restored", "POST"),
  keyed("end-down", "clusters/{cluster}/nodearrays/{nodearray}/end-down", "POST"),
  keyed("tick", "clusters/{cluster}/tick", "POST"),
  keyed("wake", "clusters/{cluster}/wake", "POST"),
  keyed("rejected-messages", "rejected-messages", "GET"),
] as const;

export type RouteName = (typeof ROUTES)[number]["name"];
