import { z } from "zod";
import type { Pool, Problem } from "../domain/demand.ts";
import { nameSchema } from "./name.ts";
import { addBelow, problemAt } from "./problem.ts";
import { schemaProblems } from "./schema-problems.ts";

const AMOUNT = "a number, 0 or more";
const amount = z.number({ error: AMOUNT }).min(0, { error: AMOUNT });

const poolSchema = z.strictObject(
  { name: nameSchema, total: amount, used: amount },
  { error: "an object with name, total and used" },
);

/** Reads the licences and quotas that the cluster's jobs share. `used` may exceed `total`: a licence server may have been cut down. */
export function readPools(value: unknown, problems: Problem[]): readonly Pool[] {
  if (!Array.isArray(value)) {
    problems.push(problemAt("pools", value, "a list of objects with name, total and used"));
    return [];
  }
  const pools: Pool[] = [];
  const names = new Set<string>();
  value.forEach((item: unknown, index) => {
    const path = `pools[${index}]`;
    const parsed = poolSchema.safeParse(item);
    if (!parsed.success) {
      const known = Object.keys(poolSchema.shape);
      addBelow(
        problems,
        path,
        schemaProblems(parsed.error, item, () => known),
      );
      return;
    }
    const { name, total, used } = parsed.data;
    if (names.has(name)) problems.push(problemAt(`${path}.name`, name, "each pool only once"));
    names.add(name);
    pools.push({ name, total, used });
  });
  return pools;
}
