import { describe, expect, test } from "vitest";
import { refusedAttributes } from "../../../src/decide/senders/allowed-attributes.ts";

const refused = (
  attributes: Readonly<Record<string, unknown>>,
  allowed: readonly string[] = [],
  keys?: readonly string[],
) => refusedAttributes(attributes, allowed, keys).map(({ path }) => path);

describe("without a rule", () => {
  test.each([
    { name: "spot", attributes: { Interruptible: true } },
    { name: "spot, as CycleCloud spells it elsewhere", attributes: { interruptible: "true" } },
    {
      name: "settings of one's own",
      attributes: { Configuration: { a: { b: 1 }, list: [1], "x.y": 1, autoscaler: 1, cyclecloudish: {} } },
    },
    {
      name: "what the documentation shows of CycleCloud's settings",
      attributes: {
        Configuration: {
          cyclecloud: { cluster: { autoscale: { stop_enabled: false, idle_time_after_jobs: 300 } } },
          autoscale: { is_hpc: false, resources: { seats: 2 } },
        },
      },
    },
    {
      name: "the same with dots",
      attributes: { Configuration: { "cyclecloud.cluster.autoscale.stop_enabled": false } },
    },
    { name: "nothing", attributes: {} },
  ])("$name may be set", ({ attributes }) => {
    expect(refused(attributes)).toEqual([]);
  });

  test.each([
    ["KeepAlive"],
    ["keepalive"],
    ["CloudInit"],
    ["ImageName"],
    ["SubnetId"],
    ["AssociatePublicIpAddress"],
    ["Username"],
    ["KeyPairLocation"],
    ["Credentials"],
    ["Tags"],
    ["ClusterInitSpecs"],
    ["Interruptible2"],
    ["Configuration.cyclecloud.cluster.autoscale.stop_callback"],
    ["constructor"],
  ])("%s may not", (name) => {
    expect(refused({ Interruptible: true, [name]: true })).toEqual([name]);
  });

  test.each([
    {
      name: "the stop URL",
      configuration: { cyclecloud: { cluster: { autoscale: { stop_callback: "x", stop_enabled: true } } } },
      paths: ["Configuration.cyclecloud.cluster.autoscale.stop_callback"],
    },
    {
      name: "autoscaling itself",
      configuration: { autoscale: { enabled: true, stop_callback: "x", is_hpc: true } },
      paths: ["Configuration.autoscale.enabled", "Configuration.autoscale.stop_callback"],
    },
    {
      name: "mounts and users, named at their top",
      configuration: { cyclecloud: { mounts: { home: { address: "evil" } }, users: [] } },
      paths: ["Configuration.cyclecloud.mounts", "Configuration.cyclecloud.users"],
    },
    { name: "all of it", configuration: { cyclecloud: null }, paths: ["Configuration.cyclecloud"] },
    { name: "a list for it", configuration: { autoscale: [] }, paths: ["Configuration.autoscale"] },
    {
      name: "capitals",
      configuration: { CycleCloud: { Mounts: 1 } },
      paths: ["Configuration.CycleCloud.Mounts"],
    },
    {
      name: "dots",
      configuration: { "autoscale.enabled": true },
      paths: ["Configuration.autoscale.enabled"],
    },
    {
      name: "the roles and recipes of Chef, in any spelling",
      configuration: { run_list: ["recipe[evil]"], Run_List: "role[server]", "run_list.x": 1, run_lists: [] },
      paths: ["Configuration.run_list", "Configuration.Run_List", "Configuration.run_list.x"],
    },
    {
      name: "a name that only begins like a documented one",
      configuration: { autoscale: { resourcesX: 1, "resources-y": 1 } },
      paths: ["Configuration.autoscale.resourcesX", "Configuration.autoscale.resources-y"],
    },
  ])("$name may not", ({ configuration, paths }) => {
    expect(refused({ Configuration: configuration })).toEqual(paths);
  });
});

describe("with a rule", () => {
  const sent = {
    ImageName: "x",
    KeepAlive: true,
    Configuration: { cyclecloud: { mounts: { a: 1, b: 2 }, users: 1 }, autoscale: { enabled: true } },
  };
  test.each([
    {
      allowed: ["ImageName"],
      paths: [
        "KeepAlive",
        "Configuration.cyclecloud.mounts",
        "Configuration.cyclecloud.users",
        "Configuration.autoscale.enabled",
      ],
    },
    {
      allowed: ["imagename", "keepAlive", "Configuration.cyclecloud.mounts.a"],
      paths: [
        "Configuration.cyclecloud.mounts.b",
        "Configuration.cyclecloud.users",
        "Configuration.autoscale.enabled",
      ],
    },
    { allowed: ["Configuration"], paths: ["ImageName", "KeepAlive"] },
    {
      allowed: ["Configuration.run_list", "Configuration.autoscale", "Configuration.cyclecloud"],
      paths: ["ImageName", "KeepAlive"],
    },
    { allowed: ["*"], paths: [] },
  ])("that lists $allowed", ({ allowed, paths }) => {
    expect(refused(sent, allowed)).toEqual(paths);
  });
});

describe("with a list of free keys", () => {
  const sent = {
    Interruptible: true,
    Configuration: {
      application_version: 7,
      site: { row: 1, rack: 2 },
      "other.key": 1,
      run_list: ["role[server]"],
      autoscale: { is_hpc: true, enabled: true },
      cyclecloud: { cluster: { autoscale: { stop_enabled: false } } },
    },
  };
  const all = [
    "Configuration.application_version",
    "Configuration.site",
    "Configuration.other.key",
    "Configuration.run_list",
    "Configuration.autoscale.enabled",
  ];
  test.each([
    {
      name: "every key is free without one",
      keys: undefined,
      paths: ["Configuration.run_list", "Configuration.autoscale.enabled"],
    },
    { name: "an empty one leaves the documented settings", keys: [], paths: all },
    {
      name: "a key, in any case",
      keys: ["Application_Version"],
      paths: all.filter((path) => !path.endsWith("version")),
    },
    {
      name: "a path names one member, and the others are named in the refusal",
      keys: ["application_version", "site.row", "other"],
      paths: ["Configuration.site.rack", "Configuration.run_list", "Configuration.autoscale.enabled"],
    },
  ])("$name", ({ keys, paths }) => {
    expect(refused(sent, [], keys)).toEqual(paths);
  });

  test("what the rule allows by its attributes stays allowed", () => {
    expect(refused(sent, ["Configuration.site", "Configuration.run_list"], [])).toEqual([
      "Configuration.application_version",
      "Configuration.other.key",
      "Configuration.autoscale.enabled",
    ]);
    expect(refused(sent, ["Configuration"], [])).toEqual([]);
  });
});
