import { z } from "zod";

/** A case of test/data/autoscale-contract.json: calls at given times, and what the autoscale documentation promises of them. */

const amounts = z.strictObject({
  name: z.string(),
  corecount: z.number().optional(),
  instancecount: z.number().optional(),
});

const outcome = z.strictObject({
  nodes: z.number().optional(),
  cores: z.number().optional(),
  exists: z.boolean().optional(),
  target: z.number().optional(),
  terminatedByUs: z.number().optional(),
  granted: z.number().optional(),
  refused: z.number().optional(),
  machineTypes: z.array(z.string()).optional(),
  configuration: z.record(z.string(), z.unknown()).optional(),
  templateConfigurationKept: z.boolean().optional(),
  extends: z.string().optional(),
  flaggedForRemoval: z.boolean().optional(),
  groups: z.number().optional(),
  nodesPerGroup: z.number().optional(),
  groupIdsDistinct: z.boolean().optional(),
  groupIdInConfiguration: z.string().optional(),
  groupsByMachineType: z.record(z.string(), z.number()).optional(),
  ungrouped: z.boolean().optional(),
  stateSaysUngrouped: z.boolean().optional(),
});

const step = z.strictObject({
  at: z.number(),
  requestSet: z.string().optional(),
  expirationInterval: z.number().optional(),
  set: amounts.optional(),
  update: z.array(z.looseObject({ Name: z.string() })).optional(),
  stopAll: z.string().optional(),
  loseNodes: z.record(z.string(), z.number()).optional(),
  terminateCluster: z.boolean().optional(),
  allAskToStop: z.string().optional(),
  expect: z.record(z.string(), outcome),
});

const size = z.strictObject({
  cores: z.number(),
  max: z.number(),
  placementGroups: z.boolean().optional(),
});

const file = z.strictObject({
  template: z.record(z.string(), z.record(z.string(), z.record(z.string(), size))),
  cases: z.array(
    z.strictObject({
      name: z.string(),
      editions: z.array(z.string()),
      template: z.string(),
      note: z.string().optional(),
      steps: z.array(step),
    }),
  ),
});

export type Contract = z.infer<typeof file>;
export type ContractStep = z.infer<typeof step>;
export type ContractOutcome = z.infer<typeof outcome>;
export type ContractCase = z.infer<typeof file>["cases"][number];
/** By array: the same by VM size. */
export type ContractTemplate = Readonly<Record<string, Readonly<Record<string, z.infer<typeof size>>>>>;

/** Refuses keys that the test would not check. */
export function readContract(text: string): Contract {
  return file.parse(JSON.parse(text));
}
