import { z } from "zod";
import { isDisabled } from "./app-settings.ts";
import type { NullableText, RegisteredFunction, RpcHttp } from "./core.ts";
import { opens, keyOf, type AuthLevel, type HostKeys } from "./host-keys.ts";
import type { BodyBound } from "./http-server.ts";
import { LARGEST_BODY } from "./http-server.ts";
import { invokeFunction } from "./invocation.ts";
import { triggerOf, type Runtime } from "./runtime.ts";

/** HTTP triggers: finds the function for a request, and converts request and answer for the worker (platform.md section 3, "HTTP"). */

export type HttpEndpoint = {
  readonly registered: RegisteredFunction;
  readonly route: Route;
  readonly methods: ReadonlySet<string>;
  readonly authLevel: AuthLevel;
};

const httpTrigger = z.object({
  route: z.string(),
  methods: z.array(z.string().toUpperCase()),
  authLevel: z
    .string()
    .toLowerCase()
    .pipe(z.enum(["anonymous", "function"])),
});

/** The endpoints of all HTTP functions that are not disabled. Throws if a route is invalid. */
export function readEndpoints(runtime: Runtime): readonly HttpEndpoint[] {
  return [...runtime.registry.functions.values()]
    .filter(({ metadata }) => triggerOf(metadata).type === "httptrigger")
    .filter(({ metadata }) => !isDisabled(metadata.name, runtime.settings))
    .map((registered) => {
      const { route, methods, authLevel } = httpTrigger.parse(triggerOf(registered.metadata).binding);
      const template = `${runtime.hostSettings.routePrefix}/${route}`;
      return { registered, route: parseRoute(template), methods: new Set(methods), authLevel };
    });
}

/** Nodes and probes send no body, or a few words. */
const MOST_ANONYMOUS_BYTES = 4 * 1024;

/**
 * The longest body of a request: FUNCTIONS_REQUEST_BODY_SIZE_LIMIT, as on the platform; without a key 4 KiB, which the platform does not
 * know (docs/threat-model.md, Threats).
 */
export function bodyBound(runtime: Runtime, endpoints: readonly HttpEndpoint[]): BodyBound {
  const limit = runtime.settings["FUNCTIONS_REQUEST_BODY_SIZE_LIMIT"];
  const most = limit === undefined ? LARGEST_BODY : Number(limit);
  return (method, pathname) => {
    const endpoint = endpoints.find(
      ({ route, methods }) => methods.has(method) && route(pathname) !== undefined,
    );
    return endpoint?.authLevel === "anonymous" ? Math.min(most, MOST_ANONYMOUS_BYTES) : most;
  };
}

/** Answers a request. An unknown path and a wrong method both give 404, because the platform treats methods as part of the route. */
export async function answerRequest(
  runtime: Runtime,
  endpoints: readonly HttpEndpoint[],
  keys: HostKeys,
  request: Request,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  for (const { registered, route, methods, authLevel } of endpoints) {
    const params = methods.has(request.method) ? route(pathname) : undefined;
    if (params === undefined) continue;
    if (!opens(keys, keyOf(request), authLevel, registered.metadata.name)) return emptyAnswer(401);
    const http = await toRpc(request, params);
    const outcome = await invokeFunction(runtime, registered, { http });
    if (outcome.kind === "failed") return emptyAnswer(500);
    return outcome.returnValue?.http === undefined ? emptyAnswer(204) : fromRpc(outcome.returnValue.http);
  }
  return isHome(request) ? leadTo(HOME) : emptyAnswer(404);
}

/** Where a person who only has the address finds the page (docs/page.md). The platform shows a page of its own there. */
const HOME = "/api/page";

const isHome = ({ method, url }: Request): boolean => method === "GET" && new URL(url).pathname === "/";

const leadTo = (location: string): Response => new Response(null, { status: 302, headers: { location } });

export const emptyAnswer = (status: number) => new Response(null, { status });

async function toRpc(request: Request, params: Readonly<Record<string, string>>): Promise<RpcHttp> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  return {
    method: request.method,
    url: request.url,
    nullableHeaders: nullable(request.headers),
    nullableQuery: nullable(joinRepeated(new URL(request.url).searchParams)),
    nullableParams: nullable(Object.entries(params)),
    ...(bytes.length === 0 ? {} : { body: { bytes } }),
  };
}

/** The worker gets one value for each query name: `?a=1&a=2` becomes a = "1,2". Letter case does not distinguish names (nodejs-library issue 168). */
function joinRepeated(query: URLSearchParams): Iterable<readonly [string, string]> {
  const joined = new Map<string, [string, string]>();
  for (const [name, value] of query) {
    const known = joined.get(name.toLowerCase());
    joined.set(name.toLowerCase(), known === undefined ? [name, value] : [known[0], `${known[1]},${value}`]);
  }
  return joined.values();
}

function nullable(entries: Iterable<readonly [string, string]>): NullableText {
  return Object.fromEntries(Array.from(entries, ([name, value]) => [name, { value }]));
}

function fromRpc({ statusCode, headers, body }: RpcHttp): Response {
  const status = Number(statusCode ?? 200);
  const mayHaveBody = status !== 204 && status !== 205 && status !== 304;
  const bytes =
    mayHaveBody && body?.bytes !== undefined && body.bytes.length > 0 ? Buffer.from(body.bytes) : null;
  return new Response(bytes, { status, headers: { ...headers } });
}

/** The values of the parameters of a route in a path. Undefined if the path does not match. */
type Route = (path: string) => Readonly<Record<string, string>> | undefined;

/** Parses a template such as `api/clusters/{cluster}/config`. Throws if it has another form of the platform, which no door of the app uses. */
export function parseRoute(template: string): Route {
  const segments = template
    .split("/")
    .filter((text) => text !== "")
    .map((text) => {
      const name = /^\{([A-Za-z_][\w-]*)\}$/.exec(text)?.[1];
      if (name === undefined && /[{}]/.test(text))
        throw new Error(`route "${template}": "${text}" is not served locally`);
      return { name, literal: text.toLowerCase() };
    });
  return (path) => {
    const parts = splitPath(path);
    if (parts.length !== segments.length) return undefined;
    const values: Record<string, string> = {};
    for (const [i, part] of parts.entries()) {
      const segment = segments[i];
      if (segment?.name !== undefined) values[segment.name] = part;
      else if (part.toLowerCase() !== segment?.literal) return undefined;
    }
    return values;
  };
}

/** Decoded segments of a URL's path. An encoded slash stays encoded, as in the platform's web server. */
function splitPath(path: string): readonly string[] {
  return path
    .split("/")
    .filter((text) => text !== "")
    .map((text) => {
      try {
        return decodeURIComponent(text.replace(/%2f/gi, "%252F"));
      } catch {
        return text;
      }
    });
}
