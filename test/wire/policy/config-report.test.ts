import { describe, expect, test } from "vitest";
import { readPolicy } from "../../../src/wire/policy/policy.ts";

function reportOf(input: object): Record<string, string> {
  const read = readPolicy(input);
  if (read.kind === "problems") throw new Error(read.problems.map(({ path }) => path).join(", "));
  const { used, ignored } = read.report;
  return Object.fromEntries([
    ...used.map(({ key, as }) => [key, `as ${as}`]),
    ...ignored.map(({ key, why }) => [key, `not: ${why}`]),
  ]);
}

describe("what becomes of each key of a configuration", () => {
  test("scalelib's autoscale.json: timeouts with what they come to, groups by array, the rest with the reason", () => {
    const report = reportOf({
      cluster_name: "prod",
      password: "hunter2",
      idle_timeout: { default: 600, hpc: 0 },
      boot_timeout: "7200",
      default_resources: [{ select: {}, name: "disk", value: 1 }],
      disable_default_resources: true,
      nodearrays: {
        default: { placement_groups: ["pg0"] },
        hpc: { max_placement_groups: 3, colour: "red", minCount: 2 },
        empty: {},
      },
      pbspro: { queues: ["workq"] },
    });
    expect(report).toEqual({
      cluster_name: "not: the app setting AUTOSCALER_CLUSTERS names the clusters",
      password: "not: a password comes from an app setting, which AUTOSCALER_CLUSTERS names",
      "idle_timeout.default": "as idleTimeout.default: 600 s",
      "idle_timeout.hpc":
        "as idleTimeout.hpc: 300 s, the built-in value, as 0 and null mean that in scalelib's object",
      boot_timeout: "as bootTimeout: 7200 s",
      default_resources: "as default_resources",
      disable_default_resources:
        "not: every node has scalelib's ten resources; default_resources redefines them",
      "nodearrays.default.placement_groups": "as placementGroups.default",
      "nodearrays.hpc.max_placement_groups": "not: not supported: an array has as many groups as jobs need",
      "nodearrays.hpc.colour": "not: scalelib knows no such key of a node array",
      "nodearrays.hpc.minCount":
        "not: a minimum is a target, in a request set of its own that is renewed (docs/demand.md)",
      "nodearrays.empty": "not: it says nothing",
      pbspro: "not: a setting of a driver of scalelib's: what sends the demand reads its own",
    });
  });

  test.each(["min", "minCount", "minNodes", "min_count", "minimum", "floor", "warmNodes"])(
    "%s is refused with the way to a minimum",
    (key) => {
      const read = readPolicy({ [key]: { htc: 2 } });
      expect(read.kind === "problems" ? read.problems[0]?.expected : "").toMatch(
        /^one of the keys .*; a minimum is a target, in a request set of its own that is renewed \(docs\/demand\.md\)$/,
      );
    },
  );

  test("our own keys count as themselves; a list of arrays is one of them", () => {
    expect(reportOf({ idleTimeout: { hpc: 5 }, nodearrays: ["hpc"], enabled: false })).toEqual({
      idleTimeout: "as idleTimeout",
      nodearrays: "as nodearrays",
      enabled: "as enabled",
    });
  });

  test("what our answers add to a document, and objects that say nothing", () => {
    expect(reportOf({ used: [], ignored: [], doubts: [], nodearrays: {}, idle_timeout: {} })).toEqual({
      used: "not: a part of our own answer, not of a configuration",
      ignored: "not: a part of our own answer, not of a configuration",
      doubts: "not: a part of our own answer, not of a configuration",
      nodearrays: "not: it says nothing",
      idle_timeout: "as idleTimeout: 300 s",
    });
  });

  test("every key of scalelib's is either used or has a reason", () => {
    const document = {
      cluster_name: "c",
      url: "u",
      username: "n",
      password: "p",
      verify_certificates: false,
      read_only: true,
      lock_file: null,
      nodehistorydb: "h",
      idle_timeout: 300,
      boot_timeout: 1800,
      default_resources: [],
      disable_default_resources: false,
      nodearrays: { a: { placement_groups: [] } },
      assume_standalone_hostnames: false,
      valid_hostnames: null,
      "output-columns": {},
      logging: {},
      include: [],
      cost: {},
      _mimic_on_prem: [],
      _mock_bindings: {},
      "_node-overrides": {},
      pbspro: {},
      gridengine: {},
    };
    const report = reportOf(document);
    const missing = Object.keys(document).filter((key) => key !== "nodearrays" && report[key] === undefined);
    expect(missing).toEqual([]);
    expect(Object.values(report).filter((text) => text === "not: ")).toEqual([]);
  });
});
