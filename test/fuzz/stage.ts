import type { Composition } from "../../src/compose.ts";
import { composition, decoratePorts } from "../../src/compose.ts";
import type { Ports } from "../../src/app/ports/ports.ts";
import { readHostJson } from "../../src/local/host/host-json.ts";
import { hostJson } from "../support/toy-app/start.ts";
import type { HttpEndpoint } from "../../src/local/host/http-trigger.ts";
import { answerRequest, readEndpoints } from "../../src/local/host/http-trigger.ts";
import { invokeFunction } from "../../src/local/host/invocation.ts";
import { loadApp } from "../../src/local/host/load-app.ts";
import { invokeWithMessage } from "../../src/local/host/queue-delivery.ts";
import type { Runtime } from "../../src/local/host/runtime.ts";
import { findFunction, createWakeUps } from "../../src/local/host/runtime.ts";
import { PUBLIC_URL, type World } from "./world.ts";

/**
 * The functions as the host calls them, over whatever world is on. There is one app in a process, so its ports lead to the world of the
 * moment.
 */
export interface Stage {
  readonly composed: Composition;
  /** Puts a world in the place of the last one. */
  show(world: World): void;
  call(request: Request): Promise<Response>;
  /** Runs the function of the demand queue, or the timer's. Undefined: it ended well; otherwise what it threw. */
  deliver(name: string, text: string): Promise<{ readonly error: unknown } | undefined>;
}

const KEY = "key";

export async function openStage(first: World): Promise<Stage> {
  let world = first;
  Object.assign(process.env, {
    AzureWebJobsStorage: "UseDevelopmentStorage=true",
    AUTOSCALER_CLUSTERS: "[]",
    AUTOSCALER_PUBLIC_URL: PUBLIC_URL,
    AUTOSCALER_AUTOSTOP_KEYS: "one:kT3vY8qLm2Zc9RwXp6Hs4Jd7Bn5Gf1Va",
  });
  const registry = await loadApp(() => import("../../functions/main.ts"));
  decoratePorts((real) => portsOf(real, () => world.ports));
  // There is no table and no queue to be made.
  const composed = Object.assign(composition(), { prepare: () => Promise.resolve() });
  const clock = composed.app.ports.clock;
  const runtime: Runtime = {
    registry,
    hostSettings: readHostJson(hostJson({}, "00:05:00")),
    settings: {},
    clock,
    speed: 1,
    instanceId: "fuzz",
    log: ({ message }) => void world.log.push(message),
    wakeUps: createWakeUps(clock),
    stopping: new AbortController().signal,
    queueService: () => {
      throw new Error("no message is moved to a queue");
    },
  };
  const endpoints: readonly HttpEndpoint[] = readEndpoints(runtime);
  return {
    composed,
    show: (next) => {
      world = next;
    },
    call: (request) => answerRequest(runtime, endpoints, { master: KEY, host: KEY }, request),
    async deliver(name, text) {
      const registered = findFunction(registry, name);
      if (registered === undefined) throw new Error(`no function is called ${name}`);
      const outcome = await (name === "snapshot"
        ? invokeFunction(runtime, registered, { json: text })
        : invokeWithMessage(runtime, registered, text));
      return outcome.kind === "succeeded" ? undefined : { error: outcome.error };
    },
  };
}

/** A request with the key of the stage. */
export function requestTo(
  path: string,
  {
    headers,
    ...init
  }: {
    method?: string;
    headers?: Readonly<Record<string, string>>;
    body?: string | Uint8Array<ArrayBuffer>;
  } = {},
): Request {
  return new Request(`http://app.invalid/api${path}`, {
    ...init,
    headers: { "x-functions-key": KEY, ...headers },
  });
}

/** Ports that lead to those of the moment; what the app keeps of them stays good. */
function portsOf(real: Ports, current: () => Ports): Ports {
  return new Proxy(real, {
    get: (_target, name) => {
      const port: unknown = Reflect.get(current(), name);
      if (typeof port === "function")
        return (...args: readonly unknown[]): unknown => {
          const now: unknown = Reflect.get(current(), name);
          return typeof now === "function" ? Reflect.apply(now, undefined, args) : undefined;
        };
      return typeof port === "object" && port !== null
        ? memberOf(port, () => Reflect.get(current(), name))
        : port;
    },
  });
}

function memberOf(first: object, current: () => unknown): object {
  return new Proxy(first, {
    get: (_target, name) => {
      const port = current();
      if (typeof port !== "object" || port === null) return undefined;
      const member: unknown = Reflect.get(port, name);
      return typeof member === "function" ? member.bind(port) : member;
    },
  });
}
