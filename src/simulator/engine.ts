import { Accounts } from "./accounts.ts";
import type { Summary } from "./accounts.ts";
import type { SimulatorRequest, SimulatorResponse } from "./answer.ts";
import { answer, refuse } from "./answer.ts";
import { checkCreate, createSet } from "./create.ts";
import type { Credentials } from "./credentials.ts";
import { Doorkeeper } from "./credentials.ts";
import type { SimulatorEvent } from "./events.ts";
import { Faults } from "./faults.ts";
import type { Failure } from "./faults.ts";
import { Fleet } from "./fleet.ts";
import type { JsonObject } from "./json.ts";
import { isObject } from "./json.ts";
import type { ManagedNode } from "./manage.ts";
import { checkManagement, cycleNodes, selectNodes, startNodes, stopNodes } from "./manage.ts";
import type { SimulatedNode } from "./node.ts";
import type { Action, Operation } from "./operations.ts";
import { OperationBook, renderOperation } from "./operations.ts";
import type { SimulatorOptions } from "./options.ts";
import type { Random } from "./random.ts";
import { drawUuid, seedRandom } from "./random.ts";
import type { Route } from "./routes.ts";
import { findRoute } from "./routes.ts";
import { renderStatus } from "./status.ts";
import { Usage } from "./usage.ts";
import type { Bucket, Cluster, World } from "./world.ts";
import { buildWorld, findBucket } from "./world.ts";

export type Clock = { now(): number };

/** The data that a running node has about itself. */
export type ReadyNode = { readonly name: string; readonly instanceId: string; readonly stopCallback: string };

const STOP_CALLBACK = ["cyclecloud", "cluster", "autoscale", "stop_callback"];

/**
 * A CycleCloud that behaves: it answers requests as cyclecloud-wire.md says the server does, and its nodes live and
 * die by the clock it is given. No I/O and no timers: time passes only in `advance`, which every request calls first.
 * The same options, requests and times give the same answers and the same events.
 */
export class Simulator {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly #world: World;
  readonly #fleet: Fleet;
  readonly #random: Random;
  readonly #operations: OperationBook;
  readonly #accounts = new Accounts();
  readonly #keepLog: boolean;
  readonly #log: SimulatorEvent[] = [];
  readonly #listeners = new Set<(event: SimulatorEvent) => void>();
  #doorkeeper: Doorkeeper | undefined;
  #now: number;

  /** Throws if the options name a machine type that they do not define. `clock.now()` is in ms since 1970. */
  constructor(options: SimulatorOptions, clock: Clock) {
    this.clock = clock;
    this.#keepLog = options.keepLog ?? true;
    this.#random = seedRandom(options.seed ?? 1);
    this.#world = buildWorld(options, this.#random);
    const { operationsLagSeconds, managementIdsShareNamespace } = this.#world.quirks;
    this.#operations = new OperationBook(operationsLagSeconds, managementIdsShareNamespace);
    this.#now = clock.now();
    this.#fleet = new Fleet(this.#world, options, this.#random, this.#now, (event) => this.#record(event));
    this.faults = new Faults(this.#faultTarget());
  }

  /** Every event so far, oldest first; empty with `keepLog: false`. */
  get log(): readonly SimulatorEvent[] {
    return this.#log;
  }

  /**
   * Calls `listener` with each event as it is processed; the answer ends that. A listener takes note and acts later:
   * it must not send requests itself.
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
    this.#fleet.advance(this.#now);
  }

  /** When the next change of a node is due, in ms since 1970. Undefined if none is scheduled. */
  nextEventAt(): number | undefined {
    return this.#fleet.nextStepAt();
  }

  summarize(): Summary {
    this.advance();
    return this.#accounts.summarize(this.#fleet.allNodes(), this.#now);
  }

  /** The output of `jetpack config` on each node that is Ready and has a stop URL (cyclecloud-wire.md D.1). */
  readyNodes(): readonly ReadyNode[] {
    this.advance();
    return [...this.#fleet.allNodes()].flatMap(({ name, status, address, configuration }) => {
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
    const response = this.#meet(failure, request, route);
    return failure?.delayMs === undefined ? response : { ...response, delayMs: failure.delayMs };
  }

  #meet(
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
    const response = this.#admit(request, route);
    if (failure?.dropAnswer === true) return { ...response, cut: true };
    return instead ?? response;
  }

  #admit(request: SimulatorRequest, route: Route | undefined): SimulatorResponse {
    const response =
      this.#doorkeeper?.check(request.authorization, request.method === "GET", this.#now) ??
      this.#answer(request, route);
    if (response.status >= 400) this.#recordRefusal(request, response.status, messageOf(response));
    return response;
  }

  #answer(request: SimulatorRequest, route: Route | undefined): SimulatorResponse {
    if (route === undefined) return this.#refuse(404, `No resource at ${request.path}`);
    if (route.kind === "operations") return this.#findOperations(request.query["request_id"]);
    if (route.kind === "operation") return this.#findOperation(route.id);
    const cluster = this.#world.clusters.get(route.cluster);
    if (cluster === undefined) return this.#refuse(404, `Cluster ${route.cluster} does not exist`);
    switch (route.kind) {
      case "status":
        return this.#readStatus(cluster, request.query["nodes"] === "true");
      case "nodes":
        return this.#listNodes(cluster, request.query["request_id"], request.query["operation"]);
      case "create":
        return this.#create(cluster, request.body);
      case "scale":
        return this.#scale(cluster, route.nodearray, { ...toObject(request.body), ...request.query });
      case "retry":
        for (const node of this.#fleet.nodesOf(cluster)) this.#fleet.retry(node, this.#now);
        return answer(200, {});
      default:
        return this.#manage(cluster, route.action, request.body);
    }
  }

  #readStatus(cluster: Cluster, withNodes: boolean): SimulatorResponse {
    const falselyEmpty = this.faults.takeFalseEmpty();
    const view = falselyEmpty
      ? { records: [], ofArrays: [], activeNodes: new Map() }
      : this.#fleet.view(cluster);
    const usage = falselyEmpty ? new Usage() : this.#fleet.shown;
    const source = { cluster, world: this.#world, usage, view: withNodes ? view : undefined, now: this.#now };
    this.#record({ kind: "status-read", at: this.#now, cluster: cluster.name, withNodes });
    return answer(200, renderStatus(source));
  }

  /** `GET nodes`: all listed nodes, or those of one operation that still exist (cyclecloud-wire.md A.4). */
  #listNodes(
    cluster: Cluster,
    requestId: string | undefined,
    operationId: string | undefined,
  ): SimulatorResponse {
    if (requestId === undefined && operationId === undefined) {
      return answer(200, { nodes: this.#fleet.view(cluster).records });
    }
    if (requestId !== undefined && operationId !== undefined) {
      return this.#refuse(400, "Only one of request_id and operation can be given");
    }
    const operation =
      requestId === undefined
        ? this.#operations.findById(operationId ?? "", this.#now)
        : this.#operations.findByRequest(requestId, this.#now);
    if (operation === undefined || operation.cluster !== cluster.name) {
      if (this.#world.quirks.unknownRequestNodes === "empty") return answer(200, { nodes: [] });
      const what = requestId === undefined ? `id ${operationId}` : `request id ${requestId}`;
      return this.#refuse(404, `No operation found for ${what}`);
    }
    const nodes = operation.nodeIds.flatMap((id) => {
      const node = this.#fleet.find(id);
      const shows = node?.shown === true || !this.#world.quirks.operationNodesLag;
      return node !== undefined && shows ? [this.#fleet.recordOf(node)] : [];
    });
    return answer(200, { nodes, operation: renderOperation(operation) });
  }

  #findOperations(requestId: string | undefined): SimulatorResponse {
    if (requestId === undefined || requestId === "") return this.#refuse(400, "request_id is required");
    const operation = this.#operations.findByRequest(requestId, this.#now);
    const isHidden = this.#world.quirks.operationsKnowCreatesOnly && operation?.action !== "create";
    if (operation !== undefined && !isHidden) return answer(200, [renderOperation(operation)]);
    if (this.#world.quirks.unknownRequestOperations === "empty") return answer(200, []);
    return this.#refuse(404, `No operation found for request id ${requestId}`);
  }

  #findOperation(id: string): SimulatorResponse {
    const operation = this.#operations.findById(id, this.#now);
    return operation === undefined
      ? this.#refuse(404, `No operation found for id ${id}`)
      : answer(200, renderOperation(operation));
  }

  #create(cluster: Cluster, body: unknown): SimulatorResponse {
    const checked = checkCreate(body, cluster, this.#fleet);
    if (checked.kind === "invalid") return this.#conflict(checked.message);
    const { requestId, sets } = checked.request;
    if (requestId !== undefined && this.#operations.isTaken(requestId, "create")) return this.#refuseRepeat();
    const outcomes = sets.map((set) => createSet(set, requestId, this.#world, this.#fleet, this.#now));
    const nodeIds = outcomes.flatMap(({ nodes }) => nodes.map((node) => node.id));
    this.#record({
      kind: "create-accepted",
      at: this.#now,
      cluster: cluster.name,
      ...(requestId === undefined ? {} : { requestId }),
      asked: sets.reduce((sum, set) => sum + set.count, 0),
      added: nodeIds.length,
      sets: sets.map(({ count }, index) => ({ asked: count, added: outcomes[index]?.result.added ?? 0 })),
    });
    const operation = this.#accept("create", cluster, requestId, nodeIds);
    return acceptedAnswer(operation, { sets: outcomes.map(({ result }) => result) });
  }

  /** The actions on existing nodes (cyclecloud-wire.md A.7). */
  #manage(cluster: Cluster, action: Exclude<Action, "create">, body: unknown): SimulatorResponse {
    const checked = checkManagement(body);
    if (checked.kind === "invalid") return this.#conflict(checked.message);
    const { requestId } = checked.request;
    if (requestId !== undefined && this.#operations.isTaken(requestId, action)) return this.#refuseRepeat();
    const selected = selectNodes(checked.request, cluster, this.#fleet);
    const nodes = this.#act(action, selected, requestId);
    const done = nodes.filter((node) => node.status === "OK").map((node) => node.id);
    const operation = this.#accept(action, cluster, requestId, done);
    return acceptedAnswer(operation, { nodes });
  }

  #act(
    action: Exclude<Action, "create">,
    selected: readonly SimulatedNode[],
    requestId: string | undefined,
  ): readonly ManagedNode[] {
    switch (action) {
      case "start":
        return startNodes(selected, requestId, this.#fleet, this.#now);
      case "restart":
      case "reimage":
        return cycleNodes(selected, action, this.#fleet, this.#now);
      default:
        return stopNodes(selected, action, requestId, this.#world.quirks, this.#fleet, this.#now);
    }
  }

  /** Adds nodes until the array has a total, once; never removes any (cyclecloud-wire.md A.8). */
  #scale(cluster: Cluster, nodearray: string, asked: JsonObject): SimulatorResponse {
    const totals = ["totalCoreCount", "totalNodeCount"].filter((name) => asked[name] !== undefined);
    const [unit] = totals;
    const total = unit === undefined ? Number.NaN : Number(asked[unit]);
    if (totals.length !== 1 || !Number.isInteger(total) || total < 0)
      return this.#conflict("Exactly one of totalCoreCount and totalNodeCount is required, a whole number");
    const array = cluster.arrays.find(({ name }) => name === nodearray);
    const bucket = array?.buckets.find(({ invalidReason }) => invalidReason === undefined);
    if (bucket === undefined)
      return this.#conflict(`Nodearray ${nodearray} does not exist, or has no valid bucket`);
    let missing = total;
    for (const node of this.#fleet.nodesOf(cluster)) {
      if (node.array === array && node.targetState === "Started")
        missing -= unit === "totalCoreCount" ? node.machine.vcpuCount : 1;
    }
    const count = unit === "totalCoreCount" ? Math.ceil(missing / bucket.machine.vcpuCount) : missing;
    if (count <= 0)
      return acceptedAnswer(this.#accept("create", cluster, undefined, []), { sets: [{ added: 0 }] });
    return this.#create(cluster, {
      sets: [
        {
          count,
          nodearray,
          ...(unit === "totalCoreCount" ? { definition: { machineType: bucket.machine.name } } : {}),
        },
      ],
    });
  }

  #accept(
    action: Action,
    cluster: Cluster,
    requestId: string | undefined,
    nodeIds: readonly string[],
  ): Operation {
    const operation: Operation = {
      id: drawUuid(this.#random),
      action,
      cluster: cluster.name,
      requestId,
      startedAt: this.#now,
      nodeIds,
    };
    this.#operations.add(operation);
    return operation;
  }

  #refuse(status: number, message: string): SimulatorResponse {
    return refuse(status, message, this.#world.quirks.errorBody);
  }

  #conflict(message: string): SimulatorResponse {
    return refuse(409, message, this.#world.quirks.conflictBody);
  }

  #refuseRepeat(): SimulatorResponse {
    return this.#conflict("A request with this id was already made");
  }

  #recordRefusal(request: SimulatorRequest, status: number, why: string): void {
    const { method, path } = request;
    this.#record({ kind: "request-refused", at: this.#now, method, path, status, why });
  }

  #record(event: SimulatorEvent): void {
    if (event.kind === "node-created") this.#accounts.countCreated();
    if (event.kind === "node-gone" || event.kind === "node-deallocated")
      this.#bookHours(event.nodeId, event.at);
    if (this.#keepLog) this.#log.push(event);
    for (const listener of this.#listeners) listener(event);
  }

  #bookHours(nodeId: string, at: number): void {
    const node = this.#fleet.find(nodeId);
    if (node !== undefined) this.#accounts.book(node, at);
  }

  #faultTarget(): ConstructorParameters<typeof Faults>[0] {
    return {
      vanish: (ids) => {
        this.advance();
        for (const id of ids) this.#fleet.vanish(this.#requireNode(id), this.#now);
      },
      failNode: (id, message) => {
        this.advance();
        this.#fleet.fail(this.#requireNode(id), message, this.#now);
      },
      shutDown: (id) => {
        this.advance();
        this.#fleet.shutDown(this.#requireNode(id), this.#now);
      },
      restart: (id, comesBack) => {
        this.advance();
        this.#fleet.restart(this.#requireNode(id), comesBack, this.#now);
      },
      refuseStart: (id, message) => {
        this.#requireNode(id).refusesStart = message;
      },
      setKeepAlive: (id, keepAlive) => this.#fleet.setKeepAlive(this.#requireNode(id), keepAlive),
      setCapacity: (array, machineType, left, cluster) => {
        this.#requireBucket(array, machineType, cluster).capacityLeft = left;
      },
      setInvalid: (array, machineType, reason, cluster) => {
        this.#requireBucket(array, machineType, cluster).invalidReason = reason;
      },
      setClusterState: (name, state, targetState) => {
        const cluster = this.#requireCluster(name);
        cluster.state = state;
        cluster.targetState = targetState;
      },
      freezeLag: (frozen) => {
        this.advance();
        this.#fleet.freezeLag(frozen);
      },
    };
  }

  #requireNode(id: string): SimulatedNode {
    const node = this.#fleet.find(id);
    if (node === undefined) throw new Error(`there is no node with the id ${id}`);
    return node;
  }

  #requireCluster(name: string): Cluster {
    const cluster = this.#world.clusters.get(name);
    if (cluster !== undefined) return cluster;
    throw new Error(`there is no cluster ${name}, only ${[...this.#world.clusters.keys()].join(", ")}`);
  }

  /** Without a cluster's name: the first cluster that has such an array. */
  #requireBucket(array: string, machineType: string, cluster: string | undefined): Bucket {
    const clusters =
      cluster === undefined ? [...this.#world.clusters.values()] : [this.#requireCluster(cluster)];
    for (const { arrays } of clusters) {
      const found = arrays.find((candidate) => candidate.name === array);
      const bucket = found === undefined ? undefined : findBucket(found, machineType);
      if (bucket !== undefined) return bucket;
    }
    throw new Error(`there is no array ${array} with machine type ${machineType}`);
  }
}

const toObject = (body: unknown): JsonObject => (isObject(body) ? body : {});

function acceptedAnswer(operation: Operation, body: object): SimulatorResponse {
  return answer(202, { operationId: operation.id, ...body }, { Location: `/operations/${operation.id}` });
}

function messageOf(response: SimulatorResponse): string {
  const { body } = response;
  if (typeof body === "object" && body !== null && "Message" in body) return String(body.Message);
  return typeof body === "string" ? body : "";
}
