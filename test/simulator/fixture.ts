import * as z from "zod";
import type { SimulatorResponse } from "../../src/simulator/answer.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { ClusterOptions, NodeArrayOptions, SimulatorOptions } from "../../src/simulator/options.ts";

/** 2026-01-10T10:00:00Z */
export const start = 1_768_039_200_000;

/** Any JSON object of an answer. */
export type Json = Readonly<Record<string, unknown>>;

/** Keeps the very object, so that tests can compare identity. */
const record = z.custom<Json>((value) => typeof value === "object" && value !== null);
const statusBody = z.object({
  nodearrays: z.array(z.object({ name: z.string(), buckets: z.array(record) })),
  nodes: z.array(record),
});
const createBody = z.object({
  operationId: z.string(),
  sets: z.array(z.object({ added: z.number(), message: z.string().optional() })),
});

/** Boots in 100 s (10 + 30 + 60), terminates in 20 s, without jitter, lag or failures. */
export const timings = {
  secondsToAllocate: 10,
  secondsToAcquire: 30,
  secondsToPrepare: 60,
  secondsToTerminate: 20,
  jitter: 0,
};

export const htc: NodeArrayOptions = { name: "htc", region: "westeurope", machineTypes: ["Standard_F2s_v2"] };
export const hpc: NodeArrayOptions = {
  name: "hpc",
  region: "westeurope",
  maxPlacementGroupSize: 4,
  machineTypes: ["Standard_HB120rs_v3"],
};

export const machineTypes: SimulatorOptions["machineTypes"] = {
  Standard_F2s_v2: { vcpuCount: 2, pcpuCount: 1, memory: 4, family: "F", pricePerHour: 0.1 },
  Standard_D4s_v3: { vcpuCount: 4, pcpuCount: 2, memory: 16, family: "D" },
  Standard_HB120rs_v3: { vcpuCount: 120, memory: 448, infiniband: true, family: "HB", pricePerHour: 4 },
  "Standard_HB120-16rs_v3": {
    vcpuCount: 16,
    vcpuQuotaCount: 120,
    memory: 448,
    infiniband: true,
    family: "HB",
  },
};

/** A simulator with a clock that the test moves, and short ways to talk to it. */
export class Bench {
  readonly simulator: Simulator;
  #now = start;

  constructor(options: Partial<SimulatorOptions> = {}, cluster: Partial<ClusterOptions> = {}) {
    const demo = { name: "demo", arrays: [htc, hpc], ...cluster };
    this.simulator = new Simulator(
      { clusters: [demo], machineTypes, timings, ...options },
      { now: () => this.#now },
    );
  }

  get now(): number {
    return this.#now;
  }

  /** Moves the clock. Nothing is processed until a request comes or advance is called. */
  pass(seconds: number): void {
    this.#now += seconds * 1000;
  }

  get(path: string, query: Record<string, string> = {}): SimulatorResponse {
    return this.simulator.request({ method: "GET", path, query });
  }

  post(path: string, body: unknown): SimulatorResponse {
    return this.simulator.request({ method: "POST", path, query: {}, body });
  }

  create(sets: unknown, requestId?: string): SimulatorResponse {
    const body = requestId === undefined ? { sets } : { requestId, sets };
    return this.post("/clusters/demo/nodes/create", body);
  }

  terminate(body: unknown): SimulatorResponse {
    return this.post("/clusters/demo/nodes/terminate", body);
  }

  status(): z.infer<typeof statusBody> {
    return statusBody.parse(this.get("/clusters/demo/status", { nodes: "true" }).body);
  }

  nodes(): readonly Json[] {
    return this.status().nodes;
  }

  bucket(array: string, index = 0): Json {
    const found = this.status().nodearrays.find((candidate) => candidate.name === array);
    return found?.buckets[index] ?? {};
  }

  eventsOf<K extends SimulatorEvent["kind"]>(kind: K): readonly Extract<SimulatorEvent, { kind: K }>[] {
    this.simulator.advance();
    return this.simulator.log.filter(
      (event): event is Extract<SimulatorEvent, { kind: K }> => event.kind === kind,
    );
  }
}

/** The body of an accepted create. */
export function createdBy(response: SimulatorResponse): z.infer<typeof createBody> {
  return createBody.parse(response.body);
}

/** The values of one attribute of each record. */
export function pick(records: readonly Json[], key: string): unknown[] {
  return records.map((record) => record[key]);
}

/** A bench with nodes of the array htc that are Ready, created under the request id "c1". */
export function withNodes(count: number, ...options: ConstructorParameters<typeof Bench>): Bench {
  const bench = new Bench(...options);
  bench.create([{ nodearray: "htc", count }], "c1");
  bench.pass(100);
  return bench;
}
