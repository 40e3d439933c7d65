import * as z from "zod";
import type { SimulatorRequest, SimulatorResponse } from "./answer.ts";
import { answer } from "./answer.ts";
import type { Simulator } from "./engine.ts";

/** The simulator's own routes, beside CycleCloud's. They need no credentials. */
export const adminPrefix = "/simulator/";

const cutting = z.literal(true).exactOptional();
const invalidReason = z.enum(["NotActivated", "DisabledMachineType"]);
const faultSchema = z.discriminatedUnion("fault", [
  z.strictObject({
    fault: z.literal("failNext"),
    match: z.strictObject({ method: z.string().exactOptional(), pathIncludes: z.string().exactOptional() }),
    times: z.int().min(1),
    failure: z.strictObject({
      status: z.int().min(100).max(599).exactOptional(),
      body: z.unknown().exactOptional(),
      delayMs: z.number().min(0).exactOptional(),
      dropAnswer: cutting,
      dropRequest: cutting,
      afterEffect: cutting,
    }),
  }),
  z.strictObject({ fault: z.literal("falseEmptyStatus"), times: z.int().min(0) }),
  z.strictObject({ fault: z.literal("vanish"), nodeIds: z.array(z.string()) }),
  z.strictObject({ fault: z.literal("failNode"), nodeId: z.string(), message: z.string().exactOptional() }),
  z.strictObject({ fault: z.literal("shutDown"), nodeId: z.string() }),
  z.strictObject({
    fault: z.literal("restart"),
    nodeId: z.string(),
    comesBack: z.boolean().exactOptional(),
  }),
  z.strictObject({
    fault: z.literal("refuseStart"),
    nodeId: z.string(),
    message: z.string().exactOptional(),
  }),
  z.strictObject({ fault: z.literal("keepAlive"), nodeId: z.string(), keepAlive: z.boolean() }),
  z.strictObject({
    fault: z.literal("setCapacity"),
    cluster: z.string().exactOptional(),
    array: z.string(),
    machineType: z.string(),
    left: z.int().min(0).exactOptional(),
  }),
  z.strictObject({
    fault: z.literal("setInvalid"),
    cluster: z.string().exactOptional(),
    array: z.string(),
    machineType: z.string(),
    reason: invalidReason.exactOptional(),
  }),
  z.strictObject({
    fault: z.literal("setClusterState"),
    cluster: z.string(),
    state: z.string().exactOptional(),
    targetState: z.string().exactOptional(),
  }),
  z.strictObject({ fault: z.literal("freezeLag"), frozen: z.boolean() }),
  z.strictObject({ fault: z.literal("clear") }),
]);
const faultsSchema = z.array(faultSchema);

type Fault = z.infer<typeof faultSchema>;

/**
 * `GET /simulator/log?since=N`: the events from index N on, and `next`, the N of the next call. `GET /simulator/summary`.
 * `GET /simulator/ready-nodes`: as text, a line for each Ready node with its name, instance id and stop URL.
 * `POST /simulator/faults`: sets one fault or a list, each `{ "fault": NAME, ... }` with the arguments of the method NAME of Faults. If one
 * of them cannot be read, the answer is 400 and none is set. A fault that names an unknown node or cluster ends the list.
 */
export function answerAdmin(simulator: Simulator, request: SimulatorRequest): SimulatorResponse {
  const call = `${request.method} ${request.path.slice(adminPrefix.length)}`;
  if (call === "GET summary") return answer(200, simulator.summarize());
  if (call === "GET ready-nodes") return answer(200, readyNodes(simulator));
  if (call === "GET log") return readLog(simulator, request.query["since"] ?? "0");
  if (call === "POST faults") return setFaults(simulator, request.body);
  return answer(404, { error: `no ${call}; there are GET log, GET ready-nodes, GET summary, POST faults` });
}

/** In the form that `read name instance callback` of a shell takes. */
function readyNodes(simulator: Simulator): string {
  return simulator
    .readyNodes()
    .map(({ name, instanceId, stopCallback }) => `${name} ${instanceId} ${stopCallback}\n`)
    .join("");
}

function readLog(simulator: Simulator, since: string): SimulatorResponse {
  if (!/^\d+$/.test(since))
    return answer(400, { error: `since must be a whole number, found ${JSON.stringify(since)}` });
  simulator.advance();
  const events = simulator.log.slice(Number(since));
  return answer(200, { events, next: Number(since) + events.length });
}

function setFaults(simulator: Simulator, body: unknown): SimulatorResponse {
  const parsed = faultsSchema.safeParse(Array.isArray(body) ? body : [body]);
  if (!parsed.success) return answer(400, { error: z.prettifyError(parsed.error) });
  try {
    for (const fault of parsed.data) setFault(simulator, fault);
  } catch (error) {
    return answer(400, { error: error instanceof Error ? error.message : String(error) });
  }
  return answer(200, { set: parsed.data.length });
}

function setFault({ faults }: Simulator, fault: Fault): void {
  switch (fault.fault) {
    case "failNext":
      return faults.failNext(fault.match, fault.times, fault.failure);
    case "falseEmptyStatus":
      return faults.falseEmptyStatus(fault.times);
    case "vanish":
      return faults.vanish(fault.nodeIds);
    case "failNode":
      return faults.failNode(fault.nodeId, fault.message);
    case "shutDown":
      return faults.shutDown(fault.nodeId);
    case "restart":
      return faults.restart(
        fault.nodeId,
        fault.comesBack === undefined ? {} : { comesBack: fault.comesBack },
      );
    case "refuseStart":
      return faults.refuseStart(fault.nodeId, fault.message);
    case "keepAlive":
      return faults.keepAlive(fault.nodeId, fault.keepAlive);
    case "setCapacity":
      return faults.setCapacity(fault.array, fault.machineType, fault.left, fault.cluster);
    case "setInvalid":
      return faults.setInvalid(fault.array, fault.machineType, fault.reason, fault.cluster);
    case "setClusterState":
      return faults.setClusterState(fault.cluster, fault.state, fault.targetState);
    case "freezeLag":
      return fault.frozen ? faults.freezeLag() : faults.thawLag();
    case "clear":
      return faults.clear();
  }
}
