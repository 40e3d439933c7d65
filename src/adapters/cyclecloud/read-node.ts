import type { Node, NodePhase } from "../../domain/cluster.ts";
import { stopUrlsOf } from "../../domain/attributes.ts";
import type { ArrayName } from "../../domain/ids.ts";
import { arrayName, machineType, nodeId, placementGroup } from "../../domain/ids.ts";
import { quoteText } from "../../domain/secrets.ts";
import {
  readAutoscale,
  readAttribute,
  readFlag,
  readMachineType,
  readMemoryGib,
  readNumber,
  readText,
} from "./read-fields.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Fields } from "../../domain/fields.ts";

/** The key of a stop URL that a node of this array carries; undefined: the URL is not ours. */
export type StopKeyReader = (array: ArrayName, url: string) => string | undefined;

const NO_STOP_KEYS: StopKeyReader = () => undefined;

/** Records are never changed once handed over (see {@link Answer}), so an equal object that is read alike is an equal node. */
const known = new WeakMap<Fields, { readonly node: Node; readonly by: StopKeyReader }>();

/** A node record (cyclecloud-wire.md A.4); undefined: it has no NodeId, so nothing can be said or done about it. */
export function readNode(record: Fields, stopKeyOf = NO_STOP_KEYS): Node | undefined {
  const before = known.get(record);
  if (before?.by === stopKeyOf) return before.node;
  const id = readText(readAttribute(record, "NodeId"));
  if (id === undefined) return undefined;
  const node = readNodeWithId(id, record, stopKeyOf);
  known.set(record, { node, by: stopKeyOf });
  return node;
}

function readNodeWithId(id: string, record: Fields, stopKeyOf: StopKeyReader): Node {
  const text = (name: string): string | undefined => readText(readAttribute(record, name));
  const name = text("Name") ?? id;
  const status = text("Status") ?? text("State") ?? "";
  const [statusMessage, hostname, privateIp] = [text("StatusMessage"), text("Hostname"), text("PrivateIp")];
  const [instanceId, group] = [text("InstanceId"), text("PlacementGroupId")];
  const vcpus = readNumber(readAttribute(record, "CoreCount"));
  const memoryGib = readMemoryGib(readAttribute(record, "Memory"));
  const { resources, configuration, stopEnabled } = readAutoscale(record);
  const spot = readAttribute(record, "Interruptible") ?? readAttribute(record, "IsSpotInstance");
  const wanted = readTarget(text("TargetState"));
  // A node outside all arrays is its own template (cyclecloud-wire.md A.4).
  const array = arrayName(text("Template") ?? name);
  const stopKey = stopUrlsOf(readAttribute(record, "Configuration"))
    .map((url) => stopKeyOf(array, url))
    .find((key) => key !== undefined);
  const phase = phaseOf(status, wanted, {
    hasAddress: privateIp !== undefined || hostname !== undefined,
  });
  return {
    nodeId: nodeId(id),
    name,
    array,
    machineType: machineType(readMachineType(readAttribute(record, "MachineType")) ?? ""),
    phase,
    status,
    ...(phase === "coming" && !comesUp(status) ? { unexpectedStatus: true as const } : {}),
    ...(wanted === undefined ? { noTargetState: true as const } : {}),
    ...(statusMessage === undefined ? {} : { statusMessage: quoteText(statusMessage) }),
    ...withoutAbsent({ vcpus, memoryGib, hostname, privateIp, instanceId }),
    ...(group === undefined ? {} : { placementGroup: placementGroup(group) }),
    ...(spot === undefined ? {} : { spot: readFlag(spot) }),
    keepAlive: readFlag(readAttribute(record, "KeepAlive")),
    ...(stopEnabled ? {} : { stopDisabled: true as const }),
    ...withoutAbsent({ stopKey }),
    ...(Object.keys(resources).length === 0 ? {} : { resources }),
    ...withoutAbsent({ configuration }),
  };
}

/** The documentation also says "Started" for Ready and "Error" for Failed (cyclecloud-wire.md A.5). */
const up = new Set(["ready", "started"]);
const failures = new Set(["failed", "unavailable", "error"]);
const gone = new Set(["off", "terminated"]);
/** Status words that only an unwanted node has (cyclecloud-wire.md A.5). */
const leaving = new Set(["stopping", "terminationpreparation", "terminating", "deallocating"]);

/**
 * Status words of a wanted node while it starts, and while it restarts after it was up. The last one is a State (cyclecloud-wire.md A.5).
 */
const waysUp = new Set([
  ...up,
  "allocation",
  "allocating",
  "acquiring",
  "preparing",
  "reimaging",
  "restarting",
  "configuration",
]);

function comesUp(status: string): boolean {
  return waysUp.has(status.toLowerCase());
}

const targets = ["started", "deallocated", "terminated"] as const;
type TargetState = (typeof targets)[number];

/** What is wanted of a node. A word that we do not know says as little as none: read as "not wanted", its node would be created again. */
function readTarget(word: string | undefined): TargetState | undefined {
  const is = word?.toLowerCase();
  return targets.find((target) => target === is);
}

/**
 * The phase of a node from its TargetState (wanted) and its Status (actual), cyclecloud-wire.md A.5. An unknown Status of a wanted node is
 * "coming": the boot timeout decides. Failed while not wanted is a failed termination, so "going". Without a known TargetState an
 * unambiguous Status decides; otherwise the record is unclear.
 */
function phaseOf(
  status: string,
  wanted: TargetState | undefined,
  { hasAddress }: { readonly hasAddress: boolean },
): NodePhase {
  const is = status.toLowerCase();
  if (wanted === undefined) return phaseByStatus(is);
  if (wanted === "started") {
    if (failures.has(is)) return "failed";
    return up.has(is) && hasAddress ? "ready" : "coming";
  }
  if (gone.has(is)) return "off";
  return wanted === "deallocated" && is === "deallocated" ? "deallocated" : "going";
}

function phaseByStatus(status: string): NodePhase {
  if (failures.has(status)) return "failed";
  if (gone.has(status)) return "off";
  return leaving.has(status) ? "going" : "unknown";
}
