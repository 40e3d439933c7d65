import { Accounts } from "./accounts.ts";
import type { Summary } from "./accounts.ts";
import type { SimulatorRequest, SimulatorResponse } from "./answer.ts";
import { answer } from "./answer.ts";
import type { Call } from "./call.ts";
import type { Credentials } from "./credentials.ts";
import { Doorkeeper } from "./credentials.ts";
import type { SimulatorEvent } from "./events.ts";
import { openFaultTarget } from "./fault-target.ts";
import { Faults } from "./faults.ts";
import type { Failure } from "./faults.ts";
import { Fleet } from "./fleet.ts";
import { isObject } from "./json.ts";
import { takeDueSteps } from "./node-steps.ts";
import { OperationBook } from "./operations.ts";
import type { SimulatorOptions } from "./options.ts";
import { seedRandom } from "./random.ts";
import { buildWorld } from "./world.ts";
import { createNodes, manageNodes, retryNodes, scaleArray } from "./answer-changes.ts";
import { findOperation, findOperations, listNodes, readStatus } from "./answer-reads.ts";
import { refuseCall } from "./call.ts";
import type { JsonObject } from "./json.ts";
import type { Action } from "./operations.ts";

/** Milliseconds since 1970. */
export type Clock = { now(): number };

/** The data that a running node has about itself. */
type ReadyNode = { readonly name: string; readonly instanceId: string; readonly stopCallback: string };

const STOP_CALLBACK = ["cyclecloud", "cluster", "autoscale", "stop_callback"];

/**
 * A simulated CycleCloud. It answers requests as cyclecloud-wire.md says the server does, and its nodes change with the clock that it is
 * given. It does no I/O and has no timers: time passes only in `advance`, which every request calls first. The same options, requests and
 * times give the same answers and the same events.
 */
export class Simulator {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly #fleet: Fleet;
  readonly #call: Omit<Call, "now">;
  readonly #accounts = new Accounts();
  readonly #keepLog: boolean;
  readonly #log: SimulatorEvent[] = [];
  readonly #listeners = new Set<(event: SimulatorEvent) => void>();
  #doorkeeper: Doorkeeper | undefined;
  #now: number;

  /** Throws if the options name a machine type that they do not define. */
  constructor(options: SimulatorOptions, clock: Clock) {
    this.clock = clock;
    this.#keepLog = options.keepLog ?? true;
    const random = seedRandom(options.seed ?? 1);
    const world = buildWorld(options, random);
    const record = (event: SimulatorEvent) => this.#record(event);
    this.#now = clock.now();
    const fleet = new Fleet(world, options, random, this.#now, record);
    this.#fleet = fleet;
    this.faults = new Faults(
      openFaultTarget(world, fleet, () => {
        this.advance();
        return this.#now;
      }),
    );
    const operations = new OperationBook(world.quirks);
    this.#call = { world, fleet, operations, faults: this.faults, random, record };
  }

  /** Every event so far, oldest first. Empty with `keepLog: false`. */
  get log(): readonly SimulatorEvent[] {
    return this.#log;
  }

  /**
   * Calls `listener` with each event as it is processed, until the returned function is called. A listener must not send requests itself:
   * it takes a note and acts later.
   */
  onEvent(listener: (event: SimulatorEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** From now on requests need these credentials. Undefined: none are needed. */
  requireCredentials(credentials: Credentials | undefined): void {
    this.#doorkeeper = credentials === undefined ? undefined : new Doorkeeper(credentials);
  }

  /** Processes everything that is due at the clock's time, which is read once. A clock that goes back counts as standing still. */
  advance(): void {
    this.#now = Math.max(this.#now, this.clock.now());
    takeDueSteps(this.#fleet, this.#now);
  }

  /** When the next change of a node is due, in ms since 1970. Undefined if none is scheduled. */
  nextEventAt(): number | undefined {
    return this.#fleet.agenda.nextAt();
  }

  summarize(): Summary {
    this.advance();
    return this.#accounts.summarize(this.#fleet.roster.allNodes(), this.#now);
  }

  /** The output of `jetpack config` on each node that is Ready and has a stop URL (cyclecloud-wire.md D.1). */
  readyNodes(): readonly ReadyNode[] {
    this.advance();
    return [...this.#fleet.roster.allNodes()].flatMap(({ name, status, address, configuration }) => {
      const stopCallback = STOP_CALLBACK.reduce<unknown>(
        (value, key) => (isObject(value) ? value[key] : undefined),
        configuration,
      );
      if (status !== "Ready" || address === undefined || typeof stopCallback !== "string") return [];
      return [{ name, instanceId: address.instanceId, stopCallback }];
    });
  }

  /** Answers one request at the clock's time. */
  request(request: SimulatorRequest): SimulatorResponse {
    this.advance();
    const route = findRoute(request);
    if (route?.kind === "status") this.#accounts.countStatusCall(route.cluster, this.#now);
    const failure = this.faults.takeFailure(request);
    const response = this.#answerWith(failure, request, route);
    return failure?.delayMs === undefined ? response : { ...response, delayMs: failure.delayMs };
  }

  /** The answer that the caller gets under a planned failure. */
  #answerWith(
    failure: Failure | undefined,
    request: SimulatorRequest,
    route: Route | undefined,
  ): SimulatorResponse {
    if (failure?.dropRequest === true) return { ...answer(0, undefined), cut: true };
    const instead = failure?.status === undefined ? undefined : answer(failure.status, failure.body);
    if (instead !== undefined && failure?.afterEffect !== true && failure?.dropAnswer !== true) {
      this.#recordRefusal(request, instead.status, "planned fault");
      return instead;
    }
    const response = this.#answer(request, route);
    if (failure?.dropAnswer === true) return { ...response, cut: true };
    return instead ?? response;
  }

  #answer(request: SimulatorRequest, route: Route | undefined): SimulatorResponse {
    const call = { ...this.#call, now: this.#now };
    const response = this.#doorkeeper?.check(request, this.#now) ?? answerCall(call, request, route);
    if (response.status >= 400) this.#recordRefusal(request, response.status, messageOf(response));
    return response;
  }

  #recordRefusal({ method, path }: SimulatorRequest, status: number, why: string | undefined): void {
    const reason = why === undefined ? {} : { why };
    this.#record({ kind: "request-refused", at: this.#now, method, path, status, ...reason });
  }

  #record(event: SimulatorEvent): void {
    if (event.kind === "node-created") this.#accounts.countCreated();
    if (event.kind === "node-gone" || event.kind === "node-deallocated")
      this.#bookHours(event.nodeId, event.at);
    if (this.#keepLog) this.#log.push(event);
    for (const listener of this.#listeners) listener(event);
  }

  #bookHours(nodeId: string, at: number): void {
    const node = this.#fleet.roster.find(nodeId);
    if (node !== undefined) this.#accounts.book(node, at);
  }
}

/** The message of a refusal. Undefined if the answer has none, as with `errorBody: "empty"`. */
function messageOf({ body }: SimulatorResponse): string | undefined {
  if (isObject(body) && "Message" in body) return String(body["Message"]);
  return typeof body === "string" ? body : undefined;
}

/** Answers a call that was let in, as cyclecloud-wire.md says the server does. */
function answerCall(call: Call, request: SimulatorRequest, route: Route | undefined): SimulatorResponse {
  const { query, body } = request;
  if (route === undefined) return refuseCall(call, 404, `No resource at ${request.path}`);
  if (route.kind === "operations") return findOperations(call, query["request_id"]);
  if (route.kind === "operation") return findOperation(call, route.id);
  const cluster = call.world.clusters.get(route.cluster);
  if (cluster === undefined) return refuseCall(call, 404, `Cluster ${route.cluster} does not exist`);
  switch (route.kind) {
    case "status":
      return readStatus(call, cluster, query);
    case "nodes":
      return listNodes(call, cluster, query);
    case "create":
      return createNodes(call, cluster, body);
    case "scale":
      return scaleArray(call, cluster, route.nodearray, { ...toObject(body), ...query });
    case "retry":
      return retryNodes(call, cluster);
    case "manage":
      return manageNodes(call, cluster, route.action, body);
  }
}

const toObject = (body: unknown): JsonObject => (isObject(body) ? body : {});

/** The operation that a request asks for, with decoded names. */
type Route =
  | { readonly kind: "status"; readonly cluster: string }
  | { readonly kind: "nodes"; readonly cluster: string }
  | { readonly kind: "create"; readonly cluster: string }
  | { readonly kind: "manage"; readonly cluster: string; readonly action: Exclude<Action, "create"> }
  | { readonly kind: "scale"; readonly cluster: string; readonly nodearray: string }
  | { readonly kind: "retry"; readonly cluster: string }
  | { readonly kind: "operations" }
  | { readonly kind: "operation"; readonly id: string };

const managementActions = [
  "terminate",
  "remove",
  "shutdown",
  "deallocate",
  "start",
  "restart",
  "reimage",
] as const;

/** The simulated endpoints of cyclecloud-wire.md A.2. Undefined for all others. The list of operations ends in a slash. */
function findRoute(request: SimulatorRequest): Route | undefined {
  const [first, second, third, fourth, ...rest] = decodePath(request.path) ?? [];
  if (rest.length > 0 || second === undefined) return undefined;
  const call = `${request.method} ${first}`;
  if (call === "GET operations" && third === undefined) {
    return second === "" ? { kind: "operations" } : { kind: "operation", id: second };
  }
  if (call === "GET clusters" && fourth === undefined) {
    if (third === "status" || third === "nodes") return { kind: third, cluster: second };
  }
  if (call === "POST clusters" && third === "scale" && fourth !== undefined)
    return { kind: "scale", cluster: second, nodearray: fourth };
  if (call === "POST cloud" && second === "actions" && third === "retry" && fourth !== undefined)
    return { kind: "retry", cluster: fourth };
  if (call === "POST clusters" && third === "nodes") {
    if (fourth === "create") return { kind: "create", cluster: second };
    const action = managementActions.find((name) => name === fourth);
    if (action !== undefined) return { kind: "manage", cluster: second, action };
  }
  return undefined;
}

/** The segments after the leading slash, percent-decoded. Undefined if they cannot be decoded. */
function decodePath(path: string): readonly string[] | undefined {
  try {
    return path.split("/").slice(1).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
