import { describe, expect, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { arrayName } from "../src/domain/ids.ts";
import { modeOf } from "../src/domain/mode.ts";
import { readPolicy } from "../src/wire/policy/policy.ts";
import { writePolicy } from "../src/wire/policy/write-policy.ts";

/** AUTOSCALER_DEFAULT_MODE: the mode of a cluster whose configuration says none. */

const SETTINGS = {
  AzureWebJobsStorage: "UseDevelopmentStorage=true",
  AUTOSCALER_CLUSTERS:
    '[{"name":"prod","url":"https://cc.example","username":"u","passwordSetting":"CC_PASSWORD"}]',
  CC_PASSWORD: "hunter2-password",
};

test.each([
  { setting: undefined, mode: undefined },
  { setting: "", mode: undefined },
  { setting: "act", mode: "act" },
  { setting: "observe", mode: "observe" },
])("the setting $setting is the mode $mode", ({ setting, mode }) => {
  const more = setting === undefined ? {} : { AUTOSCALER_DEFAULT_MODE: setting };
  expect(readConfig({ ...SETTINGS, ...more }).defaultMode).toBe(mode);
});

test.each(["watch", "Observe", "true"])("%s is refused when the app starts", (setting) => {
  expect(() => readConfig({ ...SETTINGS, AUTOSCALER_DEFAULT_MODE: setting })).toThrow(
    "AUTOSCALER_DEFAULT_MODE: found text of",
  );
  expect(() => readConfig({ ...SETTINGS, AUTOSCALER_DEFAULT_MODE: setting })).toThrow(
    'expected "observe" or "act"',
  );
});

describe("what the configuration says counts before the setting", () => {
  test.each([
    { document: {}, setting: "observe", hpc: "observe", htc: "observe" },
    { document: {}, setting: "act", hpc: "act", htc: "act" },
    { document: {}, setting: undefined, hpc: "act", htc: "act" },
    { document: { mode: "act" }, setting: "observe", hpc: "act", htc: "act" },
    { document: { mode: "observe" }, setting: "act", hpc: "observe", htc: "observe" },
    { document: { enabled: true }, setting: "observe", hpc: "act", htc: "act" },
    { document: { enabled: false }, setting: "act", hpc: "observe", htc: "observe" },
    { document: { mode: { hpc: "act" } }, setting: "observe", hpc: "act", htc: "observe" },
    {
      document: { mode: { default: "act", hpc: "observe" } },
      setting: "observe",
      hpc: "observe",
      htc: "act",
    },
  ] as const)("$document with $setting", ({ document, setting, hpc, htc }) => {
    const read = readPolicy(document, setting);
    if (read.kind === "problems") throw new Error("refused");
    expect(modeOf(read.policy, arrayName("hpc"))).toBe(hpc);
    expect(modeOf(read.policy, arrayName("htc"))).toBe(htc);
  });

  test("a document without a mode is shown without one, so that a change of the setting counts later", () => {
    const read = readPolicy({ idleTimeout: 60 }, "observe");
    if (read.kind === "problems") throw new Error("refused");
    expect(writePolicy(read.policy)).not.toHaveProperty("mode");
  });
});
