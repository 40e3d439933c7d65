import * as z from "zod";
import type { Pool } from "../../domain/demand.ts";
import { labelSchema } from "../json/name.ts";
import { isTooLong } from "../json/fields.ts";
import { problemAt, problemShowing } from "../json/problem.ts";
import { addSchemaProblems } from "../json/schema-problems.ts";
import type { Problems } from "../json/problems.ts";
import { BOUNDS } from "../json/bounds.ts";
import { isFields } from "../../domain/fields.ts";

const AMOUNT = "a number, 0 or more";
const amount = z
  .number({ error: AMOUNT })
  .min(0, { error: AMOUNT })
  .max(BOUNDS.amount, { error: `at most ${BOUNDS.amount}` });

export const poolSchema = z.strictObject(
  { name: labelSchema, total: amount, used: amount },
  { error: "an object with name, total and used" },
);

/** A mark, which jobs test, has a value instead. */
const MARK = "text, a number, true, false or null";
export const markSchema = z.strictObject(
  {
    name: labelSchema,
    value: z.union([z.string().max(BOUNDS.constraintText), z.number(), z.boolean(), z.null()], {
      error: MARK,
    }),
  },
  { error: "an object with name and value" },
);

/**
 * Reads the licences and quotas that the cluster's jobs share. `used` may exceed `total`, for example after a licence server was reduced.
 */
export function readPools(value: unknown, problems: Problems): readonly Pool[] {
  if (!Array.isArray(value)) {
    problems.add(() => problemAt("pools", value, "a list of objects with name, total and used"));
    return [];
  }
  if (isTooLong("pools", value, BOUNDS.pools, "pools", problems)) return [];
  const pools: Pool[] = [];
  const names = new Set<string>();
  value.forEach((item: unknown, index) => {
    const path = `pools[${index}]`;
    const schema = isFields(item) && "value" in item ? markSchema : poolSchema;
    const parsed = schema.safeParse(item);
    if (!parsed.success) {
      const known = Object.keys(schema.shape);
      addSchemaProblems(
        problems.below(() => path),
        parsed.error,
        item,
        () => known,
      );
      return;
    }
    const { name } = parsed.data;
    if (names.has(name)) problems.add(() => problemShowing(`${path}.name`, name, "each pool only once"));
    names.add(name);
    pools.push("value" in parsed.data ? { name, total: 0, used: 0, value: parsed.data.value } : parsed.data);
  });
  return pools;
}
