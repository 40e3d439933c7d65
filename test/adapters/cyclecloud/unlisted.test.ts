import { expect, test } from "vitest";
import { readStatus } from "../../../src/adapters/cyclecloud/read-status.ts";
import { clusterName } from "../../../src/domain/ids.ts";
import { instant } from "../../../src/domain/units.ts";

const at = instant(1_768_040_000_000);

/** One array with one bucket that names these nodes as active, and these in the list. */
function statusOf(activeNodes: unknown, listed: readonly string[]) {
  return readStatus(
    {
      nodearrays: [
        {
          name: "execute",
          buckets: [{ definition: { machineType: "Standard_D4s_v5" }, activeCount: 3, activeNodes }],
        },
      ],
      nodes: listed.map((name) => ({
        NodeId: `id-${name}`,
        Name: name,
        Template: "execute",
        TargetState: "Started",
      })),
    },
    clusterName("demo"),
    at,
  );
}

const unlisted = (name: string) => ({ array: "execute", machineType: "Standard_D4s_v5", name, since: at });

test.each([
  { name: "both halves agree", active: ["e-1", "e-2"], listed: ["e-1", "e-2"], found: undefined },
  { name: "the list has more", active: ["e-1"], listed: ["e-1", "e-2"], found: undefined },
  {
    name: "the list lacks two",
    active: ["e-1", "e-2", "e-3"],
    listed: ["e-3"],
    found: [unlisted("e-1"), unlisted("e-2")],
  },
  { name: "none is named as it is listed", active: ["demo:e-1"], listed: ["e-1"], found: undefined },
  { name: "no list of names", active: 3, listed: ["e-1"], found: undefined },
  { name: "names that are none", active: [7, null, "e-1"], listed: ["e-1"], found: undefined },
])("nodes that only their bucket names: $name", ({ active, listed, found }) => {
  expect(statusOf(active, listed)).toMatchObject({ kind: "snapshot" });
  const reading = statusOf(active, listed);
  expect(reading.kind === "snapshot" ? reading.snapshot.unlisted : reading).toEqual(found);
});

test("not one node is listed: the status is not believed at all", () => {
  expect(statusOf(["e-1"], [])).toMatchObject({ kind: "malformed", path: "nodes" });
});
