import { isFields, type Fields } from "../json/fields.ts";
import { hasProtoKey, isDeeperThan, sortFields } from "../json/nesting.ts";
import { problemAt } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";

const LONGEST = 4096;
const DEEPEST = 8;

/**
 * Notes of a scheduler's driver about a job (scalelib's Job.metadata), for users to read; no decision depends on them. At most 4096
 * characters of JSON and 8 levels, because there may be 100,000 jobs. An empty object counts as absent.
 */
export function readMetadata(job: Fields, problems: Problems): Fields | undefined {
  const value = job["metadata"];
  if (value === undefined) return undefined;
  const flaw = flawOf(value);
  if (flaw !== undefined) problems.add(() => problemAt("metadata", value, flaw));
  if (flaw !== undefined || !isFields(value) || Object.keys(value).length === 0) return undefined;
  return sortFields(value);
}

function flawOf(value: unknown): string | undefined {
  const expected = `an object of at most ${LONGEST} characters of JSON`;
  if (!isFields(value)) return expected;
  if (hasProtoKey(value)) return "a value without the key __proto__";
  if (isDeeperThan(value, DEEPEST)) return `at most ${DEEPEST} levels of nesting`;
  return JSON.stringify(value).length > LONGEST ? expected : undefined;
}
