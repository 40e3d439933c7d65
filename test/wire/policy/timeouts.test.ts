import { describe, expect, test } from "vitest";
import { readPolicy } from "../../../src/wire/policy/policy.ts";
import { writePolicy } from "../../../src/wire/policy/write-policy.ts";
import { NAME_EXPECTED } from "../../../src/domain/name.ts";
import { lineOf } from "../context.ts";

const read = (input: object) => {
  const answer = readPolicy(input);
  if (answer.kind === "problems") throw new Error(answer.problems.map(lineOf).join("; "));
  const { idleTimeoutSeconds, bootTimeoutSeconds, idleTimeouts, bootTimeouts } = answer.policy;
  return {
    idle: { default: idleTimeoutSeconds, ...Object.fromEntries(idleTimeouts ?? []) },
    boot: { default: bootTimeoutSeconds, ...Object.fromEntries(bootTimeouts ?? []) },
  };
};
const DEFAULTS = { idle: { default: 300 }, boot: { default: 3600 } };

describe("timeouts of node arrays", () => {
  test.each([
    { name: "nothing said", input: {}, ...DEFAULTS },
    {
      name: "one number for all",
      input: { idleTimeout: 600, boot_timeout: 900 },
      idle: { default: 600 },
      boot: { default: 900 },
    },
    {
      name: "an object in scalelib's spelling, as its documentation writes it",
      input: { idle_timeout: { default: 300, hpc: 600 }, boot_timeout: { default: 1800, hpc: 7200 } },
      idle: { default: 300, hpc: 600 },
      boot: { default: 1800, hpc: 7200 },
    },
    {
      name: "an object in our spelling",
      input: { idleTimeout: { default: 60, hpc: 0 }, bootTimeout: { hpc: 7200.5 } },
      idle: { default: 60, hpc: 0 },
      boot: { default: 3600, hpc: 7200.5 },
    },
    { name: "an object that says nothing", input: { idle_timeout: {}, bootTimeout: {} }, ...DEFAULTS },
    {
      name: "digits as text, by themselves and in an object",
      input: { idle_timeout: " 600 ", boot_timeout: { default: "1200", hpc: "60" } },
      idle: { default: 600 },
      boot: { default: 1200, hpc: 60 },
    },
    {
      name: "0 and null in scalelib's object are scalelib's words for the built-in value, whatever the default",
      input: { idle_timeout: { default: 100, hpc: 0, htc: null }, boot_timeout: { default: 0, hpc: "0" } },
      idle: { default: 100, hpc: 300, htc: 300 },
      boot: { default: 3600, hpc: 3600 },
    },
    {
      name: "one number in scalelib's spelling is meant as it stands, also 0",
      input: { idle_timeout: 0 },
      idle: { default: 0 },
      boot: { default: 3600 },
    },
  ])("$name", ({ input, idle, boot }) => {
    expect(read(input)).toEqual({ idle, boot });
  });

  test("are written as an object where arrays have their own, and read back the same", () => {
    const input = { idle_timeout: { default: 120, hpc: "600" }, boot_timeout: 900 };
    const first = readPolicy(input);
    if (first.kind === "problems") throw new Error("problems");
    const document = writePolicy(first.policy);
    expect(document).toMatchObject({ idleTimeout: { default: 120, hpc: 600 }, bootTimeout: 900 });
    expect(readPolicy(document)).toMatchObject({ policy: first.policy });
  });

  const IDLE = "a number of seconds, 0 or more, or an object of them: default, and node arrays";
  const BOOT = "a number of seconds, 1 or more, or an object of them: default, and node arrays";
  test.each([
    {
      name: "neither number nor object",
      input: { idle_timeout: [], boot_timeout: true },
      lines: [`idle_timeout: [] -> ${IDLE}`, `boot_timeout: true -> ${BOOT}`],
    },
    {
      name: "null, and text in our spelling",
      input: { idleTimeout: null, bootTimeout: { hpc: "600" } },
      lines: [`idleTimeout: null -> ${IDLE}`, 'bootTimeout.hpc: "600" -> a number of seconds, 1 or more'],
    },
    {
      name: "too little, in an object: with the array's name",
      input: { idle_timeout: { default: 1, hpc: -5, htc: "-5" }, bootTimeout: { hpc: 0, default: null } },
      lines: [
        "idle_timeout.hpc: -5 -> a number of seconds, 0 or more",
        'idle_timeout.htc: "-5" -> a number of seconds, 0 or more',
        "bootTimeout.hpc: 0 -> a number of seconds, 1 or more",
        "bootTimeout.default: null -> a number of seconds, 1 or more",
      ],
    },
    {
      name: "an object in an object, and a name that no array can have",
      input: { idle_timeout: { hpc: { default: 3 }, "": 5 } },
      lines: [
        "idle_timeout.hpc: object with 1 member -> a number of seconds, 0 or more",
        `idle_timeout: "" -> ${NAME_EXPECTED}`,
      ],
    },
    {
      name: "both spellings",
      input: { bootTimeout: { hpc: 5 }, boot_timeout: { hpc: 6 } },
      lines: ["boot_timeout: object with 1 member -> either bootTimeout or boot_timeout, not both"],
    },
  ])("are refused: $name", ({ input, lines }) => {
    const answer = readPolicy(input);
    expect(answer.kind === "problems" ? answer.problems.map(lineOf) : answer).toEqual(lines);
  });
});
