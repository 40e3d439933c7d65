import type { NodeProperty } from "../../domain/constraint.ts";
import type { NodeView } from "../../domain/node-view.ts";
import type { Scalar } from "../../domain/resources.ts";
import { isPattern } from "../../domain/shell-pattern.ts";
import type { Judgement, Matcher } from "./judge.ts";
import { compileChoice, refused, unsure } from "./judge.ts";

/*
 * What can be said of a node before it exists. A new node is made only for a condition that it meets now and when it is up: one that holds
 * only before would get one more node with each plan (docs/protocol.md, Plans).
 */

/** A property has one of these values. */
export function compileProperty(property: NodeProperty, choices: readonly Scalar[]): Matcher {
  const choose = compileChoice(`node.${property}`, choices);
  const before = beforeItExists(property, choices, choose);
  if (before === undefined) return ({ properties }) => choose(properties[property]);
  return (node) => (isToCome(node) ? before(node) : choose(node.properties[property]));
}

/** Whether the node does not exist yet, or is deallocated and may be started. */
function isToCome({ properties: { exists }, nodeId }: NodeView): boolean {
  return exists === false || (exists === null && nodeId === null);
}

type Choose = ReturnType<typeof compileChoice>;
type Before = (node: NodeView) => Judgement;

function beforeItExists(
  property: NodeProperty,
  choices: readonly Scalar[],
  choose: Choose,
): Before | undefined {
  const later = LATER.get(property);
  if (later !== undefined)
    return ({ properties: { [property]: now } }) => {
      const all = [choose(now), ...later.map((value) => choose(value))];
      const [first = choose(now)] = all;
      if (all.every(({ kind }) => kind === first.kind)) return first;
      return unsure({ code: "not-yet", property, now });
    };
  // A plain value is that of another node: even where a name comes again, it does so once.
  const mayBe = choices.some((choice) => choice === null || isOpenPattern(choice));
  const unknown = (mayBe ? unsure : refused)({ code: "not-yet", property });
  if (property === "name") return (node) => judgeName(node, choices, choose, unknown);
  if (!GIVEN.has(property)) return undefined;
  return ({ properties: { [property]: now } }) => (now === null ? unknown : choose(now));
}

const isOpenPattern = (choice: Scalar): boolean => typeof choice === "string" && isPattern(choice);

/** What CycleCloud or the ledger gives a node when it exists. */
const GIVEN: ReadonlySet<NodeProperty> = new Set([
  "hostname",
  "fqdn",
  "hostname_or_uuid",
  "private_ip",
  "instance_id",
  "create_time",
  "create_time_unix",
  "create_time_remaining",
  "last_match_time",
  "last_match_time_unix",
]);

/** What becomes of a property while the node comes up (cyclecloud-wire.md A.5). */
const LATER: ReadonlyMap<NodeProperty, readonly Scalar[]> = new Map<NodeProperty, readonly Scalar[]>([
  ["exists", [true]],
  ["state", ["Allocation", "Acquiring", "Preparing", "Preparation", "Started", "Ready"]],
]);

/** Ends of the name of a new node: characters that only a wildcard matches. */
const ENDS = ["\u{e000}", "\u{e000}\u{e000}"];

/** A new node is called by its array and a number that is not known. */
function judgeName(
  { properties: { name, nodearray }, nodeId }: NodeView,
  choices: readonly Scalar[],
  choose: Choose,
  unknown: Judgement,
): Judgement {
  if (nodeId !== null) return choose(name);
  const begin = typeof nodearray === "string" ? `${nodearray}-` : "";
  const ends = ENDS.map((end) => choose(`${begin}${end}`));
  const [first = unknown] = ends;
  if (ends.every(({ kind }) => kind === "met")) return first;
  const isOther = choices.every((choice) => {
    const [plain = ""] = typeof choice === "string" ? choice.split(/[*?[]/) : [];
    return !isOpenPattern(choice) || !(plain.startsWith(begin) || begin.startsWith(plain));
  });
  return isOther ? choose(`${begin}${ENDS[0] ?? ""}`) : unknown;
}
