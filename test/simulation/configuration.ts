import type { Policy } from "../../src/domain/policy.ts";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import { Dice } from "./dice.ts";

/** Short times, so that much happens in a few simulated minutes. */
const SHORT_TIMES = { idleTimeout: 90, bootTimeout: 240, maxExpirationInterval: 1800, inFlightGrace: 1200 };

/** These dice are separate from the weather's, so that the storms of a seed stay the same. */
const APART = 0x5eed;

/**
 * The configuration of a run, as an operator writes it. Each key appears in some runs, alone or with others. Its value promises the same as
 * the default, and its limits are higher than any run needs.
 */
export function drawConfiguration(
  seed: number,
  arrays: readonly string[],
): Readonly<Record<string, unknown>> {
  const dice = new Dice(seed + APART);
  const size = {
    name: "Other_size",
    family: "other",
    location: "here",
    capabilities: { vCPUs: 2, MemoryGB: 4 },
  };
  const options: Readonly<Record<string, unknown>> = {
    idleTimeout: dice.whole(80, 100),
    bootTimeout: dice.whole(230, 250),
    inFlightGrace: dice.whole(1100, 1300),
    groupFillTimeout: 300,
    downTimeout: { default: 300, other: "never" },
    failedTimeout: "never",
    nodearrays: arrays,
    default_resources: [{ select: {}, name: "disk", value: "size::20g" }],
    vmSizes: { here: { Other_size: size } },
    preference: "bucket-order",
    among: "cheapest",
    placementGroups: { default: ["rack"] },
    caps: { requestSets: { "*": { nodes: 10_000 } } },
    prices: { currency: "USD", locations: { here: { Other_size: 1 } } },
    planHistory: 0,
    mode: "act",
    enabled: true,
    exclusiveNodearrays: true,
    senders: [{ requestSets: "*", maxPriority: 1_000_000, caps: { nodes: 10_000 } }],
  };
  const keys = Object.keys(options);
  // A single key is as likely as several.
  const alone = keys[dice.whole(0, keys.length - 1)];
  const isAlone = dice.chance(0.5);
  const chosen = keys.filter((key) => (isAlone ? key === alone : dice.chance(0.5)));
  // Not keys of their own among the drawn ones: the configurations of other seeds stay the same.
  const kept = {
    ...(chosen.includes("downTimeout") ? { deallocatedTimeout: { default: 86_400, other: "never" } } : {}),
    ...(chosen.includes("exclusiveNodearrays") ? { named: [] } : {}),
    ...(chosen.includes("among") ? { mixes: "off" } : {}),
  };
  const written = {
    ...kept,
    ...SHORT_TIMES,
    ...Object.fromEntries(chosen.map((key) => [key, options[key]])),
  };
  return dice.chance(0.5) ? written : inTheirWords(written);
}

/** The same in the spelling of scalelib's autoscale.json. */
function inTheirWords({ idleTimeout, bootTimeout, ...others }: Readonly<Record<string, unknown>>) {
  return { ...others, idle_timeout: idleTimeout, boot_timeout: bootTimeout };
}

export function policyOf(configuration: Readonly<Record<string, unknown>>): Policy {
  const read = readPolicy(configuration);
  if (read.kind === "problems")
    throw new Error(`the configuration is refused: ${JSON.stringify(read.problems)}`);
  return read.policy;
}
